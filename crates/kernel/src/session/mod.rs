//! Documents in, rows and witnesses out: the reading of documents, wired to plans and callers.

mod bundles;
mod listeners;
mod reading;
mod stopping;
mod strategy;

pub use bundles::{Document, Outcome};
pub use listeners::{Failing, TierState};
pub use strategy::{BUNDLE_BYTES_MAX, BUNDLE_DOCUMENTS_MAX, WHOLE_BYTES_MAX};

use crate::automaton::TraceEntry;
use crate::broker::Broker;
use crate::document::DOCUMENTS_MAX;
use crate::error::DocumentError;
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::Tier;
use crate::rows::Rows;
use crate::usage::{Usage, Used};
use crate::witness::{SharedPaths, Witness};
use listeners::Way;
use reading::Reading;
use std::ops::Range;
use std::sync::Arc;

/// Evaluates plans over documents, one after the other, fed in pieces of any size or at hand as a
/// whole, and collects the witnesses of joins.
///
/// After an error the rows decided before it are still there to be taken, and `begin` starts the
/// next document as if nothing had happened.
pub struct Session {
    reading: Reading,
    /// The document under way.
    document: DocumentId,
    /// Witnesses of documents.
    witnesses: Vec<(DocumentId, Witness)>,
    /// How many documents are bundled.
    together_max: usize,
    /// Whether all matches tell when they were decided.
    with_times: bool,
    /// Tiers for the next document.
    next: Option<Vec<Tier>>,
    /// Paths of joins from the next document on.
    next_paths: Option<Option<SharedPaths>>,
    usage: Usage<SubscriptionId>,
    /// Subscriptions that get nothing.
    suspended: Vec<SubscriptionId>,
    failing: Vec<Failing>,
}

/// Counters of a session, over all its documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Automaton states built.
    pub states_built: u64,
    /// Times the state cache was cleared.
    pub cache_clears: u64,
    /// Facts, climbs and passes: the work that is not constant per event.
    pub steps: u64,
    /// Candidates held now.
    pub held: u64,
    /// Bytes of input kept now.
    pub kept_bytes: u64,
    /// Bytes of input that the tokenizer was given.
    pub bytes_tokenized: u64,
    /// How often a step of a join's path was looked up in a document.
    pub path_steps: u64,
}

