//! Nodes ask for a part of a shared set, with one value after another.

use super::super::Circuit;
use super::super::cells::{Atom, Handle, Wire};
use super::super::chains::is_beside;
use super::super::frames::{Spot, Target};
use super::super::ids::{IndexId, SinkId, SlotId};
use super::super::routes::Scope;
use super::super::sharing::Shared;
use super::super::sinks::{Entry, SinkKind};
use super::Side;
use crate::plan::PartId;

/// A comparison of the values of a node with a part of a shared set.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    index: IndexId,
    /// Where the part is cut; nothing as long as it has not begun.
    key: Option<u64>,
    /// The slot where it waits, or NONE where the part was complete at once.
    slot: SlotId,
    pub or: Handle,
    /// Whether a value of the node is sure.
    has_value: bool,
}

impl Circuit {
    /// A comparison with a shared set, at the opening node.
    pub(in crate::circuit) fn compare_shared(
        &mut self,
        shared: &Shared,
        local: PartId,
        spot: Spot,
    ) -> Wire {
        let Some((index, depth, key)) = self.part_of_set(shared) else {
            return Wire::FALSE;
        };
        let state = &self.indexes[index];
        if key.is_some_and(|key| state.is_complete(key) && !state.has_any(key)) {
            return Wire::FALSE;
        }
        let or = self.open_or(1);
        let (sink, _) = self.add_listening(SinkKind::Ask(Ask {
            index,
            key: None,
            slot: SlotId::NONE,
            or,
            has_value: false,
        }));
        let state = &mut self.indexes[index];
        (state.references, state.asks) = (state.references + 1, state.asks + 1);
        match key {
            Some(key) => self.cut_ask(sink, key),
            None => {
                let serial = self.sinks[sink].serial;
                self.extra_of(depth).asks.push((sink, serial));
            }
        }
        self.collect_merged(local, spot, Target::Sink(sink), Wire::TRUE);
        self.cells.resolve(&Wire::Cell(or))
    }

    /// The index of a shared set as the opening node sees it, the depth of the node whose part it
    /// is, and where it is cut: what follows a node begins when that closes.
    fn part_of_set(&mut self, shared: &Shared) -> Option<(IndexId, usize, Option<u64>)> {
        let mut depth = self.frames.len() - 1;
        for &test in shared.ups.iter() {
            depth = depth.checked_sub(1)?;
            if !self.passes(depth, test) {
                return None;
            }
        }
        let spec = &self.routes.indexes[shared.spec];
        let Some(scope) = spec.scope else {
            let is_root = spec.root.is_some();
            let index = if is_root {
                self.index_of_document(shared.spec)
            } else {
                self.index_under(shared.spec, depth)
            };
            return Some((index, depth, Some(0)));
        };
        let is_beside = is_beside(self.frames[depth].kind);
        if depth == 0 || is_beside && scope == Scope::Siblings {
            return None;
        }
        let side = spec.side;
        let index = match scope {
            Scope::Siblings => self.index_under(shared.spec, depth - 1),
            _ => self.index_of_document(shared.spec),
        };
        let order = self.frames[depth].order;
        let key = match (side, scope) {
            (Side::Before, _) => Some(order),
            // What follows an attribute begins with the content of its element.
            (Side::Behind, Scope::Opened) if !is_beside => None,
            (Side::Behind, _) => Some(order + 1),
        };
        Some((index, depth, key))
    }

    /// A part is known: its node waits, unless everything in it is known as well.
    fn cut_ask(&mut self, id: SinkId, key: u64) {
        let SinkKind::Ask(ask) = &mut self.sinks[id].kind else {
            return;
        };
        ask.key = Some(key);
        let index = &mut self.indexes[ask.index];
        if !index.is_complete(key) {
            let (slot, passed) = index.slots.add(key, ask.or, &self.cells);
            ask.slot = slot;
            // Only inside nested elements parts come out of order.
            self.cells.account.spend(passed as u64);
            self.pairs += passed as u64;
            let index = ask.index;
            self.charge_index(index);
        }
    }

