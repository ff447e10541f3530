//! A row without its variables and its window, and how its bindings are found in two records.

use crate::codes::{Kind, NONE, Side};
use penstock_kernel::plan::Comparison;

/// A comparison of two slots beside the value joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Left operand.
    pub left: u32,
    /// What is compared.
    pub operator: Comparison,
    /// Right operand.
    pub right: u32,
}

/// Something that must hold of the nodes chosen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// Two chosen slots have equal values.
    Equal(u32, u32),
    /// Some nodes of two leaves, under what is chosen above them, have equal values. Given the
    /// nodes above, such a pair is independent of everything else, so its nodes are never chosen:
    /// leaves with many bindings cost their sum, not their product.
    Meet(u32, u32),
    /// A term holds.
    Term(Term),
}

/// A slot to choose a node for, and what can be checked then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The slot.
    pub slot: u32,
    /// Checks whose slots are all chosen now.
    pub checks: Box<[Check]>,
}

/// The shape of a row. Rows of one shape differ in variables and windows only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The operator; None for a query of one block.
    pub kind: Option<Kind>,
    /// Slots below this number are the left tree's.
    pub left_count: u32,
    /// The parent slot of each slot.
    pub parents: Box<[u32]>,
    /// Pairs of slots with equal values.
    pub joins: Box<[(u32, u32)]>,
    /// Comparisons beside them.
    pub terms: Box<[Term]>,
    /// The slots whose nodes go on.
    pub kept: Box<[u32]>,
    /// The order in which nodes are chosen.
    pub steps: Box<[Step]>,
    /// For `NOT FOLLOWED BY`: how the left tree is bound without a partner.
    pub left_steps: Box<[Step]>,
}

impl Shape {
    /// Works out the order of the choices.
    pub fn new(
        kind: Option<Kind>,
        left_count: u32,
        parents: Box<[u32]>,
        joins: Box<[(u32, u32)]>,
        terms: Box<[Term]>,
        kept: Box<[u32]>,
    ) -> Shape {
        let mut shape = Shape {
            kind,
            left_count,
            parents,
            joins,
            terms,
            kept,
            steps: Box::new([]),
            left_steps: Box::new([]),
        };
        let is_absence = kind == Some(Kind::NotFollowedBy);
        let all = shape.parents.len() as u32;
        shape.steps = shape.order(all, |slot| is_absence && slot < left_count);
        if is_absence {
            shape.left_steps = shape.order(left_count, |_| true);
        }
        shape
    }

    /// Which side a slot is on.
    #[inline]
    pub fn side(&self, slot: u32) -> Side {
        if slot < self.left_count {
            Side::Left
        } else {
            Side::Right
        }
    }

    /// The steps for the slots below `end`; a slot that `must_choose` holds for is always chosen.
    fn order(&self, end: u32, must_choose: impl Fn(u32) -> bool) -> Box<[Step]> {
        let is_free = |slot: u32| self.is_free(slot) && !must_choose(slot);
        let is_met = |&(left, right): &(u32, u32)| is_free(left) && is_free(right);
        let met = |slot: u32| {
            self.joins
                .iter()
                .any(|join| (join.0 == slot || join.1 == slot) && is_met(join))
        };
        let chosen: Vec<u32> = (0..end).filter(|&slot| !met(slot)).collect();
        let place = |slot: u32| {
            // A met leaf needs what is above it.
            let slot = if met(slot) {
                self.parents[slot as usize]
            } else {
                slot
            };
            chosen.iter().position(|&one| one == slot)
        };
        let mut checks: Vec<Vec<Check>> = vec![Vec::new(); chosen.len()];
        let mut add = |check: Check, one: u32, two: u32| {
            if let (Some(one), Some(two)) = (place(one), place(two))
                && let Some(at) = checks.get_mut(one.max(two))
            {
                at.push(check);
            }
        };
        for &(left, right) in self.joins.iter().filter(|join| join.1 < end) {
            let check = if is_met(&(left, right)) {
                Check::Meet(left, right)
            } else {
                Check::Equal(left, right)
            };
            add(check, left, right);
        }
        for &term in self
            .terms
            .iter()
            .filter(|term| term.left < end && term.right < end)
        {
            add(Check::Term(term), term.left, term.right);
        }
        let steps = chosen.into_iter().zip(checks);
        steps
            .map(|(slot, checks)| Step {
                slot,
                checks: checks.into(),
            })
            .collect()
    }

    /// Whether a slot is a leaf, below another slot, that nothing but one value join looks at.
    fn is_free(&self, slot: u32) -> bool {
        let is_below = self.parents[slot as usize] != NONE;
        let is_leaf = is_below && self.parents.iter().all(|&parent| parent != slot);
        let joined = self
            .joins
            .iter()
            .filter(|join| join.0 == slot || join.1 == slot)
            .count();
        let is_compared = self
            .terms
            .iter()
            .any(|term| term.left == slot || term.right == slot);
        is_leaf && joined == 1 && !is_compared && !self.kept.contains(&slot)
    }
}
