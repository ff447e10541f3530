//! A tokenizer and a matcher, wired: bytes in, rows out.

use crate::error::DocumentError;
use crate::limits::Limits;
use crate::matcher::{Matcher, Options, Rows, Statistics, TraceEntry};
use crate::plan::Plan;
use crate::tokenizer::Tokenizer;
use std::sync::Arc;

/// Evaluates a plan over documents, one after the other, fed in pieces of any size.
///
/// After an error the rows decided before it are still there to be taken, and `begin` starts the
/// next document as if nothing had happened.
pub struct Session {
    tokenizer: Tokenizer,
    matcher: Matcher,
}

impl Session {
    /// A session for a plan.
    pub fn new(plan: Arc<Plan>, limits: Limits, options: Options) -> Self {
        Session {
            tokenizer: Tokenizer::new(limits),
            matcher: Matcher::new(plan, limits, options),
        }
    }

    /// Starts a document; `encoding` overrides what it says of itself.
    pub fn begin(&mut self, encoding: Option<&str>) -> Result<(), DocumentError> {
        self.tokenizer.begin(encoding)?;
        self.matcher.begin()
    }

    /// Reads a whole document; its rows carry the number.
    pub fn read(&mut self, number: u32, document: &[u8]) -> Result<(), DocumentError> {
        self.matcher.number_documents(number);
        self.begin(None)?;
        self.feed(document)?;
        self.finish()
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), DocumentError> {
        let fed = self.tokenizer.feed(chunk, &mut self.matcher);
        fed.inspect_err(|_| self.matcher.abandon())
    }

    /// Ends the document.
    pub fn finish(&mut self) -> Result<(), DocumentError> {
        let finished = self.tokenizer.finish(&mut self.matcher);
        let finished = finished.and_then(|()| self.matcher.finish(self.tokenizer.position()));
        finished.inspect_err(|_| self.matcher.abandon())
    }

    /// The rows finished since the last call.
    pub fn take_rows(&mut self) -> Rows {
        self.matcher.take_rows()
    }

    /// How many rows wait to be taken.
    pub fn row_count(&self) -> usize {
        self.matcher.row_count()
    }

    /// Bytes of values that wait to be taken.
    pub fn value_bytes(&self) -> usize {
        self.matcher.value_bytes()
    }

    /// The internal general entities that the document declared so far: name, replacement text.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.tokenizer.entities()
    }

    /// The record of events since the last call, if the options asked for one.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.matcher.take_trace()
    }

    /// Counters so far.
    pub fn statistics(&self) -> Statistics {
        self.matcher.statistics()
    }
}
