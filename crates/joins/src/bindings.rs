//! The bindings of one row in two records: which nodes its slots can have together.

use crate::codes::{NONE, Side};
use crate::meter::Meter;
use crate::record::{Nodes, Record};
use crate::shape::{Check, Shape, Step, Term};
use penstock_kernel::plan::Comparison;
use penstock_kernel::values::{compare_numbers, parse_number};

/// A row with the two records that it is looked for in.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The row's shape.
    pub shape: &'a Shape,
    /// The row's variables.
    pub variables: &'a [u32],
    /// The left record.
    pub left: Record<'a>,
    /// The right one; for a search of the left tree alone, the left one again.
    pub right: Record<'a>,
    /// Where its steps are counted.
    pub meter: &'a Meter,
}

/// Tuples are made distinct after so many words of them, then whenever they have doubled.
const WORDS_BETWEEN: usize = 1 << 12;

/// By slot the nodes that it may have, in order; none where it may have any.
pub type Fixed = Vec<Vec<u32>>;

impl<'a> Search<'a> {
    /// Calls `found` with a node for each chosen slot (NONE for the others), once per binding of
    /// the chosen slots, until it returns false.
    pub fn run(&self, steps: &[Step], found: &mut impl FnMut(&[u32]) -> bool) {
        let mut nodes = vec![NONE; self.shape.parents.len()];
        self.choose(steps, &mut nodes, found);
    }

    /// The same where slots are fixed.
    pub fn run_fixed(&self, steps: &[Step], fixed: &Fixed, found: &mut impl FnMut(&[u32]) -> bool) {
        let mut nodes = vec![NONE; self.shape.parents.len()];
        self.choose_fixed(steps, fixed, &mut nodes, found);
    }

    /// Whether there is any binding.
    pub fn holds_at_all(&self) -> bool {
        let mut is_found = false;
        self.run(&self.shape.steps, &mut |_| {
            is_found = true;
            false
        });
        is_found
    }

    /// Appends the distinct tuples of kept nodes to `tuples`, or more than `tuples_max` of them
    /// where there are more; returns whether there is any.
    pub fn kept(&self, tuples: &mut Vec<u32>, tuples_max: usize) -> bool {
        let kept = &self.shape.kept;
        if kept.is_empty() || tuples_max == 0 {
            return self.holds_at_all();
        }
        let first = tuples.len();
        if self.left.is_flat() && self.right.is_flat() {
            return self.kept_flat(tuples);
        }
        let mut distinct = Distinct::new(tuples, kept.len(), tuples_max);
        self.run(&self.shape.steps, &mut |nodes| {
            distinct.add(kept.iter().map(|&slot| nodes[slot as usize]))
        });
        distinct.finish();
        tuples.len() > first
    }

    /// The same where slots are fixed.
    pub fn kept_fixed(&self, fixed: &Fixed, tuples: &mut Vec<u32>, tuples_max: usize) -> bool {
        let kept = &self.shape.kept;
        let mut is_found = false;
        let mut distinct = Distinct::new(tuples, kept.len().max(1), tuples_max);
        self.run_fixed(&self.shape.steps, fixed, &mut |nodes| {
            is_found = true;
            !kept.is_empty() && distinct.add(kept.iter().map(|&slot| nodes[slot as usize]))
        });
        distinct.finish();
        is_found
    }

    /// With one node for each variable there is one binding to try.
    fn kept_flat(&self, tuples: &mut Vec<u32>) -> bool {
        self.meter.spend(1);
        let node = |slot: u32| {
            let nodes = self.record(slot).nodes_of(self.variables[slot as usize]);
            if nodes.is_empty() { NONE } else { nodes.at(0) }
        };
        let is_bound = (0..self.variables.len() as u32).all(|slot| node(slot) != NONE);
        let holds = is_bound
            && self
                .shape
                .joins
                .iter()
                .all(|&(one, two)| self.is_equal(one, node(one), two, node(two)))
            && self
                .shape
                .terms
                .iter()
                .all(|term| self.term_holds(term, node(term.left), node(term.right)));
        if holds {
            tuples.extend(self.shape.kept.iter().map(|&slot| node(slot)));
        }
        holds
    }

