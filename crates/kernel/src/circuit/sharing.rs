//! What contexts share, recognised once per plan: counted steps, sums, sets compared by value.

use super::ids::{CountedId, FoldedId, RouteId, SharedId};
use super::indexes::Side;
use super::ranks::Pick;
use super::routes::{Counted, Fold, Folded, Leaf, Route, Routes, Scope, Source, looks_behind};
use super::sinks::FirstPart;
use super::steps::{is_down, is_order};
use crate::plan::{Axis, Comparison, Part, PartId, Plan, TestId};
use std::rc::Rc;

/// A comparison with a set that many contexts share.
#[derive(Debug)]
pub struct Shared {
    /// The side that is shared: 0 or 1.
    pub side: usize,
    /// The tests of the `parent` steps that lead from the context to the node of the set.
    pub ups: Box<[TestId]>,
    /// The set.
    pub spec: SharedId,
}

/// A set that many contexts share, for one operator.
#[derive(Debug, PartialEq)]
pub struct IndexSpec {
    /// The context's value, on the left, is compared like this with members.
    pub op: Comparison,
    /// Where the nodes are that lead to members; nothing where all contexts see the same set.
    pub scope: Option<Scope>,
    /// On which side of a node they are.
    pub side: Side,
    /// The set, where it is one of the whole document.
    pub root: Option<PartId>,
    /// The step that leads to members, from a node that passes the test: from any, along an
    /// order axis, or from the parent.
    pub route: RouteId,
    pub test: TestId,
}

/// How many contexts share a set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sharing {
    /// It is the same at every node.
    Root,
    /// A step along an order axis, from the node or so many parents above.
    Order(usize),
    /// Steps down from so many parents above.
    Parent(usize),
    /// Every context has its own.
    Own,
}

impl Routes {
    /// Whether a count is taken from groups: it is that of one step from the context node, or of
    /// the ends of ways down from there.
    pub(super) fn note_counted(&mut self, plan: &Plan, part: PartId, set: PartId) -> bool {
        let Some((axis, first)) = self.step_and_way(plan, set) else {
            return false;
        };
        let Route {
            test,
            predicates,
            next: way,
            ..
        } = self.get(first).clone();
        let Some(scope) = Scope::of(axis) else {
            return false;
        };
        let is_taken = match scope {
            // Which of them are undecided differs from node to node.
            Scope::Below => way.is_none() && predicates.is_empty(),
            Scope::Around => way.is_none(),
            _ => self.is_apart(axis, way),
        };
        if !is_taken {
            return false;
        }
        self.visit_way(plan, first);
        let counted = Counted {
            scope,
            test,
            predicates,
            way,
        };
        let spec = self.counts.intern(counted);
        self.counted.insert(part, (spec, axis));
        true
    }

    /// Whether a sum, or a part of the first node, is put together along the axis.
    pub(super) fn note_folded(
        &mut self,
        plan: &Plan,
        part: PartId,
        set: PartId,
        fold: Fold,
    ) -> bool {
        let Some((axis, step)) = self.step_and_way(plan, set) else {
            return false;
        };
        let way = self.get(step).next;
        let is_named = matches!(fold, Fold::First(FirstPart::Name(_)));
        let is_taken = match axis {
            // An ancestor has at most one such end, known with its start tag.
            Axis::Ancestor | Axis::AncestorOrSelf => {
                way.is_none() || !is_named && self.is_attribute(plan, way)
            }
            // The ends of ways from nested nodes do not come one way after the other.
            Axis::Following if fold != Fold::Sum => way.is_none() || self.is_attribute(plan, way),
            _ => is_order(axis) && self.is_apart(axis, way),
        };
        if !is_taken {
            return false;
        }
        self.visit_way(plan, step);
        let spec = self.folds.intern(Folded { step, fold });
        self.folded.insert(part, spec);
        true
    }

    /// The set along an axis that a part puts together.
    pub fn folded(&self, part: PartId) -> Option<FoldedId> {
        self.folded.get(&part).copied()
    }

    /// The axis and route of a set that is a step from the context node and a way down from there,
    /// none of which counts positions.
    fn step_and_way(&mut self, plan: &Plan, set: PartId) -> Option<(Axis, RouteId)> {
        let (Source::Here, first) = self.of_set(plan, set, Leaf::Collect) else {
            return None;
        };
        let mut at = first;
        while at.is_some() {
            let route = self.get(at);
            if route.is_positional || (at != first && !is_down(route.axis)) {
                return None;
            }
            at = route.next;
        }
        first.is_some().then(|| (self.get(first).axis, first))
    }

    /// Whether ways from two nodes along an axis have no end in common. Siblings are not nested.
    fn is_apart(&self, axis: Axis, way: RouteId) -> bool {
        let mut at = way;
        while at.is_some() {
            let route = self.get(at);
            let is_sibling = matches!(axis, Axis::PrecedingSibling | Axis::FollowingSibling);
            if route.axis == Axis::Descendant && !is_sibling {
                return false;
            }
            at = route.next;
        }
        true
    }

    /// Whether a way is a step to one attribute.
    fn is_attribute(&self, plan: &Plan, way: RouteId) -> bool {
        let route = self.get(way);
        let (_, name, uris) = plan.test(route.test);
        let is_one = name.is_some() && uris.is_some_and(|uris| uris.len() == 1);
        route.axis == Axis::Attribute && route.next.is_none() && is_one
    }

    /// Walks the predicates of a route's steps. The nodes of the first are found by its test.
    fn visit_way(&mut self, plan: &Plan, first: RouteId) {
        let mut at = first;
        while at.is_some() {
            let route = self.get(at).clone();
            if at != first {
                self.used.insert(at);
            }
            for &predicate in route.predicates.iter() {
                self.visit_predicate(plan, predicate);
            }
            at = route.next;
        }
    }

