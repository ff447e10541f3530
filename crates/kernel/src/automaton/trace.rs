//! A record of every event, for oracles: what it decided and what is held after it.

use super::candidates::{Candidate, Candidates};
use crate::plan::TargetId;

/// What one event did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceEntry {
    /// Offset just past the event.
    pub offset: u64,
    /// Decided results: target, number of the node in document order; an atomic value has none.
    pub decided: Vec<(TargetId, Option<u64>)>,
    /// Numbers in document order and starts of the undecided candidates held after the event.
    pub held: Vec<(u64, u64)>,
}

/// The record so far.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub entries: Vec<TraceEntry>,
    decided: Vec<(TargetId, Option<u64>)>,
}

impl Trace {
    pub fn decide<'a>(&mut self, decided: impl Iterator<Item = (TargetId, &'a Candidate)>) {
        self.decided
            .extend(decided.map(|(target, candidate)| (target, Some(candidate.order))));
    }

    pub fn answer(&mut self, target: TargetId) {
        self.decided.push((target, None));
    }

    pub fn finish_event(&mut self, offset: u64, candidates: &Candidates) {
        let is_held = |c: &&Candidate| c.references > 0 && !c.is_done && c.runs_for.is_empty();
        let mut held: Vec<_> = candidates
            .iter()
            .filter(is_held)
            .map(|c| (c.order, c.start))
            .collect();
        held.sort_unstable();
        self.entries.push(TraceEntry {
            offset,
            decided: std::mem::take(&mut self.decided),
            held,
        });
    }
}
