//! What each operator costs.

use std::time::{Duration, Instant};

/// The operators, in the order of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    PathMatching,
    Selection,
    Duplicates,
    WhereFilter,
    Join,
    GroupBy,
    ReturnSelect,
    OuterJoin,
    Executor,
}

/// Their names, in the same order.
pub(super) const NAMES: [&str; 9] = [
    "path matching",
    "selection",
    "duplicate elimination",
    "where-filter",
    "join",
    "group-by",
    "return-select",
    "outer-join-select",
    "executor",
];

/// Time taken by operator, if somebody asks.
#[derive(Debug, Default)]
pub(super) struct Profile {
    pub is_on: bool,
    pub costs: [Duration; NAMES.len()],
}

impl Profile {
    /// Does some work of an operator.
    #[inline(always)]
    pub fn time<T>(&mut self, operator: Operator, work: impl FnOnce() -> T) -> T {
        if !self.is_on {
            return work();
        }
        let started = Instant::now();
        let done = work();
        self.costs[operator as usize] += started.elapsed();
        done
    }

    /// Does work of which the operators' part was taken already; the rest is the executor's.
    pub fn rest<T>(&mut self, work: impl FnOnce(&mut Profile) -> T) -> T {
        let before: Duration = self.costs.iter().sum();
        let started = Instant::now();
        let done = work(self);
        if self.is_on {
            let taken = self.costs.iter().sum::<Duration>() - before;
            self.costs[Operator::Executor as usize] += started.elapsed().saturating_sub(taken);
        }
        done
    }
}
