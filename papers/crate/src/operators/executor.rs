//! Runs one plan after the other (sections 3 and 4).
//!
//! ```text
//!                 F                    FW                     FWR
//! lists      Return-Select        Return-Select        OuterJoin-Select ◄─ DupElim ◄─ return paths
//!                 │                    │                       │
//! nodes      Where-Filter          semijoins ◄─ selection ◄────┼─ predicate paths
//!                 │                    │                       │
//!             DupElim ◄─ selection ◄─ binding path         (as FW)
//! ```

use super::duplicates::{Removal, bound_nodes, pairs};
use super::groups::{Groups, Made};
use super::outer_join::OuterJoin;
use super::planning::{Joined, Plan, Plans, of};
use super::profile::{Operator, Profile};
use super::search::{holds, select};
use super::selection::{of_steps, of_values};
use super::semijoin;
use super::strategy::Sharing;
use penstock_broker::Store;
use penstock_broker::formulas::TRUE;
use rustc_hash::FxHashSet;

/// So many plans are run before their work is accounted for.
const PLANS: u32 = 256;

/// What operators write to; the memory serves the next plan.
#[derive(Debug, Default)]
pub(super) struct Executor {
    nodes: Vec<u32>,
    spare: Vec<u32>,
    selected: Vec<u32>,
    seen: FxHashSet<u32>,
    seen_pairs: FxHashSet<u64>,
    outer: OuterJoin,
}

impl Executor {
    /// Runs all plans over a document whose streams and columns were read.
    pub fn run(
        &mut self,
        plans: &Plans,
        sharing: Sharing,
        store: &mut Store,
        groups: &mut Groups,
        profile: &mut Profile,
        meter: &mut dyn FnMut(u64),
    ) {
        profile.rest(|profile| {
            for (at, some) in plans.all.chunks(PLANS as usize).enumerate() {
                let before = groups.flat.len();
                for (number, plan) in (at as u32 * PLANS..).zip(some) {
                    if !self.find_nodes(plan, plans, store, profile) {
                        continue;
                    }
                    let from = groups.flat.len() as u32;
                    match sharing {
                        Sharing::Bindings | Sharing::Conditions => {
                            let work = || self.search(plan, plans, store, groups);
                            profile.time(Operator::ReturnSelect, work);
                        }
                        _ => self.join(plan, plans, groups, profile),
                    }
                    let to = groups.flat.len() as u32;
                    groups.messages.push(Made {
                        plan: number,
                        output: plan.output,
                        from,
                        to,
                    });
                }
                let work = groups.flat.len() - before + some.len();
                meter(work as u64 / 4);
            }
        });
    }

    /// Finds the bound nodes of a plan for which its condition holds; whether there is one.
    fn find_nodes(
        &mut self,
        plan: &Plan,
        plans: &Plans,
        store: &mut Store,
        profile: &mut Profile,
    ) -> bool {
        let bound = plans.streams.get(plan.bound);
        if bound.is_empty() {
            return false;
        }
        let checks = of(&plans.checks, plan.checks);
        if checks.is_empty() {
            let operator = match plan.removal {
                Removal::None => Operator::Executor,
                _ => Operator::Duplicates,
            };
            profile.time(operator, || {
                bound_nodes(bound, plan.removal, &mut self.nodes);
            });
        } else {
            profile.time(Operator::Selection, || {
                of_steps(bound, checks, store, &plans.formulas, &mut self.nodes);
            });
        }
        for join in of(&plans.joins, plan.joins) {
            if self.nodes.is_empty() || !self.semijoin(plan, *join, plans, store, profile) {
                return false;
            }
        }
        if plan.filter != TRUE {
            profile.time(Operator::WhereFilter, || {
                self.nodes
                    .retain(|&node| holds(plan.filter, node, store, &plans.formulas));
            });
        }
        !self.nodes.is_empty()
    }

    /// Leaves the nodes with a tuple that passes; whether there is one.
    fn semijoin(
        &mut self,
        plan: &Plan,
        join: Joined,
        plans: &Plans,
        store: &Store,
        profile: &mut Profile,
    ) -> bool {
        profile.time(Operator::Selection, || {
            let column = plans.columns.get(join.column);
            let tuples = plans.streams.get(column.stream);
            let known = (store, &plans.formulas);
            of_values(
                column,
                tuples,
                plan.at,
                join.test,
                known,
                &mut self.selected,
            );
        });
        if self.selected.is_empty() {
            return false;
        }
        profile.time(Operator::Join, || {
            if plan.is_ordered {
                semijoin::merge(&self.nodes, &self.selected, &mut self.spare);
            } else {
                let (left, right) = (&self.nodes, &self.selected);
                semijoin::hash(left, right, &mut self.seen, &mut self.spare);
            }
            std::mem::swap(&mut self.nodes, &mut self.spare);
        });
        !self.nodes.is_empty()
    }

    /// Return-Select.
    fn search(&mut self, plan: &Plan, plans: &Plans, store: &Store, groups: &mut Groups) {
        for &node in &self.nodes {
            groups.flat.push(node);
            for returned in of(&plans.returns, plan.returns) {
                let steps = &plans.paths[returned.path as usize];
                select(store, node, steps, &mut groups.flat);
            }
        }
    }

    /// DupElim of return paths, and OuterJoin-Select.
    fn join(&mut self, plan: &Plan, plans: &Plans, groups: &mut Groups, profile: &mut Profile) {
        let returns = of(&plans.returns, plan.returns);
        self.outer.reserve(returns.len());
        for (returned, side) in returns.iter().zip(&mut self.outer.sides) {
            // Where there is none to eliminate, pairs are read by the join itself.
            let operator = match returned.removal {
                Removal::None => Operator::OuterJoin,
                _ => Operator::Duplicates,
            };
            profile.time(operator, || {
                let tuples = plans.streams.get(returned.stream);
                let seen = &mut self.seen_pairs;
                pairs(tuples, plan.at, returned.removal, seen, &mut side.pairs);
            });
        }
        profile.time(Operator::OuterJoin, || match plan.is_ordered {
            true => self
                .outer
                .merge(&self.nodes, returns.len(), &mut groups.flat),
            false => self
                .outer
                .hash(&self.nodes, returns.len(), &mut groups.flat),
        });
    }
}
