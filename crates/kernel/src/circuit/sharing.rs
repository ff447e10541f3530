//! What contexts share, recognised once per plan: counted steps, sets compared by value.

use super::routes::{Counted, Leaf, Need, Routes, Scope};
use crate::plan::{Axis, Comparison, NONE, PartKind, Plan};
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
    /// Whether a count is taken from groups: it is that of one step from the context node.
    pub(super) fn note_counted(&mut self, plan: &Plan, part: u32, set: u32) -> bool {
        let (kind, words) = plan.part(set);
        if kind != PartKind::Step || plan.part(words[0]).0 != PartKind::Here {
            return false;
        }
        let predicates: Box<[u32]> = words[3..].into();
        let Some(axis) = Axis::from_code(words[1]) else {
            return false;
        };
        let is_positional = predicates.iter().any(|&p| self.nature(p).has_focus());
        let Some(scope) = Scope::of(axis).filter(|_| !is_positional) else {
            return false;
        };
        for &predicate in predicates.iter() {
            self.visit_predicate(plan, predicate);
        }
        let counted = Counted {
            scope,
            test: words[2],
            predicates,
        };
        let known = self.counts.iter().position(|known| *known == counted);
        let spec = known.unwrap_or_else(|| {
            self.counts.push(counted);
            self.counts.len() - 1
        });
        self.counted.insert(part, (spec as u32, axis));
        true
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
