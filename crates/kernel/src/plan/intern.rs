//! Hash-consing: equal keys get equal ids, ids count up from zero.

use crate::ids::Id;
use crate::tables::Table;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A table of distinct keys.
#[derive(Debug)]
pub struct Interner<I, K> {
    ids: FxHashMap<K, I>,
    keys: Table<I, K>,
}

impl<I, K> Default for Interner<I, K> {
    fn default() -> Self {
        Interner {
            ids: FxHashMap::default(),
            keys: Table::default(),
        }
    }
}

impl<I: Id, K: Clone + Eq + Hash> Interner<I, K> {
    /// The id of `key`. That of a new one is as large as the table was.
    pub fn intern(&mut self, key: K) -> I {
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = self.keys.push(key.clone());
        self.ids.insert(key, id);
        id
    }

    /// All keys by id.
    pub fn keys(&self) -> &Table<I, K> {
        &self.keys
    }

    /// The same, given up.
    pub fn into_keys(self) -> Table<I, K> {
        self.keys
    }
}
