//! Equality of sets, by value: each member of a shared set is listed once, under its value.
//!
//! A comparison between nodes of the context and a set that many contexts share (the whole
//! document's, or the siblings before or behind a node) never looks at the members. It asks the
//! index of the set for a value and a part of the set, given by the order of the members:
//!
//! ```text
//! //b[. = //k]                          all members
//! //a[b = preceding-sibling::a/b]       the members before this a
//! //b[../following-sibling::a/b = .]    the members behind the parent
//! ```
//!
//! A question is answered yes when a sure member has the value, and no when the part is complete
//! and nothing in it is undecided.

use super::Circuit;
use super::cells::{Atom, Handle, Kind, Wire};
use super::frames::{Spot, Target};
use super::sharing::{Shared, SharedPlace};
use super::sinks::{Entry, SinkKind};
use crate::plan::Axis;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A part of a set: the members whose order is at least `from` and below `until`.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    from: u64,
    until: u64,
}

impl Cut {
    const ALL: Cut = Cut {
        from: 0,
        until: u64::MAX,
    };

    fn has(self, order: u64) -> bool {
        (self.from..self.until).contains(&order)
    }
}

/// Somebody asks whether a value is in a part of a set.
#[derive(Clone, Copy, Debug)]
struct Question {
    cut: Cut,
    /// An `Or` that the answer decides.
    or: Handle,
}

/// The sure members with one value: the first and the last, and who waits for more.
#[derive(Debug, Default)]
struct Listed {
    first: Option<u64>,
    last: Option<u64>,
    waiting: Vec<Question>,
}

impl Listed {
    /// Whether a part has a member. A part is a beginning or an end of the set.
    fn is_in(&self, cut: Cut) -> bool {
        self.first.is_some_and(|first| cut.has(first))
            || self.last.is_some_and(|last| cut.has(last))
    }

    fn add(&mut self, order: u64) {
        self.first = Some(self.first.map_or(order, |first| first.min(order)));
        self.last = Some(self.last.map_or(order, |last| last.max(order)));
    }
}

/// The members of a shared set, by value.
#[derive(Debug, Default)]
pub struct Index {
    values: FxHashMap<Rc<str>, Listed>,
    /// All members, whatever their value.
    any: Listed,
    /// Members that are not settled, by order.
    undecided: BTreeMap<u64, u32>,
    /// Questions by the end of their part: those that nothing undecided is before any more are
    /// answered.
    until: BTreeMap<u64, Vec<Handle>>,
    /// Questions by the beginning of their part, for the time when the set is complete.
    from: BTreeMap<u64, Vec<Handle>>,
    pub is_closed: bool,
    /// The sink that hears of unsettled members.
    sink: u32,
    /// Who still refers to it: its set, unsettled members.
    references: u32,
    /// Bytes that it takes outside its own record.
    bytes: usize,
}

/// Bytes of a table's entry and of a shared text beside what they hold.
const LISTED: usize = 40;

impl Circuit {
    /// A comparison for equality with a shared set, at the opening node.
    pub(super) fn compare_shared(&mut self, shared: &Shared, local: u32, spot: Spot) -> Wire {
        let Some((index, cut)) = self.part_of_set(shared) else {
            return Wire::FALSE;
        };
        let has_any = self.ask(index, None, cut);
        if has_any.is_false() {
            return has_any;
        }
        let or = self.open_or(1);
        let sink = self.add_relay(SinkKind::Ask { index, cut, or });
        let cell = self.cells.add(Kind::Sink(sink));
        self.cells.pin(&Wire::Cell(cell));
        self.sinks[sink as usize].cell = Some(cell);
        self.indexes[index as usize].references += 1;
        self.collect_merged(local, spot, Target::Sink(sink), Wire::TRUE);
        let some = self.cells.resolve(&Wire::Cell(or));
        self.and(has_any, some)
    }

    /// The index of a shared set as the opening node sees it, and its part of it.
    fn part_of_set(&mut self, shared: &Shared) -> Option<(u32, Cut)> {
        let (ups, spec, axis) = match &shared.place {
            SharedPlace::Root(set) => {
                let index = self.root_indexes.iter().find(|(own, _)| own == set);
                return index.map(|(_, index)| (*index, Cut::ALL));
            }
            SharedPlace::Beside { ups, spec, axis } => (ups, *spec, *axis),
        };
        let mut depth = self.frames.len() - 1;
        for &test in ups.iter() {
            depth = depth.checked_sub(1)?;
            if !self.passes(depth, test) {
                return None;
            }
        }
        if depth == 0 || super::chains::is_beside(self.frames[depth].kind) {
            return None;
        }
        let order = self.frames[depth].order;
        let index = self.index_beside(spec, depth);
        let cut = match axis {
            Axis::PrecedingSibling => Cut {
                from: 0,
                until: order,
            },
            _ => Cut {
                from: order + 1,
                until: u64::MAX,
            },
        };
        Some((index, cut))
    }

