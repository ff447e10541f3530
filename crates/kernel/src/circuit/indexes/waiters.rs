//! Who waits for a value in a part of a set: heaps, the widest part first.
//!
//! All heaps of an index lie in one table. They are leftist: the way to the right is never longer
//! than to the left, so two heaps are melded along short ways.

use crate::circuit::cells::Handle;
use crate::circuit::ids::WaiterId;
use crate::tables::{Table, append};

#[derive(Clone, Copy, Debug)]
struct Waiter {
    /// Members of at least this rank are in its part.
    bound: u64,
    /// The truth that waits.
    or: Handle,
    left: WaiterId,
    right: WaiterId,
    /// How long the way to the right is.
    length: u32,
}

/// A table of heaps. A heap is the id of its first waiter, or NONE.
#[derive(Debug, Default)]
pub struct Waiters {
    table: Table<WaiterId, Waiter>,
    free: Vec<WaiterId>,
}

impl Waiters {
    pub fn push(&mut self, heap: WaiterId, bound: u64, or: Handle) -> WaiterId {
        let waiter = Waiter {
            bound,
            or,
            left: WaiterId::NONE,
            right: WaiterId::NONE,
            length: 1,
        };
        let id = if let Some(id) = self.free.pop() {
            self.table[id] = waiter;
            id
        } else {
            self.table.push(waiter)
        };
        self.meld(heap, id)
    }

    /// Removes and returns a waiter whose part has members of a rank.
    pub fn pop(&mut self, heap: &mut WaiterId, rank: u64) -> Option<Handle> {
        let waiter = *self.table.find(*heap)?;
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
    pub fn drain(&mut self, heap: WaiterId) -> Vec<(u64, Handle)> {
        let mut all = Vec::new();
        let mut heaps = vec![heap];
        while let Some(id) = heaps.pop() {
            let Some(waiter) = self.table.find(id) else {
                continue;
            };
            all.push((waiter.bound, waiter.or));
            heaps.extend([waiter.left, waiter.right]);
            append(&mut self.free, id);
        }
        all
    }

    pub fn bytes(&self) -> usize {
        self.table.bytes() + self.free.capacity() * size_of::<WaiterId>()
    }

    fn length(&self, heap: WaiterId) -> u32 {
        self.table.find(heap).map_or(0, |first| first.length)
    }

    fn meld(&mut self, left: WaiterId, right: WaiterId) -> WaiterId {
        if left.is_none() || right.is_none() {
            return left.min(right);
        }
        let is_first = self.table[left].bound <= self.table[right].bound;
        let (first, second) = if is_first {
            (left, right)
        } else {
            (right, left)
        };
        let right = self.meld(self.table[first].right, second);
        let left = self.table[first].left;
        let (long, short) = if self.length(left) >= self.length(right) {
            (left, right)
        } else {
            (right, left)
        };
        let length = self.length(short) + 1;
        let waiter = &mut self.table[first];
        (waiter.left, waiter.right, waiter.length) = (long, short, length);
        first
    }
}
