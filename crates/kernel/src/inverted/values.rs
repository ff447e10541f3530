//! Conditions on values, found by their constants.
//!
//! From a set of nodes a chain of moves leads to values. Which constants are among them, or lie
//! beyond them, is found by search, and what they let pass is worked out once for all constants
//! that let the same pass.

use super::Inverted;
use super::document::NEVER;
use super::image::{Group, MARK};
use super::nodes::{NodeSets, Timed};
use super::question::{Code, Relation};
use crate::matcher::parse_number;
use crate::plan::{Axis, NodeKind, Plan};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The nodes that a condition lets pass: a range of the items, and when the first is certain.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    from: u32,
    to: u32,
    earliest: u32,
}

/// The values that a chain reaches from a set: ranges of the lists below.
#[derive(Clone, Debug)]
struct Reached {
    pairs: Range<usize>,
    /// All contexts with a value.
    all: Passing,
    strings: Option<Range<usize>>,
    numbers: Option<Range<usize>>,
}

/// All values that were looked at in a document. The lists of all sets lie behind each other, so
/// that a document costs no memory that the one before has not had.
#[derive(Debug, Default)]
pub struct Values {
    known: FxHashMap<(u32, u32), usize>,
    reached: Vec<Reached>,
    /// Context, value node, time.
    pairs: Vec<(u32, u32, u32)>,
    items: Vec<Timed>,
    /// Strings of the plan, sorted, and where the value is that string.
    strings: Vec<(u32, Passing)>,
    /// The numbers among the values, sorted, with context and time.
    numbers: Vec<(f64, u32, u32)>,
    /// What comparisons let pass, by values, relation and number of values that do.
    compared: FxHashMap<(usize, Relation, usize), Passing>,
    /// Attributes of the nodes of a set, by code: code, attribute, place of the node in the set.
    attributes: Vec<(Code, u32, u32)>,
    attributes_of: FxHashMap<u32, Range<usize>>,
    scratch: Vec<Timed>,
    /// By node: the string of the plan that its value is.
    string_of: Vec<u32>,
}

impl Values {
    /// Forgets the document before.
    pub fn clear(&mut self) {
        self.known.clear();
        self.reached.clear();
        self.pairs.clear();
        self.items.clear();
        self.strings.clear();
        self.numbers.clear();
        self.compared.clear();
        self.attributes.clear();
        self.attributes_of.clear();
        self.string_of.clear();
    }

    /// Keeps nodes, each once with its earliest time, in document order.
    fn keep(&mut self, items: impl Iterator<Item = Timed>) -> Passing {
        let mut kept = std::mem::take(&mut self.scratch);
        kept.clear();
        kept.extend(items);
        if !kept.is_sorted() {
            kept.sort_unstable();
        }
        kept.dedup_by_key(|item| item.0);
        let from = self.items.len() as u32;
        self.items.extend_from_slice(&kept);
        let passing = Passing {
            from,
            to: self.items.len() as u32,
            earliest: NodeSets::earliest(&kept),
        };
        self.scratch = kept;
        passing
    }
}

/// No string of the plan; and not looked up yet.
const NO_STRING: u32 = u32::MAX;
const NOT_SOUGHT: u32 = u32::MAX - 1;

impl Inverted {
    /// Follows every constant of a group that some value of the set is in the relation to.
    pub(super) fn try_group(&mut self, plan: &Plan, group: &Group<'_>, set: u32, is_query: bool) {
        let known = self.values.known.get(&(set, group.chain)).copied();
        let place = known.unwrap_or_else(|| self.reach(set, group.chain));
        if self.values.reached[place].pairs.is_empty() {
            return;
        }
        match group.relation {
            Relation::Equal => self.try_equal(group, place, is_query),
            Relation::Differs => self.try_differing(group, place, is_query),
            _ => self.try_numbers(plan, group, place, is_query),
        }
    }

    fn try_equal(&mut self, group: &Group<'_>, place: usize, is_query: bool) {
        for index in self.strings_at(place) {
            let (string, passing) = self.values.strings[index];
            if let Ok(index) = group.constants.binary_search(&string) {
                self.go_on(group.to[index], passing, is_query);
            }
        }
    }

