//! The tokenizer and its listeners: each document is tokenized once, whoever reads it.

use super::listeners::{Engine, Listeners, Way};
use crate::error::DocumentError;
use crate::events::Handler;
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::{Account, Ledger};
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::Tier;
use crate::tokenizer::Tokenizer;
use crate::witness::Witness;
use std::sync::Arc;

/// Reads documents, one after the other.
pub struct Reading {
    pub(super) tokenizer: Tokenizer,
    pub listeners: Listeners,
    pub bytes_tokenized: u64,
    pub(super) limits: Limits,
    pub ledger: Arc<Ledger>,
    /// The subscription that most of the work was done for, if the last document was stopped.
    pub blamed: Option<SubscriptionId>,
    /// Whether a document has begun that has neither ended nor failed.
    is_open: bool,
}

impl Reading {
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options, ledger: Arc<Ledger>) -> Self {
        Reading {
            tokenizer: Tokenizer::new(limits).with_account(Account::new(ledger.clone())),
            listeners: Listeners::new(tiers, limits, options, ledger.clone()),
            bytes_tokenized: 0,
            limits,
            ledger,
            blamed: None,
            is_open: false,
        }
    }

    /// Starts a document of a stream. If that fails, no listener knows of the document.
    pub fn begin(
        &mut self,
        way: Way,
        encoding: Option<&str>,
        stream: &str,
        document: DocumentId,
    ) -> Result<(), DocumentError> {
        self.abandon();
        self.listeners.prepare(way);
        self.ledger.begin();
        self.blamed = None;
        self.guard(|reading| reading.begin_guarded(way, encoding, stream, document))
    }

    fn begin_guarded(
        &mut self,
        way: Way,
        encoding: Option<&str>,
        stream: &str,
        document: DocumentId,
    ) -> Result<(), DocumentError> {
        if self.listeners.turn_to(way) {
            self.tokenizer.forget_symbols();
        }
        self.tokenizer.begin(encoding)?;
        debug_assert!(
            self.listeners.is_clear(),
            "a document that begins finds nothing of an earlier one"
        );
        self.is_open = true;
        let begun = self.listeners.begin(stream, document);
        begun.inspect_err(|_| self.abandon())
    }

    /// Reads the next bytes, until so many rows wait that they should be taken; returns how many
    /// were read.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<usize, DocumentError> {
        self.guard(|reading| reading.feed_guarded(chunk))
    }

    fn feed_guarded(&mut self, chunk: &[u8]) -> Result<usize, DocumentError> {
        let mut read = 0;
        while read < chunk.len() {
            let end = chunk.len().min(read + self.listeners.slice_bytes());
            let slice = &chunk[read..end];
            self.bytes_tokenized += slice.len() as u64;
            let run = self.run(Some(slice));
            run.inspect_err(|error| self.fail(error))?;
            read = end;
            self.ledger.check();
            if self.listeners.is_full() {
                break;
            }
        }
        Ok(read)
    }

    /// Ends the document; its witnesses, if somebody joins it.
    pub fn finish(&mut self) -> Result<Option<Witness>, DocumentError> {
        self.guard(Reading::finish_guarded)
    }

    fn finish_guarded(&mut self) -> Result<Option<Witness>, DocumentError> {
        let run = self.run(None);
        let finished = run.and_then(|()| {
            let has_entities = self.tokenizer.has_entities();
            self.listeners
                .finish(self.tokenizer.position(), has_entities)
        });
        self.is_open &= finished.is_err();
        finished.inspect_err(|error| self.fail(error))
    }

    /// Drops the document, which failed. The subscription to blame can be found only before.
    fn fail(&mut self, error: &DocumentError) {
        if error.is_due_to_queries() {
            self.blamed = self.listeners.blamed();
        }
        self.abandon();
    }

    /// Drops the document under way, if there is one; its finished rows stay. Every document that
    /// does not come to its end is dropped here, at the latest when the next one begins.
    pub fn abandon(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.listeners.abandon();
            self.tokenizer.close();
        }
    }

    /// Takes note that the listeners were made anew, and that the document is no more.
    pub(super) fn renewed(&mut self) {
        self.is_open = false;
    }

    /// Goes on with other tiers in the middle of a document.
    pub fn attach(&mut self, tiers: Vec<Tier>) -> Result<(), DocumentError> {
        self.guard(|reading| {
            reading.tokenizer.forget_symbols();
            let attached = reading.listeners.attach(tiers);
            attached.inspect_err(|_| reading.abandon())
        })
    }

    /// The same, where one tier takes over from others; see `Listeners::merge_tiers`.
    pub fn merge(
        &mut self,
        tiers: Vec<Tier>,
        place: usize,
        numbers: &[u32],
    ) -> Result<bool, DocumentError> {
        self.guard(|reading| {
            reading.tokenizer.forget_symbols();
            let merged = reading.listeners.merge_tiers(tiers, place, numbers);
            merged.inspect_err(|_| reading.listeners.abandon())
        })
    }

    /// The internal general entities that the document declared so far: name, replacement text.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.tokenizer.entities()
    }

    /// Reads a chunk, or the end if there is none. A listener that is alone is chosen here, once
    /// for each chunk: then events go straight to it, and their code is its own.
    fn run(&mut self, chunk: Option<&[u8]>) -> Result<(), DocumentError> {
        let tokenizer = &mut self.tokenizer;
        match self.listeners.only() {
            Some(Engine::Automaton(runner)) => tokenize(tokenizer, chunk, &mut runner.automaton),
            Some(Engine::Trie(asker)) => tokenize(tokenizer, chunk, &mut asker.trie.taken),
            Some(Engine::Witnesses(witnesses)) => tokenize(tokenizer, chunk, &mut witnesses.taken),
            Some(Engine::Messages(messages)) => tokenize(tokenizer, chunk, &mut **messages),
            Some(Engine::Broker(broker)) => tokenize(tokenizer, chunk, &mut broker.document),
            None => tokenize(tokenizer, chunk, &mut self.listeners),
        }
    }
}

fn tokenize<H: Handler>(
    tokenizer: &mut Tokenizer,
    chunk: Option<&[u8]>,
    handler: &mut H,
) -> Result<(), DocumentError> {
    match chunk {
        Some(chunk) => tokenizer.feed(chunk, handler),
        None => tokenizer.finish(handler),
    }
}
