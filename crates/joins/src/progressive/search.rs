//! The tuples that an arriving binding completes, one after the other.

use super::binding::Binding;
use super::graph::{JoinGraph, StreamId};
use super::policies::{Probe, Target};
use super::table::Table;
use crate::meter::Meter;
use smallvec::SmallVec;

/// One binding of each stream.
pub(super) type Members = SmallVec<[Binding; 4]>;

/// What the search reads.
pub(super) struct Around<'a> {
    pub(super) graph: &'a JoinGraph,
    pub(super) tables: &'a [Table],
    pub(super) meter: &'a Meter,
}

/// Streams to be probed.
type Targets = SmallVec<[Target; 2]>;

/// Slots of bindings in memory.
type Slots = SmallVec<[u32; 8]>;

/// One stream of the tuple that is put together.
struct Level {
    stream: StreamId,
    /// Slots to go through; for a stream that joins with the arriving binding they stay the same.
    candidates: Slots,
    is_fixed: bool,
    next: usize,
    chosen: u32,
}

/// The tuples of one arriving binding. It first probes every stream that it has an equality with,
/// and one without a match ends the work; then combinations are enumerated.
pub(super) struct Search {
    pub(super) start: Binding,
    levels: SmallVec<[Level; 2]>,
    depth: usize,
    /// Nothing is left.
    is_over: bool,
    /// Results so far.
    pub(super) hits: u32,
}

impl Search {
    /// Probes the streams next to the binding's; each probe is counted for its stream.
    pub(super) fn new(
        start: Binding,
        around: &Around<'_>,
        probing: &mut dyn Probe,
        probes: &mut [u64],
    ) -> Self {
        let (graph, from) = (around.graph, start.stream);
        let is_next = |to: &StreamId| !graph.edges(from, *to).is_empty();
        let others = graph.streams().filter(|&to| to != from);
        let others = others.map(Target::new);
        let (mut near, mut far): (Targets, Targets) = others.partition(|to| is_next(&to.stream));
        if probing.needs_sizes() && near.len() > 1 {
            for target in &mut near {
                target.partition_len = partition_len(&start, target.stream, around);
            }
        }
        probing.sort(from, &mut near);
        let mut levels = SmallVec::with_capacity(near.len() + far.len());
        let streams_left = near.len() + far.len();
        for (place, &target) in near.iter().enumerate() {
            let stream = target.stream;
            let candidates = candidates(&start, stream, around);
            let is_last = place + 1 == streams_left;
            probes[stream.index()] += 1;
            probing.note(from, target, candidates.len(), place == 0, is_last);
            let is_over = candidates.is_empty();
            levels.push(Level {
                stream,
                candidates,
                is_fixed: true,
                next: 0,
                chosen: 0,
            });
            if is_over {
                return Search {
                    start,
                    levels,
                    depth: 0,
                    is_over,
                    hits: 0,
                };
            }
        }
        // Streams in their own order: then tuples of one arrival come in order of their parts.
        levels.sort_by_key(|level| level.stream);
        probing.sort(from, &mut far);
        while !far.is_empty() {
            let is_reached = |to: &Target| {
                let mut bound = levels.iter().map(|level| level.stream);
                bound.any(|stream| !graph.edges(stream, to.stream).is_empty())
            };
            let place = far.iter().position(is_reached).unwrap_or(0);
            let stream = far.remove(place).stream;
            let candidates = Slots::new();
            levels.push(Level {
                stream,
                candidates,
                is_fixed: false,
                next: 0,
                chosen: 0,
            });
        }
        Search {
            start,
            levels,
            depth: 0,
            is_over: false,
            hits: 0,
        }
    }

    /// Whether nothing is left.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Finds the next tuple; False if there is none.
    pub(super) fn advance(
        &mut self,
        around: &Around<'_>,
        probing: &mut dyn Probe,
        probes: &mut [u64],
    ) -> bool {
        while !self.is_over {
            let level = &mut self.levels[self.depth];
            let Some(&slot) = level.candidates.get(level.next) else {
                self.is_over = self.depth == 0;
                self.depth = self.depth.saturating_sub(1);
                continue;
            };
            level.next += 1;
            around.meter.spend(1);
            let level = &self.levels[self.depth];
            let binding = &around.tables[level.stream.index()].slot(slot).binding;
            let mut before = self.levels[..self.depth].iter();
            let is_match = before.all(|other| {
                let member = around.tables[other.stream.index()].slot(other.chosen);
                around.graph.matches(&member.binding, binding, around.meter)
            });
            if !is_match {
                continue;
            }
            self.levels[self.depth].chosen = slot;
            if self.depth + 1 == self.levels.len() {
                self.hits = self.hits.saturating_add(1);
                return true;
            }
            self.depth += 1;
            self.open_level(around, probing, probes);
        }
        false
    }

