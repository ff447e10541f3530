//! The queries that a broker serves, tier by tier, and what it hands out.

use super::alphabet::Alphabet;
use super::assembling::{Outcome, Unsent, Written, assemble, assemble_groups};
use super::costs::Costs;
use super::knowledge::Loops;
use super::outputs::Outputs;
use super::pieces::{Pieces, Reading};
use super::program::Brokered;
use super::record::Record;
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::Account;
use crate::limits::Limits;
use crate::message::{Aliases, Failed, error_of, original};
use crate::options::Brokering;
use crate::plan::{Request, Tier, requests};
use crate::rows::Rows;
use penstock_broker::{Answers, Fault, Groups, Index, Operators, OutputId, Query, Store};
use penstock_sequences::atomic::{Atomic, Comparison, Untyped, compare_general};
use penstock_sequences::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sources of elements inside each other are copied for pieces; together they may have so many
/// bytes.
const NESTED_BYTES_MAX: u64 = 16 << 20;

/// The queries of a tier that read one stream, or all.
struct Part {
    stream: Option<Box<str>>,
    broker: penstock_broker::Broker,
}

/// A tier.
struct Served {
    tier: Tier,
    parts: Vec<Part>,
    outputs: Outputs,
    /// How many subscriptions it has.
    count: usize,
    /// Those whose program cannot be read, by the plan's own numbers.
    broken: Vec<(SubscriptionId, Error)>,
}

/// All that changes while a document is read, and what was found in it.
pub struct Broker {
    pub(super) alphabet: Alphabet,
    pub(super) store: Store,
    pub(super) record: Record,
    pub(super) account: Account,
    pieces: Pieces,
    tiers: Vec<Served>,
    silent: Vec<SubscriptionId>,
    document: DocumentId,
    stream: Box<str>,
    length: u64,
    failed: Vec<Failed>,
    recursion_max: u64,
    brokering: Brokering,
    loops: Loops,
    costs: Costs,
}

impl Broker {
    /// A broker without queries.
    pub fn new(limits: &Limits, account: Account, brokering: Brokering, loops: Loops) -> Broker {
        Broker {
            alphabet: Alphabet::default(),
            store: Store::default(),
            record: Record::default(),
            account,
            pieces: Pieces::default(),
            tiers: Vec::new(),
            silent: Vec::new(),
            document: DocumentId(0),
            stream: Box::default(),
            length: 0,
            failed: Vec::new(),
            recursion_max: limits.recursion_max,
            brokering,
            loops,
            costs: Costs::default(),
        }
    }

    /// Goes on with other tiers. One that stays costs nothing, whatever was removed from it.
    pub fn adopt(&mut self, tiers: &[Tier], streams: &Aliases) {
        let mut before = std::mem::take(&mut self.tiers);
        self.alphabet.forget(&mut self.store);
        for tier in tiers {
            let is_same = |own: &Served| Arc::ptr_eq(&own.tier.plan, &tier.plan);
            let served = match before.iter().position(is_same) {
                Some(place) => Served {
                    tier: tier.clone(),
                    ..before.swap_remove(place)
                },
                None => self.serve(tier, streams),
            };
            self.tiers.push(served);
        }
    }

    /// Reads the queries of a tier, removed ones included: they may be asked for again.
    fn serve(&mut self, tier: &Tier, streams: &Aliases) -> Served {
        let whole = Tier::of(tier.plan.clone());
        let mut outputs = Outputs::default();
        let mut queries: Vec<(Option<Box<str>>, Vec<Query>)> = Vec::new();
        let mut broken = Vec::new();
        let mut count = 0;
        for request in requests(&[whole], Request::Messages) {
            let alphabet = &mut self.alphabet;
            let read = Brokered::read(request.program, &mut |test| alphabet.test(test));
            let query = read.and_then(|form| {
                let Some(form) = form else {
                    return Ok(None);
                };
                let own = form.pieces.iter();
                let pieces = own.map(|piece| self.pieces.intern(piece, self.recursion_max));
                let pieces = pieces.collect::<Result<Vec<u32>, _>>()?;
                let output = outputs.intern(form.output, &form.message, &pieces);
                let stream = form.stream.map(|name| original(name.into(), streams));
                let query = Query {
                    binding: form.binding,
                    condition: form.condition,
                    output: OutputId(output),
                    subscription: request.subscription.0,
                };
                Ok(Some((stream, query)))
            });
            match query {
                Ok(None) => continue,
                Ok(Some((stream, query))) => {
                    let place = queries.iter().position(|(own, _)| *own == stream);
                    let place = place.unwrap_or_else(|| {
                        queries.push((stream, Vec::new()));
                        queries.len() - 1
                    });
                    queries[place].1.push(query);
                }
                Err(reason) => {
                    let error = Error::new("XPST0003", reason.to_string());
                    broken.push((request.subscription, error));
                }
            }
            count += 1;
        }
        let parts = queries.into_iter().map(|(stream, queries)| Part {
            stream,
            broker: self.broker_of(&queries, &outputs),
        });
        let parts = parts.collect();
        Served {
            tier: tier.clone(),
            parts,
            outputs,
            count,
            broken,
        }
    }

