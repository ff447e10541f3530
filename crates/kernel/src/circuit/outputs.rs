//! Results, and the values beside them.

use super::cells::{Atom, Kind, Message, Wire};
use super::frames::Spot;
use super::sinks::{Entry, FirstPart, SinkKind};
use super::{Action, Circuit};
use crate::plan::NONE;

impl Circuit {
    pub(super) fn add_output(&mut self, target: u32, spot: Spot, when: Wire) {
        let info = self.info_of(spot);
        self.infos[info].references += 1;
        self.infos[info].outputs += 1;
        let cell = self.cells.add(Kind::Output { target, info });
        self.cells.pin(&Wire::Cell(cell));
        match when {
            Wire::Cell(input) => self.cells.depend(cell, input, 0),
            // The candidate is attached later in this event: the decision takes the same way.
            Wire::Known(atom) => self.cells.queue.push(Message {
                to: cell,
                tag: 0,
                atom: Some(atom),
            }),
        }
        if !self.plan.beside(target).is_empty() {
            self.bind(target, info, spot);
        }
    }

    /// A result is decided, or will be none.
    pub(super) fn decide_output(&mut self, target: u32, info: u32, is_result: bool) {
        let entry = &mut self.infos[info];
        let candidate = entry.candidate;
        entry.outputs -= 1;
        if is_result {
            self.actions.push(Action::Select { target, candidate });
        }
        self.decide_bind(target, info, is_result);
        let entry = &mut self.infos[info];
        if entry.outputs == 0 && candidate != NONE && !entry.is_released {
            entry.is_released = true;
            self.actions.push(Action::Release { candidate });
        }
        self.release(info);
    }

    /// Wires the values beside a possible result.
    fn bind(&mut self, target: u32, info: u32, spot: Spot) {
        let plan = self.plan.clone();
        let sink = self.add_relay(SinkKind::Bind { target, info });
        let cell = self.cells.add(Kind::Sink(sink));
        self.cells.pin(&Wire::Cell(cell));
        self.sinks[sink as usize].cell = Some(cell);
        self.infos[info].references += 1;
        for (index, pair) in plan.beside(target).chunks_exact(2).enumerate() {
            let value = self.first(pair[1], spot, FirstPart::Optional);
            if let Wire::Cell(input) = value {
                self.cells.depend(cell, input, index as u32);
            }
            self.sinks[sink as usize].entries.push(Entry {
                order: 0,
                when: Wire::TRUE,
                value,
            });
        }
        self.infos[info].binds.push((target, sink));
    }

    /// The values beside a node matter from now on, or no longer.
    fn decide_bind(&mut self, target: u32, info: u32, is_result: bool) {
        let binds = &mut self.infos[info].binds;
        let Some(at) = binds.iter().position(|(t, _)| *t == target) else {
            return;
        };
        let (_, sink) = binds.swap_remove(at);
        if is_result {
            self.sinks[sink as usize].pending = 1;
            self.settle_bind(sink);
        } else {
            self.drop_bind(sink, info);
        }
    }

    fn drop_bind(&mut self, sink: u32, info: u32) {
        if let Some(cell) = self.sinks[sink as usize].cell {
            self.cells.decide(cell, Atom::Nothing);
            self.cells.unpin(&Wire::Cell(cell));
        }
        self.free_sinks.push(sink);
        self.release(info);
    }

    /// Tells the values beside a result once all are known and it is one.
    pub(super) fn settle_bind(&mut self, id: u32) {
        let sink = &self.sinks[id as usize];
        let SinkKind::Bind { target, info } = sink.kind else {
            return;
        };
        if sink.pending == 0 {
            return;
        }
        let mut values = Vec::with_capacity(sink.entries.len());
        for entry in &sink.entries {
            match &entry.value {
                Wire::Cell(_) => return,
                Wire::Known(Atom::Text(text)) => values.push(Some(text.clone())),
                Wire::Known(_) => values.push(None),
            }
        }
        self.actions.push(Action::Bind {
            target,
            candidate: self.infos[info].candidate,
            values,
        });
        self.drop_bind(id, info);
    }
}
