//! Decisions become rows.

use super::candidates::{Bytes, Candidate, Pending};
use super::gate::Parked;
use super::silence::AT_END;
use super::{Automaton, limit_error};
use crate::circuit::CandidateId;
use crate::error::DocumentError;
use crate::events::Span;
use crate::plan::{Aggregate, FormulaId, Output, SubscriptionId, TargetId};
use crate::rows::{DocumentId, RowHead, RowKind};
use crate::values::{Value, format_number};

/// The state of one aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub count: u64,
    pub sum: f64,
    pub min: f64,
    pub max: f64,
}

impl Tally {
    pub const EMPTY: Tally = Tally {
        count: 0,
        sum: 0.0,
        min: f64::NAN,
        max: f64::NAN,
    };

    fn add(&mut self, number: f64) {
        self.count += 1;
        self.sum += number;
        // `f64::min` prefers a number to NaN; as in XPath 2, one NaN makes the result NaN.
        let poisoned = number.is_nan() || (self.count > 1 && self.min.is_nan());
        self.min = if poisoned {
            f64::NAN
        } else {
            self.min.min(number)
        };
        self.max = if poisoned {
            f64::NAN
        } else {
            self.max.max(number)
        };
    }

    fn value(&self, function: Aggregate) -> f64 {
        match function {
            Aggregate::Count => self.count as f64,
            Aggregate::Sum => self.sum,
            Aggregate::Average => self.sum / self.count as f64,
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
        }
    }
}

impl Automaton {
    /// A target selects a candidate; delivery follows at the end of the event.
    pub(super) fn select(&mut self, target: TargetId, candidate: CandidateId) {
        let entry = &mut self.candidates[candidate];
        if entry.selected.contains(&target) {
            return;
        }
        entry.selected.push(target);
        entry.undelivered += 1;
        entry.is_done = entry.selected.len() == entry.reach.len();
        self.decided.push((entry.order, candidate, target));
    }

    /// A formula that some target watches turned true at the document node.
    pub(super) fn decide_root(&mut self, formula: FormulaId) {
        let plan = self.plan.clone();
        for &target in plan.formula(formula).root_targets() {
            match plan.target(target).0 {
                Output::Boolean { holds, .. } => self
                    .answers
                    .push((target, Value::Boolean(holds == formula))),
                Output::Filter { .. } | Output::End { .. } => {
                    self.answers.push((target, Value::Boolean(true)))
                }
                _ => {}
            }
        }
    }

    /// Ends an event: drops what can no longer be selected, delivers what was.
    pub(super) fn settle(&mut self) -> Result<(), DocumentError> {
        self.account.position = self.event_end;
        if let Some(circuit) = &mut self.circuit {
            circuit.account().position = self.event_end;
        }
        if self.dirty != usize::MAX {
            let from = std::mem::replace(&mut self.dirty, usize::MAX);
            self.review_from(from);
        }
        if !self.decided.is_empty() {
            self.deliver_decided();
        }
        if !self.answers.is_empty() {
            self.deliver_answers();
        }
        self.open_gate();
        let bound = self.limits.buffer_bytes_max;
        if self.circuit_bytes() > bound {
            return Err(limit_error("buffer_bytes_max", bound, self.event_end));
        }
        if let Some(circuit) = &self.circuit
            && circuit.pairs() > self.limits.pairs_max
        {
            let bound = self.limits.pairs_max;
            return Err(limit_error("pairs_max", bound, self.event_end));
        }
        if self.candidates.held > self.limits.candidates_max {
            return Err(limit_error(
                "candidates_max",
                self.limits.candidates_max,
                self.event_end,
            ));
        }
        Ok(())
    }

    fn deliver_decided(&mut self) {
        let mut decided = std::mem::take(&mut self.decided);
        // Several decisions of one event count in document order, so ordinals do not depend on
        // the order in which guards happened to be visited.
        decided.sort_unstable();
        if let Some(trace) = &mut self.trace {
            trace.decide(
                decided
                    .iter()
                    .map(|&(_, candidate, target)| (target, &self.candidates[candidate])),
            );
        }
        for &(_, candidate, target) in &decided {
            self.deliver(target, candidate);
            let entry = &mut self.candidates[candidate];
            entry.undelivered -= 1;
            if entry.is_done {
                self.count_closed(candidate, false);
            }
        }
        for &(_, candidate, _) in &decided {
            self.retire(candidate);
        }
        decided.clear();
        self.decided = decided;
    }

