//! Steps and conditions over the tree of a document.

use super::formulas::{Formula, FormulaId, Operand, Step};
use super::nodetests::{NodeTests, TestId};
use super::paths::Paths;
use super::tree::{NodeId, Tree};
use crate::plan::{Axis, NodeKind, OperandKind};
use crate::values::{compare_numbers, parse_number};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// What was found out about one document.
#[derive(Default)]
pub struct Memory {
    /// The nodes of each symbol, in document order, and the symbols that there are.
    nodes: Vec<Vec<NodeId>>,
    symbols: Vec<u32>,
    /// The symbols of the document that pass a test; a test that none passes is not there.
    tests: FxHashMap<TestId, SmallVec<[u32; 2]>>,
    /// The nodes that pass a test, in document order.
    passing: FxHashMap<TestId, Rc<[NodeId]>>,
    /// Conditions that look further than the node itself.
    truths: FxHashMap<(FormulaId, NodeId), bool>,
    /// How many steps were looked up.
    pub steps_taken: u64,
}

impl Memory {
    /// Forgets the document before and takes in the names of the next one.
    pub fn begin(&mut self, tree: &mut Tree, tests: &NodeTests) {
        for symbol in self.symbols.drain(..) {
            self.nodes[symbol as usize].clear();
        }
        self.tests.clear();
        self.passing.clear();
        self.truths.clear();
        self.steps_taken = 0;
        if self.nodes.len() < tree.symbols.len() {
            self.nodes.resize(tree.symbols.len(), Vec::new());
        }
        for (node, id) in tree.nodes.iter().zip(0..) {
            let same = &mut self.nodes[node.symbol as usize];
            if same.is_empty() {
                self.symbols.push(node.symbol);
            }
            same.push(id);
        }
        for &symbol in &self.symbols {
            tree.symbols.refresh(symbol, tests);
            for &test in tree.symbols.passed(symbol) {
                self.tests.entry(test).or_default().push(symbol);
            }
        }
    }

    /// The nodes that pass a test.
    fn passing(&mut self, test: TestId) -> &Rc<[NodeId]> {
        self.passing.entry(test).or_insert_with(|| {
            let symbols = self.tests.get(&test).map_or(&[][..], SmallVec::as_slice);
            if let [only] = symbols {
                return self.nodes[*only as usize].as_slice().into();
            }
            let nodes = symbols
                .iter()
                .flat_map(|&symbol| &self.nodes[symbol as usize]);
            let mut nodes: Vec<NodeId> = nodes.copied().collect();
            nodes.sort_unstable();
            nodes.into()
        })
    }

    /// How many tests some node passes.
    pub fn test_count(&self) -> usize {
        self.tests.len()
    }

    /// The tests that some node passes.
    pub fn tests(&self) -> impl Iterator<Item = TestId> + '_ {
        self.tests.keys().copied()
    }

    /// Whether some node passes a test.
    pub fn is_passed(&self, test: TestId) -> bool {
        self.tests.contains_key(&test)
    }
}

/// A document with the paths that are looked up in it.
pub struct Lookup<'a> {
    pub paths: &'a Paths,
    pub tree: &'a Tree,
    pub memory: &'a mut Memory,
}

impl Lookup<'_> {
    /// Whether a node passes a test.
    fn passes(&self, node: NodeId, test: TestId) -> bool {
        let symbol = self.tree.nodes[node as usize].symbol;
        self.tree
            .symbols
            .passed(symbol)
            .binary_search(&test)
            .is_ok()
    }

    /// Appends the nodes that a step leads to from a node, in document order.
    pub fn step(&mut self, (axis, test, condition): Step, from: NodeId, out: &mut Vec<NodeId>) {
        let first = out.len();
        if matches!(axis, Axis::Itself | Axis::DescendantOrSelf) && self.passes(from, test) {
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
    fn below(&mut self, from: NodeId, test: TestId) -> Rc<[NodeId]> {
        let tree = self.tree;
        let all = self.memory.passing(test);
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
    pub fn holds(&mut self, formula: FormulaId, node: NodeId) -> bool {
        let paths = self.paths;
        match paths.formulas.get(formula) {
            Formula::True => true,
            Formula::False => false,
            Formula::And(parts) => parts.iter().all(|&part| self.holds(part, node)),
            Formula::Or(parts) => parts.iter().any(|&part| self.holds(part, node)),
            Formula::Not(part) => !self.holds(*part, node),
            Formula::Is(test) => self.passes(node, *test),
            Formula::Text(is_equal, text) => (self.tree.value(node) == &**text) == *is_equal,
            Formula::Number(comparison, bits) => {
                let number = parse_number(self.tree.value(node));
                compare_numbers(*comparison, number, f64::from_bits(*bits))
            }
            Formula::Contains(text) => memchr::memmem::find(self.tree.value(node), text).is_some(),
            Formula::StartsWith(text) => self.tree.value(node).starts_with(text),
            Formula::Reaches(step) => {
                self.remember(formula, node, |lookup| lookup.reaches(*step, node))
            }
            Formula::Computed(scalar, operands) => self.remember(formula, node, |lookup| {
                let operands: Vec<String> = operands
                    .iter()
                    .map(|operand| lookup.operand(operand, node))
                    .collect();
                scalar.evaluate(&operands).boolean()
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
    fn operand(&mut self, operand: &Operand, node: NodeId) -> String {
        if let Some(condition) = operand.condition {
            return self.holds(condition, node).to_string();
        }
        let mut nodes = vec![node];
        for &step in &operand.steps {
            nodes = self.steps(step, &nodes);
        }
        let Some(&first) = nodes.first() else {
            return String::new();
        };
        let bytes = match operand.kind {
            OperandKind::Name => self.tree.name(first),
            OperandKind::LocalName => self.tree.local_name(first),
            OperandKind::Uri => self.tree.uri(first),
            OperandKind::Value | OperandKind::Truth => self.tree.value(first),
        };
        String::from_utf8_lossy(bytes).into_owned()
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