    fn choose(
        &self,
        steps: &[Step],
        nodes: &mut [u32],
        found: &mut impl FnMut(&[u32]) -> bool,
    ) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return found(nodes);
        };
        for node in self.candidates(step.slot, nodes).iter() {
            self.meter.spend(1);
            nodes[step.slot as usize] = node;
            let holds = step.checks.iter().all(|check| self.holds(check, nodes));
            if holds && !self.choose(rest, nodes, found) {
                return false;
            }
        }
        nodes[step.slot as usize] = NONE;
        true
    }

    fn choose_fixed(
        &self,
        steps: &[Step],
        fixed: &Fixed,
        nodes: &mut [u32],
        found: &mut impl FnMut(&[u32]) -> bool,
    ) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return found(nodes);
        };
        let candidates = self.candidates(step.slot, nodes);
        let allowed = &fixed[step.slot as usize];
        let count = if allowed.is_empty() {
            candidates.len()
        } else {
            allowed.len()
        };
        for at in 0..count {
            self.meter.spend(1);
            let node = if allowed.is_empty() {
                candidates.at(at)
            } else if candidates.contains(allowed[at]) {
                allowed[at]
            } else {
                continue;
            };
            nodes[step.slot as usize] = node;
            let holds = step.checks.iter().all(|check| self.holds(check, nodes));
            if holds && !self.choose_fixed(rest, fixed, nodes, found) {
                return false;
            }
        }
        nodes[step.slot as usize] = NONE;
        true
    }

    /// All nodes of a slot's variable, whatever is chosen above it.
    pub fn nodes_of(&self, slot: u32) -> Nodes<'a> {
        let record = self.record(slot);
        record.nodes_of(self.variables[slot as usize])
    }

    /// The record that a slot's nodes are of.
    pub fn record(&self, slot: u32) -> &Record<'a> {
        match self.shape.side(slot) {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }

    /// The nodes that a slot may have under what is chosen above it.
    fn candidates(&self, slot: u32, nodes: &[u32]) -> Nodes<'a> {
        let (variable, parent) = (
            self.variables[slot as usize],
            self.shape.parents[slot as usize],
        );
        let record = self.record(slot);
        // In a flat record there are no edges: each variable's node lies under the one above.
        if parent == NONE || record.is_flat() {
            return record.nodes_of(variable);
        }
        record.nodes_under(
            self.variables[parent as usize],
            variable,
            nodes[parent as usize],
        )
    }

    fn holds(&self, check: &Check, nodes: &[u32]) -> bool {
        match *check {
            Check::Equal(one, two) => {
                self.is_equal(one, nodes[one as usize], two, nodes[two as usize])
            }
            Check::Meet(one, two) => {
                let others = self.candidates(two, nodes);
                self.candidates(one, nodes).iter().any(|node| {
                    self.meter.spend(others.len() as u64);
                    others
                        .iter()
                        .any(|other| self.is_equal(one, node, two, other))
                })
            }
            Check::Term(term) => {
                self.term_holds(&term, nodes[term.left as usize], nodes[term.right as usize])
            }
        }
    }

    fn is_equal(&self, one: u32, node: u32, two: u32, other: u32) -> bool {
        self.record(one)
            .has_equal_value(node, self.record(two), other)
    }

    fn term_holds(&self, term: &Term, left: u32, right: u32) -> bool {
        let value = |slot: u32, node: u32| self.record(slot).node(node).value.unwrap_or(b"");
        let (one, two) = (value(term.left, left), value(term.right, right));
        match term.operator {
            Comparison::Eq => one == two,
            Comparison::Ne => one != two,
            operator => compare_numbers(operator, parse_number(one), parse_number(two)),
        }
    }
}

/// Collects tuples, each once, in order of first appearance.
pub struct Distinct<'t> {
    tuples: &'t mut Vec<u32>,
    first: usize,
    width: usize,
    tuples_max: usize,
    /// Repeated ones are removed when there are so many words.
    due: usize,
}

impl<'t> Distinct<'t> {
    /// Appends to `tuples`, until there are more than so many.
    pub fn new(tuples: &'t mut Vec<u32>, width: usize, tuples_max: usize) -> Self {
        let first = tuples.len();
        Distinct {
            tuples,
            first,
            width,
            tuples_max,
            due: first + WORDS_BETWEEN,
        }
    }

    /// Adds a tuple; returns whether more are asked for.
    pub fn add(&mut self, tuple: impl Iterator<Item = u32>) -> bool {
        self.tuples.extend(tuple);
        if self.tuples.len() < self.due {
            return true;
        }
        remove_repeated(self.tuples, self.first, self.width);
        let words = self.tuples.len() - self.first;
        self.due = self.first + (2 * words).max(WORDS_BETWEEN);
        words / self.width <= self.tuples_max
    }

    /// Nothing comes any more.
    pub fn finish(self) {
        remove_repeated(self.tuples, self.first, self.width);
    }
}

/// Keeps each tuple from `first` on once, in order of first appearance.
fn remove_repeated(tuples: &mut Vec<u32>, first: usize, width: usize) {
    if tuples.len() - first <= width {
        return;
    }
    let fresh = tuples.split_off(first);
    let mut seen = rustc_hash::FxHashSet::default();
    for tuple in fresh.chunks_exact(width) {
        if seen.insert(tuple) {
            tuples.extend_from_slice(tuple);
        }
    }
}
