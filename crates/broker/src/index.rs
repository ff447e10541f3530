//! Queries laid out so that a document meets them through its values.
//!
//! ```text
//! binding paths   a trie of steps: each distinct step of all queries once
//! keys            (predicate, constant) ─► runs, one for each binding path
//! ranges          (binding path, predicate, operator) ─► constants in order
//! open            (binding path, formula): what has neither
//! run             a slice of entries; an entry is an output and a subscription
//! ```
//!
//! A conjunction hangs on its rarest equality, or on its first range; the rest of it is asked of
//! what is left.

use crate::formulas::{Formula, Formulas};
use crate::query::{Axis, Kind, Operator, Query, TestId};
use rustc_hash::FxHashMap;

/// A step of the trie of binding paths: where it leads, and the binding that ends there.
#[derive(Debug)]
pub(crate) struct TrieStep {
    pub axis: Axis,
    pub test: TestId,
    pub formula: u32,
    pub next: Vec<u32>,
    pub binding: Option<u32>,
}

/// Entries with one binding path, constant and rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub binding: u32,
    /// What else holds.
    pub rest: u32,
    pub from: u32,
    pub to: u32,
}

/// Runs that differ in their constants only, in order of these.
#[derive(Debug)]
pub(crate) struct Range {
    pub predicate: u32,
    pub operator: Operator,
    pub binding: u32,
    pub rest: u32,
    /// Constants, and where their entries start.
    pub constants: Vec<(f64, u32)>,
    pub to: u32,
}

/// A binding path with all of a condition, and whose they are: for errors of comparisons.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub binding: u32,
    pub formula: u32,
}

/// What a query says, and to whom.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What is said of the nodes.
    pub output: u32,
    /// To whom.
    pub subscription: u32,
}

/// Queries, to be asked of documents.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) steps: Vec<TrieStep>,
    pub(crate) first: Vec<u32>,
    /// Steps by the step before them, axis, test and formula.
    known: FxHashMap<(Option<u32>, Axis, TestId, u32), u32>,
    /// By binding path: what its nodes pass.
    pub(crate) bindings: Vec<TestId>,
    pub(crate) formulas: Formulas,
    pub(crate) predicates_of: FxHashMap<TestId, Vec<u32>>,
    pub(crate) keys: FxHashMap<u64, (u32, u32)>,
    pub(crate) runs: Vec<Run>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) open: Vec<Run>,
    /// Entries, run by run.
    pub entries: Vec<Entry>,
    /// By entry: its case.
    pub(crate) case_of: Vec<u32>,
    pub(crate) cases: Vec<Case>,
    /// One past the largest number of an output.
    pub output_count: usize,
}

/// How queries are found, in the order of their runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Key { predicate: u32, constant: u32 },
    Range { predicate: u32, operator: Operator },
    Open,
}

/// One query before the runs are cut.
struct Draft {
    access: Access,
    binding: u32,
    rest: u32,
    /// The constant of a range.
    constant: f64,
    entry: Entry,
    case: u32,
}

pub(crate) fn key(predicate: u32, constant: u32) -> u64 {
    u64::from(predicate) << 32 | u64::from(constant)
}

impl Index {
    /// Lays out queries.
    pub fn of(queries: &[Query]) -> Index {
        let mut index = Index::default();
        let parts: Vec<(u32, Vec<u32>)> = queries.iter().map(|one| index.intern(one)).collect();
        // How many queries have each equality, to find the rarest.
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        for &part in parts.iter().flat_map(|(_, parts)| parts) {
            *counts.entry(part).or_default() += 1;
        }
        let mut cases: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut drafts: Vec<Draft> = Vec::with_capacity(queries.len());
        for (query, (binding, mut parts)) in queries.iter().zip(parts) {
            let whole = index.formulas.all_of(parts.clone());
            let next = index.cases.len() as u32;
            let case = *cases.entry((binding, whole)).or_insert(next);
            if case == next {
                let formula = whole;
                index.cases.push(Case { binding, formula });
            }
            let (access, constant) = index.access(&mut parts, &counts);
            let entry = Entry {
                output: query.output.0,
                subscription: query.subscription,
            };
            index.output_count = index.output_count.max(query.output.0 as usize + 1);
            let rest = index.formulas.all_of(parts);
            drafts.push(Draft {
                access,
                binding,
                rest,
                constant,
                entry,
                case,
            });
        }
        drafts.sort_unstable_by(|a, b| {
            let order = (a.access, a.binding, a.rest).cmp(&(b.access, b.binding, b.rest));
            let order = order.then(a.constant.total_cmp(&b.constant));
            order.then_with(|| {
                let own = |draft: &Draft| (draft.entry.output, draft.entry.subscription);
                own(a).cmp(&own(b))
            })
        });
        index.lay_out(&drafts);
        for (number, predicate) in index.formulas.predicates.iter().enumerate() {
            let of_test = index.predicates_of.entry(predicate.test).or_default();
            of_test.push(number as u32);
        }
        index
    }

