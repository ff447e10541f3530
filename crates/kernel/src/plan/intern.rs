//! Hash-consing: equal keys get equal ids, ids count up from zero.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A table of distinct keys.
#[derive(Debug)]
pub struct Interner<K> {
    ids: FxHashMap<K, u32>,
    keys: Vec<K>,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Interner {
            ids: FxHashMap::default(),
            keys: Vec::new(),
        }
    }
}

impl<K: Clone + Eq + Hash> Interner<K> {
    /// The id of `key`, and whether it is new.
    pub fn intern(&mut self, key: K) -> (u32, bool) {
        if let Some(&id) = self.ids.get(&key) {
            return (id, false);
        }
        let id = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.ids.insert(key, id);
        (id, true)
    }

    /// All keys by id.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }
}
