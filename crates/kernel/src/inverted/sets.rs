//! Sets that exist once: equal lists get equal numbers.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

const SLOTS_MIN: usize = 256;
const FREE: u32 = u32::MAX;

/// A table of distinct lists. Number 0 is the empty list.
#[derive(Debug)]
pub struct Sets<T> {
    items: Vec<T>,
    ends: Vec<u32>,
    slots: Vec<u32>,
}

impl<T: Copy + Eq + Hash> Sets<T> {
    pub fn new() -> Self {
        let mut sets = Sets {
            items: Vec::new(),
            ends: Vec::new(),
            slots: vec![FREE; SLOTS_MIN],
        };
        sets.clear();
        sets
    }

    /// Forgets all lists but the empty one, keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
        self.slots.fill(FREE);
        self.intern(&[]);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub fn get(&self, set: u32) -> &[T] {
        let set = set as usize;
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.items[start as usize..self.ends[set] as usize]
    }

    /// The number of a list, and whether it is new.
    pub fn intern(&mut self, list: &[T]) -> (u32, bool) {
        let mask = self.slots.len() - 1;
        let mut slot = hash(list) as usize & mask;
        while self.slots[slot] != FREE {
            if self.get(self.slots[slot]) == list {
                return (self.slots[slot], false);
            }
            slot = (slot + 1) & mask;
        }
        let set = self.ends.len() as u32;
        self.items.extend_from_slice(list);
        self.ends.push(self.items.len() as u32);
        self.slots[slot] = set;
        if 2 * self.ends.len() > self.slots.len() {
            self.grow();
        }
        (set, true)
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        self.slots = vec![FREE; mask + 1];
        for set in 0..self.ends.len() as u32 {
            let mut slot = hash(self.get(set)) as usize & mask;
            while self.slots[slot] != FREE {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = set;
        }
    }
}

fn hash<T: Hash>(list: &[T]) -> u64 {
    let mut hasher = FxHasher::default();
    list.hash(&mut hasher);
    let hash = hasher.finish();
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::Sets;

    #[test]
    fn equal_lists_have_one_number_also_after_growing() {
        let mut sets = Sets::new();
        let numbers: Vec<u32> = (0..1000u32).map(|n| sets.intern(&[n, n + 1]).0).collect();
        for n in 0..1000u32 {
            assert_eq!(sets.intern(&[n, n + 1]), (numbers[n as usize], false));
            assert_eq!(sets.get(numbers[n as usize]), &[n, n + 1]);
        }
        assert_eq!(sets.intern(&[]), (0, false));
        sets.clear();
        assert_eq!(sets.intern(&[7, 8]), (1, true));
    }
}
