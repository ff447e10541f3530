//! Nodes that ask for a part of a set and wait for its members, sorted by where their part is cut.
//!
//! All values of a node decide one truth, so one of them stands for all: its *bid*. A tree over
//! the bids finds those that a new member compares with, and looks at no others. The members of
//! a part are before its key or behind it, so a member concerns all slots from some place on, or
//! all up to it.

use crate::circuit::cells::{Cells, Handle};
use crate::circuit::ids::{SlotId, ValueId};
use crate::tables::more_for;

/// A summary of the values of a node, or of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bid {
    Nothing,
    /// For an order: the least of the numbers.
    Least(f64),
    /// For `!=`: they are all this text.
    Only(ValueId),
    /// For `!=`: there are different ones.
    Mixed,
}

impl Bid {
    pub fn join(self, other: Bid) -> Bid {
        match (self, other) {
            (Bid::Nothing, bid) | (bid, Bid::Nothing) => bid,
            (Bid::Least(left), Bid::Least(right)) => Bid::Least(left.min(right)),
            (Bid::Only(left), Bid::Only(right)) if left == right => self,
            _ => Bid::Mixed,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub key: u64,
    pub id: SlotId,
    pub or: Handle,
    /// Whether all values of the node are known.
    pub has_all: bool,
}

/// Slots sorted by key, then by id.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    /// Slots before this one are over.
    start: usize,
    /// A binary tree over the bids, its root at 1, that of a slot at `room` + its place. Nothing
    /// as long as nobody bids.
    bids: Vec<Bid>,
    next: u32,
}

impl Slots {
    /// Adds a slot. Most keys are at least those of all others; returns how many are not.
    pub fn add(&mut self, key: u64, or: Handle, cells: &Cells) -> (SlotId, usize) {
        let id = SlotId(self.next);
        self.next += 1;
        if self.slots.len() == self.slots.capacity() {
            self.make_room(cells);
        }
        let at = self.place(key);
        let passed = self.slots.len() - at;
        let slot = Slot {
            key,
            id,
            or,
            has_all: false,
        };
        self.slots.insert(at, slot);
        if !self.bids.is_empty() {
            let leaf = self.room() + at;
            self.bids[leaf..=leaf + passed].rotate_right(1);
            self.bids[leaf] = Bid::Nothing;
            (at..=at + passed).for_each(|at| self.update(at));
        }
        (id, passed)
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.slots.len()
    }

    /// The first place whose key is greater.
    pub fn place(&self, key: u64) -> usize {
        let rest = &self.slots[self.start..];
        self.start + rest.partition_point(|slot| slot.key <= key)
    }

    /// All places from a place on, or all before it.
    pub fn from(&self, at: usize) -> std::ops::Range<usize> {
        at..self.slots.len()
    }

    pub fn until(&self, at: usize) -> std::ops::Range<usize> {
        self.start..at
    }

    /// A slot that is not over.
    pub fn find(&self, key: u64, id: SlotId) -> Option<usize> {
        let rest = &self.slots[self.start..];
        let at = rest.binary_search_by_key(&(key, id), |slot| (slot.key, slot.id));
        at.ok().map(|at| self.start + at)
    }

    pub fn get_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.slots[at]
    }

    pub fn bid_at(&self, at: usize) -> Bid {
        match self.bids.len() {
            0 => Bid::Nothing,
            _ => self.bids[self.room() + at],
        }
    }

    /// Sets what a slot bids.
    pub fn bid(&mut self, at: usize, bid: Bid) {
        if self.bids.is_empty() {
            self.bids = vec![Bid::Nothing; 2 * self.slots.capacity()];
        }
        let leaf = self.room() + at;
        self.bids[leaf] = bid;
        self.update(at);
    }

    /// Takes off a slot at one of the places whose bid wins. Bids of several slots win if one of
    /// them does.
    pub fn take(
        &mut self,
        places: std::ops::Range<usize>,
        wins: impl Fn(Bid) -> bool,
    ) -> Option<Handle> {
        if self.bids.is_empty() || places.is_empty() {
            return None;
        }
        let room = self.room();
        let (mut left, mut right) = (places.start + room, places.end + room);
        let mut node = 0;
        while left < right && node == 0 {
            if left & 1 == 1 {
                node = if wins(self.bids[left]) { left } else { 0 };
                left += 1;
            }
            if right & 1 == 1 && node == 0 {
                right -= 1;
                node = if wins(self.bids[right]) { right } else { 0 };
            }
            (left, right) = (left / 2, right / 2);
        }
        if node == 0 {
            return None;
        }
        while node < room {
            node = 2 * node + usize::from(!wins(self.bids[2 * node]));
        }
        self.bid(node - room, Bid::Nothing);
        Some(self.slots[node - room].or)
    }

