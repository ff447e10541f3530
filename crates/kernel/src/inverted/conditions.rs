//! Conditions: at which nodes they hold, and from when.
//!
//! An edge is worked out once for the whole document, from the nodes that pass its test up; all
//! others are tried at the nodes in question. Truth comes at the same event as in the matcher: a
//! value with the end of its node, a negation when what it denies can no longer come.

use super::Inverted;
use super::document::NEVER;
use super::image::MARK;
use super::nodes::{NodeSets, Timed};
use super::question::Relation;
use crate::matcher::parse_number;
use crate::plan::{Axis, Comparison, Formula, FormulaKind, NodeKind};
use memchr::memmem;
use std::rc::Rc;

/// What values a chain reaches from a set, by context: constant or number, node, time.
#[derive(Default)]
pub struct Values {
    /// Strings of the plan, sorted.
    strings: Option<Rc<[(u32, u32, u32)]>>,
    /// Numbers, sorted.
    numbers: Option<Rc<[(f64, u32, u32)]>>,
}

/// No string of the plan; and not looked up yet.
const NO_STRING: u32 = u32::MAX;
const NOT_SOUGHT: u32 = u32::MAX - 1;

impl Inverted {
    /// Follows every condition of a block that some node of the set meets.
    pub(super) fn try_block(&mut self, block: u32, set: u32, is_query: bool) {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return;
        };
        let (groups, others) = image.block(block);
        for group in groups {
            if group.relation == Relation::Equal {
                let values = self.strings(set, group.chain);
                self.try_strings(&values, group.constants, group.to, is_query);
            } else {
                let values = self.numbers(set, group.chain);
                let constant = |id: u32| plan.number(id);
                let constants = group.constants;
                for index in passing(group.relation, constants, constant, &values) {
                    let bound = constant(constants[index]);
                    let holds = |value: f64| compares(group.relation, value, bound);
                    let pairs = values.iter().filter(|entry| holds(entry.0));
                    let items = gather(pairs.map(|&(_, node, time)| (node, time)).collect());
                    self.go_on(group.to[index], &items, is_query);
                }
            }
        }
        for pair in others.chunks_exact(2) {
            let items = self.nodes.get(set).to_vec();
            let items = self.holding(pair[0], &items);
            if !items.is_empty() {
                self.go_on(pair[1], &items, is_query);
            }
        }
    }

    fn try_strings(
        &mut self,
        values: &[(u32, u32, u32)],
        constants: &[u32],
        to: &[u32],
        is_query: bool,
    ) {
        for run in values.chunk_by(|a, b| a.0 == b.0) {
            let Ok(index) = constants.binary_search(&run[0].0) else {
                continue;
            };
            let items = gather(run.iter().map(|&(_, node, time)| (node, time)).collect());
            self.go_on(to[index], &items, is_query);
        }
    }

    /// Leads nodes on to a record, or to the end of a question.
    fn go_on(&mut self, to: u32, items: &[Timed], is_query: bool) {
        if to & MARK != 0 && !is_query {
            let time = NodeSets::earliest(items);
            self.found.push((to & !MARK, time));
        } else {
            let set = self.nodes.intern(items);
            self.todo.push((to, set));
        }
    }

    /// The strings of the plan that a chain reaches from a set.
    fn strings(&mut self, set: u32, chain: u32) -> Rc<[(u32, u32, u32)]> {
        if let Some(known) = self.values.entry((set, chain)).or_default().strings.clone() {
            return known;
        }
        let mut found = Vec::new();
        for (context, node, time) in self.reached(set, chain) {
            let string = self.string_of(node);
            if string != NO_STRING {
                found.push((string, context, time));
            }
        }
        found.sort_unstable();
        let found: Rc<[_]> = found.into();
        self.values.entry((set, chain)).or_default().strings = Some(found.clone());
        found
    }

    /// The numbers that a chain reaches from a set.
    fn numbers(&mut self, set: u32, chain: u32) -> Rc<[(f64, u32, u32)]> {
        if let Some(known) = self.values.entry((set, chain)).or_default().numbers.clone() {
            return known;
        }
        let reached = self.reached(set, chain).into_iter();
        let number = |(context, node, time): (u32, u32, u32)| {
            (parse_number(self.document.value(node)), context, time)
        };
        let mut found: Vec<_> = reached
            .map(number)
            .filter(|entry| !entry.0.is_nan())
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let found: Rc<[_]> = found.into();
        self.values.entry((set, chain)).or_default().numbers = Some(found.clone());
        found
    }

    /// The nodes that a chain reaches from a set, whose values are known: context, node, time.
    fn reached(&mut self, set: u32, chain: u32) -> Vec<(u32, u32, u32)> {
        let plan = self.plan.clone();
        let codes = plan.questions().map_or(&[][..], |image| image.chain(chain));
        let items = self.nodes.get(set);
        // Pairs of a node and the index of its context.
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(items.len());
        pairs.extend(items.iter().enumerate().map(|(i, item)| (item.0, i as u32)));
        for &code in codes {
            let code = code as u16;
            let axis = self.axis(code);
            let answers = self.nodes.answers(&self.document, &self.names, code);
            let mut next = Vec::new();
            for &(node, context) in &pairs {
                let last = self.document.nodes[node as usize].last;
                let from = answers.partition_point(|&answer| answer <= node);
                for &answer in answers[from..].iter().take_while(|&&a| a <= last) {
                    let is_reached = axis == Axis::Descendant
                        || self.document.nodes[answer as usize].parent == node;
                    if is_reached {
                        next.push((answer, context));
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            pairs = next;
        }
        let items = self.nodes.get(set);
        let timed = |(node, context): (u32, u32)| {
            let (context, time) = items[context as usize];
            let closed = self.document.nodes[node as usize].closed;
            (closed != NEVER).then_some((context, node, time.max(closed)))
        };
        pairs.into_iter().filter_map(timed).collect()
    }

    /// The string of the plan that equals a node's value.
    fn string_of(&mut self, node: u32) -> u32 {
        if self.strings.len() <= node as usize {
            self.strings.resize(self.document.nodes.len(), NOT_SOUGHT);
        }
        let known = self.strings[node as usize];
        if known != NOT_SOUGHT {
            return known;
        }
        let value = self.document.value(node);
        let found = if value.len() > self.equal_bytes_max {
            None
        } else {
            self.plan.equal_atom(value)
        };
        let string = found.map_or(NO_STRING, |atom| self.plan.formula(atom).constant());
        self.strings[node as usize] = string;
        string
    }

    /// The items at which a formula holds, certain when both are.
    pub(super) fn holding(&mut self, formula: u32, items: &[Timed]) -> Vec<Timed> {
        let plan = self.plan.clone();
        let view = plan.formula(formula);
        match view.kind() {
            FormulaKind::True => items.to_vec(),
            FormulaKind::And => {
                let mut left = items.to_vec();
                for &part in view.children() {
                    left = self.holding(part, &left);
                }
                left
            }
            FormulaKind::Or => {
                let mut found = Vec::new();
                for &part in view.children() {
                    found.extend(self.holding(part, items));
                }
                gather(found)
            }
            FormulaKind::Not => {
                let denied = self.holding(view.sub(), items);
                let sub = plan.formula(view.sub());
                self.denying(sub, items, &denied)
            }
            FormulaKind::Edge => {
                let edge = self.edge(formula);
                intersect(items, &edge)
            }
            FormulaKind::Is => {
                let passes = |&&(node, _): &&Timed| self.passes(node, view.test());
                items.iter().filter(passes).copied().collect()
            }
            FormulaKind::Text
            | FormulaKind::Number
            | FormulaKind::Contains
            | FormulaKind::StartsWith => {
                let known = |&(node, time): &Timed| {
                    let closed = self.document.nodes[node as usize].closed;
                    (closed != NEVER && self.is_true_of(view, self.document.value(node)))
                        .then_some((node, time.max(closed)))
                };
                items.iter().filter_map(known).collect()
            }
            _ => Vec::new(),
        }
    }

    fn is_true_of(&self, atom: Formula<'_>, value: &[u8]) -> bool {
        let string = || self.plan.string(atom.constant());
        match atom.kind() {
            FormulaKind::Text => (value == string()) == (atom.comparison() == Comparison::Eq),
            FormulaKind::Number => {
                let (left, right) = (parse_number(value), self.plan.number(atom.constant()));
                crate::matcher::compare_numbers(atom.comparison(), left, right)
            }
            FormulaKind::Contains => memmem::find(value, string()).is_some(),
            _ => value.starts_with(string()),
        }
    }

    /// The items where a formula can no longer hold: a test at once, an attribute with its
    /// element's start, everything else at the end.
    fn denying(&self, sub: Formula<'_>, items: &[Timed], denied: &[Timed]) -> Vec<Timed> {
        let is_near = match sub.kind() {
            FormulaKind::Is => true,
            FormulaKind::Edge => sub.axis() == Axis::Attribute,
            _ => false,
        };
        let mut denied = denied.iter().map(|item| item.0).peekable();
        let mut found = Vec::new();
        for &(node, time) in items {
            while denied.next_if(|&other| other < node).is_some() {}
            if denied.peek() == Some(&node) {
                continue;
            }
            let entry = &self.document.nodes[node as usize];
            let certain = if is_near { entry.born } else { entry.closed };
            if certain != NEVER {
                found.push((node, time.max(certain)));
            }
        }
        found
    }

    /// All nodes at which an edge holds.
    fn edge(&mut self, formula: u32) -> Rc<[Timed]> {
        if let Some(known) = self.edges.get(&formula) {
            return known.clone();
        }
        let plan = self.plan.clone();
        let view = plan.formula(formula);
        let is_attribute = view.axis() == Axis::Attribute;
        let passes = |&(_, path): &(usize, &super::document::Path)| {
            (path.kind == NodeKind::Attribute) == is_attribute
                && self.symbols.passes(path.symbol, view.test())
        };
        let paths = self.document.paths.iter().enumerate().skip(1);
        let paths: Vec<u32> = paths.filter(passes).map(|(id, _)| id as u32).collect();
        let nodes = self.nodes.nodes_of(&self.document, paths.into_iter());
        let born = |&node: &u32| (node, self.document.nodes[node as usize].born);
        let ends: Vec<Timed> = nodes.iter().map(born).collect();
        let ends = self.holding(view.sub(), &ends);
        let mut found = Vec::new();
        for &(node, time) in &ends {
            let parent = self.document.nodes[node as usize].parent;
            found.push((parent, time));
        }
        let mut found = gather(found);
        if view.axis() == Axis::Descendant {
            found = self.above(found);
        }
        let found: Rc<[Timed]> = found.into();
        self.edges.insert(formula, found.clone());
        found
    }

    /// The items and everything above them, each with its earliest time.
    fn above(&self, items: Vec<Timed>) -> Vec<Timed> {
        let mut best: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
        for (mut node, time) in items {
            // Whoever has an earlier time has passed it on to all above.
            while best.get(&node).is_none_or(|&known| known > time) {
                best.insert(node, time);
                node = self.document.nodes[node as usize].parent;
            }
        }
        let mut found: Vec<Timed> = best.into_iter().collect();
        found.sort_unstable();
        found
    }

    fn passes(&self, node: u32, test: u32) -> bool {
        let path = self.document.nodes[node as usize].path;
        self.symbols
            .passes(self.document.paths[path as usize].symbol, test)
    }
}

/// The constants that some of the values, which are sorted, are in the relation to.
fn passing(
    relation: Relation,
    constants: &[u32],
    constant: impl Fn(u32) -> f64,
    values: &[(f64, u32, u32)],
) -> Vec<usize> {
    let (Some(low), Some(high)) = (values.first(), values.last()) else {
        return Vec::new();
    };
    let (low, high) = (low.0, high.0);
    let place =
        |is_before: &dyn Fn(f64) -> bool| constants.partition_point(|&id| is_before(constant(id)));
    match relation {
        Relation::Less => (place(&|c| c <= low)..constants.len()).collect(),
        Relation::AtMost => (place(&|c| c < low)..constants.len()).collect(),
        Relation::Greater => (0..place(&|c| c < high)).collect(),
        Relation::AtLeast => (0..place(&|c| c <= high)).collect(),
        Relation::Equal | Relation::Same => {
            let mut found = Vec::new();
            for run in values.chunk_by(|a, b| a.0 == b.0) {
                let from = place(&|c| c < run[0].0);
                let same = constants[from..].iter();
                let same = same.take_while(|&&id| constant(id) == run[0].0).count();
                found.extend(from..from + same);
            }
            found
        }
    }
}

fn compares(relation: Relation, value: f64, constant: f64) -> bool {
    match relation {
        Relation::Equal | Relation::Same => value == constant,
        Relation::Less => value < constant,
        Relation::AtMost => value <= constant,
        Relation::Greater => value > constant,
        Relation::AtLeast => value >= constant,
    }
}

/// Pairs in document order, each node once, with its earliest time.
fn gather(mut pairs: Vec<Timed>) -> Vec<Timed> {
    pairs.sort_unstable();
    pairs.dedup_by_key(|pair| pair.0);
    pairs
}

/// The items that are in both lists, certain when both are.
fn intersect(items: &[Timed], others: &[Timed]) -> Vec<Timed> {
    let mut found = Vec::new();
    let mut at = 0;
    for &(node, time) in items {
        at += others[at..].partition_point(|other| other.0 < node);
        if let Some(&(other, certain)) = others.get(at)
            && other == node
        {
            found.push((node, time.max(certain)));
        }
    }
    found
}
