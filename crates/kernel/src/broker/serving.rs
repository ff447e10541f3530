//! The queries that a broker serves, tier by tier, and what it hands out.

use super::assembling::{Outcome, Unsent, Written, assemble};
use super::listener::Document;
use super::outputs::Outputs;
use super::pieces::{Pieces, Reading};
use super::program::Brokered;
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::Account;
use crate::limits::Limits;
use crate::message::{Aliases, Failed, error_of, original};
use crate::plan::{Request, Tier, requests};
use crate::rows::Rows;
use penstock_broker::{Answers, Fault, Index, OutputId, Query};
use penstock_sequences::atomic::{Atomic, Comparison, Untyped, compare_general};
use penstock_sequences::error::Error;
use std::sync::Arc;

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
    /// The document, which listens to the tokenizer.
    pub(crate) document: Document,
    pieces: Pieces,
    tiers: Vec<Served>,
    silent: Vec<SubscriptionId>,
    id: DocumentId,
    stream: Box<str>,
    length: u64,
    failed: Vec<Failed>,
    recursion_max: u64,
}

impl Broker {
    /// A broker without queries.
    pub fn new(limits: &Limits, account: Account) -> Broker {
        Broker {
            document: Document::new(account),
            pieces: Pieces::default(),
            tiers: Vec::new(),
            silent: Vec::new(),
            id: DocumentId(0),
            stream: Box::default(),
            length: 0,
            failed: Vec::new(),
            recursion_max: limits.recursion_max,
        }
    }

    /// Goes on with other tiers. One that stays costs nothing, whatever was removed from it.
    pub fn adopt(&mut self, tiers: &[Tier], streams: &Aliases) {
        let mut before = std::mem::take(&mut self.tiers);
        self.document.forget_names();
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
            let alphabet = &mut self.document.alphabet;
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
            broker: penstock_broker::Broker::new(Index::of(&queries)),
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

    /// What is there once for all queries, and how much of it.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<(&'static str, usize)> = vec![("query", self.count())];
        let parts = self.tiers.iter().flat_map(|served| &served.parts);
        for (name, count) in parts.flat_map(|part| part.broker.index().counts()) {
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, total)) => *total += count,
                None => counts.push((name, count)),
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
        let is_full = self.document.alphabet.is_full();
        if is_full {
            self.document.forget_names();
        }
        is_full
    }

    /// Starts a document of a stream.
    pub fn begin(&mut self, stream: &str, document: DocumentId) {
        self.document.begin();
        self.id = document;
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
        let spans = self.document.record.spans.iter();
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
            let Document { store, account, .. } = &mut self.document;
            if !part.broker.ask(store) {
                return false;
            }
            let answers = &part.broker.answers;
            account.spend(store.len() as u64 + answers.messages.len() as u64 / 4);
            for &(own, fault) in &answers.faults {
                let error = self.error_of(part.broker.index(), fault);
                self.fail(tier, own, &error);
            }
            self.deliver(tier, answers, outputs, rows);
        }
        true
    }

    /// Writes messages, and says who gets them.
    fn deliver(&mut self, tier: &Tier, answers: &Answers, outputs: &Outputs, rows: &mut Rows) {
        if answers.messages.is_empty() {
            return;
        }
        let first = rows.begin_messages(self.id);
        let reading = Reading {
            store: &self.document.store,
            record: &self.document.record,
            alphabet: &self.document.alphabet,
        };
        let (pieces, account) = (&mut self.pieces, &mut self.document.account);
        let (bytes, offsets) = rows.message_bytes();
        let written = &mut Written { bytes, offsets };
        let unsent = assemble(answers, outputs, pieces, &reading, account, written);
        rows.end_messages(self.id, self.length);
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
            self.failed.push((self.id, number, error));
        }
    }

    /// Why a comparison has no outcome.
    fn error_of(&self, index: &Index, fault: Fault) -> Error {
        let text = String::from_utf8_lossy(self.document.store.values.text(fault.value));
        let value = Atomic::UntypedAtomic(text.into());
        let constant = Atomic::Double(index.number(fault.constant));
        let outcome = compare_general(Comparison::Equal, &value, &constant, Untyped::Error);
        outcome
            .err()
            .unwrap_or(Error::new("FORG0001", "a value is no number"))
    }
}