impl Session {
    /// A session for the tiers of a plan; its documents are accounted for in a ledger.
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options, ledger: Arc<Ledger>) -> Self {
        Session {
            reading: Reading::new(tiers, limits, options, ledger),
            document: DocumentId(0),
            witnesses: Vec::new(),
            together_max: DOCUMENTS_MAX,
            with_times: true,
            next: None,
            next_paths: None,
            usage: Usage::default(),
            suspended: Vec::new(),
            failing: Vec::new(),
        }
    }

    /// Goes on with other tiers from the next document on. Where a plan stays, so does all that
    /// the session has learnt about it. Rows that wait should be taken before.
    pub fn adopt(&mut self, tiers: Vec<Tier>) {
        self.next = Some(tiers);
    }

    /// What the broker holds once for all queries that it serves, and how much of it.
    pub fn broker_counts(&self) -> Vec<(&'static str, usize)> {
        let broker = self.reading.listeners.broker();
        broker.map(Broker::counts).unwrap_or_default()
    }

    /// Gives streams other names, which queries may use as well: pairs of a name and a stream.
    pub fn name_streams(&mut self, streams: Vec<(Box<str>, Box<str>)>) {
        self.reading.listeners.name_streams(streams.into());
    }

    /// Collects witnesses by the paths of joins from the next document on, or no more.
    pub fn listen(&mut self, paths: Option<SharedPaths>) {
        self.next_paths = Some(paths);
    }

    /// Goes on with other tiers in the middle of a document. A session that is not live, as
    /// `Options::is_live` says, does so from the next document on.
    pub fn attach(&mut self, tiers: Vec<Tier>) -> Result<(), DocumentError> {
        if !self.reading.listeners.is_live() {
            self.adopt(tiers);
            return Ok(());
        }
        self.reading.attach(tiers)
    }

    /// By tier: what can be done with it in the middle of a document.
    pub fn tier_states(&self) -> Vec<TierState> {
        self.reading.listeners.tier_states()
    }

    /// Goes on with other tiers in the middle of a document, of which the one at a place takes over
    /// from those that are no longer there: its subscriptions had these numbers. False, and nothing
    /// has changed, if one of those is not fresh.
    pub fn merge(
        &mut self,
        tiers: Vec<Tier>,
        place: usize,
        numbers: &[u32],
    ) -> Result<bool, DocumentError> {
        self.reading.merge(tiers, place, numbers)
    }

    /// Starts a document of a stream; `encoding` overrides what it says of itself.
    pub fn begin(
        &mut self,
        encoding: Option<&str>,
        stream: &str,
        document: DocumentId,
    ) -> Result<(), DocumentError> {
        self.check_number(document);
        self.abandon();
        self.adopt_next();
        self.document = document;
        self.reading.begin(Way::Events, encoding, stream, document)
    }

    /// Ends a document whose bytes cannot be had any more. Its finished rows stay; after `finish`
    /// or an error there is nothing to end.
    pub fn abandon(&mut self) {
        self.reading.abandon();
        self.reading.listeners.collect();
    }

    /// Ends the document under way, and drops all that waits to be taken.
    pub fn clear(&mut self) {
        self.abandon();
        self.remove_rows();
        self.witnesses.clear();
        self.take_failing();
    }

    /// Numbers tell documents apart, so those of documents with rows that wait are in use.
    fn check_number(&self, document: DocumentId) {
        debug_assert!(
            !self.reading.listeners.has_rows_of(document),
            "a number is used again only when the rows of its document were taken"
        );
    }

    fn adopt_next(&mut self) {
        if let Some(tiers) = self.next.take() {
            self.reading.listeners.adopt(tiers);
        }
        if let Some(paths) = self.next_paths.take() {
            self.reading.listeners.listen(paths);
        }
        self.reading.listeners.silence(&self.suspended);
    }

    /// Reads the next bytes, until so many rows wait that they should be taken; returns how many
    /// were read.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<usize, DocumentError> {
        let fed = self.reading.feed(chunk);
        self.reading.listeners.collect();
        fed
    }

    /// Ends the document.
    pub fn finish(&mut self) -> Result<(), DocumentError> {
        let finished = self.reading.finish();
        self.reading.listeners.collect();
        let witness = finished?;
        self.witnesses
            .extend(witness.map(|witness| (self.document, witness)));
        Ok(())
    }

    /// The rows finished since the last call; `now`, in seconds, is when they are counted. Those in
    /// bulk are counted by the tries.
    pub fn take(&mut self, now: u32) -> Rows {
        let rows = self.remove_rows();
        self.usage.count(&rows.subscription, now);
        rows
    }

    fn remove_rows(&mut self) -> Rows {
        let listeners = &mut self.reading.listeners;
        listeners.gather();
        // The next ones are likely to be as many.
        let next = listeners.rows.like();
        let rows = std::mem::replace(&mut listeners.rows, next);
        listeners.waiting = (0, 0);
        self.reading.ledger.release(rows.len(), rows.bytes());
        rows
    }

    /// Subscriptions that failed at a document since the last call.
    pub fn take_failing(&mut self) -> Vec<Failing> {
        let mut failing = std::mem::take(&mut self.failing);
        failing.extend(self.reading.listeners.take_failing());
        failing
    }

    /// The subscription that most of the work on the last document was done for, if it was stopped.
    pub fn blamed(&self) -> Option<SubscriptionId> {
        self.reading.blamed
    }

    /// Gives subscriptions nothing from the next document on; all others get their rows again.
    pub fn suspend(&mut self, subscriptions: Vec<SubscriptionId>) {
        self.suspended = subscriptions;
    }

    /// The witnesses collected since the last call, with their documents.
    pub fn take_witnesses(&mut self) -> Vec<(DocumentId, Witness)> {
        std::mem::take(&mut self.witnesses)
    }

    /// What subscriptions did since the last call, by the numbers of the tiers at hand.
    pub fn take_usage(&mut self) -> Vec<Used> {
        self.collect_usage(|_| true);
        self.usage.take()
    }

    /// The same of those alone whose numbers are no longer theirs among other tiers; to be asked
    /// before those are adopted. All others are told of later, so a change costs nothing for them.
    pub fn take_usage_before(&mut self, tiers: &[Tier]) -> Vec<Used> {
        let at_hand = self.next.as_deref();
        let at_hand = at_hand.unwrap_or(self.reading.listeners.tiers());
        let kept = kept_numbers(at_hand, tiers);
        self.collect_usage(|own| !tiers.iter().any(|tier| tier.is_same(own)));
        let is_kept = |id: SubscriptionId| {
            let place = kept.partition_point(|range| range.end <= id.0);
            kept.get(place).is_some_and(|range| range.contains(&id.0))
        };
        self.usage.take_if(|id| !is_kept(id))
    }

    /// Collects what listeners know of subscriptions: tries of some tiers, and all others.
    fn collect_usage(&mut self, is_asked: impl Fn(&Tier) -> bool) {
        let listeners = &mut self.reading.listeners;
        for runner in listeners.automata_mut() {
            for (own, cost) in runner.automaton.take_charges() {
                self.usage.charge(runner.tier.shift(own), cost);
            }
        }
        for messages in listeners.messages_mut() {
            for (subscription, cost) in messages.take_charges() {
                self.usage.charge(subscription, cost);
            }
        }
        for asker in listeners.askers().filter(|asker| is_asked(&asker.tier)) {
            for used in asker.trie.take_usage(&asker.tier) {
                self.usage.count_rows(used.id, used.matches, used.last);
            }
        }
    }

    /// Bytes held now for undecided results, by subscription; one may come several times.
    pub fn held_by_subscription(&self) -> Vec<(SubscriptionId, u64)> {
        let numbered = self.reading.listeners.automata().flat_map(|runner| {
            let held = runner.automaton.held_by_subscription().into_iter();
            held.map(|(own, bytes)| (runner.tier.shift(own), bytes))
        });
        numbered.collect()
    }

    /// Whether nothing that may follow in the document that is fed would add a row or a witness.
    pub fn is_decided(&self) -> bool {
        self.reading.listeners.is_decided()
    }

    /// How many rows wait to be taken.
    pub fn row_count(&self) -> usize {
        self.reading.listeners.row_sizes().0
    }

    /// Bytes of values that wait to be taken.
    pub fn value_bytes(&self) -> usize {
        self.reading.listeners.row_sizes().1
    }

    /// The internal general entities that the document declared so far: name, replacement text.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.reading.entities()
    }

    /// The record of events since the last call, if the options asked for one: that of the first
    /// tier.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        let first = self.reading.listeners.automata_mut().next();
        first.map_or_else(Vec::new, |runner| runner.automaton.take_trace())
    }

    /// By tier: how many questions are asked of a document that is at hand, and how many targets
    /// are matched, event by event, even there.
    pub fn structures(&mut self) -> Vec<(u32, u32)> {
        self.adopt_next();
        self.reading.listeners.structures()
    }

    /// What listeners for messages make, in a word: distinct programs, subscriptions.
    pub fn messages_made(&mut self) -> Vec<(&'static str, usize, usize)> {
        self.adopt_next();
        self.reading.listeners.messages_made()
    }

    /// Counters so far.
    pub fn statistics(&mut self) -> Statistics {
        let mut sum = Statistics {
            bytes_tokenized: self.reading.bytes_tokenized,
            ..Statistics::default()
        };
        let listeners = &mut self.reading.listeners;
        for runner in listeners.automata() {
            let own = runner.automaton.statistics();
            sum.states_built += own.states_built;
            sum.cache_clears += own.cache_clears;
            sum.steps += own.steps;
            sum.held += own.held;
            sum.kept_bytes += own.kept_bytes;
        }
        sum.path_steps = listeners
            .witnesses()
            .map_or(0, |witnesses| witnesses.steps_taken);
        sum
    }
}

/// The numbers that mean the same subscriptions among other tiers, in order.
fn kept_numbers(older: &[Tier], newer: &[Tier]) -> Vec<Range<u32>> {
    let mut firsts: Vec<u32> = older.iter().map(|tier| tier.first).collect();
    firsts.sort_unstable();
    let end = |first| {
        let place = firsts.partition_point(|&one| one <= first);
        firsts.get(place).copied().unwrap_or(u32::MAX)
    };
    let is_kept = |tier: &&Tier| {
        let mut same = newer
            .iter()
            .filter(|one| Arc::ptr_eq(&one.plan, &tier.plan));
        same.any(|one| one.first == tier.first)
    };
    let kept = older.iter().filter(is_kept);
    let mut ranges: Vec<_> = kept.map(|tier| tier.first..end(tier.first)).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    ranges
}
