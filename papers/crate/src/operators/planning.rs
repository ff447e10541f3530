//! Plans of queries, laid out flat: they are run in the order in which they lie.
//!
//! Queries with one binding path, condition and output have one plan, and one message.

use super::claims::Claims;
use super::columns::{ColumnId, Columns};
use super::duplicates::Removal;
use super::selection::Test;
use super::strategy::{Sharing, Strategy};
use super::streams::{StreamId, Streams};
use penstock_broker::formulas::{Formula, Formulas, TRUE};
use penstock_broker::{Query, Step, TestId};
use rustc_hash::FxHashMap;

/// A predicate path of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Joined {
    pub column: ColumnId,
    pub test: Test,
}

/// A return path of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Returned {
    /// Its tuples, if it is matched together with those of other queries.
    pub stream: StreamId,
    /// The path, to be searched for otherwise.
    pub path: u32,
    pub removal: Removal,
}

/// A part of one of the lists of all plans.
pub(super) type Part = (u32, u32);

/// The operators of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub bound: StreamId,
    /// The step that binds, from 0.
    pub at: u32,
    /// Conditions of steps, by step.
    pub checks: Part,
    pub removal: Removal,
    /// Predicate paths.
    pub joins: Part,
    /// What is left of the condition, for Where-Filter.
    pub filter: u32,
    pub returns: Part,
    /// Streams are ordered by bound nodes.
    pub is_ordered: bool,
    pub output: u32,
    /// Who gets the message.
    pub subscriptions: Part,
}

/// All plans, and what they lead to.
#[derive(Debug, Default)]
pub(super) struct Plans {
    pub all: Vec<Plan>,
    pub checks: Vec<(u32, u32)>,
    pub joins: Vec<Joined>,
    pub returns: Vec<Returned>,
    pub subscriptions: Vec<u32>,
    pub formulas: Formulas,
    pub streams: Streams,
    pub columns: Columns,
    /// Return paths, to be searched for.
    pub paths: Vec<Box<[Step]>>,
    /// What a claim says of streams that the queries alone do not.
    pub assumed: Vec<Assumed>,
}

/// What is assumed of the tuples of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Assumed {
    /// No two end in the same node.
    Distinct(StreamId),
    /// No two agree in their last node and the one of a step.
    DistinctPairs(StreamId, u32),
    /// They come in the order of a step.
    Ordered(StreamId, u32),
}

/// What plans are made with.
struct Planner<'a> {
    plans: Plans,
    strategy: Strategy,
    claims: &'a Claims<'a>,
    /// The claims that no schema is needed for.
    own: &'a Claims<'a>,
    returns: &'a [Vec<Box<[Step]>>],
    path_ids: FxHashMap<Box<[Step]>, u32>,
    assumed: FxHashMap<Assumed, ()>,
}

/// A query with what makes it equal to others.
type Key = (StreamId, Vec<(u32, u32)>, Vec<u32>, u32);

/// Makes the plans of queries; `returns` are the return paths of each output.
pub(super) fn plan(
    queries: &[Query],
    returns: &[Vec<Box<[Step]>>],
    strategy: Strategy,
    claims: &Claims<'_>,
    own: &Claims<'_>,
) -> Plans {
    let mut planner = Planner {
        plans: Plans::default(),
        strategy,
        claims,
        own,
        returns,
        path_ids: FxHashMap::default(),
        assumed: FxHashMap::default(),
    };
    let mut known: FxHashMap<Key, usize> = FxHashMap::default();
    let mut distinct: Vec<(&Query, Key, Vec<u32>)> = Vec::new();
    for query in queries {
        let key = planner.key(query);
        let next = distinct.len();
        let place = *known.entry(key.clone()).or_insert(next);
        if place == next {
            distinct.push((query, key, Vec::new()));
        }
        distinct[place].2.push(query.subscription);
    }
    for (query, key, subscriptions) in distinct {
        planner.add(query, key, &subscriptions);
    }
    planner.plans.assumed = planner.assumed.into_keys().collect();
    planner.plans
}

fn part<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Part {
    let from = list.len() as u32;
    list.extend(items);
    (from, list.len() as u32)
}

/// The items of a part.
#[inline]
pub(super) fn of<T>(list: &[T], (from, to): Part) -> &[T] {
    &list[from as usize..to as usize]
}

fn test_of(query: &Query) -> TestId {
    query.binding.last().map_or(TestId(0), |step| step.step.1)
}

