//! Runs all plans as one (section 5).
//!
//! ```text
//!                        OuterJoin-Select of each plan ◄── groups ◄── GroupBy (*) ◄─ return paths
//!                                 │ reads the lists of its tests, and intersects them
//!   lists of constants ◄── grouped selection (*)
//!                                 │
//!                          shared join (*) ◄── predicate paths        (*) once for all plans
//!                                 │
//!                           binding paths
//! ```
//!
//! The paper shares plans with one predicate path. Here each predicate path has its join and its
//! selection, whoever asks, and so has each binding path with conditions at its steps; a plan with
//! several reads their lists, shortest first, and leaves the nodes that are in all. What is no
//! comparison is decided by Where-Filter for each plan.

use super::duplicates::{Removal, bound_nodes};
use super::group_by::GroupBy;
use super::grouped_selection::{Selection, Signature, TupleLists};
use super::groups::{Groups, Made};
use super::planning::{Part, Plan, Plans, of};
use super::profile::{Operator, Profile};
use super::search::holds;
use super::selection::{Test, of_steps};
use super::semijoin::merge;
use super::shared_join::{SharedJoin, Table};
use super::streams::{FIELDS_MAX, StreamId};
use penstock_broker::Store;
use penstock_broker::formulas::TRUE;
use rustc_hash::FxHashMap;

/// So many plans are run before their work is accounted for.
const PLANS: u32 = 256;

/// Bound nodes of a path with conditions at its steps, once for all plans.
#[derive(Debug)]
struct Bound {
    stream: StreamId,
    checks: Part,
    removal: Removal,
    list: u32,
}

/// What is left of a plan: the lists that it reads, what filters them, and groups.
#[derive(Clone, Copy, Debug)]
struct Reader {
    lists: Part,
    filter: u32,
    groups: Part,
    output: u32,
}

/// Plans that share their operators.
#[derive(Debug, Default)]
pub(super) struct Shared {
    bounds: Vec<Bound>,
    joins: Vec<SharedJoin>,
    selections: Vec<Selection>,
    groups: Vec<GroupBy>,
    readers: Vec<Reader>,
    reader_lists: Vec<u32>,
    reader_groups: Vec<u32>,
    lists: TupleLists,
    table: Table,
    nodes: Vec<u32>,
    spare: Vec<u32>,
}

/// What exists once.
#[derive(Default)]
struct Known {
    bounds: FxHashMap<(StreamId, Vec<(u32, u32)>), u32>,
    joins: FxHashMap<(StreamId, super::columns::ColumnId), u32>,
    selections: FxHashMap<(u32, Signature), u32>,
    groups: FxHashMap<(StreamId, u32), u32>,
}

impl Shared {
    /// Merges plans.
    pub fn of(plans: &Plans) -> Shared {
        let mut shared = Shared::default();
        let mut known = Known::default();
        for plan in &plans.all {
            shared.add(plan, plans, &mut known);
        }
        for selection in &mut shared.selections {
            selection.close(&plans.formulas);
        }
        shared
    }

    fn add(&mut self, plan: &Plan, plans: &Plans, known: &mut Known) {
        let first = self.reader_lists.len() as u32;
        if plan.checks.0 < plan.checks.1 || plan.joins.0 == plan.joins.1 {
            let list = self.bound(plan, plans, known);
            self.reader_lists.push(list);
        }
        for join in of(&plans.joins, plan.joins) {
            let next = self.joins.len() as u32;
            let key = (plan.bound, join.column);
            let own = *known.joins.entry(key).or_insert(next);
            if own == next {
                self.joins.push(SharedJoin {
                    bound: plan.bound,
                    column: join.column,
                    is_ordered: plan.is_ordered,
                    pairs: Vec::new(),
                });
            }
            let signature = match join.test {
                Test::Exists => None,
                Test::Compare(kind, operator, _) => Some((kind, operator)),
            };
            let next = self.selections.len() as u32;
            let selection = *known.selections.entry((own, signature)).or_insert(next);
            if selection == next {
                self.selections.push(Selection::new(own, signature));
            }
            let selection = &mut self.selections[selection as usize];
            let list = selection.list(join.test, &mut self.lists);
            self.reader_lists.push(list);
        }
        let first_group = self.reader_groups.len() as u32;
        for returned in of(&plans.returns, plan.returns) {
            let next = self.groups.len() as u32;
            let key = (returned.stream, plan.at);
            let own = *known.groups.entry(key).or_insert(next);
            if own == next {
                let group = GroupBy::new(returned.stream, plan.at, plan.is_ordered);
                self.groups.push(group);
            }
            self.reader_groups.push(own);
        }
        self.readers.push(Reader {
            lists: (first, self.reader_lists.len() as u32),
            filter: plan.filter,
            groups: (first_group, self.reader_groups.len() as u32),
            output: plan.output,
        });
    }

    fn bound(&mut self, plan: &Plan, plans: &Plans, known: &mut Known) -> u32 {
        let checks = of(&plans.checks, plan.checks).to_vec();
        let next = self.bounds.len() as u32;
        let own = *known.bounds.entry((plan.bound, checks)).or_insert(next);
        if own == next {
            let list = self.lists.push();
            self.bounds.push(Bound {
                stream: plan.bound,
                checks: plan.checks,
                removal: plan.removal,
                list,
            });
        }
        self.bounds[own as usize].list
    }

