//! What the structure of a plan says about a node: the key of its state.

use super::states::Key;
use crate::events::Symbol;
use crate::plan::{Axis, FormulaId, NodeKind, Plan, ShapeId, ShapeKind, SpineId, Symbols, TestId};

/// A key under construction.
#[derive(Default)]
pub(super) struct Draft {
    matched: Vec<SpineId>,
    deep: Vec<SpineId>,
    here: Vec<ShapeId>,
    deep_shapes: Vec<ShapeId>,
    fires: Vec<FormulaId>,
    ranges: Vec<ShapeId>,
}

impl Draft {
    /// The document node matches the first step of every path.
    pub fn root() -> Draft {
        Draft {
            matched: vec![SpineId::ROOT],
            ..Draft::default()
        }
    }

    /// What a parent's state says about a child or attribute with this symbol.
    pub fn step(plan: &Plan, symbols: &Symbols, parent: &Key, symbol: Symbol) -> Draft {
        let class = symbols.class(symbol);
        let mut draft = Draft::default();
        if class.kind == NodeKind::Namespace {
            // No twig asks for namespaces, and they are nobody's children.
            return draft;
        }
        let near = if class.kind == NodeKind::Attribute {
            Axis::Attribute
        } else {
            Axis::Child
        };
        for &spine in &parent.matched {
            draft.kids(plan, &class.tests, spine, near);
        }
        let arms = parent
            .here
            .iter()
            .copied()
            .filter(|&s| is_edge(plan, s, near));
        let mut armed: Vec<ShapeId> = arms.collect();
        if near == Axis::Child {
            for &spine in &parent.deep {
                draft.kids(plan, &class.tests, spine, Axis::Descendant);
                draft.kids(plan, &class.tests, spine, Axis::DescendantOrSelf);
            }
            armed.extend_from_slice(&parent.deep_shapes);
            if class.kind == NodeKind::Element {
                draft.deep.extend_from_slice(&parent.deep);
                draft.deep_shapes.extend_from_slice(&parent.deep_shapes);
            }
        }
        for shape in armed {
            let edge = plan.shape(shape);
            if class.tests.binary_search(&edge.test()).is_ok() {
                draft.here.push(edge.sub());
                if plan.shape(edge.sub()).is_ordered() {
                    draft.ranges.push(shape);
                }
                // An edge that leads to nothing but existence is decided by the start itself.
                draft.fires.extend(
                    edge.formulas()
                        .iter()
                        .filter(|&&f| plan.formula(f).sub() == FormulaId::TRUE),
                );
            }
        }
        draft
    }

    fn kids(&mut self, plan: &Plan, tests: &[TestId], spine: SpineId, axis: Axis) {
        let spine = plan.spine(spine);
        let kids = tests.iter().filter_map(|&test| spine.kid(axis, test));
        self.matched.extend(kids);
    }

    pub fn finish(mut self, plan: &Plan, symbols: &Symbols, symbol: Symbol) -> Key {
        let class = symbols.class(symbol);
        // Steps bring formulas, computed formulas bring the roots of operands, which are steps.
        let mut closed = 0;
        loop {
            self.close_matched(plan, &class.tests, closed);
            for at in closed..self.matched.len() {
                let formulas = plan.spine(self.matched[at]).formulas().iter();
                let shapes = formulas.map(|&formula| plan.formula(formula).shape());
                for shape in shapes {
                    self.here.push(shape);
                    self.search(plan, shape);
                }
            }
            closed = self.matched.len();
            self.close_here(plan);
            if closed == self.matched.len() {
                break;
            }
        }
        sort_out(&mut self.matched);
        sort_out(&mut self.here);
        if matches!(class.kind, NodeKind::Element | NodeKind::Document) {
            let deep = self
                .matched
                .iter()
                .copied()
                .filter(|&s| has_deep_kids(plan, s));
            self.deep.extend(deep);
            let edges = self
                .here
                .iter()
                .copied()
                .filter(|&s| is_edge(plan, s, Axis::Descendant));
            self.deep_shapes.extend(edges);
        }
        sort_out(&mut self.deep);
        sort_out(&mut self.deep_shapes);
        sort_out(&mut self.fires);
        // All numbers of an order include those of the edges that lead to some.
        let all = self.ranges.clone();
        self.ranges
            .retain(|&shape| !all.contains(&plan.shape(shape).sub()));
        sort_out(&mut self.ranges);
        Key {
            symbol,
            matched: self.matched.into(),
            deep: self.deep.into(),
            here: self.here.into(),
            deep_shapes: self.deep_shapes.into(),
            fires: self.fires.into(),
            ranges: self.ranges.into(),
        }
    }

    /// Adds the steps that the same node takes along self and descendant-or-self.
    fn close_matched(&mut self, plan: &Plan, tests: &[TestId], from: usize) {
        let mut at = from;
        while at < self.matched.len() {
            let spine = self.matched[at];
            self.kids(plan, tests, spine, Axis::Itself);
            self.kids(plan, tests, spine, Axis::DescendantOrSelf);
            at += 1;
        }
    }

    /// A shape is asked of the node itself: numbers that its value is compared with are searched.
    fn search(&mut self, plan: &Plan, shape: ShapeId) {
        if plan.shape(shape).is_ordered() && !self.ranges.contains(&shape) {
            self.ranges.push(shape);
        }
    }

    /// Adds the parts of every shape, and the roots of operands that start at this node.
    fn close_here(&mut self, plan: &Plan) {
        let mut at = 0;
        let mut seen = rustc_hash::FxHashSet::default();
        self.here.retain(|&shape| seen.insert(shape));
        while at < self.here.len() {
            let shape = plan.shape(self.here[at]);
            at += 1;
            match shape.kind() {
                ShapeKind::And | ShapeKind::Or => {
                    for &part in shape.children() {
                        self.search(plan, part);
                        if seen.insert(part) {
                            self.here.push(part);
                        }
                    }
                }
                ShapeKind::Not => {
                    self.search(plan, shape.sub());
                    if seen.insert(shape.sub()) {
                        self.here.push(shape.sub());
                    }
                }
                ShapeKind::Computed => {
                    for &operand in shape.operands() {
                        for formula in plan.operand(operand).condition.into_iter().flatten() {
                            let part = plan.formula(formula).shape();
                            self.search(plan, part);
                            if seen.insert(part) {
                                self.here.push(part);
                            }
                        }
                    }
                    for &operand in shape.operands() {
                        let root = plan.operand(operand).root;
                        if root.is_some() && !self.matched.contains(&root) {
                            self.matched.push(root);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_edge(plan: &Plan, shape: ShapeId, axis: Axis) -> bool {
    let shape = plan.shape(shape);
    shape.kind() == ShapeKind::Edge && shape.axis() == axis
}

fn has_deep_kids(plan: &Plan, spine: SpineId) -> bool {
    let is_deep = |axis| matches!(axis, Axis::Descendant | Axis::DescendantOrSelf);
    plan.spine(spine).kids().any(|(axis, ..)| is_deep(axis))
}

/// Sorts a list; each item stays once.
pub(super) fn sort_out<I: Ord>(list: &mut Vec<I>) {
    list.sort_unstable();
    list.dedup();
}
