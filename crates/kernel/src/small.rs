//! Sets and maps that are short lists until they grow: most have a few entries, and a short scan
//! beats a hash; some have one for each query.

use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

const SCAN_MAX: usize = 16;

/// A set of small keys.
#[derive(Clone, Debug)]
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

    /// The keys, in the order in which they came.
    pub fn keys(&self) -> &[K] {
        &self.items
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        if self.items.len() > SCAN_MAX {
            self.index.clear();
        }
        self.items.clear();
    }
}

/// A map from small keys. Its entries are in the order in which they came, as long as none is
/// removed.
#[derive(Debug)]
pub struct SmallMap<K, V> {
    entries: Vec<(K, V)>,
    /// Places by key, once a scan would be long.
    places: Option<Box<FxHashMap<K, u32>>>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        SmallMap {
            entries: Vec::new(),
            places: None,
        }
    }
}

impl<K, V> IntoIterator for SmallMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K, V> SmallMap<K, V> {
    /// Whether it has no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.entries.iter()
    }
}

impl<K: Copy + Eq + Hash, V> SmallMap<K, V> {
    #[inline]
    fn place(&self, key: K) -> Option<usize> {
        match &self.places {
            None => self.entries.iter().position(|(own, _)| *own == key),
            Some(places) => places.get(&key).map(|&place| place as usize),
        }
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: K) -> Option<&V> {
        self.place(key).map(|place| &self.entries[place].1)
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let place = self.place(key)?;
        Some(&mut self.entries[place].1)
    }

    /// The value of a key, which is made if there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(key);
        let place = place.unwrap_or_else(|| self.push(key, make()));
        &mut self.entries[place].1
    }

    /// Adds the value of a key that has none.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) {
        debug_assert!(self.place(key).is_none(), "a key has one value");
        self.push(key, value);
    }

    #[inline]
    fn push(&mut self, key: K, value: V) -> usize {
        let place = self.entries.len();
        self.entries.push((key, value));
        // A map that shrank keeps its places, which have to know all keys.
        if place >= SCAN_MAX || self.places.is_some() {
            self.list(key, place);
        }
        place
    }

    fn list(&mut self, key: K, place: usize) {
        let entries = &self.entries;
        let places = self.places.get_or_insert_with(|| {
            let all = entries.iter().enumerate();
            Box::new(all.map(|(at, (own, _))| (*own, at as u32)).collect())
        });
        places.insert(key, place as u32);
    }

    /// Takes the value of a key out; the last entry takes its place.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let place = self.place(key)?;
        let (_, value) = self.entries.swap_remove(place);
        if let Some(places) = &mut self.places {
            places.remove(&key);
            if let Some((moved, _)) = self.entries.get(place) {
                places.insert(*moved, place as u32);
            }
        }
        Some(value)
    }

    /// Forgets everything, keeps the memory of the entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.places = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_gives_what_was_put_there_last_whatever_its_size() {
        let mut map = SmallMap::default();
        let mut model = std::collections::BTreeMap::new();
        let mut seed = 7_u64;
        for number in 0..20_000_u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // The range of keys grows and shrinks, so the map crosses the bound both ways.
            let key = (seed >> 33) as u32 % (4 + 40 * (number / 1000 % 2));
            match seed >> 60 {
                0..6 => assert_eq!(map.remove(key), model.remove(&key)),
                6..12 => {
                    let made = *map.get_or_insert_with(key, || number);
                    assert_eq!(made, *model.entry(key).or_insert(number));
                }
                12 if seed.is_multiple_of(64) => {
                    map.clear();
                    model.clear();
                }
                _ => assert_eq!(map.get(key), model.get(&key)),
            }
            assert_eq!(map.len(), model.len());
        }
    }
}
