//! Comparisons with a set that many nodes share: its members are summed up once.
//!
//! A comparison between values of a node and a set of the whole document, of its parent, or of
//! what is before or behind the node never looks at the members. It asks the index of the set for
//! a part of it, given by the order of the members:
//!
//! ```text
//! //b[. = //k]                          all members
//! //a[@n > ../a/@n]                     all members, one set for each parent
//! //a[b != preceding-sibling::a/b]      the members before this a
//! //b[../following::a/b < .]            the members behind the parent
//! ```
//!
//! There is an index for each set and operator: it keeps the sure members as that operator needs
//! them (`summary`), the orders of undecided ones (`pending`), and the nodes that wait (`slots`).
//! A question is answered yes when a sure member compares, and no when the part is complete and
//! nothing in it is undecided.

mod asking;
mod pending;
mod slots;
mod summary;
mod values;
mod waiters;

pub use asking::Ask;

use super::Circuit;
use super::cells::{Atom, Wire};
use super::frames::{Spot, Target};
use super::ids::{IndexId, SharedId, SinkId};
use super::routes::Scope;
use super::sinks::{Entry, SinkKind};
use crate::plan::Comparison;
use pending::Pending;
use slots::Slots;
use std::rc::Rc;
use summary::Summary;

/// On which side of its key the members of a part are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Those of a lower order.
    Before,
    /// Those of its order and above.
    #[default]
    Behind,
}

/// The members of a shared set, for one operator.
#[derive(Debug)]
pub struct Index {
    side: Side,
    summary: Summary,
    /// The greatest rank of a sure member.
    last: Option<u64>,
    /// Members that are not settled.
    pending: Pending,
    slots: Slots,
    is_closed: bool,
    /// How many nodes ask whose values are not all known.
    asks: u32,
    /// The sink that hears of unsettled members, or NONE as long as there was none.
    sink: SinkId,
    /// References from its set, from members that are not settled, and from nodes that ask.
    references: u32,
    /// The bytes that are in the account.
    charged: usize,
}

/// When members that a sink hears of join their set.
#[derive(Clone, Copy, Debug)]
pub enum Joining {
    /// At once, with the order of the node that leads to them.
    Order(u64),
    /// When the node at a depth closes.
    Closing(u32),
    /// At once; the set has no parts, and it is complete when the sink closes.
    Whole,
}

/// A member that joins its set when a node closes.
#[derive(Debug)]
pub struct Joiner {
    index: IndexId,
    when: Wire,
    value: Wire,
}

impl Index {
    fn new(side: Side, op: Comparison) -> Index {
        Index {
            side,
            summary: Summary::new(op),
            last: None,
            pending: Pending::default(),
            slots: Slots::default(),
            is_closed: false,
            asks: 0,
            sink: SinkId::NONE,
            references: 1,
            charged: 0,
        }
    }

    /// The rank of a member: a part has those whose rank is at least its bound.
    fn rank(&self, order: u64) -> u64 {
        match self.side {
            Side::Before => !order,
            Side::Behind => order,
        }
    }

    fn bound(&self, key: u64) -> u64 {
        match self.side {
            Side::Before => !key.saturating_sub(1),
            Side::Behind => key,
        }
    }

    /// Whether a part has a sure member.
    fn has_any(&self, key: u64) -> bool {
        self.last.is_some_and(|last| last >= self.bound(key))
    }

    /// Whether all members of a part are known.
    fn is_complete(&self, key: u64) -> bool {
        match self.side {
            Side::Before => self.pending.first().is_none_or(|first| key <= first),
            Side::Behind => self.is_closed && self.pending.last().is_none_or(|last| key > last),
        }
    }

    fn bytes(&self) -> usize {
        self.summary.bytes() + self.pending.bytes() + self.slots.bytes()
    }
}

impl Circuit {
    /// The index of a set under the open node at a depth.
    fn index_under(&mut self, spec: SharedId, depth: usize) -> IndexId {
        let indexes = &self.extras[depth].indexes;
        if let Some(index) = indexes.get(spec) {
            return *index;
        }
        let index = self.add_index(spec);
        self.extra_of(depth).indexes.insert(spec, index);
        index
    }

