//! A tokenizer and the tiers that listen to it, wired: bytes in, rows out.

use crate::error::DocumentError;
use crate::limits::Limits;
use crate::matcher::{Options, Rows, Statistics, TraceEntry};
use crate::tiers::{Tier, Tiers};
use crate::tokenizer::Tokenizer;
use crate::usage::{Usage, Used};

/// Evaluates plans over documents, one after the other, fed in pieces of any size.
///
/// After an error the rows decided before it are still there to be taken, and `begin` starts the
/// next document as if nothing had happened.
pub struct Session {
    tokenizer: Tokenizer,
    tiers: Tiers,
    /// Tiers for the next document.
    next: Option<Vec<Tier>>,
    usage: Usage,
}

impl Session {
    /// A session for the tiers of a plan.
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options) -> Self {
        Session {
            tokenizer: Tokenizer::new(limits),
            tiers: Tiers::new(tiers, limits, options),
            next: None,
            usage: Usage::default(),
        }
    }

    /// Goes on with other tiers from the next document on. Where a plan stays, so does all that
    /// the session has learnt about it. Rows that wait should be taken before.
    pub fn adopt(&mut self, tiers: Vec<Tier>) {
        self.next = Some(tiers);
    }

    /// Goes on with other tiers in the middle of a document. A session that is not live, as
    /// `Options::is_live` says, does so from the next document on.
    pub fn join(&mut self, tiers: Vec<Tier>) -> Result<(), DocumentError> {
        if !self.tiers.is_live() {
            self.adopt(tiers);
            return Ok(());
        }
        self.tokenizer.forget_symbols();
        let joined = self.tiers.join(tiers);
        joined.inspect_err(|_| self.tiers.abandon())
    }

    /// Starts a document; `encoding` overrides what it says of itself.
    pub fn begin(&mut self, encoding: Option<&str>) -> Result<(), DocumentError> {
        if self
            .next
            .take()
            .is_some_and(|tiers| self.tiers.adopt(tiers))
        {
            self.tokenizer.forget_symbols();
        }
        self.tokenizer.begin(encoding)?;
        self.tiers.begin()
    }

    /// Reads a whole document; its rows carry the number.
    pub fn read(&mut self, number: u32, document: &[u8]) -> Result<(), DocumentError> {
        self.tiers.number_documents(number);
        self.begin(None)?;
        self.feed(document)?;
        self.finish()
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), DocumentError> {
        let fed = if self.tiers.is_plain() {
            self.tokenizer.feed(chunk, self.tiers.only())
        } else {
            self.tokenizer.feed(chunk, &mut self.tiers)
        };
        self.settle(fed)
    }

    /// Ends the document.
    pub fn finish(&mut self) -> Result<(), DocumentError> {
        let finished = if self.tiers.is_plain() {
            self.tokenizer.finish(self.tiers.only())
        } else {
            self.tokenizer.finish(&mut self.tiers)
        };
        let finished = finished.and_then(|()| self.tiers.finish(self.tokenizer.position()));
        self.settle(finished)
    }

    fn settle(&mut self, read: Result<(), DocumentError>) -> Result<(), DocumentError> {
        self.tiers.collect();
        read.inspect_err(|_| self.tiers.abandon())
    }

    /// The rows finished since the last call; `now`, in seconds, is when they are counted.
    pub fn take_rows(&mut self, now: u32) -> Rows {
        let rows = self.tiers.take_rows();
        self.usage.count(&rows.subscription, now);
        rows
    }

    /// What subscriptions did since the last call, by the numbers of the tiers at hand. To be
    /// asked before other tiers are adopted.
    pub fn take_usage(&mut self) -> Vec<Used> {
        for (subscription, cost) in self.tiers.take_charges() {
            self.usage.charge(subscription, cost);
        }
        self.usage.take()
    }

    /// Bytes held now for undecided results, by subscription; one may come several times.
    pub fn held_by_subscription(&self) -> Vec<(u32, u64)> {
        self.tiers.held_by_subscription()
    }

    /// How many rows wait to be taken.
    pub fn row_count(&self) -> usize {
        self.tiers.row_count()
    }

    /// Bytes of values that wait to be taken.
    pub fn value_bytes(&self) -> usize {
        self.tiers.value_bytes()
    }

    /// The internal general entities that the document declared so far: name, replacement text.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.tokenizer.entities()
    }

    /// The record of events since the last call, if the options asked for one.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.tiers.take_trace()
    }

    /// Counters so far.
    pub fn statistics(&self) -> Statistics {
        self.tiers.statistics()
    }
}