    /// The members of the tuple that was found, beside the arriving binding.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (StreamId, u32)> {
        self.levels.iter().map(|level| (level.stream, level.chosen))
    }

    /// The tuple that was found, in the order of streams.
    pub(super) fn members(&self, tables: &[Table]) -> Members {
        let parts = self.chosen();
        let mut members: Members = parts
            .map(|(stream, slot)| tables[stream.index()].slot(slot).binding.clone())
            .collect();
        members.push(self.start.clone());
        members.sort_unstable_by_key(|member| member.stream);
        members
    }

    /// Begins with a level: a stream that the arriving binding does not reach is probed with what
    /// the tuple has so far.
    fn open_level(&mut self, around: &Around<'_>, probing: &mut dyn Probe, probes: &mut [u64]) {
        let (bound, rest) = self.levels.split_at_mut(self.depth);
        let level = &mut rest[0];
        level.next = 0;
        if level.is_fixed {
            return;
        }
        let driver = bound
            .iter()
            .find(|other| !around.graph.edges(other.stream, level.stream).is_empty());
        let Some(driver) = driver else {
            unreachable!("the streams of a graph are connected");
        };
        let member = &around.tables[driver.stream.index()]
            .slot(driver.chosen)
            .binding;
        level.candidates = candidates(member, level.stream, around);
        let start = &self.start;
        let table = &around.tables[level.stream.index()];
        level.candidates.retain(|slot| {
            around
                .graph
                .matches(start, &table.slot(*slot).binding, around.meter)
        });
        probes[level.stream.index()] += 1;
        let is_last = rest.len() == 1;
        probing.note(
            driver.stream,
            Target::new(rest[0].stream),
            rest[0].candidates.len(),
            false,
            is_last,
        );
    }
}

/// How many bindings of a stream are in the partitions where partners of a binding may be; 0 if no
/// equality is about the values that partitions are of.
fn partition_len(binding: &Binding, to: StreamId, around: &Around<'_>) -> u32 {
    let table = &around.tables[to.index()];
    let mut edges = around.graph.edges(binding.stream, to).iter();
    let edge = edges.find(|(_, attribute)| Some(*attribute) == table.partition_attribute());
    let hashes = edge.map(|&(from, _)| binding.hashes(from));
    let lengths = hashes
        .iter()
        .flatten()
        .map(|&hash| table.partition_len(hash));
    lengths.fold(0, u32::saturating_add)
}

/// The bindings of a stream in memory that go together with a binding, in order of arrival.
fn candidates(binding: &Binding, to: StreamId, around: &Around<'_>) -> Slots {
    let table = &around.tables[to.index()];
    // Of several equalities that with the fewest bindings is looked up, and all are checked.
    let edges = around.graph.edges(binding.stream, to).iter();
    let lists = edges.map(|&(from, attribute)| {
        let hashes = binding.hashes(from);
        let lists = hashes.iter().map(|&hash| table.find(attribute, hash));
        lists
            .filter(|list| !list.is_empty())
            .collect::<SmallVec<[&[u32]; 4]>>()
    });
    let count = |lists: &SmallVec<[&[u32]; 4]>| lists.iter().map(|list| list.len()).sum::<usize>();
    let Some(lists) = lists.min_by_key(count) else {
        return Slots::new();
    };
    around.meter.spend(1 + count(&lists) as u64);
    let mut slots: Slots = lists.iter().copied().flatten().copied().collect();
    if lists.len() > 1 {
        slots.sort_unstable_by_key(|&slot| (table.slot(slot).binding.arrival, slot));
        slots.dedup();
    }
    slots.retain(|slot| {
        around
            .graph
            .matches(binding, &table.slot(*slot).binding, around.meter)
    });
    slots
}