    fn broker_of(&self, queries: &[Query], outputs: &Outputs) -> penstock_broker::Broker {
        let broker = penstock_broker::Broker::new(Index::of(queries));
        let Some(strategy) = self.brokering.strategy else {
            return broker;
        };
        let all = outputs.all.iter();
        let returns = all.map(|output| {
            let pieces = outputs.pieces_of(output).into_iter();
            let steps = pieces.filter_map(|piece| self.pieces.steps(piece));
            steps.map(Into::into).collect()
        });
        let returns: Vec<Vec<_>> = returns.collect();
        let nesting = |test| self.loops.nesting(&self.alphabet, test);
        let is_checked = self.loops.is_checked;
        let mut operators = Operators::new(queries, &returns, strategy, &nesting, is_checked);
        if self.brokering.is_profiled {
            operators.measure();
        }
        broker.with_operators(operators)
    }

    /// What was spent since the last call, by what it was spent for.
    pub fn take_costs(&mut self) -> Vec<(&'static str, Duration)> {
        let tiers = self.tiers.iter_mut();
        let parts = tiers.flat_map(|served| &mut served.parts);
        self.costs.take(parts.map(|part| &mut part.broker))
    }

    /// The operators of all tiers, and how many of each there are; of the default strategy, what
    /// is there once for all queries.
    pub fn operators(&mut self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<(&'static str, usize)> = vec![("query", self.count())];
        let tiers = self.tiers.iter_mut();
        for part in tiers.flat_map(|served| &mut served.parts) {
            let own = match part.broker.operators() {
                Some(operators) => operators.counts(),
                None => part.broker.index().counts(),
            };
            for (name, count) in own {
                match counts.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, total)) => *total += count,
                    None => counts.push((name, count)),
                }
            }
        }
        counts
    }

    /// How many subscriptions it serves, removed ones included.
    pub fn count(&self) -> usize {
        self.tiers.iter().map(|served| served.count).sum()
    }

    /// Gives subscriptions nothing, and all others their rows.
    pub fn silence(&mut self, silent: &[SubscriptionId]) {
        self.silent = silent.to_vec();
        self.silent.sort_unstable();
    }

    /// Sees to it that names stay bounded; returns whether symbols are forgotten.
    pub fn forget_too_many(&mut self) -> bool {
        let is_full = self.alphabet.is_full();
        if is_full {
            self.alphabet.forget(&mut self.store);
        }
        is_full
    }

    /// Starts a document of a stream.
    pub fn begin(&mut self, stream: &str, document: DocumentId) {
        self.account.begin();
        self.store.clear();
        self.record.clear();
        self.document = document;
        self.stream = stream.into();
    }

    /// The document is complete.
    pub fn finish(&mut self, length: u64) {
        self.length = length;
    }

    /// Subscriptions that failed since the last call.
    pub fn take_failed(&mut self) -> Vec<Failed> {
        std::mem::take(&mut self.failed)
    }

    /// Asks the document all queries, and adds messages to rows. False if it has too many nodes;
    /// then some messages may have been added.
    pub fn ask(&mut self, rows: &mut Rows) -> bool {
        let spans = self.record.spans.iter();
        let nested: u64 = spans.map(|span| span.end - span.start).sum();
        if nested > NESTED_BYTES_MAX {
            return false;
        }
        self.pieces.clear();
        let mut tiers = std::mem::take(&mut self.tiers);
        let is_asked = tiers.iter_mut().all(|served| self.ask_tier(served, rows));
        self.tiers = tiers;
        is_asked
    }

    fn ask_tier(&mut self, served: &mut Served, rows: &mut Rows) -> bool {
        let Served {
            tier,
            parts,
            outputs,
            broken,
            ..
        } = served;
        for (own, error) in broken {
            let error = error.clone();
            self.fail(tier, own.0, &error);
        }
        for part in parts {
            let is_read = part
                .stream
                .as_deref()
                .is_none_or(|own| own == &*self.stream);
            if !is_read {
                continue;
            }
            let started = Instant::now();
            let account = &mut self.account;
            let mut meter = |steps| account.spend(steps);
            let is_asked = part.broker.ask(&mut self.store, &mut meter);
            self.costs.asking += started.elapsed();
            if !is_asked {
                return false;
            }
            let answers = &part.broker.answers;
            self.account
                .spend(self.store.len() as u64 + answers.messages.len() as u64 / 4);
            for &(own, fault) in &answers.faults {
                let error = self.error_of(part.broker.index(), fault);
                self.fail(tier, own, &error);
            }
            let started = Instant::now();
            self.deliver(tier, (answers, part.broker.groups()), outputs, rows);
            self.costs.messages += started.elapsed();
        }
        true
    }

    /// Writes messages, and says who gets them.
    fn deliver(
        &mut self,
        tier: &Tier,
        (answers, groups): (&Answers, Option<&Groups>),
        outputs: &Outputs,
        rows: &mut Rows,
    ) {
        if answers.messages.is_empty() {
            return;
        }
        let first = rows.begin_messages(self.document);
        let reading = Reading {
            store: &self.store,
            record: &self.record,
            alphabet: &self.alphabet,
        };
        let (pieces, account) = (&mut self.pieces, &mut self.account);
        let (bytes, offsets) = rows.message_bytes();
        let written = &mut Written { bytes, offsets };
        let unsent = match groups {
            Some(groups) => assemble_groups(groups, outputs, pieces, &reading, account, written),
            None => assemble(answers, outputs, pieces, &reading, account, written),
        };
        rows.end_messages(self.document, self.length);
        if unsent.is_empty() && self.silent.is_empty() && tier.removed.is_empty() {
            rows.deliver(tier.first, &answers.subscriptions, &answers.messages, first);
            return;
        }
        self.deliver_some(tier, answers, &unsent, (rows, first));
    }

    /// The same where some get nothing.
    fn deliver_some(
        &mut self,
        tier: &Tier,
        answers: &Answers,
        unsent: &Unsent,
        (rows, first): (&mut Rows, u32),
    ) {
        let (mut subscriptions, mut messages) = (Vec::new(), Vec::new());
        for (&own, &message) in answers.subscriptions.iter().zip(&answers.messages) {
            let outcome = unsent.binary_search_by_key(&message, |&(message, _)| message);
            match outcome.map_or(Outcome::Sent, |place| unsent[place].1) {
                Outcome::Sent => {
                    let number = tier.number(SubscriptionId(own));
                    let is_heard =
                        number.is_some_and(|one| self.silent.binary_search(&one).is_err());
                    if is_heard {
                        subscriptions.push(own);
                        messages.push(message);
                    }
                }
                Outcome::Empty => {}
                Outcome::Failed(error) => {
                    let error = self.pieces.errors[error as usize].clone();
                    self.fail(tier, own, &error);
                }
            }
        }
        rows.deliver(tier.first, &subscriptions, &messages, first);
    }

    fn fail(&mut self, tier: &Tier, own: u32, error: &Error) {
        let number = tier.number(SubscriptionId(own));
        if let Some(number) = number.filter(|one| self.silent.binary_search(one).is_err()) {
            let error = error_of(error, self.length);
            self.failed.push((self.document, number, error));
        }
    }

    /// Why a comparison has no outcome.
    fn error_of(&self, index: &Index, fault: Fault) -> Error {
        let text = String::from_utf8_lossy(self.store.values.text(fault.value));
        let value = Atomic::UntypedAtomic(text.into());
        let constant = Atomic::Double(index.number(fault.constant));
        let outcome = compare_general(Comparison::Equal, &value, &constant, Untyped::Error);
        outcome
            .err()
            .unwrap_or(Error::new("FORG0001", "a value is no number"))
    }
}
