//! Conditions on values, found by their constants.
//!
//! From a set of nodes a chain of moves leads to values. They are sorted once; which constants
//! are among them, or lie beyond them, is found by search, and all constants between the same two
//! values let the same nodes pass.

use super::ranked::{Part, Ranked};
use super::{Met, Trie};
use crate::document::{Earliest, NEVER, Node, between, sort_from};
use crate::plan::questions::{Code, Group, Image, MARK, Relation};
use crate::plan::{Axis, NumberId, Plan};
use crate::values::parse_number;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// So many nodes are looked at before the account hears of them: to tell it takes as long as one.
const ANSWERS_TOGETHER: usize = 16;
/// A node that is looked at takes the time of so many items of lists.
const ITEMS_PER_ANSWER: usize = 4;

/// A node that a chain leads to, the node from which it does, and when it is certain that the way
/// leads to that one.
type Pair = (u32, u32, u32);

/// The values that a chain reaches from a set: ranges of the lists below.
#[derive(Clone, Debug)]
struct Reached {
    pairs: Range<usize>,
    strings: Option<Range<usize>>,
    numbers: Option<Range<usize>>,
}

/// All values that were looked at in a document. The lists of all sets lie behind each other, so
/// that a document costs no memory that the one before has not had.
#[derive(Debug, Default)]
pub struct Values {
    /// Places in `reached`: by set and chain, by set for the empty chain, by place and next move.
    known: FxHashMap<(u32, u32), u32>,
    starts: Vec<u32>,
    steps: FxHashMap<(u32, Code), u32>,
    reached: Vec<Reached>,
    pairs: Vec<Pair>,
    /// The pairs under whose nodes a walk over answers is.
    open: Vec<Pair>,
    /// By node: its first pair, `UNKNOWN` but while pairs are looked at.
    marks: Vec<u32>,
    /// Values by the string of the plan that they are; those that are none come last.
    strings: Ranked<u32>,
    /// Values that are numbers.
    numbers: Ranked<f64>,
    /// By node: the string of the plan that its value is.
    string_of: Vec<u32>,
    /// By node: the number that its value is.
    number_of: Vec<Option<f64>>,
}

impl Values {
    /// Forgets the document before.
    pub fn clear(&mut self) {
        self.known.clear();
        self.starts.clear();
        self.steps.clear();
        self.reached.clear();
        self.pairs.clear();
        self.strings.clear();
        self.numbers.clear();
        self.string_of.clear();
        self.number_of.clear();
    }

    /// Keeps the pairs from an index on, sorted, as what some chain reaches.
    fn add_reached(&mut self, from: usize) -> u32 {
        self.reached.push(Reached {
            pairs: from..self.pairs.len(),
            strings: None,
            numbers: None,
        });
        (self.reached.len() - 1) as u32
    }
}

const UNKNOWN: u32 = u32::MAX;
/// A value is sorted in the time of so many items.
const SORT_ITEMS: usize = 16;
/// No string of the plan; and not looked up yet.
const NO_STRING: u32 = u32::MAX;
const NOT_SOUGHT: u32 = u32::MAX - 1;

impl Trie {
    /// Follows every constant of a group that some value of the set is in the relation to.
    pub(super) fn try_group(
        &mut self,
        plan: &Plan,
        image: Image<'_>,
        group: &Group<'_>,
        set: u32,
        is_query: bool,
    ) {
        let codes = image.chain(group.chain);
        if let Some(&code) = codes.first()
            && self
                .nodes
                .answers(&self.taken.bundle, &self.taken.alphabet, code as Code)
                .is_empty()
        {
            return;
        }
        let known = self.values.known.get(&(set, group.chain)).copied();
        let place = known.unwrap_or_else(|| {
            let place = self.reach(set, codes);
            self.values.known.insert((set, group.chain), place);
            place
        }) as usize;
        if self.values.reached[place].pairs.is_empty() {
            return;
        }
        match group.relation {
            Relation::Equal => self.try_equal(group, place, is_query),
            Relation::Differs => self.try_differing(group, place, is_query),
            Relation::Same => self.try_same(plan, group, place, is_query),
            _ => self.try_bounds(plan, group, place, is_query),
        }
    }