    fn index_beside(&mut self, spec: u32, depth: usize) -> u32 {
        let indexes = &self.extras[depth - 1].indexes;
        if let Some((_, index)) = indexes.iter().find(|(own, _)| *own == spec) {
            return *index;
        }
        let index = self.add_index();
        let extra = &mut self.extras[depth - 1];
        extra.indexes.push((spec, index));
        extra.is_used = true;
        index
    }

    fn add_index(&mut self) -> u32 {
        let id = self.free_indexes.pop().unwrap_or(self.indexes.len() as u32);
        let sink = self.add_relay(SinkKind::Unsettled { index: id });
        let cell = self.cells.add(Kind::Sink(sink));
        self.cells.pin(&Wire::Cell(cell));
        self.sinks[sink as usize].cell = Some(cell);
        let index = Index {
            sink,
            references: 1,
            ..Index::default()
        };
        if id as usize == self.indexes.len() {
            self.indexes.push(index);
        } else {
            self.indexes[id as usize] = index;
        }
        id
    }

    /// The sets of the whole document that are compared by value.
    pub(super) fn open_root_indexes(&mut self) {
        for set in self.routes.root_indexes.clone() {
            let index = self.add_index();
            self.root_indexes.push((set, index));
            let sink = self.add_relay(SinkKind::Indexed {
                index,
                order: 0,
                is_whole: true,
            });
            self.indexes[index as usize].references += 1;
            self.collect_merged(set, Spot::Opening, Target::Sink(sink), Wire::TRUE);
        }
    }

    /// The opening node leads to members of shared sets of siblings.
    pub(super) fn index_member(&mut self, specs: &[u32], depth: usize) {
        let order = self.frames[depth].order;
        for &spec in specs {
            let route = self.routes.indexes[spec as usize];
            let when = self.predicates(route, Spot::Opening);
            if when.is_false() {
                continue;
            }
            let index = self.index_beside(spec, depth);
            let sink = self.add_relay(SinkKind::Indexed {
                index,
                order,
                is_whole: false,
            });
            self.indexes[index as usize].references += 1;
            self.arrive(route, Spot::Opening, Target::Sink(sink), when);
            self.close_sink(sink);
        }
    }

    /// A node joins an indexed set, under a condition.
    pub(super) fn add_indexed(&mut self, id: u32, order: u64, spot: Spot, when: Wire) {
        let value = self.value_of(spot);
        if let (true, Wire::Known(Atom::Text(text))) = (when.is_true(), &value) {
            return self.list(id, order, &text.clone());
        }
        let index = &mut self.indexes[id as usize];
        *index.undecided.entry(order).or_default() += 1;
        index.references += 1;
        let sink = index.sink;
        self.add_unsettled(sink, order, when, value);
    }

    /// A member of an indexed set is settled.
    pub(super) fn settle_indexed(&mut self, id: u32, order: u64, value: Option<Rc<str>>) {
        let index = &mut self.indexes[id as usize];
        if let Some(count) = index.undecided.get_mut(&order) {
            *count -= 1;
            if *count == 0 {
                index.undecided.remove(&order);
            }
        }
        if let Some(value) = value {
            self.list(id, order, &value);
        }
        self.settle_questions(id);
        self.release_index(id);
    }

    /// A sure member is listed under its value; whoever waited for it is told.
    fn list(&mut self, id: u32, order: u64, value: &Rc<str>) {
        let index = &mut self.indexes[id as usize];
        index.any.add(order);
        let count = index.values.len();
        index.values.entry(value.clone()).or_default().add(order);
        let grown = if index.values.len() > count {
            size_of::<Listed>() + LISTED + value.len()
        } else {
            0
        };
        index.bytes += grown;
        self.held_bytes += grown;
        let mut told = Vec::new();
        let listed = index.values.get_mut(value);
        let own = listed.map(|listed| &mut listed.waiting);
        for waiting in own.into_iter().chain([&mut index.any.waiting]) {
            self.cells.work += waiting.len() as u64;
            waiting.retain(|question| {
                let is_here = question.cut.has(order);
                if is_here {
                    told.push(question.or);
                }
                !is_here && self.cells.is_open(question.or)
            });
        }
        for or in told {
            self.cells.decide(or, Atom::Truth(true));
        }
    }

