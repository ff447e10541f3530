//! The default strategy: the document holds still, and queries are met through their constants.
//!
//! ```text
//! S[binding path]        nodes that it leads to: the trie of paths, sets of nodes going down
//! H[predicate, constant] nodes that see the constant (`facts`)
//! run (b, p, c)          T = S[b] & H[p, c]; a run with T empty is not looked at again
//! T                      each distinct set has a number; the entries of its runs lie together
//! ```

use crate::answers::Answers;
use crate::facts::{Facts, Fault, Lists, extremes, judge};
use crate::formulas::TRUE;
use crate::index::{Index, Range, Run, key};
use crate::query::{Axis, Operator, TestId};
use crate::sets::{Bits, both, has, is_empty, set};
use crate::store::{NONE, Store};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// What is worked out for one document; the memory serves the next one.
#[derive(Debug, Default)]
pub(crate) struct Keyed<const W: usize> {
    pub facts: Facts<W>,
    /// By binding path: its nodes.
    pub bound: Vec<Bits<W>>,
    /// By binding path: why its nodes are not known.
    faults: FxHashMap<u32, Fault>,
    /// Elements on the way down the trie, one list for each level.
    levels: Vec<Vec<u32>>,
    is_inside: Vec<bool>,
    extremes: FxHashMap<u32, Vec<Option<(f64, f64)>>>,
}

/// What a strategy works with.
pub(crate) struct Task<'a> {
    pub store: &'a mut Store,
    pub index: &'a Index,
    pub lists: &'a mut Lists,
    pub answers: &'a mut Answers,
}

impl<const W: usize> Keyed<W> {
    /// Finds the sets of nodes that queries select, and whose they are.
    pub fn run(&mut self, task: &mut Task<'_>) {
        self.facts.read(task.store, task.index, task.lists);
        self.bind(task);
        if self.facts.has_bad {
            self.find_faults(task);
        }
        self.meet_keys(task);
        for range in &task.index.ranges {
            self.meet_range(range, task);
        }
        for run in &task.index.open {
            let bits = self.bound[run.binding as usize];
            if !is_empty(&bits) {
                self.meet(run, bits, (run.from, run.to), task);
            }
        }
    }

    /// Fills `bound`.
    fn bind(&mut self, task: &mut Task<'_>) {
        self.bound.clear();
        self.bound.resize(task.index.bindings.len(), [0; W]);
        self.faults.clear();
        self.extremes.clear();
        self.is_inside.clear();
        self.is_inside.resize(task.store.len(), false);
        for &step in &task.index.first {
            self.walk(step, 0, None, task);
        }
    }

    /// Takes a step of the trie from the elements of the level above; the first from the document.
    fn walk(&mut self, id: u32, level: usize, fault: Option<Fault>, task: &mut Task<'_>) {
        let step = &task.index.steps[id as usize];
        if self.levels.len() <= level {
            self.levels.push(Vec::new());
        }
        let mut elements = std::mem::take(&mut self.levels[level]);
        elements.clear();
        let list = task.store.list(step.test);
        match (level, step.axis) {
            (0, Axis::Descendant) => elements.extend_from_slice(list),
            (0, Axis::Child) => elements.extend(list.first().filter(|&&one| one == 0)),
            (_, Axis::Descendant) => {
                let mut covered = 0;
                for &from in &self.levels[level - 1] {
                    // What lies below an element inside another was found with that.
                    if from >= covered {
                        covered = task.store.element(from).end;
                        elements.extend_from_slice(task.store.below(from, step.test));
                    }
                }
            }
            (_, Axis::Child) => {
                let above = &self.levels[level - 1];
                above
                    .iter()
                    .for_each(|&one| self.is_inside[one as usize] = true);
                let is_child = |&&one: &&u32| {
                    let parent = task.store.element(one).parent;
                    parent != NONE && self.is_inside[parent as usize]
                };
                elements.extend(list.iter().filter(is_child));
                above
                    .iter()
                    .for_each(|&one| self.is_inside[one as usize] = false);
            }
        }
        let fault = self.filter(step.test, step.formula, &mut elements, fault, task);
        let is_some = !elements.is_empty();
        if let Some(binding) = step.binding {
            let bits = &mut self.bound[binding as usize];
            for &element in &elements {
                set(bits, task.store.place(element, step.test));
            }
            if let Some(fault) = fault {
                self.faults.insert(binding, fault);
            }
        }
        self.levels[level] = elements;
        if is_some || fault.is_some() {
            for &next in &step.next {
                self.walk(next, level + 1, fault, task);
            }
        }
    }

    /// Leaves out elements for which a formula does not hold.
    fn filter(
        &mut self,
        test: TestId,
        formula: u32,
        elements: &mut Vec<u32>,
        fault: Option<Fault>,
        task: &mut Task<'_>,
    ) -> Option<Fault> {
        if formula == TRUE {
            return fault;
        }
        let Task {
            store,
            index,
            lists,
            ..
        } = task;
        let mut own = fault;
        if self.facts.has_bad {
            for &element in elements.iter() {
                own = own.or(judge(formula, element, store, index, lists).err());
            }
        }
        let bits = self.facts.holds(formula, test, store, index, lists);
        elements.retain(|&element| has(&bits, store.place(element, test)));
        own
    }

