//! Steps and conditions over the tree of a document.

use super::paths::FrozenPaths;
use super::tree::{NodeId, Tree};
use crate::matcher::values::{compare_numbers, evaluate, parse_number};
use crate::plan::{Axis, Comparison, FormulaKind, NONE, NodeKind, Operand, OperandKind, Step};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// What was found out about one document.
#[derive(Default)]
pub struct Memory {
    /// The nodes that pass a test, in document order.
    passing: FxHashMap<u32, std::rc::Rc<[NodeId]>>,
    /// Conditions that look further than the node itself.
    truths: FxHashMap<(u32, NodeId), bool>,
}

impl Memory {
    /// Forgets the document.
    pub fn clear(&mut self) {
        self.passing.clear();
        self.truths.clear();
    }
}

/// A document with the paths that are looked up in it.
pub struct Lookup<'a> {
    pub paths: &'a FrozenPaths,
    pub tree: &'a Tree,
    pub memory: &'a mut Memory,
}

impl Lookup<'_> {
    /// Appends the nodes that a step leads to from a node, in document order.
    pub fn step(&mut self, (axis, test, condition): Step, from: NodeId, out: &mut Vec<NodeId>) {
        let first = out.len();
        if matches!(axis, Axis::Itself | Axis::DescendantOrSelf) && self.tree.passes(from, test) {
            out.push(from);
        }
        if axis != Axis::Itself {
            let below = self.below(from, test);
            let nodes = &self.tree.nodes;
            out.extend(below.iter().copied().filter(|&node| {
                let node = &nodes[node as usize];
                let is_attribute = node.kind == NodeKind::Attribute;
                match axis {
                    Axis::Attribute => is_attribute && node.parent == from,
                    Axis::Child => !is_attribute && node.parent == from,
                    _ => !is_attribute,
                }
            }));
        }
        let mut kept = first;
        for at in first..out.len() {
            if self.holds(condition, out[at]) {
                out[kept] = out[at];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// The nodes below a node, its attributes included, that pass a test.
    fn below(&mut self, from: NodeId, test: u32) -> std::rc::Rc<[NodeId]> {
        let tree = self.tree;
        let all = self.memory.passing.entry(test).or_insert_with(|| {
            let nodes = 0..tree.nodes.len() as NodeId;
            nodes.filter(|&node| tree.passes(node, test)).collect()
        });
        let end = tree.nodes[from as usize].end;
        let (first, last) = (
            all.partition_point(|&node| node <= from),
            all.partition_point(|&node| node < end),
        );
        if first == 0 && last == all.len() {
            all.clone()
        } else {
            all[first..last].into()
        }
    }

    /// Whether a condition holds at a node.
    pub fn holds(&mut self, formula: u32, node: NodeId) -> bool {
        let plan = self.paths.plan.clone();
        let view = plan.formula(formula);
        match view.kind() {
            FormulaKind::True => true,
            FormulaKind::False => false,
            FormulaKind::And => view.children().iter().all(|&part| self.holds(part, node)),
            FormulaKind::Or => view.children().iter().any(|&part| self.holds(part, node)),
            FormulaKind::Not => !self.holds(view.sub(), node),
            FormulaKind::Is => self.tree.passes(node, view.test()),
            FormulaKind::Text => {
                let is_equal = self.tree.value(node) == plan.string(view.constant());
                is_equal == (view.comparison() == Comparison::Eq)
            }
            FormulaKind::Number => {
                let number = parse_number(self.tree.value(node));
                compare_numbers(view.comparison(), number, plan.number(view.constant()))
            }
            FormulaKind::Contains => {
                let wanted = plan.string(view.constant());
                memchr::memmem::find(self.tree.value(node), wanted).is_some()
            }
            FormulaKind::StartsWith => self
                .tree
                .value(node)
                .starts_with(plan.string(view.constant())),
            FormulaKind::Edge => {
                let step = (view.axis(), view.test(), view.sub());
                self.remember(formula, node, |lookup| lookup.reaches(step, node))
            }
            FormulaKind::Computed => self.remember(formula, node, |lookup| {
                let operands: Vec<String> = view
                    .children()
                    .iter()
                    .map(|&operand| lookup.operand(plan.operand(operand), node))
                    .collect();
                evaluate(&plan, view.expr(), &|at| {
                    operands.get(at as usize).map_or("", |o| o.as_str())
                })
                .boolean()
            }),
        }
    }

    fn remember(
        &mut self,
        formula: u32,
        node: NodeId,
        find: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        if let Some(&known) = self.memory.truths.get(&(formula, node)) {
            return known;
        }
        let found = find(self);
        self.memory.truths.insert((formula, node), found);
        found
    }

    fn reaches(&mut self, step: Step, from: NodeId) -> bool {
        let mut found = Vec::new();
        self.step(step, from, &mut found);
        !found.is_empty()
    }

    /// The string of an operand at a node.
    fn operand(&mut self, operand: Operand, node: NodeId) -> String {
        if let Some([holds, _]) = operand.condition {
            return self.holds(holds, node).to_string();
        }
        let mut nodes = vec![node];
        if operand.root != NONE {
            let steps = self
                .paths
                .operand_steps
                .get(&operand.root)
                .cloned()
                .unwrap_or_default();
            for step in steps {
                nodes = self.steps(step, &nodes);
            }
        }
        let text = nodes.first().map_or(Cow::Borrowed(""), |&first| {
            let bytes = match operand.kind {
                OperandKind::Name => self.tree.name(first),
                OperandKind::LocalName => self.tree.local_name(first),
                OperandKind::Uri => self.tree.uri(first),
                OperandKind::Value | OperandKind::Truth => self.tree.value(first),
            };
            String::from_utf8_lossy(bytes)
        });
        text.into_owned()
    }

    /// The nodes that a step leads to from several, each once, in document order.
    pub fn steps(&mut self, step: Step, from: &[NodeId]) -> Vec<NodeId> {
        let mut out = Vec::new();
        for &node in from {
            self.step(step, node, &mut out);
        }
        if from.len() > 1 {
            out.sort_unstable();
            out.dedup();
        }
        out
    }
}
