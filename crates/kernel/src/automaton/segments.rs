//! The guards of a segment, all at once: which let candidates pass, and whether others still may.
//!
//! Guards of a segment lie sorted by the shapes of their formulas. Whether a formula may still turn
//! true mostly depends on its shape, whatever its constants: once the attributes of a node are
//! known, an equality of an attribute that is not on record is false. So a candidate asks once for
//! each shape, and the values of the document lead to the formulas that are true.

use super::Automaton;
use super::frames::stage;
use crate::plan::{Axis, FormulaId, GuardId, Plan, SegmentId, ShapeId, ShapeKind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Guards of one shape that are simply tried.
const FEW: usize = 4;

impl Automaton {
    /// The guards of a segment that let candidates pass at a node.
    pub(super) fn active_guards(&self, depth: usize, segment: SegmentId) -> SmallVec<[GuardId; 4]> {
        let active = &self.frames.memory(depth).active;
        let (_, _, guards) = self.plan.segment(segment);
        if guards.len() <= active.keys().len() {
            let guards = guards.iter().copied();
            return guards.filter(|&guard| active.contains(guard)).collect();
        }
        let own = active.keys().iter().copied();
        own.filter(|&guard| self.plan.guard(guard).segment == segment)
            .collect()
    }

    /// Whether candidates at a node still have a guard of the segment to wait for.
    pub(super) fn is_awaiting(&mut self, depth: usize, segment: SegmentId) -> bool {
        let plan = self.plan.clone();
        let (_, _, mut guards) = plan.segment(segment);
        while let Some(&first) = guards.first() {
            let shape = shape_of(&plan, first);
            let end = guards.partition_point(|&guard| shape_of(&plan, guard) <= shape);
            let (group, rest) = guards.split_at(end);
            guards = rest;
            let is_awaited = self.has_alive(depth, shape, group);
            debug_assert_eq!(is_awaited, self.are_alive(depth, group), "{shape:?}");
            if is_awaited {
                return true;
            }
        }
        false
    }

    /// Whether a guard of a group, which have one shape and one segment, may still let candidates
    /// pass.
    fn has_alive(&mut self, depth: usize, shape: ShapeId, group: &[GuardId]) -> bool {
        if group.len() <= FEW {
            return self.tries(depth, group);
        }
        self.account.spend(1);
        if self.is_settled(depth, shape) {
            return false;
        }
        match self.decided_part(depth, shape) {
            Some(part) => self.tries_with(depth, shape, part, group),
            None => self.tries(depth, group),
        }
    }

    /// Tries guards one by one.
    fn tries(&mut self, depth: usize, guards: &[GuardId]) -> bool {
        guards.iter().any(|&guard| {
            self.account.spend(1);
            !self.frames.memory(depth).active.contains(guard) && self.is_alive(guard, depth)
        })
    }

    /// What `has_alive` says, found one by one.
    fn are_alive(&self, depth: usize, group: &[GuardId]) -> bool {
        let mut dead = FxHashSet::default();
        let active = &self.frames.memory(depth).active;
        let mut open = group.iter().filter(|&&guard| !active.contains(guard));
        open.any(|&guard| self.alive(guard, depth, &mut dead))
    }

    /// Tries guards whose formulas have a part of a shape that is decided: those of which it is
    /// true.
    fn tries_with(
        &mut self,
        depth: usize,
        shape: ShapeId,
        part: ShapeId,
        group: &[GuardId],
    ) -> bool {
        let plan = self.plan.clone();
        let is_part = |&formula: &FormulaId| plan.formula(formula).shape() == part;
        let truths = self.frames.memory(depth).truths.keys().iter().copied();
        let parts: SmallVec<[FormulaId; 4]> = truths.filter(is_part).collect();
        let segment = plan.guard(group[0]).segment;
        parts.into_iter().any(|part| {
            let view = plan.formula(part);
            let all = view.conjunctions().iter().chain(view.memberships());
            all.copied().any(|conjunction| {
                self.account.spend(1);
                let view = plan.formula(conjunction);
                let is_own = |&&guard: &&GuardId| plan.guard(guard).segment == segment;
                let own = view.guards().iter().find(is_own);
                view.shape() == shape && own.is_some_and(|own| self.tries(depth, &[*own]))
            })
        })
    }

    /// Whether formulas of a shape that are not on record as true at a node are false, whatever
    /// their constants.
    fn is_settled(&self, depth: usize, shape: ShapeId) -> bool {
        let view = self.plan.shape(shape);
        let stage = match view.kind() {
            ShapeKind::Constant | ShapeKind::Is => return true,
            // What is true of a negation is not on record everywhere.
            ShapeKind::Not => return false,
            ShapeKind::And | ShapeKind::Or => {
                let mut parts = view.children().iter();
                return parts.all(|&part| self.is_settled(depth, part));
            }
            ShapeKind::Edge if view.axis() == Axis::Attribute => stage::ATTRIBUTES,
            ShapeKind::Edge => stage::CLOSED,
            ShapeKind::Computed => stage::COMPUTED,
            _ => stage::VALUE,
        };
        self.frames.stack[depth].stage & stage != 0
    }

    /// A part of all conjunctions of a shape that values decide, and have decided.
    fn decided_part(&self, depth: usize, shape: ShapeId) -> Option<ShapeId> {
        let view = self.plan.shape(shape);
        if view.kind() != ShapeKind::And {
            return None;
        }
        let is_recorded = |part: ShapeId| {
            let kind = self.plan.shape(part).kind();
            !matches!(kind, ShapeKind::Constant | ShapeKind::Is)
        };
        let mut parts = view.children().iter().copied();
        parts.find(|&part| is_recorded(part) && self.is_settled(depth, part))
    }
}

fn shape_of(plan: &Plan, guard: GuardId) -> ShapeId {
    plan.formula(plan.guard(guard).formula).shape()
}
