//! The formula network: facts arrive, conjunctions are probed, truth moves up.
//!
//! Only true facts are stored (and computed formulas found false). Each (node, formula) turns
//! true once. A conjunction is woken by one child and probes the others.

use super::Automaton;
use super::frames::stage;
use crate::plan::{Axis, FormulaId, FormulaKind, NodeKind};

/// Three-valued truth, in Kleene's order: false, unknown, true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    False,
    Unknown,
    True,
}

impl Automaton {
    /// What is known of a formula at an open node.
    pub(super) fn truth(&self, depth: usize, formula: FormulaId) -> Truth {
        let view = self.plan.formula(formula);
        let parts = |pick: fn(Truth, Truth) -> Truth, start: Truth| {
            view.children()
                .iter()
                .map(|&part| self.truth(depth, part))
                .fold(start, pick)
        };
        let frame = &self.frames.stack[depth];
        let known_after = |stage: u8| {
            if self.frames.memory(depth).truths.contains(formula) {
                Truth::True
            } else if frame.stage & stage != 0 {
                Truth::False
            } else {
                Truth::Unknown
            }
        };
        match view.kind() {
            FormulaKind::True => Truth::True,
            FormulaKind::False => Truth::False,
            FormulaKind::And => parts(Truth::min, Truth::True),
            FormulaKind::Or => parts(Truth::max, Truth::False),
            FormulaKind::Not => match self.truth(depth, view.sub()) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            FormulaKind::Is if self.symbols.passes(frame.symbol, view.test()) => Truth::True,
            FormulaKind::Is => Truth::False,
            FormulaKind::Edge if view.axis() == Axis::Attribute => known_after(stage::ATTRIBUTES),
            FormulaKind::Edge => known_after(stage::CLOSED),
            FormulaKind::Computed if self.frames.memory(depth).falsehoods.contains(formula) => {
                Truth::False
            }
            FormulaKind::Computed => known_after(stage::COMPUTED),
            _ => known_after(stage::VALUE),
        }
    }

    #[inline]
    pub(super) fn assume(&mut self, depth: usize, formula: FormulaId) {
        self.queue.push((depth as u32, formula));
    }

    /// Works off the facts that arrived, if any, and everything that follows from them.
    #[inline]
    pub(super) fn drain(&mut self) {
        // Mostly there are none, and to hold on to the plan costs two atomic operations.
        if !self.queue.is_empty() {
            self.work_off();
        }
    }

    fn work_off(&mut self) {
        let plan = self.plan.clone();
        while let Some((depth, formula)) = self.queue.pop() {
            let depth = depth as usize;
            if !self.frames.memory_mut(depth).truths.insert(formula) {
                continue;
            }
            self.count_step(formula);
            self.wake_watchers(depth, formula);
            let view = plan.formula(formula);
            for &conjunction in view.conjunctions() {
                if self.is_armed(depth, conjunction) {
                    self.probe(depth, conjunction);
                }
            }
            for &disjunction in view.disjunctions() {
                if self.is_armed(depth, disjunction) {
                    self.assume(depth, disjunction);
                }
            }
            for &edge in view.edges() {
                self.climb(depth, edge);
            }
            for (operand, answer) in view.answers() {
                self.answer_truth(depth, operand, answer);
            }
            for &guard in view.guards() {
                if self.state_at(depth).matches(plan.guard(guard).spine) {
                    self.activate(guard, depth);
                }
            }
            if depth == 0 && !view.root_targets().is_empty() {
                self.decide_root(formula);
            }
            if view.negation().is_some() {
                self.dirty = self.dirty.min(depth);
            }
        }
    }

    #[inline]
    pub(super) fn is_armed(&self, depth: usize, formula: FormulaId) -> bool {
        self.state_at(depth)
            .arms(self.plan.formula(formula).shape())
    }

    fn wake_watchers(&mut self, depth: usize, formula: FormulaId) {
        let watches = &mut self.frames.memory_mut(depth).watches;
        let mut at = 0;
        let mut woken = smallvec::SmallVec::<[FormulaId; 4]>::new();
        while at < watches.len() {
            if watches[at].0 == formula {
                woken.push(watches.swap_remove(at).1);
            } else {
                at += 1;
            }
        }
        for conjunction in woken {
            self.probe(depth, conjunction);
        }
    }

    /// Tries a conjunction: true, hopeless, or waiting for its first unknown part.
    pub(super) fn probe(&mut self, depth: usize, conjunction: FormulaId) {
        let plan = self.plan.clone();
        let mut unknown = None;
        for &part in plan.formula(conjunction).children() {
            match self.truth(depth, part) {
                Truth::True => {}
                Truth::False => return,
                Truth::Unknown => unknown = unknown.or(Some(part)),
            }
        }
        match unknown {
            None => self.assume(depth, conjunction),
            Some(part) => {
                let watches = &mut self.frames.memory_mut(depth).watches;
                watches.push((part, conjunction));
            }
        }
    }

    /// Moves the truth of an edge's target to the nodes from which the edge reaches it.
    fn climb(&mut self, depth: usize, edge: FormulaId) {
        let plan = self.plan.clone();
        let view = plan.formula(edge);
        let is_attribute = self.kind_at(depth) == NodeKind::Attribute;
        if depth == 0
            || is_attribute != (view.axis() == Axis::Attribute)
            || !self
                .symbols
                .passes(self.frames.stack[depth].symbol, view.test())
        {
            return;
        }
        if view.axis() == Axis::Descendant {
            self.climb_all(depth, edge);
        } else if self.is_armed(depth - 1, edge) {
            self.assume(depth - 1, edge);
        }
    }

    /// A descendant edge turns true at every armed ancestor; one that has it already ends the
    /// walk, because then all above have it too.
    pub(super) fn climb_all(&mut self, depth: usize, edge: FormulaId) {
        let shape = self.plan.formula(edge).shape();
        for ancestor in (0..depth).rev() {
            let state = self.state_at(ancestor);
            if !state.arms_below(shape) {
                break;
            }
            if !state.arms(shape) {
                self.account.spend(1);
                continue;
            }
            if self.frames.memory(ancestor).truths.contains(edge) {
                break;
            }
            self.count_step(edge);
            self.assume(ancestor, edge);
        }
    }

    /// Wakes the conjunctions that wait for a negation which is true by now: negations do not
    /// announce themselves to conjunctions that something else wakes.
    pub(super) fn wake_negations(&mut self, depth: usize) {
        let plan = self.plan.clone();
        let mut at = 0;
        while at < self.frames.memory(depth).watches.len() {
            let (formula, conjunction) = self.frames.memory(depth).watches[at];
            if plan.formula(formula).kind() == FormulaKind::Not
                && self.truth(depth, formula) == Truth::True
            {
                self.frames.memory_mut(depth).watches.swap_remove(at);
                self.probe(depth, conjunction);
                self.drain();
            } else {
                at += 1;
            }
        }
    }
}