    /// Takes off the first slot if its key is at most a bound.
    pub fn pop_first(&mut self, key_max: u64) -> Option<Slot> {
        let first = self.slots.get(self.start).copied()?;
        if first.key > key_max {
            return None;
        }
        self.withdraw(self.start);
        self.start += 1;
        if self.start == self.slots.len() {
            self.slots.clear();
            self.start = 0;
        }
        Some(first)
    }

    /// Takes off the last slot if its key is at least a bound.
    pub fn pop_last(&mut self, key_min: u64) -> Option<Slot> {
        let last = self.slots[self.start..].last().copied()?;
        if last.key < key_min {
            return None;
        }
        self.withdraw(self.slots.len() - 1);
        self.slots.pop();
        Some(last)
    }

    fn withdraw(&mut self, at: usize) {
        if self.bid_at(at) != Bid::Nothing {
            self.bid(at, Bid::Nothing);
        }
    }

    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.bids.capacity() * size_of::<Bid>()
    }

    fn room(&self) -> usize {
        self.bids.len() / 2
    }

    fn update(&mut self, at: usize) {
        let mut node = (self.room() + at) / 2;
        while node > 0 {
            self.bids[node] = self.bids[2 * node].join(self.bids[2 * node + 1]);
            node /= 2;
        }
    }

    /// Drops slots that are over or whose truth is decided; makes more room where few are.
    fn make_room(&mut self, cells: &Cells) {
        let before = self.slots.len();
        let bids: Vec<Bid> = (0..before).map(|at| self.bid_at(at)).collect();
        let mut kept = Vec::with_capacity(before);
        let mut at = 0;
        let start = self.start;
        self.slots.retain(|slot| {
            let is_kept = at >= start && cells.is_open(slot.or);
            if is_kept {
                kept.push(bids[at]);
            }
            at += 1;
            is_kept
        });
        self.start = 0;
        let more = more_for::<Slot>(before);
        if self.slots.capacity() - self.slots.len() < more {
            self.slots.reserve_exact(more);
        }
        if self.bids.is_empty() {
            return;
        }
        let room = self.slots.capacity();
        self.bids = vec![Bid::Nothing; 2 * room];
        self.bids[room..room + kept.len()].copy_from_slice(&kept);
        for node in (1..room).rev() {
            self.bids[node] = self.bids[2 * node].join(self.bids[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::cells::Kind;
    use crate::ledger::Account;

    #[test]
    fn slots_are_taken_as_plain_arrays_say() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let (mut cells, mut slots) = (Cells::new(Account::free()), Slots::default());
            // What the slots stand for: key, truth, least number.
            let mut plain: Vec<(u64, Handle, f64)> = Vec::new();
            let mut key = 5;
            for _ in 0..150 {
                match random(4) {
                    0 | 1 => {
                        key += random(2);
                        let own = key - random(5) / 4;
                        let or = cells.add(Kind::Value);
                        let (slot, _) = slots.add(own, or, &cells);
                        let place = slots.find(own, slot).expect("it was added");
                        let least = random(20) as f64;
                        slots.bid(place, Bid::Least(least));
                        plain.push((own, or, least));
                    }
                    2 => {
                        let (at, number) = (random(key + 2), random(20) as f64);
                        let is_prefix = random(2) == 0;
                        let place = slots.place(at);
                        let places = if is_prefix {
                            slots.until(place)
                        } else {
                            slots.from(place)
                        };
                        let wins = |bid| matches!(bid, Bid::Least(least) if least < number);
                        let is_told = |slot: &(u64, Handle, f64)| {
                            (slot.0 <= at) == is_prefix && slot.2 < number
                        };
                        while let Some(or) = slots.take(places.clone(), wins) {
                            let place = plain.iter().position(|slot| slot.1 == or);
                            assert!(is_told(&plain.remove(place.expect("it waits"))));
                            cells.decide(or, crate::circuit::Atom::Nothing);
                        }
                        assert!(!plain.iter().any(is_told));
                    }
                    _ => {
                        let first = slots.pop_first(random(key + 1));
                        plain.retain(|slot| first.is_none_or(|first| first.or != slot.1));
                    }
                }
            }
        }
    }
}
