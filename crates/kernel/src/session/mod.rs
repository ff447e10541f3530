//! Documents in, rows and witnesses out: the reading of documents, wired to plans and callers.

mod bundles;
mod listeners;
mod reading;
mod strategy;

pub use bundles::Document;
pub use strategy::{BUNDLE_BYTES_MAX, BUNDLE_DOCUMENTS_MAX, WHOLE_BYTES_MAX};

use crate::automaton::TraceEntry;
use crate::document::DOCUMENTS_MAX;
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::Tier;
use crate::rows::Rows;
use crate::usage::{Usage, Used};
use crate::witness::{SharedPaths, Witness};
use listeners::Way;
use reading::Reading;

/// Evaluates plans over documents, one after the other, fed in pieces of any size or at hand as a
/// whole, and collects the witnesses of joins.
///
/// After an error the rows decided before it are still there to be taken, and `begin` starts the
/// next document as if nothing had happened.
pub struct Session {
    reading: Reading,
    /// The number of the document under way.
    number: u32,
    /// Witnesses of documents, by number.
    witnesses: Vec<(u32, Witness)>,
    /// How many documents are bundled.
    together_max: usize,
    /// Whether all matches tell when they were decided.
    with_times: bool,
    /// Tiers for the next document.
    next: Option<Vec<Tier>>,
    /// Paths of joins from the next document on.
    next_paths: Option<Option<SharedPaths>>,
    usage: Usage,
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
    /// A session for the tiers of a plan.
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options) -> Self {
        Session {
            reading: Reading::new(tiers, limits, options),
            number: 0,
            witnesses: Vec::new(),
            together_max: DOCUMENTS_MAX,
            with_times: true,
            next: None,
            next_paths: None,
            usage: Usage::default(),
        }
    }

    /// Goes on with other tiers from the next document on. Where a plan stays, so does all that
    /// the session has learnt about it. Rows that wait should be taken before.
    pub fn adopt(&mut self, tiers: Vec<Tier>) {
        self.next = Some(tiers);
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

    /// Starts a document of a stream, whose rows carry a number; `encoding` overrides what it says
    /// of itself.
    pub fn begin(
        &mut self,
        encoding: Option<&str>,
        stream: &str,
        number: u32,
    ) -> Result<(), DocumentError> {
        self.adopt_next();
        self.number = number;
        self.reading.begin(Way::Events, encoding, stream, number)
    }

    fn adopt_next(&mut self) {
        if let Some(tiers) = self.next.take() {
            self.reading.listeners.adopt(tiers);
        }
        if let Some(paths) = self.next_paths.take() {
            self.reading.listeners.listen(paths);
        }
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), DocumentError> {
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
            .extend(witness.map(|witness| (self.number, witness)));
        Ok(())
    }

    /// The rows finished since the last call; `now`, in seconds, is when they are counted. Those in
    /// bulk are counted by the tries.
    pub fn take(&mut self, now: u32) -> Rows {
        let listeners = &mut self.reading.listeners;
        listeners.gather();
        // The next ones are likely to be as many.
        let next = listeners.rows.like();
        let rows = std::mem::replace(&mut listeners.rows, next);
        self.usage.count(&rows.subscription, now);
        rows
    }

    /// The witnesses collected since the last call, by the numbers of their documents.
    pub fn take_witnesses(&mut self) -> Vec<(u32, Witness)> {
        std::mem::take(&mut self.witnesses)
    }

    /// What subscriptions did since the last call, by the numbers of the tiers at hand. To be
    /// asked before other tiers are adopted.
    pub fn take_usage(&mut self) -> Vec<Used> {
        let listeners = &mut self.reading.listeners;
        for runner in listeners.automata_mut() {
            for (own, cost) in runner.automaton.take_charges() {
                let subscription = runner.tier.first.saturating_add(own.0);
                self.usage.charge(subscription, cost);
            }
        }
        for asker in listeners.askers() {
            for used in asker.trie.take_usage(&asker.tier) {
                let (matches, last) = (used.matches, used.last);
                self.usage.count_rows(used.subscription, matches, last);
            }
        }
        self.usage.take()
    }

    /// Bytes held now for undecided results, by subscription; one may come several times.
    pub fn held_by_subscription(&self) -> Vec<(u32, u64)> {
        let numbered = self.reading.listeners.automata().flat_map(|runner| {
            let first = runner.tier.first;
            let held = runner.automaton.held_by_subscription().into_iter();
            held.map(move |(own, bytes)| (first.saturating_add(own.0), bytes))
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