    fn deliver(&mut self, target: TargetId, candidate: CandidateId) {
        let plan = self.plan.clone();
        let (output, postings) = plan.target(target);
        if let Output::Aggregate { function, .. } = output {
            if function != Aggregate::Count && self.candidates[candidate].is_open {
                let pending = Pending {
                    target,
                    subscription: SubscriptionId::NONE,
                    ordinal: 0,
                    decided_at: self.event_end,
                    sent: 0,
                };
                self.candidates[candidate].pending.push(pending);
            } else {
                let number = self.candidates[candidate].number;
                self.tally(target, number);
            }
            return;
        }
        for &subscription in postings {
            let Some(ordinal) = self.next_ordinal(subscription) else {
                continue;
            };
            let pending = Pending {
                target,
                subscription,
                ordinal,
                decided_at: self.event_end,
                sent: 0,
            };
            if self.candidates[candidate].is_open || self.awaits_values(&pending, candidate) {
                self.candidates[candidate].pending.push(pending);
            } else {
                self.write_node(candidate, pending);
            }
        }
    }

    /// The ordinal of a subscription's next result, unless it is to have no more.
    fn next_ordinal(&mut self, subscription: SubscriptionId) -> Option<u64> {
        self.ordinals.reach(subscription, 0);
        let next = &mut self.ordinals[subscription];
        if *next >= self.limits.results_max {
            if *next == self.limits.results_max {
                let place = (self.document, subscription, self.event_end);
                self.exceeded.push(place);
            }
            *next = AT_END;
            return None;
        }
        *next += 1;
        Some(*next - 1)
    }

    /// Adds a number to an aggregate.
    pub(super) fn tally(&mut self, target: TargetId, number: f64) {
        let plan = self.plan.clone();
        let tally = self.tallies.entry(target).or_insert(Tally::EMPTY);
        tally.add(number);
        let (output, postings) = plan.target(target);
        if let Some((function, true)) = output.aggregate() {
            let number = tally.value(function);
            self.write_atom(postings, RowKind::Number, &format_number(number));
        }
    }

    fn deliver_answers(&mut self) {
        let plan = self.plan.clone();
        for (target, value) in std::mem::take(&mut self.answers) {
            if std::mem::replace(&mut self.answered[target], self.epoch) == self.epoch {
                continue;
            }
            self.answer_count += 1;
            if let Some(trace) = &mut self.trace {
                trace.answer(target);
            }
            let (output, postings) = plan.target(target);
            if let Output::End { .. } = output {
                self.has_ended = true;
                continue;
            }
            let kind = match (&output, &value) {
                (Output::Filter { .. } | Output::SelectFilter { .. }, _) => RowKind::Match,
                (_, Value::Text(_)) => RowKind::String,
                (_, Value::Number(_)) => RowKind::Number,
                (_, Value::Boolean(_)) => RowKind::Boolean,
            };
            let text = if kind == RowKind::Match {
                "".into()
            } else {
                value.text()
            };
            self.write_atom(postings, kind, &text);
        }
    }

    /// Reports the aggregates of the document.
    pub(super) fn deliver_tallies(&mut self) {
        let plan = self.plan.clone();
        for target in self.aggregates.clone().iter().copied() {
            let (output, postings) = plan.target(target);
            if let Some((function, false)) = output.aggregate() {
                let tally = self.tallies.get(&target).unwrap_or(&Tally::EMPTY);
                let text = format_number(tally.value(function));
                self.write_atom(postings, RowKind::Number, &text);
            }
        }
    }

    fn write_atom(&mut self, postings: &[SubscriptionId], kind: RowKind, text: &str) {
        for &subscription in postings {
            let Some(ordinal) = self.next_ordinal(subscription) else {
                continue;
            };
            self.rows.value.bytes.extend_from_slice(text.as_bytes());
            self.account.add_row(text.len());
            let head = RowHead {
                document: self.document,
                subscription,
                ordinal,
                kind,
                span: None,
                decided_at: self.event_end,
                node: 0,
            };
            self.rows.push(head, b"", None);
        }
    }

    /// A candidate's node is complete.
    pub(super) fn complete(
        &mut self,
        candidate: CandidateId,
        end: u64,
    ) -> Result<(), DocumentError> {
        let entry = &mut self.candidates[candidate];
        (entry.is_open, entry.end) = (false, end);
        let pending = std::mem::take(&mut entry.pending);
        for item in pending {
            if self.awaits_values(&item, candidate) {
                self.candidates[candidate].pending.push(item);
                continue;
            }
            match self.plan.target(item.target).0 {
                Output::Aggregate { .. } => {
                    self.tally(item.target, self.candidates[candidate].number)
                }
                _ => self.write_node(candidate, item),
            }
        }
        let entry = &self.candidates[candidate];
        if entry.keeps_source() {
            self.kept.push((candidate, entry.order));
            self.count_closed(candidate, true);
        }
        self.retire(candidate);
        self.check_held(end)
    }

