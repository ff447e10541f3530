//! A tokenizer and the tiers that listen to it, wired: bytes in, rows out.

mod strategy;
mod tiers;
mod whole;

pub use whole::Document;

use crate::automaton::{Statistics, TraceEntry};
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::Tier;
use crate::rows::{Found, Rows};
use crate::tokenizer::Tokenizer;
use crate::usage::{Usage, Used};
use tiers::Tiers;
use whole::Whole;

/// Evaluates plans over documents, one after the other, fed in pieces of any size.
///
/// After an error the rows decided before it are still there to be taken, and `begin` starts the
/// next document as if nothing had happened.
pub struct Session {
    tokenizer: Tokenizer,
    tiers: Tiers,
    /// What reads documents that are at hand as a whole, where that pays.
    whole: Whole,
    /// Rows of documents read as a whole, and of those before them.
    rows: Rows,
    is_whole: bool,
    number: u32,
    /// Tiers for the next document.
    next: Option<Vec<Tier>>,
    usage: Usage,
}

impl Session {
    /// A session for the tiers of a plan.
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options) -> Self {
        Session {
            tokenizer: Tokenizer::new(limits),
            whole: Whole::new(&tiers, limits, options),
            tiers: Tiers::new(tiers, limits, options),
            rows: Rows::default(),
            is_whole: false,
            number: 0,
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
    pub fn attach(&mut self, tiers: Vec<Tier>) -> Result<(), DocumentError> {
        if !self.tiers.is_live() {
            self.adopt(tiers);
            return Ok(());
        }
        self.tokenizer.forget_symbols();
        let attached = self.tiers.attach(tiers);
        attached.inspect_err(|_| self.tiers.abandon())
    }

    /// Starts a document; `encoding` overrides what it says of itself.
    pub fn begin(&mut self, encoding: Option<&str>) -> Result<(), DocumentError> {
        self.adopt_next();
        self.is_whole = false;
        self.tokenizer.begin(encoding)?;
        self.tiers.begin()
    }

    fn adopt_next(&mut self) {
        if let Some(tiers) = self.next.take() {
            self.whole.adopt(&tiers);
            if self.tiers.adopt(tiers) {
                self.tokenizer.forget_symbols();
            }
        }
    }

    /// The rows of documents begun from now on carry this number.
    pub fn number_documents(&mut self, number: u32) {
        self.number = number;
        self.tiers.number_documents(number);
    }

    /// Reads a whole document; its rows carry the number given last. `now`, in seconds, is when
    /// they are counted, if they are counted here.
    pub fn read(
        &mut self,
        document: &[u8],
        encoding: Option<&str>,
        now: u32,
    ) -> Result<(), DocumentError> {
        self.adopt_next();
        if self.whole.suits(document) {
            // Rows stay in the order of their documents.
            self.gather_rows();
            self.is_whole = true;
            let alone = Document {
                number: self.number,
                bytes: document,
                encoding,
            };
            let read = self.whole.read(&[alone], true, now, &mut self.rows);
            if let Some(verdict) = read.and_then(|mut verdicts| verdicts.pop()) {
                return verdict;
            }
        }
        self.begin(encoding)?;
        self.feed(document)?;
        self.finish()
    }

    /// Reads whole documents, many of them at once where that pays. Without times the rows are to
    /// be taken by `take_found`, which does not tell them. The verdicts are in the order of the
    /// documents.
    pub fn read_in_bulk(
        &mut self,
        documents: &[Document<'_>],
        with_times: bool,
        now: u32,
    ) -> Vec<Result<(), DocumentError>> {
        self.adopt_next();
        let mut verdicts = Vec::with_capacity(documents.len());
        while verdicts.len() < documents.len() {
            let rest = &documents[verdicts.len()..];
            let together = self.whole.bundle_len(rest);
            if together > 1 {
                // Rows stay in the order of their documents.
                self.gather_rows();
                self.is_whole = true;
                let read = &rest[..together];
                let read = self.whole.read(read, with_times, now, &mut self.rows);
                if let Some(read) = read {
                    verdicts.extend(read);
                    continue;
                }
            }
            for document in &rest[..together.max(1)] {
                self.number_documents(document.number);
                verdicts.push(self.read(document.bytes, document.encoding, now));
            }
        }
        verdicts
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
        self.gather_rows();
        let rows = std::mem::take(&mut self.rows);
        self.usage.count(&rows.subscription, now);
        rows.spread()
    }

    /// The same in bulk, each node once.
    pub fn take_found(&mut self, now: u32) -> Found {
        self.gather_rows();
        // The next ones are likely to be as many.
        let next = self.rows.like();
        let rows = std::mem::replace(&mut self.rows, next);
        self.usage.count(&rows.subscription, now);
        Found::of(rows)
    }

    /// Puts the rows of the tiers behind those that are here already.
    fn gather_rows(&mut self) {
        if self.tiers.row_count() == 0 {
            return;
        }
        let rows = self.tiers.take_rows();
        if self.rows.count() == 0 {
            self.rows = rows;
        } else {
            self.rows.append(rows);
        }
    }

    /// What subscriptions did since the last call, by the numbers of the tiers at hand. To be
    /// asked before other tiers are adopted.
    pub fn take_usage(&mut self) -> Vec<Used> {
        let charges = self.tiers.take_charges().into_iter();
        for (subscription, cost) in charges.chain(self.whole.take_charges()) {
            self.usage.charge(subscription, cost);
        }
        for used in self.whole.take_usage() {
            self.usage
                .count_rows(used.subscription, used.matches, used.last);
        }
        self.usage.take()
    }

    /// Bytes held now for undecided results, by subscription; one may come several times.
    pub fn held_by_subscription(&self) -> Vec<(u32, u64)> {
        self.tiers.held_by_subscription()
    }

    /// Whether nothing that may follow in the document that is fed would add a row.
    pub fn is_decided(&self) -> bool {
        self.tiers.is_decided()
    }

    /// How many rows wait to be taken.
    pub fn row_count(&self) -> usize {
        self.rows.count() + self.tiers.row_count()
    }

    /// Bytes of values that wait to be taken.
    pub fn value_bytes(&self) -> usize {
        self.rows.value_bytes() + self.tiers.value_bytes()
    }

    /// The internal general entities that the document declared so far: name, replacement text.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        if self.is_whole {
            self.whole.entities()
        } else {
            self.tokenizer.entities()
        }
    }

    /// The record of events since the last call, if the options asked for one.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.tiers.take_trace()
    }

    /// By tier: how many questions are asked of a document that is at hand, and how many targets
    /// are matched, event by event, even there.
    pub fn structures(&mut self) -> Vec<(u32, u32)> {
        self.adopt_next();
        self.whole.structures(&self.tiers.tiers())
    }

    /// Counters so far.
    pub fn statistics(&self) -> Statistics {
        self.tiers.statistics()
    }
}
