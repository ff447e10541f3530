//! What contexts share, recognised once per plan: counted steps, sums, sets compared by value.

use super::indexes::Side;
use super::ranks::Pick;
use super::routes::{
    Counted, Fold, Folded, Leaf, Need, Route, Routes, Scope, Source, looks_behind,
};
use super::sinks::FirstPart;
use super::steps::{is_down, is_order};
use crate::plan::{Axis, Comparison, NONE, PartKind, Plan};
use std::rc::Rc;

/// A comparison with a set that many contexts share.
#[derive(Debug)]
pub struct Shared {
    /// The side that is shared: 0 or 1.
    pub side: usize,
    /// The tests of the steps to parents that lead to the node whose set it is.
    pub ups: Box<[u32]>,
    /// The set.
    pub spec: u32,
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
    pub root: Option<u32>,
    /// The step that leads to members, from a node that passes the test: from any, along an
    /// order axis, or from the parent.
    pub route: u32,
    pub test: u32,
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
    pub(super) fn note_counted(&mut self, plan: &Plan, part: u32, set: u32) -> bool {
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
            Scope::Below => way == NONE && predicates.is_empty(),
            Scope::Around => way == NONE,
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
        let known = self.counts.iter().position(|known| *known == counted);
        let spec = known.unwrap_or_else(|| {
            self.counts.push(counted);
            self.counts.len() - 1
        });
        self.counted.insert(part, (spec as u32, axis));
        true
    }

    /// Whether a sum, or a part of the first node, is put together along the axis.
    pub(super) fn note_folded(&mut self, plan: &Plan, part: u32, set: u32, fold: Fold) -> bool {
        let Some((axis, step)) = self.step_and_way(plan, set) else {
            return false;
        };
        let way = self.get(step).next;
        let is_named = matches!(fold, Fold::First(FirstPart::Name(_)));
        let is_taken = match axis {
            // An ancestor has at most one such end, known with its start tag.
            Axis::Ancestor | Axis::AncestorOrSelf => {
                way == NONE || !is_named && self.is_attribute(plan, way)
            }
            // The ends of ways from nested nodes do not come one way after the other.
            Axis::Following if fold != Fold::Sum => way == NONE || self.is_attribute(plan, way),
            _ => is_order(axis) && self.is_apart(axis, way),
        };
        if !is_taken {
            return false;
        }
        self.visit_way(plan, step);
        let folded = Folded { step, fold };
        let known = self.folds.iter().position(|known| *known == folded);
        let spec = known.unwrap_or_else(|| {
            self.folds.push(folded);
            self.folds.len() - 1
        });
        self.folded.insert(part, spec as u32);
        true
    }

    /// The set along an axis that a part puts together.
    pub fn folded(&self, part: u32) -> Option<u32> {
        self.folded.get(&part).copied()
    }

    /// The axis and route of a set that is a step from the context node and a way down from there,
    /// none of which counts positions.
    fn step_and_way(&mut self, plan: &Plan, set: u32) -> Option<(Axis, u32)> {
        let (Source::Here, first) = self.of_set(plan, set, Leaf::Collect) else {
            return None;
        };
        let mut at = first;
        while at != NONE {
            let route = self.get(at);
            if route.is_positional || (at != first && !is_down(route.axis)) {
                return None;
            }
            at = route.next;
        }
        (first != NONE).then(|| (self.get(first).axis, first))
    }

    /// Whether ways from two nodes along an axis have no end in common. Siblings are not nested.
    fn is_apart(&self, axis: Axis, way: u32) -> bool {
        let mut at = way;
        while at != NONE {
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
    fn is_attribute(&self, plan: &Plan, way: u32) -> bool {
        let route = self.get(way);
        let (_, name, uris) = plan.test(route.test);
        let is_one = name.is_some() && uris.is_some_and(|uris| uris.len() == 1);
        route.axis == Axis::Attribute && route.next == NONE && is_one
    }

    /// Walks the predicates of a route's steps. The nodes of the first are found by its test.
    fn visit_way(&mut self, plan: &Plan, first: u32) {
        let mut at = first;
        while at != NONE {
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

    /// Whether a comparison asks an index: contexts share one side.
    pub(super) fn note_shared(&mut self, plan: &Plan, part: u32) -> bool {
        let (_, words) = plan.part(part);
        let Some(op) = Comparison::from_code(words[0]) else {
            return false;
        };
        let sides = [words[1], words[2]];
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
        self.visit(plan, sides[1 - side]);
        self.need_of_ends(plan, sides[1 - side], Need::Value);
        let shared = Rc::new(Shared { side, ups, spec });
        self.shared.insert(part, shared);
        true
    }

    fn note_root_index(&mut self, plan: &Plan, set: u32, op: Comparison) -> (Box<[u32]>, u32) {
        self.visit(plan, set);
        self.need_of_ends(plan, set, Need::Value);
        let spec = self.intern_index(IndexSpec {
            op,
            scope: None,
            side: Side::Behind,
            root: Some(set),
            route: NONE,
            test: NONE,
        });
        (Box::default(), spec)
    }

    fn note_near_index(
        &mut self,
        plan: &Plan,
        set: u32,
        ups: usize,
        op: Comparison,
    ) -> (Box<[u32]>, u32) {
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
        while at != NONE {
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
        let spec = self.intern_index(IndexSpec {
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

    fn intern_index(&mut self, spec: IndexSpec) -> u32 {
        let known = self.indexes.iter().position(|known| *known == spec);
        known.unwrap_or_else(|| {
            self.indexes.push(spec);
            self.indexes.len() - 1
        }) as u32
    }

    /// How many contexts share a set: a path that only goes down behind its first steps.
    fn sharing(&self, plan: &Plan, set: u32) -> Sharing {
        if self.nature(set).is_absolute() {
            return Sharing::Root;
        }
        let mut sharing = Sharing::Own;
        let mut at = set;
        loop {
            let (kind, words) = plan.part(at);
            if kind == PartKind::Here {
                return sharing;
            }
            if kind != PartKind::Step {
                return Sharing::Own;
            }
            let Some(axis) = Axis::from_code(words[1]) else {
                return Sharing::Own;
            };
            let is_positional = words[3..].iter().any(|&p| self.nature(p).has_focus());
            sharing = match (axis, sharing) {
                (Axis::Parent, Sharing::Order(ups)) if words.len() == 3 => Sharing::Order(ups + 1),
                (Axis::Parent, Sharing::Parent(ups)) if words.len() == 3 => {
                    Sharing::Parent(ups + 1)
                }
                (Axis::Parent, Sharing::Own) if words.len() == 3 && at != set => Sharing::Parent(1),
                (_, Sharing::Own) if is_order(axis) && !is_positional => Sharing::Order(0),
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
            at = words[0];
        }
    }

    /// The shared side of a comparison that asks an index.
    pub fn shared(&self, part: u32) -> Option<Rc<Shared>> {
        self.shared.get(&part).cloned()
    }

    /// What asks for the last node of an axis, where the circuit finds that without a list: below a
    /// node only if nothing is asked before the position.
    pub(super) fn ending(&self, plan: &Plan, axis: Axis, predicates: &[u32]) -> Option<Rc<Pick>> {
        let (behind, pick) = self.last_pick_of(plan, predicates)?;
        let is_found = match axis {
            Axis::Preceding => true,
            Axis::Descendant | Axis::DescendantOrSelf => pick.guards.is_empty(),
            _ => false,
        };
        (is_found && behind == 0).then(|| Rc::new(pick))
    }

    /// The counted step and axis of a part that counts one.
    pub fn counted(&self, part: u32) -> Option<(u32, Axis)> {
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
