//! Nodes of a set that a sink has to look at again: once their condition or value is known.

use super::Circuit;
use super::cells::{Atom, Wire};
use super::frames::Spot;
use super::ids::{IndexId, SinkId, Tag};
use super::sinks::{Entry, SURE, SinkKind};

impl Circuit {
    /// Adds a node to the entries of a sink; its place there.
    pub(super) fn add_entry(
        &mut self,
        id: SinkId,
        spot: Spot,
        when: Wire,
        value: Wire,
        side: usize,
    ) -> usize {
        let order = self.order_of(spot);
        self.add_ordered(id, Entry { order, when, value }, side)
    }

    /// Adds an entry to a sink that is one side of a comparison, or on side 0; its place there.
    pub(super) fn add_ordered(&mut self, id: SinkId, entry: Entry, side: usize) -> usize {
        let sink = &mut self.sinks[id];
        let tag = (sink.entries.len() << 2 | side << 1) as u32;
        let cell = sink.cell;
        if !entry.is_settled() && sink.pending != SURE {
            sink.pending += 1;
        }
        let inputs = [(&entry.when, tag), (&entry.value, tag | 1)];
        for (wire, tag) in inputs {
            if let (Wire::Cell(input), Some(cell)) = (wire, cell) {
                self.cells.depend(cell, *input, Tag(tag));
                self.sinks[id].awaited += 1;
            }
        }
        self.held_bytes += size_of::<Entry>();
        let entries = &mut self.sinks[id].entries;
        // Most sets have one node, and a vector begins with room for four.
        if entries.capacity() == 0 {
            entries.reserve_exact(1);
        }
        entries.push(entry);
        entries.len() - 1
    }

    /// Something about an entry of a sink is known now.
    pub(super) fn tell_sink(&mut self, id: SinkId, tag: Tag, atom: Atom) {
        let mut id = id;
        if let SinkKind::Pair { pair, .. } = self.sinks[id].kind {
            id = self.set_pairs[pair].sinks[tag.index() >> 1 & 1];
        }
        if let SinkKind::Bind { .. } = self.sinks[id].kind {
            self.sinks[id].entries[tag.index()].value = Wire::Known(atom);
            return self.settle_bind(id);
        }
        let index = tag.index() >> 2;
        let sink = &mut self.sinks[id];
        sink.awaited -= 1;
        let entry = &mut sink.entries[index];
        let was_settled = entry.is_settled();
        if tag.0 & 1 == 0 {
            entry.when = Wire::Known(atom);
        } else {
            entry.value = Wire::Known(atom);
        }
        if was_settled || !entry.is_settled() {
            if let SinkKind::First { .. } = sink.kind {
                self.settle_first(id);
            }
            return;
        }
        if sink.pending != SURE {
            sink.pending -= 1;
        }
        match sink.kind {
            SinkKind::First { .. } => self.settle_first(id),
            SinkKind::Pair { .. } => self.settle_pair(id, index),
            SinkKind::Tally { .. } => self.settle_tally(id, index),
            SinkKind::Ask(_) => self.settle_ask(id, index),
            SinkKind::Unsettled { index: of } => self.settle_member(id, index, of),
            _ => self.settle_all(id),
        }
    }

    /// A member of an index is settled: it is listed, or out.
    fn settle_member(&mut self, id: SinkId, at: usize, index: IndexId) {
        let sink = &mut self.sinks[id];
        let entry = &sink.entries[at];
        let order = entry.order;
        let value = match &entry.value {
            Wire::Known(Atom::Text(text)) if entry.when.is_true() => Some(text.clone()),
            _ => None,
        };
        if sink.awaited == 0 {
            self.held_bytes -= sink.entries.len() * size_of::<Entry>();
            sink.entries.clear();
        }
        self.settle_indexed(index, order, value);
    }
}