    /// The binding path of a query, and the conjuncts of its condition.
    fn intern(&mut self, query: &Query) -> (u32, Vec<u32>) {
        let mut at: Option<u32> = None;
        for step in &query.binding {
            let (axis, test) = step.step;
            let formula = self.formulas.of(test, &step.condition);
            let id = self.steps.len() as u32;
            let place = (at, axis, test, formula);
            let id = *self.known.entry(place).or_insert_with(|| {
                self.steps.push(TrieStep {
                    axis,
                    test,
                    formula,
                    next: Vec::new(),
                    binding: None,
                });
                match at {
                    None => self.first.push(id),
                    Some(at) => self.steps[at as usize].next.push(id),
                }
                id
            });
            at = Some(id);
        }
        let last = at.map_or(0, |at| at as usize);
        let test = self.steps[last].test;
        let binding = self.steps[last].binding.unwrap_or_else(|| {
            self.bindings.push(test);
            self.bindings.len() as u32 - 1
        });
        self.steps[last].binding = Some(binding);
        (binding, self.formulas.conjuncts(test, &query.condition))
    }

    /// How a query is found; that part of its condition is taken out.
    fn access(&self, parts: &mut Vec<u32>, counts: &FxHashMap<u32, u32>) -> (Access, f64) {
        let formula = |part: u32| &self.formulas.all[part as usize];
        let is_key = |&(_, &part): &(usize, &u32)| {
            let operator = Operator::Equal;
            matches!(formula(part), Formula::Compare { operator: own, .. } if *own == operator)
        };
        let keys = parts.iter().enumerate().filter(is_key);
        if let Some((place, _)) = keys.min_by_key(|(_, part)| counts.get(part))
            && let Formula::Compare {
                predicate,
                constant,
                ..
            } = *formula(parts[place])
        {
            parts.remove(place);
            return (
                Access::Key {
                    predicate,
                    constant,
                },
                0.0,
            );
        }
        for (place, &part) in parts.iter().enumerate() {
            if let Formula::Compare {
                predicate,
                operator,
                constant,
            } = *formula(part)
                && operator.is_range()
                && self.formulas.predicates[predicate as usize].kind != Some(Kind::Text)
            {
                parts.remove(place);
                let number = self.formulas.numbers[constant as usize];
                return (
                    Access::Range {
                        predicate,
                        operator,
                    },
                    number,
                );
            }
        }
        (Access::Open, 0.0)
    }

    fn lay_out(&mut self, drafts: &[Draft]) {
        for of_access in drafts.chunk_by(|a, b| a.access == b.access) {
            let is_same = |a: &Draft, b: &Draft| (a.binding, a.rest) == (b.binding, b.rest);
            let first = self.runs.len() as u32;
            for same in of_access.chunk_by(is_same) {
                let from = self.entries.len() as u32;
                self.entries.extend(same.iter().map(|draft| draft.entry));
                self.case_of.extend(same.iter().map(|draft| draft.case));
                let (binding, rest) = (same[0].binding, same[0].rest);
                let to = self.entries.len() as u32;
                let run = Run {
                    binding,
                    rest,
                    from,
                    to,
                };
                match same[0].access {
                    Access::Key { .. } => self.runs.push(run),
                    Access::Open => self.open.push(run),
                    Access::Range {
                        predicate,
                        operator,
                    } => {
                        let mut constants: Vec<(f64, u32)> = Vec::new();
                        for (draft, at) in same.iter().zip(from..) {
                            if constants.last().is_none_or(|last| last.0 != draft.constant) {
                                constants.push((draft.constant, at));
                            }
                        }
                        self.ranges.push(Range {
                            predicate,
                            operator,
                            binding,
                            rest,
                            constants,
                            to,
                        });
                    }
                }
            }
            if let Access::Key {
                predicate,
                constant,
            } = of_access[0].access
            {
                let runs = (first, self.runs.len() as u32);
                self.keys.insert(key(predicate, constant), runs);
            }
        }
    }

    /// A constant that is a number.
    pub fn number(&self, constant: u32) -> f64 {
        self.formulas.numbers[constant as usize]
    }

    /// What there is once for all queries, and how many of each.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("binding path", self.bindings.len()),
            ("predicate", self.formulas.predicates.len()),
            ("condition", self.cases.len()),
        ]
    }
}
