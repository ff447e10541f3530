//! What contexts share, recognised once per plan: counted steps, sums, sets compared by value,
//! ranks.

use super::routes::{Counted, Fold, Folded, Leaf, Need, Route, Routes, Scope, Source};
use super::sinks::FirstPart;
use super::steps::{is_down, is_order};
use crate::plan::{Axis, Comparison, NONE, Op, PartKind, Plan};
use std::rc::Rc;

/// A comparison for equality with a set that many contexts share.
#[derive(Debug)]
pub struct Shared {
    /// The side that is shared: 0 or 1.
    pub side: usize,
    pub place: SharedPlace,
}

/// Where a shared set is.
#[derive(Debug)]
pub enum SharedPlace {
    /// In the whole document: this part.
    Root(u32),
    /// Among the siblings of the context node or, with `ups`, of its parent that passes the first
    /// test, and so on: the set, and on which side.
    Beside {
        ups: Box<[u32]>,
        spec: u32,
        axis: Axis,
    },
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

    /// Whether a comparison asks an index: for equality, with one side that contexts share.
    pub(super) fn note_shared(&mut self, plan: &Plan, part: u32) -> bool {
        let (_, words) = plan.part(part);
        if Comparison::from_code(words[0]) != Some(Comparison::Eq) {
            return false;
        }
        let sides = [words[1], words[2]];
        let absolute = sides.map(|set| self.nature(set).is_absolute());
        let beside = sides.map(|set| self.sibling_step(plan, set));
        let side = match (absolute, beside) {
            ([false, true], [None, _]) | ([false, false], [None, Some(_)]) => 1,
            ([true, false], [_, None]) | ([false, false], [Some(_), None]) => 0,
            _ => return false,
        };
        let place = match beside[side] {
            None => self.note_root_index(plan, sides[side]),
            Some(ups) => self.note_sibling_index(plan, sides[side], ups),
        };
        self.visit(plan, sides[1 - side]);
        self.need_of_ends(plan, sides[1 - side], Need::Value);
        self.shared.insert(part, Rc::new(Shared { side, place }));
        true
    }

    fn note_root_index(&mut self, plan: &Plan, set: u32) -> SharedPlace {
        self.visit(plan, set);
        self.need_of_ends(plan, set, Need::Value);
        if !self.root_indexes.contains(&set) {
            self.root_indexes.push(set);
        }
        SharedPlace::Root(set)
    }

    fn note_sibling_index(&mut self, plan: &Plan, set: u32, ups: usize) -> SharedPlace {
        let (_, mut at) = self.of_set(plan, set, Leaf::Collect);
        let mut tests = Vec::with_capacity(ups);
        for _ in 0..ups {
            let route = self.get(at);
            tests.push(route.test);
            at = route.next;
        }
        let (first, axis) = (at, self.get(at).axis);
        self.visit_way(plan, first);
        // The same members serve both sides of a node.
        let same = |known: &u32| {
            let (known, own) = (self.get(*known), self.get(first));
            known.test == own.test && known.predicates == own.predicates && known.next == own.next
        };
        let known = self.indexes.iter().position(same);
        let spec = known.unwrap_or_else(|| {
            self.indexes.push(first);
            self.indexes.len() - 1
        });
        SharedPlace::Beside {
            ups: tests.into(),
            spec: spec as u32,
            axis,
        }
    }

    /// How many parents a path goes up before a step to siblings that only goes down behind it.
    fn sibling_step(&self, plan: &Plan, set: u32) -> Option<usize> {
        let mut at = set;
        let mut ups = None;
        loop {
            let (kind, words) = plan.part(at);
            if kind == PartKind::Here {
                return ups;
            }
            if kind != PartKind::Step {
                return None;
            }
            let axis = Axis::from_code(words[1])?;
            let is_positional = words[3..].iter().any(|&p| self.nature(p).has_focus());
            match (axis, ups) {
                (Axis::Parent, Some(count)) if words.len() == 3 => ups = Some(count + 1),
                (Axis::PrecedingSibling | Axis::FollowingSibling, None) if !is_positional => {
                    ups = Some(0);
                }
                (
                    Axis::Child
                    | Axis::Descendant
                    | Axis::DescendantOrSelf
                    | Axis::Attribute
                    | Axis::Itself,
                    None,
                ) => {}
                _ => return None,
            }
            at = words[0];
        }
    }

    /// The shared side of a comparison that asks an index.
    pub fn shared(&self, part: u32) -> Option<Rc<Shared>> {
        self.shared.get(&part).cloned()
    }

    /// The counted step and axis of a part that counts one.
    pub fn counted(&self, part: u32) -> Option<(u32, Axis)> {
        self.counted.get(&part).copied()
    }
}

/// The position that a predicate asks for, `position() = k`, where an axis picks by rank.
pub(super) fn picked(plan: &Plan, axis: Axis, predicate: u32) -> Option<u32> {
    let is_ranked = is_order(axis) || matches!(axis, Axis::Ancestor | Axis::AncestorOrSelf);
    let (kind, words) = plan.part(predicate);
    if !is_ranked || kind != PartKind::Call || Op::from_code(words[0]) != Some(Op::Eq) {
        return None;
    }
    let (left, right) = (plan.part(words[1]), plan.part(words[2]));
    let number = match (left.0, right.0) {
        (PartKind::Position, PartKind::Number) => plan.number(right.1[0]),
        (PartKind::Number, PartKind::Position) => plan.number(left.1[0]),
        _ => return None,
    };
    let is_rank = number.fract() == 0.0 && (1.0..1e9).contains(&number);
    is_rank.then_some(number as u32)
}
