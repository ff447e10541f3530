//! Which members of a set are undecided, by their order.
//!
//! Only the first and the last one are ever asked for. Orders are pushed as they grow, so a queue
//! is enough: members in the middle go when they are many.

use crate::tables::more_for;
use std::collections::VecDeque;

/// The undecided members of a set: how many there are of each order.
#[derive(Debug, Default)]
pub struct Pending {
    /// Sorted by order. Neither end is empty.
    counts: VecDeque<(u64, u32)>,
    /// Orders in the middle without undecided members.
    empty: usize,
}

impl Pending {
    /// One more member is undecided. Its order is at least that of all others, or one of theirs.
    pub fn add(&mut self, order: u64) {
        match self.counts.back() {
            Some((last, _)) if *last >= order => {
                let at = self.counts.partition_point(|(own, _)| *own < order);
                debug_assert_eq!(self.counts[at].0, order, "orders grow");
                self.empty -= usize::from(self.counts[at].1 == 0);
                self.counts[at].1 += 1;
            }
            _ => {
                if self.counts.len() == self.counts.capacity() {
                    self.counts
                        .reserve_exact(more_for::<(u64, u32)>(self.counts.len()));
                }
                self.counts.push_back((order, 1));
            }
        }
    }

    /// A member is decided.
    pub fn remove(&mut self, order: u64) {
        let at = self.counts.partition_point(|(own, _)| *own < order);
        let Some((_, count)) = self.counts.get_mut(at) else {
            return;
        };
        *count -= 1;
        if *count > 0 {
            return;
        }
        self.empty += 1;
        while self.counts.front().is_some_and(|(_, count)| *count == 0) {
            self.counts.pop_front();
            self.empty -= 1;
        }
        while self.counts.back().is_some_and(|(_, count)| *count == 0) {
            self.counts.pop_back();
            self.empty -= 1;
        }
        if 2 * self.empty > self.counts.len() {
            self.counts.retain(|(_, count)| *count > 0);
            self.empty = 0;
        }
    }

    pub fn first(&self) -> Option<u64> {
        self.counts.front().map(|(order, _)| *order)
    }

    pub fn last(&self) -> Option<u64> {
        self.counts.back().map(|(order, _)| *order)
    }

    pub fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<(u64, u32)>()
    }
}
