//! The operators of *Query processing for high-volume XML message brokering* (Diao, Franklin).
//!
//! ```text
//! document ─► path matching ─► streams of path-tuples ─► plans ─► groups of lists ─► messages
//!              (all queries)    (one for each path)               (`broker`)
//! ```
//!
//! All strategies work on the store that the product's broker works on, plans lie flat, and a plan
//! stands for all queries that are equal.
//!
//! | modules | what they are |
//! | --- | --- |
//! | `strategy`, `claims` | what is shared, what is known, and what follows from it |
//! | `streams`, `columns` | path-tuples, and the values at their ends |
//! | `planning` | the operators of each query |
//! | `selection`, `duplicates`, `semijoin`, `outer_join`, `search` | operators of one plan |
//! | `shared_join`, `grouped_selection`, `group_by` | operators that plans share |
//! | `executor`, `sharing` | plans one by one, and as one |
//! | `groups`, `profile` | what comes out, and what it costs |

mod claims;
mod columns;
mod duplicates;
mod executor;
mod group_by;
mod grouped_selection;
mod groups;
mod outer_join;
mod planning;
mod profile;
mod search;
mod selection;
mod semijoin;
mod shared_join;
mod sharing;
mod strategy;
mod streams;

pub use groups::{Groups, Made};
pub use strategy::{Knowledge, Nesting, Sharing, Strategy};

use claims::Claims;
use duplicates::Removal;
use executor::Executor;
use penstock_broker::formulas::TRUE;
use penstock_broker::{Kind, Query, Step, Store, TestId};
use planning::{Assumed, Plans, of, plan};
use profile::{NAMES, Operator, Profile};
use rustc_hash::FxHashSet;
use selection::Test;
use sharing::Shared;
use std::time::Duration;

/// Queries as plans of the paper's operators.
#[derive(Debug)]
pub struct Operators {
    strategy: Strategy,
    /// Whether what a schema says is checked in each document.
    is_checked: bool,
    plans: Plans,
    executor: Executor,
    shared: Shared,
    profile: Profile,
    seen: FxHashSet<u64>,
    /// What was found.
    pub groups: Groups,
}

impl Operators {
    /// Plans of queries. `returns` are the return paths of each output, `nesting` is what a schema
    /// says of elements, and `is_checked` whether documents may break it.
    pub fn new(
        queries: &[Query],
        returns: &[Vec<Box<[Step]>>],
        strategy: Strategy,
        nesting: &dyn Fn(TestId) -> Nesting,
        is_checked: bool,
    ) -> Operators {
        let claims = Claims::new(strategy.knowledge, nesting);
        let known = match strategy.knowledge {
            Knowledge::Nothing => Knowledge::Nothing,
            _ => Knowledge::Queries,
        };
        let own = Claims::new(known, nesting);
        let plans = plan(queries, returns, strategy, &claims, &own);
        let shared = match strategy.sharing {
            Sharing::Plans => Shared::of(&plans),
            _ => Shared::default(),
        };
        Operators {
            strategy,
            is_checked,
            plans,
            executor: Executor::default(),
            shared,
            profile: Profile::default(),
            seen: FxHashSet::default(),
            groups: Groups::default(),
        }
    }

    /// Asks a document. False if the operators do not answer: some value is not a number where that
    /// is an error, tuples are too many, or the document breaks what its schema says.
    pub fn ask(&mut self, store: &mut Store, meter: &mut dyn FnMut(u64)) -> bool {
        self.groups.clear();
        if self.has_errors(store) {
            return false;
        }
        let Operators {
            plans,
            profile,
            groups,
            ..
        } = self;
        let fields = profile.time(Operator::PathMatching, || {
            let fields = plans.streams.read(store)?;
            let Plans {
                columns,
                streams,
                formulas,
                ..
            } = plans;
            columns.read(streams, store, formulas);
            Some(fields)
        });
        let Some(fields) = fields else {
            return false;
        };
        meter(fields as u64 / 4 + 1);
        if self.is_checked && !holds_all(plans, &mut self.seen) {
            return false;
        }
        match self.strategy.sharing {
            Sharing::Plans => self.shared.run(plans, store, groups, profile, meter),
            sharing => {
                let executor = &mut self.executor;
                executor.run(plans, sharing, store, groups, profile, meter);
                true
            }
        }
    }