    fn index_of_document(&mut self, spec: SharedId) -> IndexId {
        if let Some(index) = self.document_indexes.get(spec) {
            return *index;
        }
        let index = self.add_index(spec);
        self.document_indexes.insert(spec, index);
        index
    }

    fn add_index(&mut self, spec: SharedId) -> IndexId {
        let spec = &self.routes.indexes[spec];
        self.indexes.add(Index::new(spec.side, spec.op))
    }

    /// The sets of the whole document.
    pub(super) fn open_root_indexes(&mut self) {
        for spec in self.routes.indexes.ids() {
            if let Some(set) = self.routes.indexes[spec].root {
                let index = self.index_of_document(spec);
                let sink = self.add_indexed_sink(index, Joining::Whole);
                self.collect_merged(set, Spot::Opening, Target::Sink(sink), Wire::TRUE);
            }
        }
    }

    /// The opening node leads to members of shared sets.
    pub(super) fn index_member(&mut self, specs: &[SharedId], depth: usize) {
        let order = self.frames[depth].order;
        for &spec in specs {
            let (route, scope) = {
                let spec = &self.routes.indexes[spec];
                (spec.route, spec.scope)
            };
            self.act_for(route);
            let Some(scope) = scope else {
                let index = self.index_under(spec, depth);
                let sink = self.add_indexed_sink(index, Joining::Whole);
                self.spread(route, Target::Sink(sink), Wire::TRUE);
                self.close_sink(sink);
                continue;
            };
            // Whoever asks later asks for what is behind it.
            if scope != Scope::Closed && !self.is_awaited(spec, depth) {
                continue;
            }
            let when = self.predicates(route, Spot::Opening);
            if when.is_false() {
                continue;
            }
            let index = match scope {
                Scope::Siblings => self.index_under(spec, depth - 1),
                _ => self.index_of_document(spec),
            };
            let joining = match scope {
                Scope::Closed => Joining::Closing(depth as u32),
                _ => Joining::Order(order),
            };
            let sink = self.add_indexed_sink(index, joining);
            self.arrive(route, Spot::Opening, Target::Sink(sink), when);
            self.close_sink(sink);
        }
    }

    /// Whether the opening node may be in a part that is, or will be, compared.
    fn is_awaited(&self, spec: SharedId, depth: usize) -> bool {
        let indexes = match self.routes.indexes[spec].scope {
            Some(Scope::Siblings) => &self.extras[depth - 1].indexes,
            _ => &self.document_indexes,
        };
        let is_asked = |index: &Index| index.asks > 0 || !index.slots.is_empty();
        self.routes.indexes[spec].side == Side::Before
            || indexes
                .get(spec)
                .is_some_and(|&index| is_asked(&self.indexes[index]))
    }

    fn add_indexed_sink(&mut self, index: IndexId, joining: Joining) -> SinkId {
        let state = &mut self.indexes[index];
        state.references += 1;
        // Members below this node come in the order of the nodes that lead to them.
        if let Joining::Order(order) = joining {
            state.pending.add(order);
        }
        self.add_relay(SinkKind::Indexed { index, joining })
    }

    /// A sink is complete.
    pub(super) fn close_indexed(&mut self, id: IndexId, joining: Joining) {
        match joining {
            Joining::Order(order) => {
                self.indexes[id].pending.remove(order);
                self.settle_slots(id);
            }
            Joining::Closing(_) => {}
            Joining::Whole => self.close_index(id),
        }
        self.release_index(id);
    }

    /// A node joins an indexed set, under a condition.
    pub(super) fn add_indexed(&mut self, id: IndexId, joining: Joining, spot: Spot, when: Wire) {
        let value = self.value_of(spot);
        match joining {
            Joining::Order(order) => self.join_index(id, order, when, value),
            Joining::Whole => self.join_index(id, 0, when, value),
            Joining::Closing(depth) => {
                self.cells.pin(&when);
                self.cells.pin(&value);
                self.indexes[id].references += 1;
                self.held_bytes += size_of::<Joiner>();
                let index = id;
                let joiner = Joiner { index, when, value };
                self.extra_of(depth as usize).joiners.push(joiner);
            }
        }
    }

