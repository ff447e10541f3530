//! Results that are too many to be held at once: written out in order, a batch at a time.
//!
//! Rows that hold are known, and they are few beside their results. They are sorted by event time
//! and documents; then one subscription after the other goes through its own, and the tuples of
//! each come in order of their places. So the rows are those of sorting everything, and what is
//! held is what one batch needs.

mod tuples;

use crate::absence::Absent;
use crate::bindings::Search;
use crate::findings::{Finding, Findings, With, time_of, version_of};
use crate::meter::Meter;
use crate::plan::{Plan, StageId};
use crate::results::{Results, parts_of};
use crate::store::Store;
use penstock_kernel::plan::SubscriptionId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tuples::{Source, Spans, Tuples};

/// Tuples of one row that are held at once, at least.
const TUPLES_MIN: usize = 16;

/// Where rows are read from.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The rows.
    pub plan: &'a Plan,
    /// The records.
    pub store: &'a Store,
    /// Where steps are counted.
    pub meter: &'a Meter,
}

/// What tells an event from others at the same place: its row, the numbers of its documents, and
/// hashes of what its nodes say.
type EventKey = (StageId, Vec<u64>, Vec<(u64, u64)>);

/// The results of one subscription.
struct Current {
    subscription: SubscriptionId,
    since: u32,
    /// Its findings; those before `next` are written out, or open.
    findings: Vec<u32>,
    next: usize,
    /// The open ones, all of one time and the same documents, and the next tuple of each.
    open: Vec<(u32, Tuples)>,
    heads: BinaryHeap<Reverse<(Spans, u32)>>,
    /// Events of chains at the place of the last one.
    place: Spans,
    delivered: FxHashSet<EventKey>,
    count: u64,
}

/// The results that are still to be written out.
pub struct Cursor {
    findings: Findings,
    /// By finding, equal numbers for those of one time and the same documents.
    groups: Vec<u32>,
    by_row: FxHashMap<StageId, Vec<u32>>,
    /// Subscriptions in order, with the versions from which on they see documents.
    subscriptions: std::vec::IntoIter<(SubscriptionId, u32)>,
    current: Option<Current>,
}

impl Cursor {
    /// The results of findings.
    pub fn new(mut findings: Findings, ground: Ground<'_>) -> Self {
        let groups = sort(&mut findings, ground);
        let mut by_row: FxHashMap<StageId, Vec<u32>> = FxHashMap::default();
        for (number, finding) in (0..).zip(&findings.list) {
            by_row.entry(finding.row).or_default().push(number);
        }
        let rows = by_row.keys().map(|&row| ground.plan.stage(row));
        let mut subscriptions: Vec<(SubscriptionId, u32)> = rows
            .flat_map(|stage| stage.subscriptions.iter().copied())
            .collect();
        ground.meter.spend(subscriptions.len() as u64);
        subscriptions.sort_unstable();
        subscriptions.dedup();
        Cursor {
            findings,
            groups,
            by_row,
            subscriptions: subscriptions.into_iter(),
            current: None,
        }
    }

    /// Writes out results until a batch is full; returns whether all are written. A subscription
    /// gets no more than `results_max`, and one that stands for the others.
    pub fn fill(&mut self, ground: Ground<'_>, results_max: u64, results: &mut Results) -> bool {
        loop {
            if self.current.is_none() {
                let Some((subscription, since)) = self.subscriptions.next() else {
                    return true;
                };
                self.current = Some(self.begin(ground, subscription, since));
            }
            let Cursor {
                findings, groups, ..
            } = self;
            let Some(current) = &mut self.current else {
                return true;
            };
            if !current.fill(ground, findings, groups, results_max, results) {
                return false;
            }
            self.current = None;
        }
    }

    fn begin(&self, ground: Ground<'_>, subscription: SubscriptionId, since: u32) -> Current {
        let rows = ground.plan.stages_of(subscription);
        let own = rows.iter().filter_map(|row| self.by_row.get(row));
        let mut findings: Vec<u32> = own.flatten().copied().collect();
        ground.meter.spend(1 + findings.len() as u64);
        findings.sort_unstable();
        Current {
            subscription,
            since,
            findings,
            next: 0,
            open: Vec::new(),
            heads: BinaryHeap::new(),
            place: Spans::new(),
            delivered: FxHashSet::default(),
            count: 0,
        }
    }
}

/// Sorts findings by event time and documents; returns which of them are equal in that.
fn sort(findings: &mut Findings, ground: Ground<'_>) -> Vec<u32> {
    let key = |finding: &Finding| findings.records(ground.store, finding);
    let mut list = findings.list.clone();
    list.retain(|finding| key(finding).is_some());
    let compare = |one: &Finding, two: &Finding| {
        ground.meter.spend(1);
        let (Some(one), Some(two)) = (key(one), key(two)) else {
            return std::cmp::Ordering::Equal;
        };
        time_of(one).cmp(&time_of(two)).then_with(|| {
            let ids = parts_of(one.0, one.1).map(|part| part.id);
            ids.cmp(parts_of(two.0, two.1).map(|part| part.id))
        })
    };
    list.sort_by(&compare);
    let mut groups = Vec::with_capacity(list.len());
    let mut group = 0;
    for (at, finding) in list.iter().enumerate() {
        if at > 0 && compare(&list[at - 1], finding).is_ne() {
            group += 1;
        }
        groups.push(group);
    }
    findings.list = list;
    groups
}

