//! Whether nodes may join a set late, or by more than one way.

use super::routes::Routes;
use super::steps::is_late;
use crate::plan::{Axis, Part, PartId, Plan};

impl Routes {
    /// Whether nodes may join a set after they opened.
    pub fn is_late_set(&self, plan: &Plan, set: PartId) -> bool {
        match plan.part(set) {
            Part::Step(step) => is_late(step.axis) || self.is_late_set(plan, step.base),
            Part::Filter { base, .. } => self.is_late_set(plan, base),
            Part::Union(sets) => {
                // What is absolute comes from the document node, beside what is near.
                let is_near = self.nature(set).uses_here;
                sets.iter().any(|&set| {
                    self.is_late_set(plan, set) || is_near && self.nature(set).is_absolute()
                })
            }
            Part::Identified(_) => true,
            _ => false,
        }
    }

    /// Whether a node may join a set by more than one way.
    pub fn may_repeat(&self, plan: &Plan, set: PartId) -> bool {
        match plan.part(set) {
            Part::Union(_) => true,
            Part::Step(step) => {
                if matches!(plan.part(step.base), Part::Here | Part::Root) {
                    return false;
                }
                let counts = self.counts_positions(step.predicates);
                match step.axis {
                    _ if self.is_late_set(plan, set) => true,
                    Axis::Itself => self.may_repeat(plan, step.base),
                    // A node has one parent, and arms of one route are heard together.
                    Axis::Child | Axis::Attribute | Axis::Namespace => {
                        counts && self.may_repeat(plan, step.base)
                    }
                    Axis::DescendantOrSelf => true,
                    _ => counts,
                }
            }
            Part::Filter { base, .. } => self.may_repeat(plan, base),
            _ => false,
        }
    }
}