    pub(super) fn write_node(&mut self, candidate: CandidateId, item: Pending) {
        let entry = &self.candidates[candidate];
        let (end, value_from) = (entry.end, self.rows.value.bytes.len());
        if self.plan.target(item.target).0.has_bytes() {
            self.append_bytes(item.sent.max(entry.start), end, candidate);
        }
        let value_bytes = self.rows.value.bytes.len() - value_from;
        self.account.add_row(value_bytes);
        let bindings = self.bindings_of(item.target, candidate);
        let Some(gate) = &mut self.gate else {
            self.write_row(candidate, item, Some(end));
            return self.rows.bind(&self.plan, item.target, bindings.as_ref());
        };
        let entry = &self.candidates[candidate];
        let head = row_head(self.document, entry, item, Some(end));
        let value = self.rows.value.bytes.split_off(value_from);
        gate.park(
            item.target,
            Parked {
                head,
                name: entry.name.clone(),
                value,
                scope: entry.scope.clone(),
                bindings,
            },
        );
        gate.settle(item.target, entry.order);
    }

    /// Releases the rows whose turn in document order has come.
    pub(super) fn open_gate(&mut self) {
        if let Some(gate) = &mut self.gate {
            gate.open(&self.plan, &mut self.rows);
        }
    }

    fn append_bytes(&mut self, start: u64, end: u64, candidate: CandidateId) {
        let out = &mut self.rows.value.bytes;
        match &self.candidates[candidate].bytes {
            Bytes::InSource => self.source.copy(Span { start, end }, out),
            Bytes::Copied(bytes, base) => {
                out.extend_from_slice(&bytes[(start - base) as usize..(end - base) as usize]);
            }
            Bytes::Value(value) => out.extend_from_slice(value),
        }
    }

    fn write_row(&mut self, candidate: CandidateId, item: Pending, end: Option<u64>) {
        let entry = &self.candidates[candidate];
        self.rows.push(
            row_head(self.document, entry, item, end),
            &entry.name,
            entry.scope.as_ref(),
        );
    }

    /// Streams out what has arrived of results that are decided but still open.
    pub(super) fn write_parts(&mut self, upto: u64) {
        for depth in 0..self.frames.stack.len() {
            let candidate = self.frames.stack[depth].candidate;
            if candidate.is_none() || self.candidates[candidate].pending.is_empty() {
                continue;
            }
            let entry = &self.candidates[candidate];
            if !entry.needs_bytes || entry.start >= upto {
                continue;
            }
            let start = entry.start;
            for place in 0..entry.pending.len() {
                let item = self.candidates[candidate].pending[place];
                let from = item.sent.max(start);
                if from < upto && self.plan.target(item.target).0 == Output::Fragments {
                    self.append_bytes(from, upto, candidate);
                    self.account.add_row((upto - from) as usize);
                    self.write_row(candidate, item, None);
                    self.candidates[candidate].pending[place].sent = upto;
                }
            }
        }
    }

    /// Leaves one waiting list.
    pub(super) fn release(&mut self, candidate: CandidateId) {
        if self.candidates.leave(candidate) {
            self.retire(candidate);
        }
    }

    /// Removes the candidate if nothing is left to do with it.
    pub(super) fn retire(&mut self, candidate: CandidateId) {
        let entry = &self.candidates[candidate];
        if entry.order == u64::MAX
            || entry.references > 0
            || entry.undelivered > 0
            || !entry.pending.is_empty()
        {
            return;
        }
        if !entry.runs_for.is_empty() {
            return self.drop_runner(candidate);
        }
        self.count_closed(candidate, false);
        let entry = &self.candidates[candidate];
        if entry.is_open {
            self.frames.stack[entry.depth as usize].candidate = CandidateId::NONE;
        }
        if let Some(gate) = &mut self.gate {
            for &target in entry.reach.iter() {
                gate.settle(target, entry.order);
            }
        }
        self.candidates.remove(candidate);
    }
}

fn row_head(document: DocumentId, entry: &Candidate, item: Pending, end: Option<u64>) -> RowHead {
    RowHead {
        document,
        subscription: item.subscription,
        ordinal: item.ordinal,
        kind: RowKind::of(entry.kind),
        span: Some((entry.start, end)),
        decided_at: item.decided_at,
        node: entry.order,
    }
}
