//! Candidates move up through guards.
//!
//! A candidate passes a guard at a node where the guard's formula holds. Below a guard that is
//! still undecided it waits, attached to that node and to the segment between guard and
//! candidate; all guards of a segment share the list. A candidate waits only while some guard
//! there is *alive*: it may still hold, and so may some chain of guards above it.

use super::Automaton;
use super::frames::Waiting;
use super::truth::Truth;
use crate::circuit::CandidateId;
use crate::plan::{Axis, GuardId, SegmentId, SpineId};
use smallvec::SmallVec;

const SWEEP_MIN: usize = 16;

/// Depths of open nodes.
pub type Depths = SmallVec<[u32; 8]>;

impl Automaton {
    /// The open nodes matching `upper` from which the steps down to `lower` lead to `depth`.
    ///
    /// A set of depths is pushed up step by step, so the cost is steps times depth however many
    /// embeddings there are.
    pub(super) fn up(&self, lower: SpineId, depth: usize, upper: SpineId) -> Depths {
        let mut depths: Depths = SmallVec::from_slice(&[depth as u32]);
        let mut spine = lower;
        while spine != upper && !depths.is_empty() {
            let view = self.plan.spine(spine);
            let parent = view.parent();
            let matches = |d: u32| self.state_at(d as usize).matches(parent);
            let highest = depths.iter().copied().max().unwrap_or(0);
            match view.axis() {
                Axis::Child | Axis::Attribute => {
                    depths.retain(|d| *d > 0);
                    depths.iter_mut().for_each(|d| *d -= 1);
                    depths.retain(|d| matches(*d));
                }
                Axis::Itself => depths.retain(|d| matches(*d)),
                Axis::Descendant => depths = (0..highest).filter(|&d| matches(d)).collect(),
                Axis::DescendantOrSelf => depths = (0..=highest).filter(|&d| matches(d)).collect(),
                // Twigs have forward axes only.
                _ => depths.clear(),
            }
            spine = parent;
        }
        depths
    }

    /// Lets a candidate below a segment pass the active guards and wait for the living ones.
    pub(super) fn rise(&mut self, segment: SegmentId, depth: usize, candidate: CandidateId) {
        let (upper, lower, _) = self.plan.segment(segment);
        self.spend_depths(depth);
        for at in self.up(lower, depth, upper) {
            self.account.spend(1);
            let at = at as usize;
            for guard in self.active_guards(at, segment) {
                self.pass(guard, at, candidate);
            }
            if !self.candidates[candidate].is_done && self.is_awaiting(at, segment) {
                self.wait(at, segment, candidate);
            }
        }
    }

    /// The candidate passed a guard at a node: it is a result, or meets the guards above.
    fn pass(&mut self, guard: GuardId, depth: usize, candidate: CandidateId) {
        // Each (guard, node) lets a candidate pass once in its life; without this the number of
        // passes grows with the number of embeddings.
        if self.candidates[candidate].is_done
            || !self.candidates[candidate]
                .passed
                .insert((guard, depth as u32))
        {
            return;
        }
        let plan = self.plan.clone();
        let view = plan.guard(guard);
        for &target in view.targets {
            self.select(target, candidate);
        }
        for &operand in view.operands {
            self.admit(operand, view.spine, depth, candidate);
        }
        for &segment in view.above {
            self.rise(segment, depth, candidate);
        }
    }

    /// A guard's formula turned true at a node.
    pub(super) fn activate(&mut self, guard: GuardId, depth: usize) {
        if !self.frames.memory_mut(depth).active.insert(guard) {
            return;
        }
        let segment = self.plan.guard(guard).segment;
        let list = self.frames.memory(depth).waiting.get(segment);
        let Some(candidates) = list.map(|list| list.candidates.clone()) else {
            return;
        };
        self.account.spend(candidates.len() as u64);
        for candidate in candidates {
            self.pass(guard, depth, candidate);
        }
        self.review(depth, segment);
    }

    fn wait(&mut self, depth: usize, segment: SegmentId, candidate: CandidateId) {
        if !self.candidates[candidate]
            .waits
            .insert((segment, depth as u32))
        {
            return;
        }
        self.candidates.hold(candidate);
        let waiting = &mut self.frames.memory_mut(depth).waiting;
        let list = waiting.get_or_insert_with(segment, || Waiting {
            candidates: Vec::new(),
            sweep_at: SWEEP_MIN,
        });
        list.candidates.push(candidate);
        if list.candidates.len() >= list.sweep_at {
            self.sweep(depth, segment);
        }
    }

    /// Lets go of candidates that are finished but still listed; without this an endless stream
    /// under one undecided node would grow the list for ever.
    fn sweep(&mut self, depth: usize, segment: SegmentId) {
        let Some(waiting) = self.frames.memory_mut(depth).waiting.get_mut(segment) else {
            return;
        };
        let mut list = std::mem::take(&mut waiting.candidates);
        list.retain(|&candidate| {
            let keep = !self.candidates[candidate].is_done;
            if !keep {
                self.release(candidate);
            }
            keep
        });
        let sweep_at = (2 * list.len()).max(SWEEP_MIN);
        if let Some(waiting) = self.frames.memory_mut(depth).waiting.get_mut(segment) {
            (waiting.candidates, waiting.sweep_at) = (list, sweep_at);
        }
    }

    fn review(&mut self, depth: usize, segment: SegmentId) {
        if self.is_awaiting(depth, segment) {
            return;
        }
        let waiting = &mut self.frames.memory_mut(depth).waiting;
        if let Some(list) = waiting.remove(segment) {
            self.release_all(list.candidates);
        }
    }

    /// Reviews every list at `depth` and below: something turned false there.
    pub(super) fn review_from(&mut self, depth: usize) {
        self.spend_depths(self.frames.stack.len() - depth);
        for at in depth..self.frames.stack.len() {
            let segments: SmallVec<[SegmentId; 8]> = self
                .frames
                .memory(at)
                .waiting
                .iter()
                .map(|(segment, _)| *segment)
                .collect();
            for segment in segments {
                self.review(at, segment);
            }
        }
    }

    pub(super) fn release_all(&mut self, candidates: Vec<CandidateId>) {
        for candidate in candidates {
            self.release(candidate);
        }
    }

    /// Whether the guard, and some chain of guards above it, may still hold.
    pub(super) fn is_alive(&mut self, guard: GuardId, depth: usize) -> bool {
        self.spend_depths(depth);
        let mut memo = std::mem::take(&mut self.alive_memo);
        let alive = self.alive(guard, depth, &mut memo);
        memo.clear();
        self.alive_memo = memo;
        alive
    }

    pub(super) fn alive(
        &self,
        guard: GuardId,
        depth: usize,
        dead: &mut rustc_hash::FxHashSet<(GuardId, u32)>,
    ) -> bool {
        let view = self.plan.guard(guard);
        if self.truth(depth, view.formula) == Truth::False {
            return false;
        }
        if !view.targets.is_empty() || !view.operands.is_empty() {
            return true;
        }
        if dead.contains(&(guard, depth as u32)) {
            return false;
        }
        let is_alive = view.above.iter().any(|&segment| {
            let (upper, _, guards) = self.plan.segment(segment);
            let depths = self.up(view.spine, depth, upper);
            depths
                .iter()
                .any(|&at| guards.iter().any(|&g| self.alive(g, at as usize, dead)))
        });
        if !is_alive {
            // Remembering the dead keeps a hopeless search linear in guards times depth.
            dead.insert((guard, depth as u32));
        }
        is_alive
    }
}
