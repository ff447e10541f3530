//! A set that is a short list until it grows.

use rustc_hash::FxHashSet;
use std::hash::Hash;

const SCAN_MAX: usize = 16;

/// A set of small keys. Most frames and candidates know few facts, and a short scan beats a hash.
#[derive(Debug)]
pub struct SmallSet<K> {
    items: Vec<K>,
    index: FxHashSet<K>,
}

impl<K> Default for SmallSet<K> {
    fn default() -> Self {
        SmallSet {
            items: Vec::new(),
            index: FxHashSet::default(),
        }
    }
}

impl<K: Copy + Eq + Hash> SmallSet<K> {
    /// Whether the key is there.
    #[inline]
    pub fn contains(&self, key: K) -> bool {
        if self.items.len() <= SCAN_MAX {
            self.items.contains(&key)
        } else {
            self.index.contains(&key)
        }
    }

    /// Adds the key; false if it was there.
    pub fn insert(&mut self, key: K) -> bool {
        if self.contains(key) {
            return false;
        }
        self.items.push(key);
        if self.items.len() == SCAN_MAX + 1 {
            self.index.extend(self.items.iter().copied());
        } else if self.items.len() > SCAN_MAX {
            self.index.insert(key);
        }
        true
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.index.clear();
    }
}
