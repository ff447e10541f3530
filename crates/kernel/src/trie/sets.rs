//! Sets that exist once: equal lists get equal numbers.

const SLOTS_MIN: usize = 256;
const FREE: u32 = u32::MAX;
/// An odd number without a pattern.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// What lists are made of.
pub trait Item: Copy + Eq {
    /// Equal items have equal words.
    fn word(self) -> u64;
}

impl Item for u64 {
    #[inline(always)]
    fn word(self) -> u64 {
        self
    }
}

impl Item for (u32, u32) {
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.1)
    }
}

/// A table of distinct lists. Number 0 is the empty list.
#[derive(Debug)]
pub struct Sets<T> {
    items: Vec<T>,
    ends: Vec<u32>,
    slots: Vec<u32>,
}

impl<T: Item> Default for Sets<T> {
    fn default() -> Self {
        let mut sets = Sets {
            items: Vec::new(),
            ends: Vec::new(),
            slots: vec![FREE; SLOTS_MIN],
        };
        sets.clear();
        sets
    }
}

impl<T: Item> Sets<T> {
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

    /// How long all lists are together.
    pub fn item_count(&self) -> usize {
        self.items.len()
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
            // Most lists are short: a loop here is cheaper than a call.
            let known = self.get(self.slots[slot]);
            if known.len() == list.len() && known.iter().zip(list).all(|(a, b)| a == b) {
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

fn hash<T: Item>(list: &[T]) -> u64 {
    let mix = |hash: u64, item: &T| (hash.rotate_left(5) ^ item.word()).wrapping_mul(SPREAD);
    // Four strands do not wait for each other.
    let (blocks, rest) = list.as_chunks::<4>();
    let mut strands = [list.len() as u64, 1, 2, 3];
    for block in blocks {
        for (strand, item) in strands.iter_mut().zip(block) {
            *strand = mix(*strand, item);
        }
    }
    let whole = |hash: u64, strand: u64| (hash.rotate_left(5) ^ strand).wrapping_mul(SPREAD);
    let hash = if blocks.is_empty() {
        strands[0]
    } else {
        strands.into_iter().fold(0, whole)
    };
    let hash = rest.iter().fold(hash, mix);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::Sets;

    #[test]
    fn equal_lists_have_one_number_also_after_growing() {
        let mut sets = Sets::default();
        let numbers: Vec<u32> = (0..1000u64).map(|n| sets.intern(&[n, n + 1]).0).collect();
        for n in 0..1000u64 {
            assert_eq!(sets.intern(&[n, n + 1]), (numbers[n as usize], false));
            assert_eq!(sets.get(numbers[n as usize]), &[n, n + 1]);
        }
        assert_eq!(sets.intern(&[]), (0, false));
        sets.clear();
        assert_eq!(sets.intern(&[7, 8]), (1, true));
    }
}