    /// Whether some value that is compared with numbers is none, and that is an error. Which parts
    /// of a condition see it is not the same in all plans.
    fn has_errors(&self, store: &mut Store) -> bool {
        let formulas = &self.plans.formulas;
        let strict = formulas.predicates.iter();
        let mut nodes = Vec::new();
        strict
            .filter(|one| one.kind == Some(Kind::Number))
            .any(|predicate| {
                let path = &formulas.paths[predicate.path as usize];
                (0..store.list(predicate.test).len()).any(|at| {
                    nodes.clear();
                    store.follow(store.list(predicate.test)[at], &path.steps, &mut nodes);
                    !store.each_value(path, &nodes, |values, value| values.number(value).is_some())
                })
            })
    }

    /// Subscriptions of a plan.
    pub fn subscriptions(&self, plan: u32) -> &[u32] {
        let own = self.plans.all[plan as usize].subscriptions;
        of(&self.plans.subscriptions, own)
    }

    /// Operators, and how many of each there are.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts = vec![
            ("path-tuple stream", self.plans.streams.len()),
            ("plan", self.plans.all.len()),
        ];
        match self.strategy.sharing {
            Sharing::Plans => counts.extend(self.shared.counts()),
            _ => counts.extend(self.own_counts()),
        }
        let filters = self.plans.all.iter().filter(|plan| plan.filter != TRUE);
        counts.push(("where-filter", filters.count()));
        counts.push(("executor", usize::from(!self.plans.all.is_empty())));
        counts
    }

    /// Operators of plans that are run one by one.
    fn own_counts(&self) -> Vec<(&'static str, usize)> {
        let (plans, sharing) = (&self.plans, self.strategy.sharing);
        let all = || plans.all.iter();
        let semijoins = |is_ordered| {
            let own = all().filter(|plan| plan.is_ordered == is_ordered);
            own.map(|plan| (plan.joins.1 - plan.joins.0) as usize).sum()
        };
        let selects = |is_ordered| match sharing {
            Sharing::Returns => all().filter(|plan| plan.is_ordered == is_ordered).count(),
            _ => 0,
        };
        let removals = |removal: Removal| {
            let returned = plans.returns.iter().filter(|one| one.removal == removal);
            let bound = all().filter(|plan| plan.removal == removal);
            returned.count() + bound.count()
        };
        let searches = match sharing {
            Sharing::Returns => 0,
            _ => plans.all.len(),
        };
        let of_steps = all().filter(|plan| plan.checks.0 < plan.checks.1);
        let of_values = plans.joins.iter().filter(|join| join.test != Test::Exists);
        vec![
            ("selection", of_steps.count() + of_values.count()),
            ("duplicate elimination (scan)", removals(Removal::Scan)),
            ("duplicate elimination (hash)", removals(Removal::Hash)),
            ("semijoin (merge)", semijoins(true)),
            ("semijoin (hash)", semijoins(false)),
            ("return-select", searches),
            ("outer-join-select (merge)", selects(true)),
            ("outer-join-select (hash)", selects(false)),
        ]
    }

    /// Takes the time of each operator from now on.
    pub fn measure(&mut self) {
        self.profile.is_on = true;
    }

    /// What operators cost since the last call, if that is measured.
    pub fn take_costs(&mut self) -> Vec<(&'static str, Duration)> {
        let costs = std::mem::take(&mut self.profile.costs);
        NAMES.into_iter().zip(costs).collect()
    }
}

/// Whether the streams of a document are as plans assume because of a schema.
fn holds_all(plans: &Plans, seen: &mut FxHashSet<u64>) -> bool {
    plans.assumed.iter().all(|assumed| match *assumed {
        Assumed::Distinct(stream) => {
            let tuples = plans.streams.get(stream);
            let last = tuples.width - 1;
            // Tuples come in the order of their last nodes.
            tuples
                .iter()
                .is_sorted_by(|one, next| one[last] < next[last])
        }
        Assumed::DistinctPairs(stream, at) => {
            seen.clear();
            let tuples = plans.streams.get(stream);
            let last = tuples.width - 1;
            tuples.iter().all(|tuple| {
                seen.insert(u64::from(tuple[at as usize]) << 32 | u64::from(tuple[last]))
            })
        }
        Assumed::Ordered(stream, at) => {
            let tuples = plans.streams.get(stream);
            tuples.iter().is_sorted_by_key(|tuple| tuple[at as usize])
        }
    })
}