    /// Whether a comparison uses an index, because contexts share one side.
    pub(super) fn note_shared(&mut self, plan: &Plan, part: PartId) -> bool {
        let Part::ComparePairs(op, sides) = plan.part(part) else {
            return false;
        };
        let side = match sides.map(|set| self.sharing(plan, set)) {
            [
                Sharing::Own | Sharing::Parent(_),
                Sharing::Root | Sharing::Order(_),
            ]
            | [Sharing::Own, Sharing::Parent(_)] => 1,
            [
                Sharing::Root | Sharing::Order(_),
                Sharing::Own | Sharing::Parent(_),
            ]
            | [Sharing::Parent(_), Sharing::Own] => 0,
            _ => return false,
        };
        let op = if side == 1 { op } else { flipped(op) };
        let (ups, spec) = match self.sharing(plan, sides[side]) {
            Sharing::Order(ups) | Sharing::Parent(ups) => {
                self.note_near_index(plan, sides[side], ups, op)
            }
            _ => self.note_root_index(plan, sides[side], op),
        };
        self.visit_values(plan, sides[1 - side]);
        let shared = Rc::new(Shared { side, ups, spec });
        self.shared.insert(part, shared);
        true
    }

    fn note_root_index(
        &mut self,
        plan: &Plan,
        set: PartId,
        op: Comparison,
    ) -> (Box<[TestId]>, SharedId) {
        self.visit_values(plan, set);
        let spec = self.indexes.intern(IndexSpec {
            op,
            scope: None,
            side: Side::Behind,
            root: Some(set),
            route: RouteId::NONE,
            test: TestId::NONE,
        });
        (Box::default(), spec)
    }

    fn note_near_index(
        &mut self,
        plan: &Plan,
        set: PartId,
        ups: usize,
        op: Comparison,
    ) -> (Box<[TestId]>, SharedId) {
        let (_, mut at) = self.of_set(plan, set, Leaf::Collect);
        let mut tests = Vec::with_capacity(ups);
        for _ in 0..ups {
            let route = self.get(at);
            tests.push(route.test);
            at = route.next;
        }
        let (route, axis) = (at, self.get(at).axis);
        // What goes down from a parent is one whole set, along whichever axis.
        let scope = Scope::of(axis).filter(|_| is_order(axis));
        while at.is_some() {
            let own = self.get(at).clone();
            // The nodes of a step along an order axis tell of themselves.
            if at != route || scope.is_none() {
                self.used.insert(at);
            }
            for &predicate in own.predicates.iter() {
                self.visit_predicate(plan, predicate);
            }
            at = own.next;
        }
        let spec = self.indexes.intern(IndexSpec {
            op,
            scope,
            side: if looks_behind(axis) {
                Side::Before
            } else {
                Side::Behind
            },
            root: None,
            route,
            test: match (scope, tests.last()) {
                (None, Some(&parent)) => parent,
                _ => self.get(route).test,
            },
        });
        (tests.into(), spec)
    }

    /// How many contexts share a set: a path that only goes down behind its first steps.
    fn sharing(&self, plan: &Plan, set: PartId) -> Sharing {
        if self.nature(set).is_absolute() {
            return Sharing::Root;
        }
        let mut sharing = Sharing::Own;
        let mut at = set;
        loop {
            let step = match plan.part(at) {
                Part::Here => return sharing,
                Part::Step(step) => step,
                _ => return Sharing::Own,
            };
            let is_plain = step.predicates.is_empty();
            let is_positional = self.counts_positions(step.predicates);
            sharing = match (step.axis, sharing) {
                (Axis::Parent, Sharing::Order(ups)) if is_plain => Sharing::Order(ups + 1),
                (Axis::Parent, Sharing::Parent(ups)) if is_plain => Sharing::Parent(ups + 1),
                (Axis::Parent, Sharing::Own) if is_plain && at != set => Sharing::Parent(1),
                (axis, Sharing::Own) if is_order(axis) && !is_positional => Sharing::Order(0),
                (
                    Axis::Child
                    | Axis::Descendant
                    | Axis::DescendantOrSelf
                    | Axis::Attribute
                    | Axis::Itself,
                    Sharing::Own,
                ) => Sharing::Own,
                _ => return Sharing::Own,
            };
            at = step.base;
        }
    }

    /// The shared side of a comparison that uses an index.
    pub fn shared(&self, part: PartId) -> Option<Rc<Shared>> {
        self.shared.get(&part).cloned()
    }

    /// What asks for the last node of an axis, where the circuit finds that without a list: below a
    /// node only if nothing is asked before the position.
    pub(super) fn ending(
        &self,
        plan: &Plan,
        axis: Axis,
        predicates: &[PartId],
    ) -> Option<Rc<Pick>> {
        let (behind, pick) = self.last_pick_of(plan, predicates)?;
        let is_found = match axis {
            Axis::Preceding => true,
            Axis::Descendant | Axis::DescendantOrSelf => pick.guards.is_empty(),
            _ => false,
        };
        (is_found && behind == 0).then(|| Rc::new(pick))
    }

    /// The counted step and axis of a part that counts one.
    pub fn counted(&self, part: PartId) -> Option<(CountedId, Axis)> {
        self.counted.get(&part).copied()
    }
}

/// The comparison with its sides exchanged.
fn flipped(op: Comparison) -> Comparison {
    match op {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        Comparison::Eq | Comparison::Ne => op,
    }
}