    fn try_equal(&mut self, group: &Group<'_>, place: usize, is_query: bool) {
        let list = self.strings_at(place);
        let mut run = 0;
        while run < list.len() {
            let string = self.values.strings.key(&list, run);
            if let Ok(index) = group.constants.binary_search(&string) {
                self.go_on_with_strings(group.to[index], &list, Part::Run(run), is_query);
            }
            run = self.values.strings.run_end(&list, run);
        }
    }

    fn try_differing(&mut self, group: &Group<'_>, place: usize, is_query: bool) {
        let list = self.strings_at(place);
        if list.is_empty() {
            return;
        }
        let mut at = 0;
        for (&constant, &to) in group.constants.iter().zip(group.to) {
            let strings = &self.values.strings;
            at = strings.seek(&list, at, constant);
            // Almost every value differs from almost every constant.
            let is_among = at < list.len() && strings.key(&list, at) == constant;
            let part = if is_among {
                Part::Rest(at)
            } else {
                Part::From(0)
            };
            self.go_on_with_strings(to, &list, part, is_query);
        }
    }

    fn try_same(&mut self, plan: &Plan, group: &Group<'_>, place: usize, is_query: bool) {
        let list = self.numbers_at(place);
        let mut run = 0;
        while run < list.len() {
            let number = self.values.numbers.key(&list, run);
            let constants = group.constants;
            let mut index = constants.partition_point(|&id| plan.number(NumberId(id)) < number);
            // Zero is written in two ways.
            while index < constants.len() && plan.number(NumberId(constants[index])) == number {
                self.go_on_with_numbers(group.to[index], &list, Part::Run(run), is_query);
                index += 1;
            }
            run = self.values.numbers.run_end(&list, run);
        }
    }

    fn try_bounds(&mut self, plan: &Plan, group: &Group<'_>, place: usize, is_query: bool) {
        let list = self.numbers_at(place);
        let is_upper = matches!(group.relation, Relation::Less | Relation::AtMost);
        let count = group.constants.len();
        for step in 0..count {
            // The constants that let most pass come first: when one lets nothing pass, no other
            // does.
            let index = if is_upper { count - 1 - step } else { step };
            let bound = plan.number(NumberId(group.constants[index]));
            let numbers = &self.values.numbers;
            let below = numbers.seek(&list, 0, bound);
            let is_among = below < list.len() && numbers.key(&list, below) == bound;
            let split = match group.relation {
                Relation::AtMost | Relation::Greater if is_among => numbers.run_end(&list, below),
                _ => below,
            };
            let part = if is_upper {
                split.checked_sub(1).map(Part::Upto)
            } else {
                (split < list.len()).then_some(Part::From(split))
            };
            let Some(part) = part else {
                return;
            };
            self.go_on_with_numbers(group.to[index], &list, part, is_query);
        }
    }

    #[inline]
    fn go_on_with_strings(&mut self, to: u32, list: &Range<usize>, part: Part, is_query: bool) {
        let earliest = self.values.strings.earliest(list, part);
        self.go_on(to, earliest, is_query, |own| {
            own.values.strings.set(list, part, &mut own.nodes)
        });
    }

    #[inline]
    fn go_on_with_numbers(&mut self, to: u32, list: &Range<usize>, part: Part, is_query: bool) {
        let earliest = self.values.numbers.earliest(list, part);
        self.go_on(to, earliest, is_query, |own| {
            own.values.numbers.set(list, part, &mut own.nodes)
        });
    }