    fn try_differing(&mut self, group: &Group<'_>, place: usize, is_query: bool) {
        let strings = self.strings_at(place);
        for (constant, &to) in group.constants.iter().zip(group.to) {
            let among = &self.values.strings[strings.clone()];
            // Almost every value differs from almost every constant.
            let mut passing = self.values.reached[place].all;
            if among
                .binary_search_by_key(constant, |entry| entry.0)
                .is_ok()
            {
                let values = &mut self.values;
                let pairs = values.reached[place].pairs.clone();
                let others: Vec<Timed> = values.pairs[pairs]
                    .iter()
                    .filter(|entry| values.string_of[entry.1 as usize] != *constant)
                    .map(|&(context, _, time)| (context, time))
                    .collect();
                passing = values.keep(others.into_iter());
            }
            self.go_on(to, passing, is_query);
        }
    }

    fn try_numbers(&mut self, plan: &Plan, group: &Group<'_>, place: usize, is_query: bool) {
        let at = self.numbers_at(place);
        let numbers = &self.values.numbers[at.clone()];
        let (Some(low), Some(high)) = (numbers.first(), numbers.last()) else {
            return;
        };
        let (low, high) = (low.0, high.0);
        let count = group.constants.len();
        let first = |is_before: &dyn Fn(f64) -> bool| {
            let constants = group.constants;
            constants.partition_point(|&id| is_before(plan.number(id)))
        };
        let indices = match group.relation {
            Relation::Less => first(&|c| c <= low)..count,
            Relation::AtMost => first(&|c| c < low)..count,
            Relation::Greater => 0..first(&|c| c < high),
            Relation::AtLeast => 0..first(&|c| c <= high),
            _ => first(&|c| c < low)..first(&|c| c <= high),
        };
        for index in indices {
            let bound = plan.number(group.constants[index]);
            let numbers = &self.values.numbers[at.clone()];
            let below = numbers.partition_point(|entry| entry.0 < bound);
            let upto = below + numbers[below..].partition_point(|entry| entry.0 <= bound);
            // Constants between the same two values let the same pass.
            let (side, range) = match group.relation {
                Relation::Less => ((Relation::Less, below), 0..below),
                Relation::AtMost => ((Relation::Less, upto), 0..upto),
                Relation::Greater => ((Relation::Greater, upto), upto..numbers.len()),
                Relation::AtLeast => ((Relation::Greater, below), below..numbers.len()),
                _ => ((Relation::Same, below), below..upto),
            };
            if !range.is_empty() {
                let passing =
                    self.compared(place, side, at.start + range.start..at.start + range.end);
                self.go_on(group.to[index], passing, is_query);
            }
        }
    }

    fn compared(&mut self, place: usize, side: (Relation, usize), at: Range<usize>) -> Passing {
        let key = (place, side.0, side.1);
        if let Some(&known) = self.values.compared.get(&key) {
            return known;
        }
        let found: Vec<Timed> = self.values.numbers[at]
            .iter()
            .map(|&(_, context, time)| (context, time))
            .collect();
        let passing = self.values.keep(found.into_iter());
        self.values.compared.insert(key, passing);
        passing
    }

    /// Leads nodes on to a record, or to the end of a question.
    fn go_on(&mut self, to: u32, passing: Passing, is_query: bool) {
        let items = &self.values.items[passing.from as usize..passing.to as usize];
        if items.is_empty() {
            return;
        }
        if to & MARK != 0 && !is_query {
            self.found.push((to & !MARK, passing.earliest));
        } else {
            let set = self.nodes.intern(items);
            self.todo.push((to, set));
        }
    }

    /// The same for nodes that a formula left.
    pub(super) fn go_on_with(&mut self, to: u32, items: Vec<Timed>, is_query: bool) {
        let passing = self.values.keep(items.into_iter());
        self.go_on(to, passing, is_query);
    }

    /// Follows a chain from a set to the nodes whose values are known.
    fn reach(&mut self, set: u32, chain: u32) -> usize {
        let plan = self.plan.clone();
        let codes = plan.questions().map_or(&[][..], |image| image.chain(chain));
        let pairs = match codes {
            [code] if self.axis(*code as Code) == Axis::Attribute => {
                self.attribute_pairs(set, *code as Code)
            }
            _ => {
                // Pairs of a node and the place of its context in the set.
                let items = self.nodes.get(set).iter().enumerate();
                let mut pairs: Vec<(u32, u32)> =
                    items.map(|(i, item)| (item.0, i as u32)).collect();
                for &code in codes {
                    pairs = self.step_pairs(&pairs, code as Code);
                }
                pairs
            }
        };
        let items = self.nodes.get(set);
        let from = self.values.pairs.len();
        for (node, context) in pairs {
            let (context, time) = items[context as usize];
            let closed = self.document.nodes[node as usize].closed;
            if closed != NEVER {
                self.values.pairs.push((context, node, time.max(closed)));
            }
        }
        let pairs = from..self.values.pairs.len();
        let contexts: Vec<Timed> = self.values.pairs[pairs.clone()]
            .iter()
            .map(|&(context, _, time)| (context, time))
            .collect();
        let all = self.values.keep(contexts.into_iter());
        let place = self.values.reached.len();
        self.values.reached.push(Reached {
            pairs,
            all,
            strings: None,
            numbers: None,
        });
        self.values.known.insert((set, chain), place);
        place
    }

