//! Steps and conditions over a document.

use super::formulas::{Formula, FormulaId, Operand, Step};
use super::nodetests::{NodeTests, TestId};
use super::paths::Paths;
use super::symbols::Symbols;
use crate::document::{Collector, Lists, between, sort_from};
use crate::ledger::Account;
use crate::plan::{Axis, NodeKind};
use crate::values::parse_number;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What was found out about one document.
pub struct Memory {
    /// The nodes that pass a test.
    pub passing: Lists,
    /// Conditions that look further than the node itself.
    truths: FxHashMap<(FormulaId, u32), bool>,
    /// How many steps were looked up.
    pub steps_taken: u64,
    pub account: Account,
}

impl Memory {
    /// Nothing yet; what it takes goes into an account.
    pub fn new(account: Account) -> Memory {
        Memory {
            passing: Lists::default(),
            truths: FxHashMap::default(),
            steps_taken: 0,
            account,
        }
    }

    /// Forgets the document before and lists the nodes of the next one.
    pub fn begin(&mut self, taken: &mut Collector<Symbols>, tests: &NodeTests) {
        self.passing.clear();
        self.truths.clear();
        self.steps_taken = 0;
        self.account.begin();
        self.account.position = taken.account.position;
        let (paths, symbols) = (&taken.bundle.paths, &mut taken.alphabet);
        for path in paths {
            symbols.refresh(path.symbol, tests);
        }
        let passed = |path: u32| symbols.passed(paths[path as usize].symbol).iter().copied();
        self.passing.fill(&taken.bundle, passed);
    }
}

/// A document with the paths that are looked up in it.
pub struct Lookup<'a> {
    pub paths: &'a Paths,
    pub taken: &'a Collector<Symbols>,
    pub memory: &'a mut Memory,
}

impl Lookup<'_> {
    /// Whether a node passes a test.
    fn passes(&self, node: u32, test: TestId) -> bool {
        let passed = self.taken.alphabet.passed(self.taken.bundle.symbol(node));
        passed.binary_search(&test).is_ok()
    }

    /// Appends the nodes that a step leads to from a node, in document order.
    pub fn step(&mut self, (axis, test, condition): Step, from: u32, out: &mut Vec<u32>) {
        let first = out.len();
        if matches!(axis, Axis::Itself | Axis::DescendantOrSelf) && self.passes(from, test) {
            out.push(from);
        }
        if axis != Axis::Itself {
            let bundle = &self.taken.bundle;
            let last = bundle.nodes[from as usize].last;
            let below = between(self.memory.passing.of(test), from, last);
            out.extend(below.iter().copied().filter(|&node| {
                let is_attribute = bundle.kind(node) == NodeKind::Attribute;
                let is_near = bundle.nodes[node as usize].parent == from;
                match axis {
                    Axis::Attribute => is_attribute && is_near,
                    Axis::Child => !is_attribute && is_near,
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

    /// Whether a condition holds at a node.
    pub fn holds(&mut self, formula: FormulaId, node: u32) -> bool {
        let paths = self.paths;
        match paths.formulas.get(formula) {
            Formula::True => true,
            Formula::False => false,
            Formula::And(parts) => parts.iter().all(|&part| self.holds(part, node)),
            Formula::Or(parts) => parts.iter().any(|&part| self.holds(part, node)),
            Formula::Not(part) => !self.holds(*part, node),
            Formula::Is(test) => self.passes(node, *test),
            Formula::Value(test) => {
                let value = self.taken.bundle.value(node);
                test.passes(value, || parse_number(value))
            }
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

    fn remember(&mut self, formula: u32, node: u32, find: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(&known) = self.memory.truths.get(&(formula, node)) {
            return known;
        }
        let found = find(self);
        self.memory.truths.insert((formula, node), found);
        found
    }

    fn reaches(&mut self, step: Step, from: u32) -> bool {
        let mut found = Vec::new();
        self.step(step, from, &mut found);
        !found.is_empty()
    }

    /// The string of an operand at a node.
    fn operand(&mut self, operand: &Operand, node: u32) -> String {
        if let Some(condition) = operand.condition {
            return self.holds(condition, node).to_string();
        }
        let mut nodes = vec![node];
        let end = self.follow(&operand.steps, &mut nodes);
        let Some(&first) = nodes[end].first() else {
            return String::new();
        };
        let bundle = &self.taken.bundle;
        let (kind, name, uri) = (bundle.kind(first), bundle.name(first), bundle.uri(first));
        let part = operand.kind.name_part(kind, name, uri);
        let bytes = part.unwrap_or_else(|| bundle.value(first));
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Appends the nodes that steps lead to from those of a list; where they lie in it.
    pub fn follow(&mut self, steps: &[Step], nodes: &mut Vec<u32>) -> Range<usize> {
        let mut end = 0..nodes.len();
        for &step in steps {
            end = self.step_from(step, end, nodes);
        }
        end
    }

    /// Appends the nodes that a step leads to from a part of a list, each once, in document order;
    /// where they lie in it.
    pub fn step_from(
        &mut self,
        step: Step,
        from: Range<usize>,
        nodes: &mut Vec<u32>,
    ) -> Range<usize> {
        let first = nodes.len();
        for index in from.clone() {
            let before = nodes.len();
            self.step(step, nodes[index], nodes);
            let reached = nodes.len() - before;
            self.memory.account.spend(1 + reached as u64);
        }
        if from.len() > 1 {
            sort_from(nodes, first);
        }
        first..nodes.len()
    }
}
