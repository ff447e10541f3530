//! Values of a set, each text once, with the last member that has it and those who wait for one.
//!
//! A hash table whose memory grows smoothly: texts lie behind each other in one buffer, entries in
//! a table that grows by a quarter, and as many heads of chains lead to them.

use super::waiters::Waiters;
use crate::circuit::cells::{Cells, Handle};
use crate::circuit::ids::{ValueId, WaiterId};
use crate::tables::{Table, more_for};
use rustc_hash::FxHasher;
use std::hash::Hasher;

#[derive(Debug)]
struct Value {
    start: usize,
    length: u32,
    hash: u32,
    /// The next entry with the same head.
    next: ValueId,
    /// A heap of waiters.
    waiting: WaiterId,
    /// The greatest rank of a sure member.
    last: Option<u64>,
}

#[derive(Debug, Default)]
pub struct Values {
    entries: Table<ValueId, Value>,
    heads: Vec<ValueId>,
    texts: Vec<u8>,
    waiters: Waiters,
    /// How many waiters there are before those who wait no longer are looked for.
    sweep_at: usize,
}

/// Fewer waiters are not looked through.
const SWEEP_MIN: usize = 64;

impl Values {
    /// The id of a text, if it is there.
    pub fn find(&self, text: &str) -> Option<ValueId> {
        let hash = hash_of(text);
        let mut at = *self.heads.get(self.head_of(hash))?;
        while let Some(entry) = self.entries.find(at) {
            if entry.hash == hash && self.text(entry) == text.as_bytes() {
                return Some(at);
            }
            at = entry.next;
        }
        None
    }

    /// The id of a text, which is there from now on.
    pub fn intern(&mut self, text: &str) -> ValueId {
        if let Some(id) = self.find(text) {
            return id;
        }
        let hash = hash_of(text);
        let missing = (self.texts.len() + text.len()).saturating_sub(self.texts.capacity());
        if missing > 0 {
            let more = more_for::<u8>(self.texts.len()).max(missing);
            self.texts.reserve_exact(more);
        }
        let start = self.texts.len();
        self.texts.extend_from_slice(text.as_bytes());
        let id = self.entries.push(Value {
            start,
            length: text.len() as u32,
            hash,
            next: ValueId::NONE,
            waiting: WaiterId::NONE,
            last: None,
        });
        if self.heads.len() < self.entries.capacity() {
            self.spread();
        } else {
            self.link(id);
        }
        id
    }

    /// Whether a sure member of at least a rank has a text.
    pub fn has(&self, text: &str, bound: u64) -> bool {
        let last = self.find(text).and_then(|id| self.entries[id].last);
        last.is_some_and(|last| last >= bound)
    }

    /// A sure member has a text.
    pub fn list(&mut self, text: &str, rank: u64) -> ValueId {
        let id = self.intern(text);
        let entry = &mut self.entries[id];
        entry.last = entry.last.max(Some(rank));
        id
    }

    /// A truth waits for a member with a text.
    pub fn wait(&mut self, text: &str, bound: u64, or: Handle, cells: &mut Cells) {
        if self.waiters.count() >= self.sweep_at.max(SWEEP_MIN) {
            self.drop_decided(cells);
        }
        let id = self.intern(text);
        self.entries[id].waiting = self.waiters.push(self.entries[id].waiting, bound, or);
    }

    /// Removes and returns a truth that waited for a member with this value at this rank.
    pub fn pop(&mut self, id: ValueId, rank: u64) -> Option<Handle> {
        let entry = &mut self.entries[id];
        self.waiters.pop(&mut entry.waiting, rank)
    }

    pub fn bytes(&self) -> usize {
        self.entries.bytes()
            + self.heads.capacity() * size_of::<ValueId>()
            + self.texts.capacity()
            + self.waiters.bytes()
    }

    /// Drops waiters that are decided. Doing so when their number has doubled keeps it cheap.
    fn drop_decided(&mut self, cells: &mut Cells) {
        for entry in self.entries.iter_mut() {
            let waiting = self.waiters.drain(entry.waiting);
            cells.account.spend(waiting.len() as u64);
            entry.waiting = WaiterId::NONE;
            for (bound, or) in waiting {
                if cells.is_open(or) {
                    entry.waiting = self.waiters.push(entry.waiting, bound, or);
                }
            }
        }
        self.sweep_at = 2 * self.waiters.count();
    }

    fn text(&self, entry: &Value) -> &[u8] {
        &self.texts[entry.start..entry.start + entry.length as usize]
    }

    fn head_of(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.heads.len() as u64) >> 32) as usize
    }

    /// Gives every entry a head of its own, on average.
    fn spread(&mut self) {
        self.heads = vec![ValueId::NONE; self.entries.capacity()];
        for id in self.entries.ids() {
            self.link(id);
        }
    }

    fn link(&mut self, id: ValueId) {
        let head = self.head_of(self.entries[id].hash);
        self.entries[id].next = self.heads[head];
        self.heads[head] = id;
    }
}

/// Its high bits choose the head, so they have to be mixed well.
fn hash_of(text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    (hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::cells::Kind;
    use crate::ledger::Account;

    #[test]
    fn those_who_wait_for_a_value_are_told_the_widest_part_first() {
        let (mut cells, mut values) = (Cells::new(Account::free()), Values::default());
        let bounds = (0..1_000_u64).map(|at| at * 7_919 % 1_000);
        let waiting: Vec<(u64, Handle)> = bounds
            .map(|bound| (bound, cells.add(Kind::Value)))
            .collect();
        for (bound, or) in &waiting {
            values.wait(&(bound % 3).to_string(), *bound, *or, &mut cells);
        }
        let id = values.list("1", 500);
        let mut bounds = Vec::new();
        while let Some(or) = values.pop(id, 500) {
            let waiter = waiting.iter().find(|(_, own)| *own == or);
            bounds.push(waiter.expect("it waits").0);
        }
        let expected: Vec<u64> = (0..=500).filter(|bound| bound % 3 == 1).collect();
        assert_eq!(bounds, expected);
        assert!(values.has("1", 500) && !values.has("1", 501) && !values.has("2", 0));
    }

    #[test]
    fn those_who_are_decided_wait_no_longer() {
        let (mut cells, mut values) = (Cells::new(Account::free()), Values::default());
        for _ in 0..10_000 {
            let or = cells.add(Kind::Value);
            values.wait("x", 0, or, &mut cells);
            cells.decide(or, crate::circuit::Atom::Nothing);
        }
        assert!(values.waiters.count() <= 2 * SWEEP_MIN);
    }
}
