//! What holds at the nodes of a document: for each predicate and constant the nodes that see it.

use crate::formulas::Formula;
use crate::index::Index;
use crate::query::{Kind, Operator};
use crate::sets::{Bits, first, is_empty, set};
use crate::store::{NONE, Store};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// A comparison that has no outcome: the value is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The value, by its number in the store.
    pub value: u32,
    /// The operator.
    pub operator: Operator,
    /// The constant, by its number among those that are numbers.
    pub constant: u32,
}

/// The nodes that see a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit<const W: usize> {
    pub constant: u32,
    pub nodes: Bits<W>,
}

/// Facts of a document; the memory serves the next one.
#[derive(Debug, Default)]
pub(crate) struct Facts<const W: usize> {
    /// By predicate: its hits.
    pub hits: Vec<Hit<W>>,
    pub of: Vec<(u32, u32)>,
    /// By predicate: the nodes that see a value that is no number, where that is an error.
    pub bad: Vec<Bits<W>>,
    pub has_bad: bool,
    /// By value: the constant that it is, as text and as a number.
    text_constants: Vec<u32>,
    number_constants: Vec<u32>,
    /// By constant: its hit for the predicate under way, and that predicate.
    slots: Vec<(u32, u32)>,
    /// Outcomes of formulas that are no lookups.
    known: FxHashMap<u32, Bits<W>>,
}

/// Where relative paths lead, remembered for each element that they start from.
#[derive(Debug, Default)]
pub struct Lists {
    /// By path: where its elements' ranges start, or `NONE`.
    blocks: Vec<u32>,
    ranges: Vec<(u32, u32)>,
    nodes: Vec<u32>,
}

impl Lists {
    /// Forgets the document; there are so many paths.
    pub fn clear(&mut self, paths: usize) {
        self.blocks.clear();
        self.blocks.resize(paths, NONE);
        self.ranges.clear();
        self.nodes.clear();
    }

    /// Where a path leads from an element: the elements at the ends of its steps.
    #[inline]
    pub fn of(&mut self, store: &Store, index: &Index, path: u32, from: u32) -> (u32, u32) {
        if self.blocks[path as usize] == NONE {
            self.blocks[path as usize] = self.ranges.len() as u32;
            let length = self.ranges.len() + store.len();
            self.ranges.resize(length, (NONE, 0));
        }
        let slot = self.blocks[path as usize] as usize + from as usize;
        if self.ranges[slot].0 == NONE {
            let start = self.nodes.len() as u32;
            let steps = &index.formulas.paths[path as usize].steps;
            store.follow(from, steps, &mut self.nodes);
            self.ranges[slot] = (start, self.nodes.len() as u32);
        }
        self.ranges[slot]
    }

    /// The elements of a range.
    #[inline]
    pub fn nodes(&self, (from, to): (u32, u32)) -> &[u32] {
        &self.nodes[from as usize..to as usize]
    }
}

impl<const W: usize> Facts<W> {
    /// Finds out about a document.
    pub fn read(&mut self, store: &mut Store, index: &Index, lists: &mut Lists) {
        let count = index.formulas.predicates.len();
        self.hits.clear();
        self.of.clear();
        self.of.resize(count, (0, 0));
        self.bad.clear();
        self.bad.resize(count, [0; W]);
        self.has_bad = false;
        self.text_constants.clear();
        self.number_constants.clear();
        self.known.clear();
        self.slots.clear();
        let constants = index.formulas.texts.len().max(index.formulas.numbers.len());
        self.slots.resize(constants, (NONE, 0));
        let tests = store.tests().to_vec();
        for test in tests {
            let predicates = index.predicates_of.get(&test);
            for &predicate in predicates.map_or(&[][..], |list| list) {
                self.read_predicate(predicate, store, index, lists);
            }
        }
    }

    fn read_predicate(&mut self, id: u32, store: &mut Store, index: &Index, lists: &mut Lists) {
        let predicate = index.formulas.predicates[id as usize];
        let Some(kind) = predicate.kind else {
            return;
        };
        let start = self.hits.len() as u32;
        let path = &index.formulas.paths[predicate.path as usize];
        for place in 0..store.list(predicate.test).len() as u32 {
            let element = store.list(predicate.test)[place as usize];
            let range = lists.of(store, index, predicate.path, element);
            let elements = lists.nodes(range);
            let is_good = store.each_value(path, elements, |values, value| {
                if kind == Kind::Number && values.number(value).is_none() {
                    return false;
                }
                let constant = self.constant(index, kind, value, values.text(value), || {
                    values.number(value)
                });
                if constant != NONE {
                    self.hit(id, constant, place);
                }
                true
            });
            if !is_good {
                set(&mut self.bad[id as usize], place);
                self.has_bad = true;
            }
        }
        self.of[id as usize] = (start, self.hits.len() as u32);
    }

    /// The constant that a value is, or `NONE`.
    #[inline]
    fn constant(
        &mut self,
        index: &Index,
        kind: Kind,
        value: u32,
        text: &[u8],
        number: impl FnOnce() -> Option<f64>,
    ) -> u32 {
        const UNKNOWN: u32 = NONE - 1;
        let known = match kind {
            Kind::Text => &mut self.text_constants,
            Kind::Number | Kind::LenientNumber => &mut self.number_constants,
        };
        if known.len() <= value as usize {
            known.resize(value as usize + 1, UNKNOWN);
        }
        let slot = &mut known[value as usize];
        if *slot == UNKNOWN {
            let formulas = &index.formulas;
            *slot = match kind {
                Kind::Text => formulas.text_ids.get(text).copied(),
                Kind::Number | Kind::LenientNumber => number()
                    .and_then(crate::query::Constant::number_key)
                    .and_then(|key| formulas.number_ids.get(&key).copied()),
            }
            .unwrap_or(NONE);
        }
        *slot
    }

