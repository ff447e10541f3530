//! Hash-consing with counts: equal keys share one id, and an id that nobody holds is used again.

use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

#[derive(Debug)]
struct Slot<K> {
    key: Arc<K>,
    holders: u32,
}

/// Distinct keys, each with the number of those who hold it.
#[derive(Debug)]
pub struct Counted<K> {
    ids: FxHashMap<Arc<K>, u32>,
    slots: Vec<Option<Slot<K>>>,
    free: Vec<u32>,
}

impl<K> Default for Counted<K> {
    fn default() -> Self {
        Counted {
            ids: FxHashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<K: Eq + Hash> Counted<K> {
    /// Holds a key once more; returns its id and whether it is new.
    pub fn hold(&mut self, key: K) -> (u32, bool) {
        if let Some(&id) = self.ids.get(&key) {
            self.hold_again(id);
            return (id, false);
        }
        let key = Arc::new(key);
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.ids.insert(key.clone(), id);
        self.slots[id as usize] = Some(Slot { key, holders: 1 });
        (id, true)
    }

    /// The ids that new keys get, the last one first; after them come ids that never were.
    pub fn vacant(&self) -> &[u32] {
        &self.free
    }

    /// Says which ids new keys get, the last one first. What nobody holds and is not among them
    /// stays without a key until it is said anew.
    pub fn vacate(&mut self, ids: &[u32]) {
        let count = ids.iter().map(|&id| id as usize + 1).max().unwrap_or(0);
        let count = self.slots.len().max(count);
        self.slots.resize_with(count, || None);
        let slots = &self.slots;
        let is_vacant = |id: &u32| slots[*id as usize].is_none();
        self.free = ids.iter().copied().filter(is_vacant).collect();
    }

    /// Holds what is held already once more.
    pub fn hold_again(&mut self, id: u32) {
        if let Some(Some(slot)) = self.slots.get_mut(id as usize) {
            slot.holders += 1;
        }
    }

    /// Gives up a key once; returns it if nobody holds it any more.
    pub fn release(&mut self, id: u32) -> Option<Arc<K>> {
        let place = self.slots.get_mut(id as usize)?;
        let slot = place.as_mut()?;
        slot.holders -= 1;
        if slot.holders > 0 {
            return None;
        }
        let slot = place.take()?;
        self.ids.remove(&slot.key);
        self.free.push(id);
        Some(slot.key)
    }

    /// The id of a key, if somebody holds it.
    pub fn id(&self, key: &K) -> Option<u32> {
        self.ids.get(key).copied()
    }

    /// The key of an id, if somebody holds it.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&K> {
        let slot = self.slots.get(id as usize)?.as_ref()?;
        Some(&slot.key)
    }

    /// The key of an id to share, if somebody holds it.
    pub fn shared(&self, id: u32) -> Option<Arc<K>> {
        let slot = self.slots.get(id as usize)?.as_ref()?;
        Some(slot.key.clone())
    }

    /// How many distinct keys are held.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// One more than the highest id so far.
    pub fn ids_end(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;

    #[test]
    fn an_id_is_used_again_when_nobody_holds_it() {
        let mut names: Counted<&str> = Counted::default();
        let (a, is_new) = names.hold("a");
        assert!(is_new);
        assert_eq!(names.hold("a"), (a, false));
        let (b, _) = names.hold("b");
        assert_eq!(names.release(a), None);
        assert_eq!(names.get(a), Some(&"a"));
        assert_eq!(names.release(a).as_deref(), Some(&"a"));
        assert_eq!((names.id(&"a"), names.get(a), names.len()), (None, None, 1));
        assert_eq!(names.hold("c"), (a, true));
        assert_eq!((names.id(&"b"), names.ids_end()), (Some(b), 2));
    }
}