    /// Whether a part of a set has a member, with a value if one is given.
    pub(super) fn ask(&mut self, id: u32, value: Option<&Rc<str>>, cut: Cut) -> Wire {
        let index = &mut self.indexes[id as usize];
        let listed = match value {
            Some(value) => index.values.get(value),
            None => Some(&index.any),
        };
        if listed.is_some_and(|listed| listed.is_in(cut)) {
            return Wire::TRUE;
        }
        let is_complete = cut.until != u64::MAX || index.is_closed;
        if is_complete && index.undecided.range(cut.from..cut.until).next().is_none() {
            return Wire::FALSE;
        }
        let or = self.open_or(1);
        self.cells.pin(&Wire::Cell(or));
        let index = &mut self.indexes[id as usize];
        index.references += 1;
        let listed = match value {
            Some(value) => index.values.entry(value.clone()).or_default(),
            None => &mut index.any,
        };
        listed.waiting.push(Question { cut, or });
        let grown = 2 * size_of::<Question>() + LISTED;
        index.bytes += grown;
        self.held_bytes += grown;
        if cut.until == u64::MAX {
            index.from.entry(cut.from).or_default().push(or);
        } else {
            index.until.entry(cut.until).or_default().push(or);
        }
        Wire::Cell(or)
    }

    /// A node of the context of a comparison is settled: it asks for its value.
    pub(super) fn settle_ask(&mut self, id: u32, at: usize) {
        let sink = &mut self.sinks[id as usize];
        let SinkKind::Ask { index, cut, or } = sink.kind else {
            return;
        };
        let entry = &mut sink.entries[at];
        if let (true, Wire::Known(Atom::Text(text))) = (entry.when.is_true(), &entry.value) {
            let text = text.clone();
            let answer = self.ask(index, Some(&text), cut);
            self.or_add(or, &answer);
        }
        self.finish_ask(id);
    }

    /// Ends a comparison once all nodes of its context have asked.
    pub(super) fn finish_ask(&mut self, id: u32) {
        let sink = &mut self.sinks[id as usize];
        let SinkKind::Ask { index, or, .. } = sink.kind else {
            return;
        };
        if sink.open > 0 || (sink.pending > 0 && self.cells.is_open(or)) {
            return;
        }
        let Some(cell) = sink.cell.take() else { return };
        self.held_bytes -= sink.entries.len() * size_of::<Entry>();
        sink.entries = Vec::new();
        self.cells.decide(cell, Atom::Nothing);
        self.cells.unpin(&Wire::Cell(cell));
        self.or_close(or);
        self.free_sinks.push(id);
        self.release_index(index);
    }

    /// Answers the questions about parts that nothing undecided is in any more.
    fn settle_questions(&mut self, id: u32) {
        let index = &mut self.indexes[id as usize];
        let mut over = Vec::new();
        let first = index.undecided.keys().next().copied();
        while let Some(entry) = index.until.first_entry()
            && first.is_none_or(|first| *entry.key() <= first)
        {
            over.extend(entry.remove());
        }
        if index.is_closed {
            let last = index.undecided.keys().next_back().copied();
            while let Some(entry) = index.from.last_entry()
                && last.is_none_or(|last| *entry.key() > last)
            {
                over.extend(entry.remove());
            }
        }
        for or in over {
            self.or_close(or);
            self.cells.unpin(&Wire::Cell(or));
            self.release_index(id);
        }
    }

    /// No member of an indexed set is still to come.
    pub(super) fn close_index(&mut self, id: u32) {
        self.indexes[id as usize].is_closed = true;
        self.settle_questions(id);
        self.release_index(id);
    }

    /// One less refers to an index; the last one lets it go.
    pub(super) fn release_index(&mut self, id: u32) {
        let index = &mut self.indexes[id as usize];
        index.references -= 1;
        if index.references > 0 {
            return;
        }
        let sink = index.sink;
        self.held_bytes -= index.bytes;
        self.indexes[id as usize] = Index::default();
        self.free_indexes.push(id);
        if let Some(cell) = self.sinks[sink as usize].cell.take() {
            // What is still on its way is about members that are settled.
            self.cells.decide(cell, Atom::Nothing);
            self.cells.unpin(&Wire::Cell(cell));
        }
        let entries = std::mem::take(&mut self.sinks[sink as usize].entries);
        self.held_bytes -= entries.len() * size_of::<Entry>();
        self.free_sinks.push(sink);
    }
}
