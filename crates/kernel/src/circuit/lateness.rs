//! Whether nodes may join a set late, or by more than one way.

use super::routes::Routes;
use super::sinks::Window;
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

    /// Until when a node of a set may be reached again.
    pub(super) fn window(&self, plan: &Plan, set: PartId) -> Window {
        match plan.part(set) {
            _ if !self.is_late_set(plan, set) => Window::Event,
            Part::Step(step) => match (step.axis, self.window(plan, step.base)) {
                // From a node that is behind, its ancestors may be behind too.
                (_, Window::End) => Window::End,
                (Axis::Parent | Axis::Ancestor, _) => Window::Node,
                // The node itself may have ended, if the step starts at an earlier sibling.
                (Axis::AncestorOrSelf, base) => base.max(Window::Node),
                // The parent of an ancestor's siblings ends after that of the node that looks back.
                (Axis::PrecedingSibling, Window::Event) => Window::Parent,
                _ => Window::End,
            },
            // What counts nodes that come in any order lets go of them in the end.
            Part::Filter { predicates, .. } if self.counts_positions(predicates) => Window::End,
            Part::Filter { base, .. } => self.window(plan, base),
            Part::Union(sets) => {
                let windows = sets.iter().map(|&set| self.window(plan, set));
                windows.max().unwrap_or(Window::Event)
            }
            _ => Window::End,
        }
    }
}