    /// The attributes of a set that a move leads to, each with the place of its element in the set.
    fn attribute_pairs(&mut self, set: u32, code: Code) -> Vec<(u32, u32)> {
        let known = self.values.attributes_of.get(&set).cloned();
        let at = known.unwrap_or_else(|| self.list_attributes(set));
        let listed = &self.values.attributes[at];
        let from = listed.partition_point(|entry| entry.0 < code);
        let found = listed[from..].iter().take_while(|entry| entry.0 == code);
        found.map(|&(_, node, context)| (node, context)).collect()
    }

    fn list_attributes(&mut self, set: u32) -> Range<usize> {
        let from = self.values.attributes.len();
        for (place, &(node, _)) in self.nodes.get(set).iter().enumerate() {
            // Attributes come right behind their element.
            for (index, entry) in self
                .document
                .nodes
                .iter()
                .enumerate()
                .skip(node as usize + 1)
            {
                let path = &self.document.paths[entry.path as usize];
                if path.kind != NodeKind::Attribute || entry.parent != node {
                    break;
                }
                for &code in &self.names.codes(path.symbol).near {
                    let found = (code, index as u32, place as u32);
                    self.values.attributes.push(found);
                }
            }
        }
        self.values.attributes[from..].sort_unstable();
        let at = from..self.values.attributes.len();
        self.values.attributes_of.insert(set, at.clone());
        at
    }

    fn step_pairs(&mut self, pairs: &[(u32, u32)], code: u16) -> Vec<(u32, u32)> {
        let mut next = Vec::with_capacity(pairs.len());
        let axis = self.axis(code);
        let answers = self.nodes.answers(&self.document, &self.names, code);
        for &(node, context) in pairs {
            let last = self.document.nodes[node as usize].last;
            let from = answers.partition_point(|&answer| answer <= node);
            for &answer in answers[from..].iter().take_while(|&&a| a <= last) {
                let is_child = self.document.nodes[answer as usize].parent == node;
                if is_child || axis == Axis::Descendant {
                    next.push((answer, context));
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// The strings among the values, sorted.
    fn strings_at(&mut self, place: usize) -> Range<usize> {
        if let Some(known) = &self.values.reached[place].strings {
            return known.clone();
        }
        let mut found: Vec<(u32, u32, u32)> = Vec::new();
        for index in self.values.reached[place].pairs.clone() {
            let (context, node, time) = self.values.pairs[index];
            let string = self.string_of(node);
            if string != NO_STRING {
                found.push((string, context, time));
            }
        }
        found.sort_unstable();
        let from = self.values.strings.len();
        for run in found.chunk_by(|a, b| a.0 == b.0) {
            let items = run.iter().map(|&(_, context, time)| (context, time));
            let passing = self.values.keep(items);
            self.values.strings.push((run[0].0, passing));
        }
        let at = from..self.values.strings.len();
        self.values.reached[place].strings = Some(at.clone());
        at
    }

    /// The numbers among the values, sorted.
    fn numbers_at(&mut self, place: usize) -> Range<usize> {
        if let Some(known) = &self.values.reached[place].numbers {
            return known.clone();
        }
        let from = self.values.numbers.len();
        for index in self.values.reached[place].pairs.clone() {
            let (context, node, time) = self.values.pairs[index];
            let number = parse_number(self.document.value(node));
            if !number.is_nan() {
                self.values.numbers.push((number, context, time));
            }
        }
        self.values.numbers[from..].sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = from..self.values.numbers.len();
        self.values.reached[place].numbers = Some(at.clone());
        at
    }

    /// The string of the plan that equals a node's value.
    fn string_of(&mut self, node: u32) -> u32 {
        if self.values.string_of.len() <= node as usize {
            self.values
                .string_of
                .resize(self.document.nodes.len(), NOT_SOUGHT);
        }
        let known = self.values.string_of[node as usize];
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
        self.values.string_of[node as usize] = string;
        string
    }
}
