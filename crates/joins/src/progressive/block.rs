//! Bindings of one stream that clean-up holds in memory, found by the hash of a value.

use super::binding::Binding;
use super::partitions::group_of;
use super::table::{Postings, map_bytes, postings_bytes};
use rustc_hash::FxHashMap;

/// Bindings of one group.
pub(super) struct Block {
    bindings: Vec<Binding>,
    index: FxHashMap<u64, Postings>,
    attribute: u32,
    bindings_bytes: usize,
    postings_bytes: usize,
}

impl Block {
    pub(super) fn new(attribute: u32) -> Self {
        Block {
            bindings: Vec::new(),
            index: FxHashMap::default(),
            attribute,
            bindings_bytes: 0,
            postings_bytes: 0,
        }
    }

    /// Bytes of bindings and index.
    pub(super) fn memory_bytes(&self) -> usize {
        let list = self.bindings.capacity() * size_of::<Binding>();
        self.bindings_bytes + list + map_bytes(self.index.capacity()) + self.postings_bytes
    }

    /// Adds a binding by those of its values that belong to a group.
    pub(super) fn add(&mut self, binding: Binding, group: usize, groups: usize) {
        self.bindings_bytes += binding.memory_bytes();
        for hash in binding.hashes(self.attribute) {
            if group_of(hash, groups) == group {
                let list = self.index.entry(hash).or_default();
                self.postings_bytes -= postings_bytes(list);
                list.push(self.bindings.len() as u32);
                self.postings_bytes += postings_bytes(list);
            }
        }
        self.bindings.push(binding);
    }

    /// How many bindings share a hash with a list of hashes, each counted as often as it does.
    pub(super) fn meetings(&self, hashes: &[u64]) -> usize {
        let lists = hashes.iter().filter_map(|hash| self.index.get(hash));
        lists.map(|list| list.len()).sum()
    }

    /// The binding at a place that `meet` gave.
    pub(super) fn binding(&self, at: u32) -> &Binding {
        &self.bindings[at as usize]
    }

    /// The bindings that share a hash with a list of hashes, where that hash is the least that they
    /// share: so a pair meets once, in whichever groups and blocks its values are.
    pub(super) fn meet<'a>(&'a self, hashes: &'a [u64]) -> impl Iterator<Item = u32> + 'a {
        let lists = hashes
            .iter()
            .filter_map(|hash| Some((*hash, self.index.get(hash)?)));
        lists.flat_map(move |(hash, list)| {
            list.iter().copied().filter(move |&at| {
                let own = self.binding(at).hashes(self.attribute);
                let least = own.iter().find(|own| hashes.binary_search(own).is_ok());
                least == Some(&hash)
            })
        })
    }
}
