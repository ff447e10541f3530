//! The first of what is behind a node: the next member.
//!
//! All nodes that ask between two members wait for the same cell. A member that is sure decides
//! it; one that is undecided links it to the cell of whoever comes later.

use super::Circuit;
use super::cells::{Handle, Kind, Wire};
use super::chains::is_beside;
use super::folds::{Link, part_of};
use super::frames::{Spot, Target};
use super::ids::{FoldedId, SinkId};
use super::routes::{Fold, Folded};
use super::sinks::SinkKind;
use crate::plan::Axis;
use smallvec::SmallVec;

impl Circuit {
    /// Whether a set is one that others wait for the next member of.
    pub(super) fn is_next(&self, spec: FoldedId) -> bool {
        let Folded { step, fold } = self.routes.folds[spec];
        let axis = self.table[step].axis;
        fold != Fold::Sum && matches!(axis, Axis::FollowingSibling | Axis::Following)
    }

    /// A part of the first node behind the opening one.
    pub(super) fn first_behind(&mut self, spec: FoldedId, depth: usize) -> Wire {
        let step = self.routes.folds[spec].step;
        let is_later = self.table[step].axis == Axis::Following;
        if is_later && !is_beside(self.frames[depth].kind) {
            let cell = self.cells.add(Kind::Awaited);
            self.extra_of(depth).folds.later.push((spec, cell));
            return Wire::Cell(cell);
        }
        self.next_of(spec, depth)
    }

    /// A node closes that asked for the first node behind it.
    pub(super) fn begin_next(&mut self, spec: FoldedId, depth: usize, cell: Handle) {
        let next = self.next_of(spec, depth);
        self.set_link(cell, Link::Next, [Wire::FALSE, Wire::FALSE, next]);
    }

    /// The cell that waits for the next member.
    fn next_of(&mut self, spec: FoldedId, depth: usize) -> Wire {
        let nexts = &self.folds_of(spec, depth).nexts;
        if let Some(cell) = nexts.get(spec) {
            return Wire::Cell(*cell);
        }
        let cell = self.cells.add_pinned(Kind::Awaited);
        self.folds_of(spec, depth).nexts.insert(spec, cell);
        Wire::Cell(cell)
    }

    /// The opening node leads to members that others wait for. All cells are taken off before the
    /// node is asked anything: whoever asks at this node asks for what comes after it.
    pub(super) fn reach_nexts(&mut self, specs: &[FoldedId], depth: usize) {
        let mut waiting: SmallVec<[(FoldedId, Handle); 2]> = SmallVec::new();
        for &spec in specs {
            let nexts = &mut self.folds_of(spec, depth).nexts;
            waiting.extend(nexts.remove(spec).map(|cell| (spec, cell)));
        }
        for (spec, cell) in waiting {
            let step = self.routes.folds[spec].step;
            let way = self.table[step].next;
            let sink = self.add_sink(SinkKind::Next { spec, depth }, cell);
            let when = if self.cells.is_open(cell) {
                self.predicates(step, Spot::Opening)
            } else {
                Wire::FALSE
            };
            if way.is_none() {
                self.add(Target::Sink(sink), Spot::Opening, when);
            } else {
                self.spread(way, Target::Sink(sink), when);
            }
            self.close_sink(sink);
        }
    }

    /// A member is there: the cell that waits takes its part, or passes on if it is not one.
    pub(super) fn reach_next(&mut self, sink: SinkId, spec: FoldedId, spot: Spot, when: Wire) {
        let Some(cell) = self.sinks[sink].cell.take() else {
            return;
        };
        let value = self.part_of(part_of(self.routes.folds[spec].fold), spot);
        if let (true, Wire::Known(atom)) = (when.is_true(), &value) {
            self.cells.decide(cell, atom.clone());
        } else {
            let rest = if when.is_true() {
                Wire::FALSE
            } else {
                let rest = self.cells.add_pinned(Kind::Awaited);
                self.sinks[sink].cell = Some(rest);
                Wire::Cell(rest)
            };
            self.set_link(cell, Link::Next, [when, value, rest]);
        }
        self.cells.unpin(&Wire::Cell(cell));
    }

    /// A node leads to no further members: who still waits does so with those who came since.
    pub(super) fn leave_next(&mut self, spec: FoldedId, depth: usize, cell: Handle) {
        if !self.cells.is_open(cell) {
            return self.cells.unpin(&Wire::Cell(cell));
        }
        let nexts = &mut self.folds_of(spec, depth).nexts;
        match nexts.get(spec).copied() {
            None => nexts.insert(spec, cell),
            Some(fresh) => {
                let rest = Wire::Cell(fresh);
                self.set_link(cell, Link::Next, [Wire::FALSE, Wire::FALSE, rest]);
                self.cells.unpin(&Wire::Cell(cell));
            }
        }
    }

    /// The set is complete.
    pub(super) fn close_next(&mut self, cell: Handle) {
        self.cells.retire(cell);
    }
}
