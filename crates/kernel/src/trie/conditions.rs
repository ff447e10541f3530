//! Conditions: at which nodes they hold, and from when.
//!
//! An edge is worked out once for the whole bundle, from the nodes that pass its test up; all
//! others are tried at the nodes in question. Truth comes at the same event as in the automaton: a
//! value with the end of its node, a negation when what it denies can no longer come.

use super::Trie;
use crate::document::{NEVER, Path, Timed};
use crate::plan::{Axis, Formula, FormulaId, FormulaKind, NodeKind};
use crate::values::parse_number;
use std::rc::Rc;

/// So many bytes of a value are looked at in the time of an item.
const VALUE_BYTES_PER_ITEM: usize = 16;

impl Trie {
    /// Follows every condition of a block that some node of the set meets.
    pub(super) fn try_block(&mut self, block: u32, set: u32, is_query: bool) {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return;
        };
        let (groups, others) = image.block(block);
        for group in groups {
            self.try_group(&plan, image, &group, set, is_query);
            self.pay();
        }
        if others.is_empty() {
            return;
        }
        let items = self.nodes.get(set).to_vec();
        for pair in others.chunks_exact(2) {
            let holding = self.holding(FormulaId(pair[0]), &items);
            let earliest = self.taken.bundle.earliest_of(&holding);
            self.go_on(pair[1], earliest, is_query, |own| {
                own.nodes.intern(&holding)
            });
        }
    }

    /// The items at which a formula holds, certain when both are.
    pub(super) fn holding(&mut self, formula: FormulaId, items: &[Timed]) -> Vec<Timed> {
        let plan = self.plan.clone();
        let view = plan.formula(formula);
        self.nodes.unpaid += items.len();
        self.pay();
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
                let symbol = |node: u32| self.taken.bundle.symbol(node);
                let passes =
                    |&&(node, _): &&Timed| self.taken.alphabet.passes(symbol(node), view.test());
                items.iter().filter(passes).copied().collect()
            }
            _ => {
                let Some(test) = view.value_test() else {
                    return Vec::new();
                };
                let (bundle, account) = (&self.taken.bundle, &mut self.taken.account);
                let known = |&(node, time): &Timed| {
                    let closed = bundle.nodes[node as usize].closed;
                    let value = bundle.value(node);
                    // Nested elements have the same text again and again.
                    account.go_through(value.len() / VALUE_BYTES_PER_ITEM);
                    (closed != NEVER && test.passes(value, || parse_number(value)))
                        .then_some((node, time.max(closed)))
                };
                items.iter().filter_map(known).collect()
            }
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
            let entry = &self.taken.bundle.nodes[node as usize];
            let certain = if is_near { entry.born } else { entry.closed };
            if certain != NEVER {
                found.push((node, time.max(certain)));
            }
        }
        found
    }

    /// All nodes at which an edge holds.
    fn edge(&mut self, formula: FormulaId) -> Rc<[Timed]> {
        if let Some(known) = self.edges.get(&formula) {
            return known.clone();
        }
        let plan = self.plan.clone();
        let view = plan.formula(formula);
        let is_attribute = view.axis() == Axis::Attribute;
        let passes = |&(_, path): &(usize, &Path)| {
            (path.kind == NodeKind::Attribute) == is_attribute
                && self.taken.alphabet.passes(path.symbol, view.test())
        };
        let paths = self.taken.bundle.paths.iter().enumerate().skip(1);
        let paths: Vec<u32> = paths.filter(passes).map(|(id, _)| id as u32).collect();
        let mut ends = Vec::new();
        let nodes = &mut self.nodes;
        nodes.list_nodes(&self.taken.bundle, paths.into_iter(), &mut ends);
        let ends = self.holding(view.sub(), &ends);
        let mut found = Vec::new();
        for &(node, time) in &ends {
            let parent = self.taken.bundle.nodes[node as usize].parent;
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
    fn above(&mut self, items: Vec<Timed>) -> Vec<Timed> {
        let mut best: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
        for (mut node, time) in items {
            // Whoever has an earlier time has passed it on to all above.
            while best.get(&node).is_none_or(|&known| known > time) {
                self.taken.account.spend(1);
                best.insert(node, time);
                node = self.taken.bundle.nodes[node as usize].parent;
            }
        }
        let mut found: Vec<Timed> = best.into_iter().collect();
        found.sort_unstable();
        found
    }
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

/// Pairs in document order, each node once, with its earliest time.
fn gather(mut pairs: Vec<Timed>) -> Vec<Timed> {
    pairs.sort_unstable();
    pairs.dedup_by_key(|pair| pair.0);
    pairs
}