impl Planner<'_> {
    fn key(&mut self, query: &Query) -> Key {
        let plans = &mut self.plans;
        let bound = plans.streams.of(query.binding.iter().map(|step| step.step));
        let mut checks = Vec::new();
        for (at, step) in (0..).zip(&query.binding) {
            let formula = plans.formulas.of(step.step.1, &step.condition);
            if formula != TRUE {
                checks.push((at, formula));
            }
        }
        let parts = plans.formulas.conjuncts(test_of(query), &query.condition);
        (bound, checks, parts, query.output.0)
    }

    fn add(&mut self, query: &Query, key: Key, subscriptions: &[u32]) {
        let (bound, checks, parts, output) = key;
        let path: Vec<Step> = query.binding.iter().map(|step| step.step).collect();
        let at = path.len() - 1;
        let (joins, rest) = match self.strategy.sharing {
            Sharing::Bindings => (Vec::new(), parts),
            _ => self.joins(&path, parts),
        };
        let is_ordered = self.is_ordered(&path);
        let removal = match self.is_distinct(&path, bound) {
            true => Removal::None,
            false => Removal::Scan,
        };
        let returned: Vec<Returned> = self.returns[output as usize]
            .iter()
            .map(|steps| self.returned(&path, steps, is_ordered))
            .collect();
        if is_ordered {
            let columns = joins.iter().map(|join| self.plans.columns.get(join.column));
            let streams: Vec<StreamId> = columns.map(|column| column.stream).collect();
            let all = streams
                .into_iter()
                .chain(returned.iter().map(|one| one.stream));
            for stream in all.collect::<Vec<_>>() {
                self.assume_order(&path, stream, at);
            }
        }
        let plans = &mut self.plans;
        let plan = Plan {
            bound,
            at: at as u32,
            checks: part(&mut plans.checks, checks),
            removal,
            joins: part(&mut plans.joins, joins),
            filter: plans.formulas.all_of(rest),
            returns: part(&mut plans.returns, returned),
            is_ordered,
            output,
            subscriptions: part(&mut plans.subscriptions, subscriptions.iter().copied()),
        };
        plans.all.push(plan);
    }

    /// Takes the comparisons out of a condition; the rest of it stays.
    fn joins(&mut self, path: &[Step], parts: Vec<u32>) -> (Vec<Joined>, Vec<u32>) {
        let plans = &mut self.plans;
        let mut joins = Vec::new();
        let mut rest = Vec::new();
        for part in parts {
            let (predicate, compared) = match plans.formulas.all[part as usize] {
                Formula::Exists { predicate } => (predicate, None),
                Formula::Compare {
                    predicate,
                    operator,
                    constant,
                } => (predicate, Some((operator, constant))),
                _ => {
                    rest.push(part);
                    continue;
                }
            };
            let predicate = plans.formulas.predicates[predicate as usize];
            let relative = &plans.formulas.paths[predicate.path as usize];
            let steps = path.iter().chain(&relative.steps).copied();
            let stream = plans.streams.of(steps);
            let test = match (predicate.kind, compared) {
                (Some(kind), Some((operator, constant))) => Test::Compare(kind, operator, constant),
                _ => Test::Exists,
            };
            let column = plans.columns.of(stream, relative, predicate.kind);
            joins.push(Joined { column, test });
        }
        (joins, rest)
    }

    fn returned(&mut self, path: &[Step], steps: &[Step], is_ordered: bool) -> Returned {
        let next = self.plans.paths.len() as u32;
        let id = *self.path_ids.entry(steps.into()).or_insert(next);
        if id == next {
            self.plans.paths.push(steps.into());
        }
        let whole: Vec<Step> = path.iter().chain(steps).copied().collect();
        let is_matched = matches!(self.strategy.sharing, Sharing::Returns | Sharing::Plans);
        if !is_matched {
            let stream = self.plans.streams.of(path.iter().copied());
            let removal = Removal::None;
            return Returned {
                stream,
                path: id,
                removal,
            };
        }
        let stream = self.plans.streams.of(whole.iter().copied());
        let at = path.len() - 1;
        let removal = if self.claims.has_no_pair_duplicates(&whole, at) {
            if !self.own.has_no_pair_duplicates(&whole, at) {
                let assumed = Assumed::DistinctPairs(stream, at as u32);
                self.assumed.insert(assumed, ());
            }
            Removal::None
        } else if is_ordered {
            Removal::Scan
        } else {
            Removal::Hash
        };
        Returned {
            stream,
            path: id,
            removal,
        }
    }

    fn is_distinct(&mut self, path: &[Step], stream: StreamId) -> bool {
        let is_distinct = self.claims.has_no_duplicates(path);
        if is_distinct && !self.own.has_no_duplicates(path) {
            self.assumed.insert(Assumed::Distinct(stream), ());
        }
        is_distinct
    }

    /// Whether all streams that begin with a binding path are ordered by it.
    fn is_ordered(&self, path: &[Step]) -> bool {
        self.claims.is_in_order(path, path.len() - 1)
    }

    fn assume_order(&mut self, path: &[Step], stream: StreamId, at: usize) {
        if !self.own.is_in_order(path, at) {
            self.assumed.insert(Assumed::Ordered(stream, at as u32), ());
        }
    }
}