    /// A node closes that compares with what follows it.
    pub(super) fn begin_ask(&mut self, id: SinkId, serial: u64) {
        let sink = &self.sinks[id];
        if sink.serial != serial || sink.cell.is_none() {
            return;
        }
        let SinkKind::Ask(ask) = sink.kind else {
            return;
        };
        let key = self.next_order;
        let index = &self.indexes[ask.index];
        if index.is_complete(key) && !index.has_any(key) {
            self.cells.decide(ask.or, Atom::Truth(false));
        }
        self.cut_ask(id, key);
        for at in 0..self.sinks[id].entries.len() {
            if self.cells.is_open(ask.or) && self.sinks[id].entries[at].is_settled() {
                self.ask(id, at);
            }
        }
        self.finish_ask(id);
    }

    /// A node of the context of a comparison is settled.
    pub(in crate::circuit) fn settle_ask(&mut self, id: SinkId, at: usize) {
        self.ask(id, at);
        self.finish_ask(id);
    }

    /// A settled node of the context asks with its value.
    fn ask(&mut self, id: SinkId, at: usize) {
        let sink = &mut self.sinks[id];
        let SinkKind::Ask(ask) = &mut sink.kind else {
            return;
        };
        let entry = &sink.entries[at];
        let (true, Wire::Known(Atom::Text(text))) = (entry.when.is_true(), &entry.value) else {
            return;
        };
        ask.has_value = true;
        let Some(key) = ask.key else { return };
        self.cells.account.spend(1);
        let index = &mut self.indexes[ask.index];
        let bound = index.bound(key);
        if index.summary.compares(text, bound) {
            return self.cells.decide(ask.or, Atom::Truth(true));
        }
        let place = match ask.slot {
            SlotId::NONE => None,
            slot => index.slots.find(key, slot),
        };
        if let Some(place) = place {
            let (summary, slots) = (&mut index.summary, &mut index.slots);
            summary.wait(text, bound, place, slots, &mut self.cells);
            let index = ask.index;
            self.charge_index(index);
        }
    }

    /// Ends a comparison once all values of its context are known.
    pub(in crate::circuit) fn finish_ask(&mut self, id: SinkId) {
        let sink = &mut self.sinks[id];
        let SinkKind::Ask(ask) = sink.kind else {
            return;
        };
        let is_open = self.cells.is_open(ask.or);
        if sink.open > 0 || (sink.pending > 0 && is_open) {
            return;
        }
        if ask.key.is_none() && ask.has_value && is_open {
            return;
        }
        let Some(cell) = sink.cell.take() else { return };
        self.held_bytes -= sink.entries.len() * size_of::<Entry>();
        sink.entries = Vec::new();
        self.cells.retire(cell);
        self.sinks.free(id);
        let state = &mut self.indexes[ask.index];
        state.asks -= 1;
        let slots = &mut state.slots;
        let place = ask.key.and_then(|key| slots.find(key, ask.slot));
        match place {
            Some(place) if ask.has_value => slots.get_mut(place).has_all = true,
            // Nothing undecided is in its part, or it has no value to compare.
            _ => self.cells.decide(ask.or, Atom::Truth(false)),
        }
        self.release_index(ask.index);
    }

    /// Decides the comparisons whose part is complete.
    pub(super) fn settle_slots(&mut self, id: IndexId) {
        loop {
            let index = &mut self.indexes[id];
            let complete = match index.side {
                Side::Before => {
                    let first = index.pending.first();
                    index.slots.pop_first(first.unwrap_or(u64::MAX))
                }
                Side::Behind if !index.is_closed => None,
                Side::Behind => {
                    let last = index.pending.last();
                    index.slots.pop_last(last.map_or(0, |last| last + 1))
                }
            };
            let Some(slot) = complete else { break };
            self.cells.account.spend(1);
            if slot.has_all || !index.has_any(slot.key) {
                self.cells.decide(slot.or, Atom::Truth(false));
            }
        }
        self.charge_index(id);
    }
}