    /// Leads nodes on to a record, or to the end of a question: there a filter wants to know only
    /// when the first of them is certain, in each document if times are kept, not which they are.
    #[inline]
    pub(super) fn go_on(
        &mut self,
        to: u32,
        earliest: Earliest,
        is_query: bool,
        set: impl FnOnce(&mut Self) -> u32,
    ) {
        if earliest.documents == 0 {
            return;
        }
        if to & MARK != 0 && !is_query {
            let set = if self.has_times { set(self) } else { 0 };
            self.met.push(Met {
                question: to & !MARK,
                earliest,
                set,
            });
        } else {
            let set = set(self);
            self.todo.push((to, set));
        }
    }

    /// Follows a chain from a set; chains share the steps that they begin with.
    fn reach(&mut self, set: u32, codes: &[u32]) -> u32 {
        let mut place = self.start_at(set);
        for &code in codes {
            if self.values.reached[place as usize].pairs.is_empty() {
                break;
            }
            let code = code as Code;
            place = match self.values.steps.get(&(place, code)) {
                Some(&known) => known,
                None => self.step(place, code),
            };
        }
        place
    }

    /// The empty chain leads from each node to itself.
    fn start_at(&mut self, set: u32) -> u32 {
        let values = &mut self.values;
        if values.starts.len() <= set as usize {
            values.starts.resize(set as usize + 1, UNKNOWN);
        }
        if values.starts[set as usize] == UNKNOWN {
            let from = values.pairs.len();
            self.nodes.unpaid += self.nodes.get(set).len();
            let items = self.nodes.get(set).iter();
            let pairs = items.map(|&(node, time)| (node, node, time));
            values.pairs.extend(pairs);
            values.starts[set as usize] = values.add_reached(from);
        }
        values.starts[set as usize]
    }

    fn step(&mut self, place: u32, code: Code) -> u32 {
        let from = self.values.pairs.len();
        let pairs = self.values.reached[place as usize].pairs.clone();
        if self.taken.alphabet.axis(code) == Axis::Descendant {
            self.step_down(pairs, code);
        } else {
            self.step_to_children(pairs, code);
        }
        let to = self.values.add_reached(from);
        self.values.steps.insert((place, code), to);
        to
    }

    fn step_down(&mut self, pairs: Range<usize>, code: Code) {
        let answers = self
            .nodes
            .answers(&self.taken.bundle, &self.taken.alphabet, code);
        let nodes = &self.taken.bundle.nodes;
        let Values {
            pairs: all, open, ..
        } = &mut self.values;
        open.clear();
        let mut rest = pairs;
        let first = all.get(rest.start).map_or(0, |pair| pair.0);
        let from = answers.partition_point(|&answer| answer <= first);
        for &answer in &answers[from..] {
            while rest.start < rest.end && all[rest.start].0 < answer {
                let pair = all[rest.start];
                close_before(open, nodes, pair.0);
                open.push(pair);
                rest.start += 1;
            }
            close_before(open, nodes, answer);
            if open.is_empty() && rest.is_empty() {
                break;
            }
            self.taken.account.spend(open.len() as u64);
            let start = all.len();
            all.extend(open.iter().map(|pair| (answer, pair.1, pair.2)));
            // Two nodes of a context, one above the other, lead to the same.
            if open.len() > 1 {
                sort_from(all, start);
            }
        }
    }

    fn step_to_children(&mut self, pairs: Range<usize>, code: Code) {
        let answers = self
            .nodes
            .answers(&self.taken.bundle, &self.taken.alphabet, code);
        let nodes = &self.taken.bundle.nodes;
        let Values {
            pairs: all, marks, ..
        } = &mut self.values;
        let last = |pair: &Pair| nodes[pair.0 as usize].last;
        let (Some(first), Some(last)) = (
            all[pairs.clone()].first(),
            all[pairs.clone()].iter().map(last).max(),
        ) else {
            return;
        };
        let answers = between(answers, first.0, last);
        if answers.is_empty() {
            return;
        }
        if marks.len() < nodes.len() {
            marks.resize(nodes.len(), UNKNOWN);
        }
        // The pairs of a node are neighbours; the first of them has the last word.
        for index in pairs.clone().rev() {
            marks[all[index].0 as usize] = index as u32;
        }
        for some in answers.chunks(ANSWERS_TOGETHER) {
            let before = all.len();
            for &answer in some {
                let parent = nodes[answer as usize].parent;
                let mut index = marks[parent as usize] as usize;
                while index < pairs.end && all[index].0 == parent {
                    let (_, context, time) = all[index];
                    all.push((answer, context, time));
                    index += 1;
                }
            }
            let account = &mut self.taken.account;
            account.go_through(some.len() * ITEMS_PER_ANSWER + all.len() - before);
        }
        for index in pairs {
            marks[all[index].0 as usize] = UNKNOWN;
        }
    }

