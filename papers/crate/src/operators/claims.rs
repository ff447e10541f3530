//! When tuples of a path have no duplicates, and when they come in order (section 4.1).
//!
//! What the claims need of a schema is which elements lie on which loop of its graph. Without it
//! each element may lie in each other one, and claims 2 and 5 say nothing.

use super::strategy::{Knowledge, Nesting};
use penstock_broker::{Axis, Step, TestId};

/// What is known of queries and documents.
pub struct Claims<'a> {
    knowledge: Knowledge,
    nesting: &'a dyn Fn(TestId) -> Nesting,
}

impl<'a> Claims<'a> {
    /// Claims; `nesting` is asked with `Knowledge::Schema` only.
    pub fn new(knowledge: Knowledge, nesting: &'a dyn Fn(TestId) -> Nesting) -> Claims<'a> {
        Claims { knowledge, nesting }
    }

    fn of(&self, path: &[Step]) -> Path<'_> {
        let is_known = self.knowledge == Knowledge::Schema
            && path
                .iter()
                .all(|&(_, test)| (self.nesting)(test) != Nesting::Unknown);
        Path {
            claims: self,
            is_known,
        }
    }

    /// Whether no two tuples of a path end in the same node (claims 1 and 2).
    pub fn has_no_duplicates(&self, path: &[Step]) -> bool {
        self.knowledge != Knowledge::Nothing && self.of(path).has_no_duplicates(path)
    }

    /// Whether no two tuples agree in their last node and in the one of a step (claim 3). `at`
    /// counts from 0.
    pub fn has_no_pair_duplicates(&self, path: &[Step], at: usize) -> bool {
        let (up_to, behind) = path.split_at(at + 1);
        self.has_no_duplicates(up_to) && self.has_no_duplicates(behind)
    }

    /// Whether tuples come in the order of their nodes at a step (claims 4 and 5).
    pub fn is_in_order(&self, path: &[Step], at: usize) -> bool {
        self.knowledge != Knowledge::Nothing && self.of(&path[..=at]).is_in_order(path, at)
    }
}

/// One path: with a step whose nesting is unknown, only the query counts.
struct Path<'a> {
    claims: &'a Claims<'a>,
    is_known: bool,
}

fn deep(path: &[Step]) -> impl Iterator<Item = TestId> + '_ {
    let is_deep = |&&(axis, _): &&Step| axis == Axis::Descendant;
    path.iter().filter(is_deep).map(|&(_, test)| test)
}

impl Path<'_> {
    fn has_no_duplicates(&self, path: &[Step]) -> bool {
        let count = deep(path).count();
        let mut before_last = deep(path).take(count.saturating_sub(1));
        before_last.all(|test| self.is_known && (self.claims.nesting)(test) == Nesting::Never)
    }

    fn is_in_order(&self, path: &[Step], at: usize) -> bool {
        let own = path[at].1;
        let is_apart = |test: TestId| match (self.nesting(test), self.nesting(own)) {
            (Nesting::Loop(one), Nesting::Loop(other)) => one != other,
            _ => true,
        };
        deep(&path[..=at]).all(|test| self.is_known && is_apart(test))
    }

    fn nesting(&self, test: TestId) -> Nesting {
        (self.claims.nesting)(test)
    }
}
