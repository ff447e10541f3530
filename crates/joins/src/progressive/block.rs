//! Bindings of one stream that clean-up holds in memory, found by the hash of a value.

use super::binding::Binding;
use super::partitions::group_of;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes of a value's place in the index, about.
const INDEX_BYTES: usize = 48;

/// Bindings of one group.
pub(super) struct Block {
    bindings: Vec<Arc<Binding>>,
    index: FxHashMap<u64, SmallVec<[u32; 2]>>,
    attribute: u32,
    pub(super) bytes: usize,
}

impl Block {
    pub(super) fn new(attribute: u32) -> Self {
        Block {
            bindings: Vec::new(),
            index: FxHashMap::default(),
            attribute,
            bytes: 0,
        }
    }

    /// Adds a binding by those of its values that belong to a group.
    pub(super) fn add(&mut self, binding: Arc<Binding>, group: usize, groups: usize) {
        self.bytes += binding.memory_bytes();
        for hash in binding.hashes(self.attribute) {
            if group_of(hash, groups) == group {
                self.bytes += INDEX_BYTES;
                self.index
                    .entry(hash)
                    .or_default()
                    .push(self.bindings.len() as u32);
            }
        }
        self.bindings.push(binding);
    }

    /// How many bindings share a hash with a list of hashes, each counted as often as it does.
    pub(super) fn meetings(&self, hashes: &[u64]) -> usize {
        let lists = hashes.iter().filter_map(|hash| self.index.get(hash));
        lists.map(|list| list.len()).sum()
    }

    /// The bindings that share a hash with a list of hashes, where that hash is the least that they
    /// share: so a pair meets once, in whichever groups and blocks its values are.
    pub(super) fn meet<'a>(&'a self, hashes: &'a [u64]) -> impl Iterator<Item = &'a Arc<Binding>> {
        let lists = hashes
            .iter()
            .filter_map(|hash| Some((*hash, self.index.get(hash)?)));
        lists.flat_map(move |(hash, list)| {
            let bindings = list.iter().map(|&at| &self.bindings[at as usize]);
            bindings.filter(move |binding| {
                let own = binding.hashes(self.attribute);
                let least = own.iter().find(|own| hashes.binary_search(own).is_ok());
                least == Some(&hash)
            })
        })
    }
}
