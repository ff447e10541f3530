//! Values that sinks compute once enough of their nodes is known.

use super::cells::{Atom, Wire};
use super::ids::SinkId;
use super::sinks::{Entry, FirstPart, SURE, SinkKind};
use super::{Action, Circuit};
use crate::values;
use std::rc::Rc;

impl Circuit {
    pub(super) fn settle_first(&mut self, id: SinkId) {
        let sink = &mut self.sinks[id];
        let SinkKind::First { part, is_ordered } = sink.kind else {
            return;
        };
        let Some(cell) = sink.cell else { return };
        while sink.head < sink.entries.len() && sink.entries[sink.head].when.is_false() {
            sink.head += 1;
        }
        let is_closed = sink.open == 0;
        let rest = &sink.entries[sink.head..];
        let first = if is_ordered {
            rest.first()
        } else if is_closed {
            let alive = rest.iter().filter(|entry| !entry.when.is_false());
            alive.min_by_key(|entry| entry.order)
        } else {
            return;
        };
        match first {
            None if is_closed => {
                let nothing = if part == FirstPart::Optional {
                    Atom::Nothing
                } else {
                    Atom::Text("".into())
                };
                self.cells.decide(cell, nothing);
            }
            Some(entry) if entry.when.is_true() => {
                if let Wire::Known(atom) = entry.value.clone() {
                    self.cells.decide(cell, atom);
                } else if is_ordered {
                    sink.pending = SURE;
                }
            }
            _ => {}
        }
    }

    /// Sums and joined strings: known when everything is.
    pub(super) fn settle_all(&mut self, id: SinkId) {
        let sink = &mut self.sinks[id];
        let (true, Some(cell)) = (sink.open == 0 && sink.pending == 0, sink.cell) else {
            return;
        };
        let mut sure: Vec<&Entry> = sink.entries.iter().filter(|e| e.when.is_true()).collect();
        sure.sort_by_key(|entry| entry.order);
        let texts = sure.iter().map(|entry| match &entry.value {
            Wire::Known(Atom::Text(text)) => text.clone(),
            _ => "".into(),
        });
        let atom = match sink.kind {
            SinkKind::Sum => Atom::Number(
                texts
                    .map(|text| values::parse_number(text.as_bytes()))
                    .fold(0.0, |sum, number| sum + number),
            ),
            SinkKind::Strings => {
                let texts: Vec<Rc<str>> = texts.collect();
                Atom::Text(texts.join(" ").into())
            }
            SinkKind::List => {
                let mut array = Vec::from(b"[");
                for (place, text) in texts.enumerate() {
                    if place > 0 {
                        array.push(b',');
                    }
                    values::write_json(text.as_bytes(), &mut array);
                }
                array.push(b']');
                Atom::Text(String::from_utf8(array).unwrap_or_default().into())
            }
            _ => return,
        };
        self.cells.decide(cell, atom);
    }

    pub(super) fn settle_tally(&mut self, id: SinkId, index: usize) {
        let sink = &mut self.sinks[id];
        let SinkKind::Tally { target, .. } = sink.kind else {
            return;
        };
        let entry = &sink.entries[index];
        if entry.when.is_true() && entry.is_settled() {
            let number = match &entry.value {
                Wire::Known(Atom::Text(text)) => values::parse_number(text.as_bytes()),
                _ => f64::NAN,
            };
            self.actions.push(Action::Tally { target, number });
        }
        if sink.awaited == 0 {
            self.held_bytes -= sink.entries.len() * size_of::<Entry>();
            sink.entries.clear();
        }
    }
}