    #[inline]
    fn hit(&mut self, predicate: u32, constant: u32, place: u32) {
        let slot = &mut self.slots[constant as usize];
        if slot.0 != predicate {
            *slot = (predicate, self.hits.len() as u32);
            self.hits.push(Hit {
                constant,
                nodes: [0; W],
            });
        }
        set(&mut self.hits[slot.1 as usize].nodes, place);
    }

    /// The hits of a predicate.
    #[inline]
    pub fn hits_of(&self, predicate: u32) -> &[Hit<W>] {
        let (from, to) = self.of[predicate as usize];
        &self.hits[from as usize..to as usize]
    }

    /// The nodes of a test for which a formula holds.
    pub fn holds(
        &mut self,
        formula: u32,
        test: crate::query::TestId,
        store: &mut Store,
        index: &Index,
        lists: &mut Lists,
    ) -> Bits<W> {
        let all = first(store.list(test).len());
        match &index.formulas.all[formula as usize] {
            Formula::True => all,
            Formula::Compare {
                predicate,
                operator: Operator::Equal,
                constant,
            } => {
                let hits = self.hits_of(*predicate).iter();
                let mut own = hits.filter(|hit| hit.constant == *constant);
                own.next().map_or([0; W], |hit| hit.nodes)
            }
            Formula::And(parts) => {
                let mut bits = all;
                for &part in parts {
                    let own = self.holds(part, test, store, index, lists);
                    bits = std::array::from_fn(|at| bits[at] & own[at]);
                    if is_empty(&bits) {
                        break;
                    }
                }
                bits
            }
            Formula::Or(parts) => {
                let mut bits = [0; W];
                for &part in parts {
                    let own = self.holds(part, test, store, index, lists);
                    bits = std::array::from_fn(|at| bits[at] | own[at]);
                }
                bits
            }
            Formula::Not(inner) => {
                let own = self.holds(*inner, test, store, index, lists);
                std::array::from_fn(|at| all[at] & !own[at])
            }
            Formula::Compare { .. } | Formula::Exists { .. } => {
                if let Some(known) = self.known.get(&formula) {
                    return *known;
                }
                let mut bits = [0; W];
                for place in 0..store.list(test).len() as u32 {
                    let element = store.list(test)[place as usize];
                    if judge(formula, element, store, index, lists) == Ok(true) {
                        set(&mut bits, place);
                    }
                }
                self.known.insert(formula, bits);
                bits
            }
        }
    }
}

/// Whether a formula holds at an element; what decides first decides.
pub(crate) fn judge(
    formula: u32,
    element: u32,
    store: &mut Store,
    index: &Index,
    lists: &mut Lists,
) -> Result<bool, Fault> {
    match &index.formulas.all[formula as usize] {
        Formula::True => Ok(true),
        Formula::And(parts) => {
            for &part in parts {
                if !judge(part, element, store, index, lists)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Formula::Or(parts) => {
            for &part in parts {
                if judge(part, element, store, index, lists)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Formula::Not(inner) => Ok(!judge(*inner, element, store, index, lists)?),
        Formula::Exists { predicate } => {
            let path = index.formulas.predicates[*predicate as usize].path;
            let range = lists.of(store, index, path, element);
            let path = &index.formulas.paths[path as usize];
            Ok(store.has_field(path, lists.nodes(range)))
        }
        &Formula::Compare {
            predicate,
            operator,
            constant,
        } => {
            let predicate = index.formulas.predicates[predicate as usize];
            let range = lists.of(store, index, predicate.path, element);
            let path = &index.formulas.paths[predicate.path as usize];
            let formulas = &index.formulas;
            let mut outcome = Ok(false);
            store.each_value(path, lists.nodes(range), |values, value| {
                let order = match predicate.kind {
                    Some(Kind::Text) | None => {
                        let text = &*formulas.texts[constant as usize];
                        Some(values.text(value).cmp(text))
                    }
                    Some(kind) => match values.number(value) {
                        Some(number) => number.partial_cmp(&formulas.numbers[constant as usize]),
                        None if kind == Kind::LenientNumber => return true,
                        None => {
                            outcome = Err(Fault {
                                value,
                                operator,
                                constant,
                            });
                            return false;
                        }
                    },
                };
                outcome = Ok(operator.holds(order));
                outcome == Ok(false)
            });
            outcome
        }
    }
}

/// The least and the greatest number that nodes see through a predicate, by place.
pub(crate) fn extremes(
    predicate: u32,
    store: &mut Store,
    index: &Index,
    lists: &mut Lists,
) -> Vec<Option<(f64, f64)>> {
    let predicate = index.formulas.predicates[predicate as usize];
    let path = &index.formulas.paths[predicate.path as usize];
    let mut all = Vec::new();
    for place in 0..store.list(predicate.test).len() {
        let element = store.list(predicate.test)[place];
        let range = lists.of(store, index, predicate.path, element);
        let mut own: Option<(f64, f64)> = None;
        store.each_value(path, lists.nodes(range), |values, value| {
            match values.number(value) {
                None => return predicate.kind == Some(Kind::LenientNumber),
                Some(number) if number.partial_cmp(&number) == Some(Ordering::Equal) => {
                    let (least, greatest) = own.unwrap_or((number, number));
                    own = Some((least.min(number), greatest.max(number)));
                }
                Some(_) => {}
            }
            true
        });
        all.push(own);
    }
    all
}
