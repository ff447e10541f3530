//! Whether nodes may join a set late, or by more than one way.

use super::routes::Routes;
use super::steps::is_late;
use crate::plan::{Axis, PartKind, Plan};

impl Routes {
    /// Whether nodes may join a set after they opened.
    pub fn is_late_set(&self, plan: &Plan, set: u32) -> bool {
        let (kind, words) = plan.part(set);
        match kind {
            PartKind::Step => {
                let axis = Axis::from_code(words[1]).unwrap_or(Axis::Itself);
                is_late(axis) || self.is_late_set(plan, words[0])
            }
            PartKind::Filter => self.is_late_set(plan, words[0]),
            PartKind::Union => {
                // What is absolute comes from the document node, beside what is near.
                let is_near = self.nature(set).uses_here;
                words.iter().any(|&part| {
                    self.is_late_set(plan, part) || is_near && self.nature(part).is_absolute()
                })
            }
            PartKind::Identified => true,
            _ => false,
        }
    }

    /// Whether a node may join a set by more than one way.
    pub fn may_repeat(&self, plan: &Plan, set: u32) -> bool {
        let (kind, words) = plan.part(set);
        match kind {
            PartKind::Union => true,
            PartKind::Step => {
                let axis = Axis::from_code(words[1]).unwrap_or(Axis::Itself);
                let (base, _) = plan.part(words[0]);
                if matches!(base, PartKind::Here | PartKind::Root) {
                    return false;
                }
                let counts = words[3..].iter().any(|&p| self.nature(p).has_focus());
                match axis {
                    _ if self.is_late_set(plan, set) => true,
                    Axis::Itself => self.may_repeat(plan, words[0]),
                    // A node has one parent, and arms of one route are heard together.
                    Axis::Child | Axis::Attribute | Axis::Namespace => {
                        counts && self.may_repeat(plan, words[0])
                    }
                    Axis::DescendantOrSelf => true,
                    _ => counts,
                }
            }
            PartKind::Filter => self.may_repeat(plan, words[0]),
            _ => false,
        }
    }
}
