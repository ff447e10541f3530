//! Results, and the values beside them.

use super::cells::{Atom, Kind, Message, Wire};
use super::evaluation::Focus;
use super::frames::Spot;
use super::gates::INPUT;
use super::ids::{InfoId, SinkId, Tag};
use super::sinks::{Entry, FirstPart, SinkKind};
use super::{Action, Circuit};
use crate::plan::TargetId;

impl Circuit {
    pub(super) fn add_output(&mut self, target: TargetId, spot: Spot, when: Wire) {
        let info = self.info_of(spot);
        self.infos[info].references += 1;
        self.infos[info].outputs += 1;
        let cell = self.cells.add_pinned(Kind::Output { target, info });
        match when {
            Wire::Cell(input) => self.cells.depend(cell, input, INPUT),
            // The candidate is attached later in this event: the decision takes the same way.
            Wire::Known(atom) => self.cells.queue.push(Message {
                to: cell,
                tag: INPUT,
                atom: Some(atom),
            }),
        }
        if self.plan.beside(target).len() > 0 {
            self.bind(target, info, spot);
        }
    }

    /// A result is decided, or will be none.
    pub(super) fn decide_output(&mut self, target: TargetId, info: InfoId, is_result: bool) {
        let entry = &mut self.infos[info];
        let candidate = entry.candidate;
        entry.outputs -= 1;
        if is_result {
            self.actions.push(Action::Select { target, candidate });
        }
        self.decide_bind(target, info, is_result);
        let entry = &mut self.infos[info];
        if entry.outputs == 0 && candidate.is_some() && !entry.is_released {
            entry.is_released = true;
            self.actions.push(Action::Release { candidate });
        }
        self.release(info);
    }

    /// Wires the values beside a possible result.
    fn bind(&mut self, target: TargetId, info: InfoId, spot: Spot) {
        let plan = self.plan.clone();
        let (sink, cell) = self.add_listening(SinkKind::Bind { target, info });
        self.infos[info].references += 1;
        for (index, (_, part)) in plan.beside(target).enumerate() {
            let value = if plan.part(part).is_set() {
                self.first(part, spot, FirstPart::Optional)
            } else {
                self.evaluate(part, spot, &Focus::default())
            };
            if let Wire::Cell(input) = value {
                self.cells.depend(cell, input, Tag(index as u32));
            }
            self.sinks[sink].entries.push(Entry {
                order: 0,
                when: Wire::TRUE,
                value,
            });
        }
        self.infos[info].binds.insert(target, sink);
    }

    /// The values beside a node matter from now on, or no longer.
    fn decide_bind(&mut self, target: TargetId, info: InfoId, is_result: bool) {
        let Some(sink) = self.infos[info].binds.remove(target) else {
            return;
        };
        if is_result {
            self.sinks[sink].pending = 1;
            self.settle_bind(sink);
        } else {
            self.drop_bind(sink, info);
        }
    }

    fn drop_bind(&mut self, sink: SinkId, info: InfoId) {
        if let Some(cell) = self.sinks[sink].cell {
            self.cells.retire(cell);
        }
        self.sinks.free(sink);
        self.release(info);
    }

    /// Reports the values beside a result once all are known and the result is decided.
    pub(super) fn settle_bind(&mut self, id: SinkId) {
        let sink = &self.sinks[id];
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