    /// Runs the plans; false if joins have too many tuples for this document.
    pub fn run(
        &mut self,
        plans: &Plans,
        store: &mut Store,
        groups: &mut Groups,
        profile: &mut Profile,
        meter: &mut dyn FnMut(u64),
    ) -> bool {
        self.lists.clear();
        let is_joined = profile.time(Operator::Join, || {
            let mut total = 0;
            self.joins.iter_mut().all(|join| {
                join.run(&plans.streams, &plans.columns, &mut self.table);
                total += join.pairs.len();
                total <= FIELDS_MAX
            })
        });
        if !is_joined {
            return false;
        }
        profile.time(Operator::Selection, || self.select(plans, store));
        profile.time(Operator::GroupBy, || {
            for group in &mut self.groups {
                group.run(&plans.streams);
            }
        });
        profile.rest(|profile| {
            let mut nodes = std::mem::take(&mut self.nodes);
            let mut spare = std::mem::take(&mut self.spare);
            for (at, some) in self.readers.chunks(PLANS as usize).enumerate() {
                let before = groups.flat.len();
                for (plan, reader) in (at as u32 * PLANS..).zip(some) {
                    let lists = of(&self.reader_lists, reader.lists);
                    let is_single = lists.len() == 1 && reader.filter == TRUE;
                    if is_single && self.lists.all[lists[0] as usize].is_empty() {
                        continue;
                    }
                    if !is_single {
                        let memory = (&mut nodes, &mut spare);
                        self.intersect(reader, plans, store, memory, profile);
                    }
                    let own = match is_single {
                        true => &self.lists.all[lists[0] as usize],
                        false => &nodes,
                    };
                    if own.is_empty() {
                        continue;
                    }
                    profile.time(Operator::OuterJoin, || {
                        let from = groups.flat.len() as u32;
                        self.outer_join(reader, own, &mut groups.flat);
                        let to = groups.flat.len() as u32;
                        groups.messages.push(Made {
                            plan,
                            output: reader.output,
                            from,
                            to,
                        });
                    });
                }
                let work = groups.flat.len() - before + some.len();
                meter(work as u64 / 4);
            }
            (self.nodes, self.spare) = (nodes, spare);
        });
        true
    }

    fn select(&mut self, plans: &Plans, store: &mut Store) {
        let formulas = &plans.formulas;
        for bound in &self.bounds {
            let tuples = plans.streams.get(bound.stream);
            let checks = of(&plans.checks, bound.checks);
            match checks {
                [] => bound_nodes(tuples, bound.removal, &mut self.spare),
                _ => of_steps(tuples, checks, store, formulas, &mut self.spare),
            }
            for &node in &self.spare {
                self.lists.put(bound.list, node);
            }
        }
        for selection in &self.selections {
            let join = &self.joins[selection.join as usize];
            let column = plans.columns.get(join.column);
            selection.run(join, column, (store, formulas), &mut self.lists);
        }
    }

    /// The nodes that are in all lists of a plan, and that its filter leaves.
    fn intersect(
        &self,
        reader: &Reader,
        plans: &Plans,
        store: &mut Store,
        (nodes, spare): (&mut Vec<u32>, &mut Vec<u32>),
        profile: &mut Profile,
    ) {
        let lists = of(&self.reader_lists, reader.lists);
        let list = |id: &u32| &self.lists.all[*id as usize];
        nodes.clear();
        profile.time(Operator::Join, || {
            let Some(shortest) = lists.iter().min_by_key(|id| list(id).len()) else {
                return;
            };
            nodes.extend_from_slice(list(shortest));
            for other in lists.iter().filter(|&id| id != shortest) {
                if nodes.is_empty() {
                    break;
                }
                merge(nodes, list(other), spare);
                std::mem::swap(nodes, spare);
            }
        });
        if reader.filter != TRUE {
            profile.time(Operator::WhereFilter, || {
                nodes.retain(|&node| holds(reader.filter, node, store, &plans.formulas));
            });
        }
    }

    /// OuterJoin-Select over groups that were made once.
    #[inline]
    fn outer_join(&self, reader: &Reader, nodes: &[u32], out: &mut Vec<u32>) {
        for &node in nodes {
            out.push(node);
            for &group in of(&self.reader_groups, reader.groups) {
                let own = self.groups[group as usize].of(node);
                out.push(own.len() as u32);
                out.extend_from_slice(own);
            }
        }
    }

    /// How many operators there are that plans share: selections at the steps of binding paths,
    /// duplicate elimination, joins that merge and that hash, selections for all constants, groups
    /// of ordered and of other streams.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let is_plain = |bound: &&Bound| bound.checks.0 == bound.checks.1;
        let removals = |removal| {
            let plain = self.bounds.iter().filter(is_plain);
            plain.filter(|bound| bound.removal == removal).count()
        };
        let plain = self.bounds.iter().filter(is_plain).count();
        let joins = |is_ordered| {
            let own = self.joins.iter();
            own.filter(|join| join.is_ordered == is_ordered).count()
        };
        let groups = |is_ordered| {
            let own = self.groups.iter();
            own.filter(|group| group.is_ordered == is_ordered).count()
        };
        vec![
            ("selection", self.bounds.len() - plain),
            ("duplicate elimination (scan)", removals(Removal::Scan)),
            ("duplicate elimination (hash)", removals(Removal::Hash)),
            ("shared join (merge)", joins(true)),
            ("shared join (hash)", joins(false)),
            ("grouped selection", self.selections.len()),
            ("group-by (scan)", groups(true)),
            ("group-by (hash)", groups(false)),
        ]
    }
}