    /// Finds the conditions that have no outcome at some node.
    fn find_faults(&mut self, task: &mut Task<'_>) {
        for (number, case) in task.index.cases.iter().enumerate() {
            if let Some(&fault) = self.faults.get(&case.binding) {
                task.answers.fail(number as u32, fault);
                continue;
            }
            let mut bad = [0; W];
            task.index
                .formulas
                .each_predicate(case.formula, &mut |predicate| {
                    let own = &self.facts.bad[predicate as usize];
                    bad = std::array::from_fn(|at| bad[at] | own[at]);
                });
            let bad = both(&bad, &self.bound[case.binding as usize]);
            let test = task.index.bindings[case.binding as usize];
            for place in crate::sets::places(&bad) {
                let element = task.store.list(test)[place as usize];
                let outcome = judge(case.formula, element, task.store, task.index, task.lists);
                if let Err(fault) = outcome {
                    task.answers.fail(number as u32, fault);
                    break;
                }
            }
        }
    }

    fn meet_keys(&mut self, task: &mut Task<'_>) {
        for predicate in 0..task.index.formulas.predicates.len() as u32 {
            let (from, to) = self.facts.of[predicate as usize];
            for at in from..to {
                let hit = self.facts.hits[at as usize];
                let runs = task.index.keys.get(&key(predicate, hit.constant));
                let Some(&(first, last)) = runs else {
                    continue;
                };
                let test = task.index.formulas.predicates[predicate as usize].test;
                // Neighbouring runs often have the same set.
                let (mut before, mut known) = ([0; W], NONE);
                for run in &task.index.runs[first as usize..last as usize] {
                    let bits = both(&self.bound[run.binding as usize], &hit.nodes);
                    if is_empty(&bits) {
                        continue;
                    }
                    if run.rest != TRUE {
                        self.meet(run, bits, (run.from, run.to), task);
                        continue;
                    }
                    if bits != before {
                        (before, known) = (bits, task.answers.sets.intern(test, &bits));
                    }
                    task.answers.meet(known, run.from, run.to);
                }
            }
        }
    }

    /// Entries of a run select these nodes, as far as the rest of their condition holds.
    fn meet(&mut self, run: &Run, bits: Bits<W>, entries: (u32, u32), task: &mut Task<'_>) {
        let test = task.index.bindings[run.binding as usize];
        let mut bits = bits;
        if run.rest != TRUE {
            let Task {
                store,
                index,
                lists,
                ..
            } = task;
            bits = both(
                &bits,
                &self.facts.holds(run.rest, test, store, index, lists),
            );
            if is_empty(&bits) {
                return;
            }
        }
        let set = task.answers.sets.intern(test, &bits);
        task.answers.meet(set, entries.0, entries.1);
    }

    /// Sets grow along the constants; between two values of the document they stay.
    fn meet_range(&mut self, range: &Range, task: &mut Task<'_>) {
        let bound = self.bound[range.binding as usize];
        if is_empty(&bound) {
            return;
        }
        let Task {
            store,
            index,
            lists,
            ..
        } = task;
        let extremes = self.extremes.entry(range.predicate);
        let extremes =
            extremes.or_insert_with(|| extremes_of(range.predicate, store, index, lists));
        let is_less = matches!(range.operator, Operator::Less | Operator::LessOrEqual);
        let mut nodes: Vec<(f64, u32)> = crate::sets::places(&bound)
            .filter_map(|place| {
                let (least, greatest) = extremes[place as usize]?;
                Some((if is_less { least } else { greatest }, place))
            })
            .collect();
        nodes.sort_unstable_by(|a, b| match is_less {
            true => a.0.total_cmp(&b.0),
            false => b.0.total_cmp(&a.0),
        });
        let run = Run {
            binding: range.binding,
            rest: range.rest,
            from: 0,
            to: 0,
        };
        // The constants for which a value compares: from a place on, or up to one.
        let reach = |value: f64| {
            range.constants.partition_point(|&(constant, _)| {
                let holds = range.operator.holds(order(value, constant));
                holds != is_less
            })
        };
        let entries_at = |place: usize| range.constants.get(place).map_or(range.to, |own| own.1);
        let mut bits = [0; W];
        for (at, &(value, place)) in nodes.iter().enumerate() {
            set(&mut bits, place);
            let own = reach(value);
            let next = nodes.get(at + 1).map(|&(next, _)| reach(next));
            let (from, to) = match is_less {
                true => (own, next.unwrap_or(range.constants.len())),
                false => (next.unwrap_or(0), own),
            };
            if from < to {
                let entries = (entries_at(from), entries_at(to));
                self.meet(&run, bits, entries, task);
            }
        }
    }
}

fn order(value: f64, constant: f64) -> Option<Ordering> {
    value.partial_cmp(&constant)
}

fn extremes_of(
    predicate: u32,
    store: &mut Store,
    index: &Index,
    lists: &mut Lists,
) -> Vec<Option<(f64, f64)>> {
    extremes(predicate, store, index, lists)
}
