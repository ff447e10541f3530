//! Who waits for a value in a part of a set: heaps, the widest part first.
//!
//! All heaps of an index lie in one table. They are leftist: the way to the right is never longer
//! than to the left, so two heaps are melded along short ways.

use crate::circuit::cells::Handle;

use crate::plan::NONE;
use crate::tables::append;

#[derive(Clone, Copy, Debug)]
struct Waiter {
    /// Members of at least this rank are in its part.
    bound: u64,
    /// The truth that waits.
    or: Handle,
    left: u32,
    right: u32,
    /// How long the way to the right is.
    length: u32,
}

/// A table of heaps. A heap is the number of its first waiter, or NONE.
#[derive(Debug, Default)]
pub struct Waiters {
    table: Vec<Waiter>,
    free: Vec<u32>,
}

impl Waiters {
    pub fn push(&mut self, heap: u32, bound: u64, or: Handle) -> u32 {
        let waiter = Waiter {
            bound,
            or,
            left: NONE,
            right: NONE,
            length: 1,
        };
        let id = if let Some(id) = self.free.pop() {
            self.table[id as usize] = waiter;
            id
        } else {
            append(&mut self.table, waiter);
            self.table.len() as u32 - 1
        };
        self.meld(heap, id)
    }

    /// Takes a waiter off whose part has members of a rank.
    pub fn pop(&mut self, heap: &mut u32, rank: u64) -> Option<Handle> {
        let waiter = *self.table.get(*heap as usize)?;
        if waiter.bound > rank {
            return None;
        }
        append(&mut self.free, *heap);
        *heap = self.meld(waiter.left, waiter.right);
        Some(waiter.or)
    }

    pub fn count(&self) -> usize {
        self.table.len() - self.free.len()
    }

    /// Takes all waiters of a heap out of it.
    pub fn drain(&mut self, heap: u32) -> Vec<(u64, Handle)> {
        let mut all = Vec::new();
        let mut heaps = vec![heap];
        while let Some(id) = heaps.pop() {
            let Some(waiter) = self.table.get(id as usize) else {
                continue;
            };
            all.push((waiter.bound, waiter.or));
            heaps.extend([waiter.left, waiter.right]);
            append(&mut self.free, id);
        }
        all
    }

    pub fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Waiter>() + self.free.capacity() * size_of::<u32>()
    }

    fn length(&self, heap: u32) -> u32 {
        self.table
            .get(heap as usize)
            .map_or(0, |first| first.length)
    }

    fn meld(&mut self, one: u32, other: u32) -> u32 {
        if one == NONE || other == NONE {
            return one.min(other);
        }
        let is_first = self.table[one as usize].bound <= self.table[other as usize].bound;
        let (first, second) = if is_first { (one, other) } else { (other, one) };
        let right = self.meld(self.table[first as usize].right, second);
        let left = self.table[first as usize].left;
        let (long, short) = if self.length(left) >= self.length(right) {
            (left, right)
        } else {
            (right, left)
        };
        let length = self.length(short) + 1;
        let waiter = &mut self.table[first as usize];
        (waiter.left, waiter.right, waiter.length) = (long, short, length);
        first
    }
}