impl Current {
    /// Writes out results until a batch is full; returns whether all are written.
    fn fill(
        &mut self,
        ground: Ground<'_>,
        findings: &Findings,
        groups: &[u32],
        results_max: u64,
        results: &mut Results,
    ) -> bool {
        loop {
            if self.heads.is_empty() && !self.open_group(ground, findings, groups, results) {
                return true;
            }
            let open = self.open.iter();
            let sources: Vec<Source<'_>> = open
                .map_while(|one| source_of(ground, findings, one.0))
                .collect();
            while let Some(Reverse((_, at))) = self.heads.peek() {
                if results.is_full() {
                    return false;
                }
                let at = *at as usize;
                let Some(source) = sources.get(at) else {
                    return true;
                };
                let finding = &findings.list[self.open[at].0 as usize];
                if self.write(ground, finding, source, at, results_max, results) {
                    return true;
                }
                let tuples = &mut self.open[at].1;
                tuples.take(source);
                self.heads.pop();
                if let Some(spans) = tuples.peek(source) {
                    self.heads.push(Reverse((spans, at as u32)));
                }
            }
        }
    }

    /// Opens the next findings of one time and the same documents; returns whether there are any.
    fn open_group(
        &mut self,
        ground: Ground<'_>,
        findings: &Findings,
        groups: &[u32],
        results: &Results,
    ) -> bool {
        self.open.clear();
        self.delivered.clear();
        self.place.clear();
        while self.heads.is_empty() && self.next < self.findings.len() {
            let group = groups[self.findings[self.next] as usize];
            let rest = &self.findings[self.next..];
            let end = rest.partition_point(|&one| groups[one as usize] == group);
            let tuples_max = (results.rows_max() / end).max(TUPLES_MIN);
            for &number in &rest[..end] {
                let finding = &findings.list[number as usize];
                let Some(source) = source_of(ground, findings, number) else {
                    continue;
                };
                let is_seen = match finding.with {
                    With::Nobody(since) => since == self.since,
                    _ => self.since <= version_of(source.records()),
                };
                if !is_seen {
                    continue;
                }
                let mut tuples = Tuples::new(&source, self.since, tuples_max);
                if let Some(spans) = tuples.peek(&source) {
                    self.heads.push(Reverse((spans, self.open.len() as u32)));
                    self.open.push((number, tuples));
                }
            }
            self.next += end;
        }
        !self.heads.is_empty()
    }

    /// Writes out the tuple at hand of an open finding; returns whether the subscription has had
    /// all that it gets.
    fn write(
        &mut self,
        ground: Ground<'_>,
        finding: &Finding,
        source: &Source<'_>,
        at: usize,
        results_max: u64,
        results: &mut Results,
    ) -> bool {
        ground.meter.spend(1);
        let kept = source.shape().kept.iter();
        let tuple = self.open[at].1.tuple(source);
        let nodes = kept
            .zip(tuple)
            .map(|(&slot, &node)| source.node(slot, node));
        let (left, right) = source.records();
        if left.is_partial() {
            let place = source.spans(tuple);
            if place != self.place {
                self.delivered.clear();
                self.place = place;
            }
            let said = nodes.clone().map(|(_, node)| {
                let hash = |said: Option<&[u8]>| crate::writer::hash_value(said.unwrap_or(b""));
                (hash(node.text), hash(node.value))
            });
            let numbers = parts_of(left, right).map(|part| part.number).collect();
            if !self
                .delivered
                .insert((finding.row, numbers, said.collect()))
            {
                return false;
            }
        }
        self.count += 1;
        let time = time_of((left, right));
        let subscription = std::iter::once(self.subscription);
        results.add(None, subscription, time, parts_of(left, right), nodes);
        if self.count > results_max {
            results.pass();
        }
        self.count > results_max
    }
}

/// What the tuples of a finding are asked of; None if a record is gone.
fn source_of<'a>(ground: Ground<'a>, findings: &'a Findings, number: u32) -> Option<Source<'a>> {
    let finding = &findings.list[number as usize];
    let (left, right) = findings.records(ground.store, finding)?;
    let stage = ground.plan.stage(finding.row);
    let meter = ground.meter;
    Some(match finding.with {
        With::Nobody(_) => Source::Absent(Absent {
            store: ground.store,
            shape: &stage.shape,
            stage,
            left,
            meter,
        }),
        _ => {
            let search = Search {
                shape: &stage.shape,
                variables: &stage.variables,
                left,
                right: right.unwrap_or(left),
                meter,
            };
            Source::Pair(search, right)
        }
    })
}
