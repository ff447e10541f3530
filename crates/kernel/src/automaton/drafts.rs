//! What the structure of a plan says about a node: the key of its state.

use super::states::Key;
use crate::plan::{Axis, NONE, NodeKind, Plan, ShapeKind, Symbols};

/// A key under construction.
#[derive(Default)]
pub(super) struct Draft {
    matched: Vec<u32>,
    deep: Vec<u32>,
    here: Vec<u32>,
    deep_shapes: Vec<u32>,
    fires: Vec<u32>,
}

impl Draft {
    /// The document node matches the first step of every path.
    pub fn root() -> Draft {
        Draft {
            matched: vec![0],
            ..Draft::default()
        }
    }

    /// What a parent's state says about a child or attribute with this symbol.
    pub fn step(plan: &Plan, symbols: &Symbols, parent: &Key, symbol: u32) -> Draft {
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
        let mut armed: Vec<u32> = arms.collect();
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
                // An edge that leads to nothing but existence is decided by the start itself.
                draft.fires.extend(
                    edge.formulas()
                        .iter()
                        .filter(|&&f| plan.formula(f).sub() == 0),
                );
            }
        }
        draft
    }

    fn kids(&mut self, plan: &Plan, tests: &[u32], spine: u32, axis: Axis) {
        let kids = plan.spine(spine).kids();
        for &test in tests {
            if let Some(kid) = find_kid(kids, axis, test) {
                self.matched.push(kid);
            }
        }
    }

    pub fn finish(mut self, plan: &Plan, symbols: &Symbols, symbol: u32) -> Key {
        let class = symbols.class(symbol);
        // Steps bring formulas, computed formulas bring the roots of operands, which are steps.
        let mut closed = 0;
        loop {
            self.close_matched(plan, &class.tests, closed);
            for &spine in &self.matched[closed..] {
                self.here.extend(
                    plan.spine(spine)
                        .formulas()
                        .iter()
                        .map(|&f| plan.formula(f).shape()),
                );
            }
            closed = self.matched.len();
            self.close_here(plan);
            if closed == self.matched.len() {
                break;
            }
        }
        for list in [&mut self.matched, &mut self.here] {
            list.sort_unstable();
            list.dedup();
        }
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
        for list in [&mut self.deep, &mut self.deep_shapes, &mut self.fires] {
            list.sort_unstable();
            list.dedup();
        }
        Key {
            symbol,
            matched: self.matched.into(),
            deep: self.deep.into(),
            here: self.here.into(),
            deep_shapes: self.deep_shapes.into(),
            fires: self.fires.into(),
        }
    }

    /// Adds the steps that the same node takes along self and descendant-or-self.
    fn close_matched(&mut self, plan: &Plan, tests: &[u32], from: usize) {
        let mut at = from;
        while at < self.matched.len() {
            let spine = self.matched[at];
            self.kids(plan, tests, spine, Axis::Itself);
            self.kids(plan, tests, spine, Axis::DescendantOrSelf);
            at += 1;
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
                    let parts = shape
                        .children()
                        .iter()
                        .copied()
                        .filter(|&part| seen.insert(part));
                    self.here.extend(parts);
                }
                ShapeKind::Not if seen.insert(shape.sub()) => self.here.push(shape.sub()),
                ShapeKind::Computed => {
                    for &operand in shape.children() {
                        for formula in plan.operand(operand).condition.into_iter().flatten() {
                            let part = plan.formula(formula).shape();
                            if seen.insert(part) {
                                self.here.push(part);
                            }
                        }
                    }
                    for &operand in shape.children() {
                        let root = plan.operand(operand).root;
                        if root != NONE && !self.matched.contains(&root) {
                            self.matched.push(root);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_edge(plan: &Plan, shape: u32, axis: Axis) -> bool {
    let shape = plan.shape(shape);
    shape.kind() == ShapeKind::Edge && shape.axis() == axis
}

fn has_deep_kids(plan: &Plan, spine: u32) -> bool {
    let deep = [Axis::Descendant as u32, Axis::DescendantOrSelf as u32];
    plan.spine(spine)
        .kids()
        .chunks_exact(3)
        .any(|kid| deep.contains(&kid[0]))
}

fn find_kid(kids: &[u32], axis: Axis, test: u32) -> Option<u32> {
    let wanted = (axis as u32, test);
    let (mut low, mut high) = (0, kids.len() / 3);
    while low < high {
        let middle = usize::midpoint(low, high);
        let found = (kids[3 * middle], kids[3 * middle + 1]);
        match found.cmp(&wanted) {
            std::cmp::Ordering::Equal => return Some(kids[3 * middle + 2]),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}