    /// A node closes: what it leads to precedes whatever opens from now on, and what it asked of
    /// the nodes after it begins.
    pub(super) fn close_indexes(&mut self, depth: usize) {
        let order = self.next_order - 1;
        for Joiner { index, when, value } in std::mem::take(&mut self.extras[depth].joiners) {
            self.held_bytes -= size_of::<Joiner>();
            let [now, known] = [&when, &value].map(|wire| self.cells.resolve(wire));
            if !now.is_false() {
                self.join_index(index, order, now, known);
            }
            self.cells.unpin(&when);
            self.cells.unpin(&value);
            self.release_index(index);
        }
        for (sink, serial) in std::mem::take(&mut self.extras[depth].asks) {
            self.begin_ask(sink, serial);
        }
        for (spec, index) in std::mem::take(&mut self.extras[depth].indexes) {
            self.end_index(spec, index);
        }
    }

    pub(super) fn close_document_indexes(&mut self) {
        for (spec, index) in std::mem::take(&mut self.document_indexes) {
            self.end_index(spec, index);
        }
    }

    /// The place of a set is over. Sets without parts are complete when their sink closes.
    fn end_index(&mut self, spec: SharedId, index: IndexId) {
        if self.routes.indexes[spec].scope.is_some() {
            self.close_index(index);
        }
        self.release_index(index);
    }

    fn join_index(&mut self, id: IndexId, order: u64, when: Wire, value: Wire) {
        if let (true, Wire::Known(Atom::Text(text))) = (when.is_true(), &value) {
            return self.list(id, order, &text.clone());
        }
        let index = &mut self.indexes[id];
        index.pending.add(order);
        index.references += 1;
        if index.sink.is_none() {
            let (sink, _) = self.add_listening(SinkKind::Unsettled { index: id });
            self.indexes[id].sink = sink;
        }
        let sink = self.indexes[id].sink;
        self.add_ordered(sink, Entry { order, when, value }, 0);
        self.charge_index(id);
    }

    /// A member of an indexed set is settled.
    pub(super) fn settle_indexed(&mut self, id: IndexId, order: u64, value: Option<Rc<str>>) {
        self.indexes[id].pending.remove(order);
        if let Some(value) = value {
            self.list(id, order, &value);
        }
        self.settle_slots(id);
        self.release_index(id);
    }

    /// A sure member is listed; whoever waited for it is told.
    fn list(&mut self, id: IndexId, order: u64, value: &Rc<str>) {
        let index = &mut self.indexes[id];
        let rank = index.rank(order);
        index.last = index.last.max(Some(rank));
        let at = index.slots.place(order);
        let places = match index.side {
            Side::Before => index.slots.from(at),
            Side::Behind => index.slots.until(at),
        };
        self.cells.account.spend(1);
        let cells = &mut self.cells;
        let tell = |or| {
            cells.account.spend(1);
            cells.decide(or, Atom::Truth(true));
        };
        let (summary, slots) = (&mut index.summary, &mut index.slots);
        summary.list(value, rank, slots, places, tell);
        self.charge_index(id);
    }

    /// An indexed set is complete.
    fn close_index(&mut self, id: IndexId) {
        self.indexes[id].is_closed = true;
        self.settle_slots(id);
    }

    /// Brings the account up to date.
    fn charge_index(&mut self, id: IndexId) {
        let index = &mut self.indexes[id];
        let bytes = index.bytes();
        self.held_bytes = self.held_bytes + bytes - std::mem::replace(&mut index.charged, bytes);
    }

    /// Drops a reference to an index, and with the last one the index.
    pub(super) fn release_index(&mut self, id: IndexId) {
        let index = &mut self.indexes[id];
        index.references -= 1;
        if index.references > 0 {
            return;
        }
        let sink = index.sink;
        self.held_bytes -= index.charged;
        *index = Index::new(Side::default(), Comparison::Ne);
        self.indexes.free(id);
        if sink.is_none() {
            return;
        }
        if let Some(cell) = self.sinks[sink].cell.take() {
            // What is still on its way is about members that are settled.
            self.cells.retire(cell);
        }
        let entries = std::mem::take(&mut self.sinks[sink].entries);
        self.held_bytes -= entries.len() * size_of::<Entry>();
        self.sinks.free(sink);
    }
}
