//! Sums of what is behind a node.
//!
//! Such a sum is known when no member comes any more and all behind the node are decided. From
//! then on one pass from the last member to the first adds up the numbers and passes the nodes
//! that sums. Numbers are added from left to right, though: where that makes a difference, each
//! node adds up its own.

use super::Circuit;
use super::cells::{Atom, Handle, Kind, Wire};
use super::chains::is_beside;
use super::folds::{number_of, stays_exact};
use super::ids::{FoldedId, MemberId, SuffixId, Tag};
use super::sinks::Entry;
use crate::plan::Axis;

/// The members of a set, for the nodes that ask for the sum of those behind them.
#[derive(Debug, Default)]
pub struct Suffix {
    members: Vec<Member>,
    /// The sums asked for, each with the least order of the nodes that lead to its members.
    sums: Vec<(u64, Handle)>,
    /// Receives the decisions about members once the set is complete.
    cell: Option<Handle>,
    /// The members from here on are decided, and all nodes that ask for no others are told.
    frontier: usize,
    sum: f64,
    magnitude: f64,
    is_rough: bool,
    /// The bytes that are in the account.
    charged: usize,
}

#[derive(Debug)]
struct Member {
    /// The order of the node along the axis that leads to it.
    from: u64,
    order: u64,
    when: Wire,
    number: f64,
}

impl Suffix {
    fn bytes(&self) -> usize {
        self.members.capacity() * size_of::<Member>()
            + self.sums.capacity() * size_of::<(u64, Handle)>()
    }

    /// The sum of the members from the frontier on, and how many were looked at for it.
    fn sum(&self) -> (f64, usize) {
        if !self.is_rough {
            return (self.sum, 0);
        }
        let behind = self.members[self.frontier..].iter();
        let mut behind: Vec<&Member> = behind.filter(|member| member.when.is_true()).collect();
        behind.sort_by_key(|member| member.order);
        let sum = behind.iter().fold(0.0, |sum, member| sum + member.number);
        (sum, behind.len())
    }
}

impl Circuit {
    /// The sum of what is behind the opening node.
    pub(super) fn sum_behind(&mut self, spec: FoldedId, depth: usize) -> Wire {
        let frame = self.frames[depth];
        let step = self.routes.folds[spec].step;
        let is_later = self.table[step].axis == Axis::Following;
        let cell = self.cells.add(Kind::Awaited);
        if is_later && !is_beside(frame.kind) {
            self.suffix_of(spec, depth);
            self.extra_of(depth).folds.later.push((spec, cell));
        } else {
            self.begin_suffix(spec, depth, frame.order + 1, cell);
        }
        Wire::Cell(cell)
    }

    /// A node asks for members that nodes from an order on lead to.
    pub(super) fn begin_suffix(&mut self, spec: FoldedId, depth: usize, from: u64, cell: Handle) {
        let id = self.suffix_of(spec, depth);
        self.folding.suffixes[id].sums.push((from, cell));
        self.charge_suffix(id);
    }

    /// Whether a node asked for the sum of what is behind it.
    pub(super) fn has_suffix(&mut self, spec: FoldedId, depth: usize) -> bool {
        self.folds_of(spec, depth).suffixes.get(spec).is_some()
    }

    fn suffix_of(&mut self, spec: FoldedId, depth: usize) -> SuffixId {
        let suffixes = &self.folds_of(spec, depth).suffixes;
        if let Some(id) = suffixes.get(spec) {
            return *id;
        }
        let id = self.folding.suffixes.add(Suffix::default());
        self.folds_of(spec, depth).suffixes.insert(spec, id);
        id
    }

    /// The members that the closing node led to join. Their values are known.
    pub(super) fn join_suffix(&mut self, spec: FoldedId, depth: usize, entries: Vec<Entry>) {
        let from = self.frames[depth].order;
        let id = self.suffix_of(spec, depth);
        for entry in entries {
            let number = match self.cells.resolve(&entry.value) {
                Wire::Known(atom) => number_of(&atom),
                Wire::Cell(_) => f64::NAN,
            };
            self.cells.unpin(&entry.value);
            self.folding.suffixes[id].members.push(Member {
                from,
                order: entry.order,
                when: entry.when,
                number,
            });
        }
        self.charge_suffix(id);
    }

    fn charge_suffix(&mut self, id: SuffixId) {
        let suffix = &mut self.folding.suffixes[id];
        let bytes = suffix.bytes();
        self.held_bytes = self.held_bytes + bytes - std::mem::replace(&mut suffix.charged, bytes);
    }

    /// The set is complete.
    pub(super) fn close_suffix(&mut self, id: SuffixId) {
        let suffix = &mut self.folding.suffixes[id];
        suffix.members.sort_by_key(|member| member.from);
        suffix.frontier = suffix.members.len();
        let cell = self.cells.add_pinned(Kind::Suffix(id));
        suffix.cell = Some(cell);
        for (at, member) in suffix.members.iter_mut().enumerate() {
            let when = self.cells.resolve(&member.when);
            if let Wire::Cell(input) = when {
                self.cells.depend(cell, input, Tag(at as u32));
            }
            self.cells.unpin(&std::mem::replace(&mut member.when, when));
        }
        self.settle_suffix(id);
    }

    /// An undecided member is decided.
    pub(super) fn tell_suffix(&mut self, id: SuffixId, member: MemberId, atom: Atom) {
        let suffix = &mut self.folding.suffixes[id];
        suffix.members[member.index()].when = Wire::Known(atom);
        if suffix.frontier == member.index() + 1 {
            self.settle_suffix(id);
        }
    }

    /// Goes back over decided members, and decides the sums that are complete on the way.
    fn settle_suffix(&mut self, id: SuffixId) {
        loop {
            let suffix = &mut self.folding.suffixes[id];
            let next = suffix.frontier.checked_sub(1);
            let next = next.map(|at| &suffix.members[at]);
            let passed = |from: u64| next.is_none_or(|member| member.from < from);
            if let Some((_, cell)) = suffix.sums.pop_if(|(from, _)| passed(*from)) {
                if self.cells.is_open(cell) {
                    let (sum, looks) = suffix.sum();
                    self.cells.account.spend(looks as u64);
                    self.pairs += looks as u64;
                    self.cells.decide(cell, Atom::Number(sum));
                }
                continue;
            }
            match next.map(|member| (&member.when, member.number)) {
                Some((Wire::Known(atom), number)) => {
                    if atom.holds() {
                        suffix.is_rough |= !stays_exact(&mut suffix.magnitude, number);
                        suffix.sum += number;
                    }
                    suffix.frontier -= 1;
                    self.cells.account.spend(1);
                }
                Some((Wire::Cell(_), _)) => return,
                None => break,
            }
        }
        self.free_suffix(id);
    }

    fn free_suffix(&mut self, id: SuffixId) {
        let suffix = std::mem::take(&mut self.folding.suffixes[id]);
        self.held_bytes -= suffix.charged;
        if let Some(cell) = suffix.cell {
            self.cells.retire(cell);
        }
        self.folding.suffixes.free(id);
    }
}