    /// A node whose value is complete, its context, and from when on the value is certain.
    fn complete(&self, index: usize) -> Option<(u32, u32, Earliest)> {
        let (node, context, time) = self.values.pairs[index];
        let closed = self.taken.bundle.nodes[node as usize].closed;
        let earliest = || self.taken.bundle.earliest(node, time.max(closed));
        (closed != NEVER).then(|| (node, context, earliest()))
    }

    /// The strings among the values, sorted.
    fn strings_at(&mut self, place: usize) -> Range<usize> {
        if let Some(known) = &self.values.reached[place].strings {
            return known.clone();
        }
        let from = self.values.strings.len();
        for index in self.values.reached[place].pairs.clone() {
            if let Some((node, context, earliest)) = self.complete(index) {
                let string = self.string_of(node);
                self.values.strings.push(string, context, earliest);
            }
        }
        self.nodes.unpaid += SORT_ITEMS * (self.values.strings.len() - from);
        self.pay();
        let list = self.values.strings.finish(from);
        self.values.reached[place].strings = Some(list.clone());
        list
    }

    /// The numbers among the values, sorted.
    fn numbers_at(&mut self, place: usize) -> Range<usize> {
        if let Some(known) = &self.values.reached[place].numbers {
            return known.clone();
        }
        let from = self.values.numbers.len();
        for index in self.values.reached[place].pairs.clone() {
            if let Some((node, context, earliest)) = self.complete(index) {
                let number = self.number_of(node);
                if !number.is_nan() {
                    self.values.numbers.push(number, context, earliest);
                }
            }
        }
        self.nodes.unpaid += SORT_ITEMS * (self.values.numbers.len() - from);
        self.pay();
        let list = self.values.numbers.finish(from);
        self.values.reached[place].numbers = Some(list.clone());
        list
    }

    /// The string of the plan that equals a node's value.
    pub(super) fn string_of(&mut self, node: u32) -> u32 {
        if self.values.string_of.len() <= node as usize {
            let count = self.taken.bundle.nodes.len();
            self.values.string_of.resize(count, NOT_SOUGHT);
        }
        let known = self.values.string_of[node as usize];
        if known != NOT_SOUGHT {
            return known;
        }
        let value = self.taken.bundle.value(node);
        let found = if value.len() > self.equal_bytes_max {
            None
        } else {
            self.plan.equal_string(value)
        };
        let string = found.map_or(NO_STRING, |string| string.0);
        self.values.string_of[node as usize] = string;
        string
    }

    /// The number that a node's value is, if it is one.
    fn number_of(&mut self, node: u32) -> f64 {
        if self.values.number_of.len() <= node as usize {
            let count = self.taken.bundle.nodes.len();
            self.values.number_of.resize(count, None);
        }
        let value = || parse_number(self.taken.bundle.value(node));
        *self.values.number_of[node as usize].get_or_insert_with(value)
    }
}

/// Forgets the pairs whose nodes end before a node.
fn close_before(open: &mut Vec<Pair>, nodes: &[Node], node: u32) {
    while open
        .last()
        .is_some_and(|pair| nodes[pair.0 as usize].last < node)
    {
        open.pop();
    }
}
