//! Those who listen to the tokenizer: automata, tries, the witnesses of joins, and those who write
//! messages, in one list.
//!
//! A session has several plans, its *tiers*: a large one that stays, small ones for what came later.
//! The strategy gives each tier an automaton, or an automaton for some documents and a trie for
//! others. A document has one way of being read, and the listeners of that way are *active*.

mod adopting;
mod bounds;
mod engines;
mod fan;
mod merging;
mod open_tags;
mod symbols;
mod tiers;

pub use bounds::Failing;
pub use tiers::TierState;

use super::strategy::{BROKERED_BYTES_MAX, Strategy, together_max};
use crate::broker::Broker;
use crate::document::DOCUMENTS_MAX;
use crate::error::DocumentError;
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::message::{Aliases, Messages};
use crate::options::Options;
use crate::plan::Tier;
use crate::rows::Rows;
use crate::witness::{Witness, Witnesses};
use engines::Listener;
pub use engines::{Asker, Engine, Runner, Way};
use open_tags::OpenTags;
use std::sync::Arc;
use symbols::SymbolTable;

/// All listeners of a session, in the order of their tiers.
pub struct Listeners {
    list: Vec<Listener>,
    tiers: Vec<Tier>,
    /// The tiers whose queries for the broker have listeners for documents that are none for it.
    prepared: Vec<Tier>,
    /// That of the document under way; None before the first one, and after a change of the list.
    way: Option<Way>,
    symbols: SymbolTable,
    /// How many automata are active.
    automata: usize,
    /// Whose rows come next, and how many.
    runs: Vec<(usize, usize)>,
    /// Rows that are complete but for those that the only automaton still has.
    pub rows: Rows,
    strategy: Strategy,
    limits: Limits,
    options: Options,
    ledger: Arc<Ledger>,
    /// Subscriptions that failed, of engines that are no more.
    failing: Vec<Failing>,
    /// Rows that wait and are not of the document under way, and the bytes of their values.
    pub waiting: (usize, usize),
    /// Subscriptions that get nothing, by the session's numbers.
    silent: Box<[SubscriptionId]>,
    open: OpenTags,
    /// Other names of streams.
    streams: Box<Aliases>,
    /// The document under way.
    document: DocumentId,
    /// How many documents have begun since the tries forgot theirs.
    begun: usize,
}

impl Listeners {
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options, ledger: Arc<Ledger>) -> Self {
        let mut listeners = Listeners {
            list: Vec::new(),
            tiers: Vec::new(),
            prepared: Vec::new(),
            way: None,
            symbols: SymbolTable::default(),
            automata: 0,
            runs: Vec::new(),
            rows: Rows::default(),
            strategy: Strategy::new(&limits, &options),
            limits,
            options,
            ledger,
            failing: Vec::new(),
            waiting: (0, 0),
            silent: Box::default(),
            open: OpenTags::default(),
            streams: Box::default(),
            document: DocumentId(0),
            begun: 0,
        };
        listeners.adopt(tiers);
        listeners
    }

    /// Turns to a way of reading; whether symbols mean something else than before.
    pub fn turn_to(&mut self, way: Way) -> bool {
        let is_crowded = self.witnesses().is_some_and(Witnesses::forget_symbols);
        let mut messages = self.messages_mut();
        let is_crowded = messages.any(Messages::forget_too_many) | is_crowded;
        drop(messages);
        let is_crowded = self.broker_mut().is_some_and(Broker::forget_too_many) | is_crowded;
        if self.way == Some(way) {
            if is_crowded {
                self.symbols.clear();
            }
            return is_crowded;
        }
        // Rows stay in the order of their documents.
        self.gather();
        self.way = Some(way);
        for listener in &mut self.list {
            let runner = listener.engine.runner();
            let is_idle = runner.is_some_and(|runner| runner.automaton.is_idle());
            listener.is_active = !is_idle && listener.way.is_none_or(|own| own == way);
        }
        self.automata = self.runners().count();
        self.symbols.clear();
        true
    }

    /// The only active listener, if nobody else has to know of events.
    pub fn only(&mut self) -> Option<&mut Engine> {
        if self.options.is_live {
            return None;
        }
        let mut active = self.list.iter_mut().filter(|listener| listener.is_active);
        let first = active.next()?;
        active.next().is_none().then_some(&mut first.engine)
    }

    /// Starts a bundle of documents for the tries.
    pub fn begin_bundle(&mut self) {
        self.begun = 0;
        self.askers()
            .for_each(|asker| asker.trie.taken.bundle.clear());
    }

    /// How many documents of the bundle have begun: the place of the next one.
    pub fn begun(&self) -> usize {
        self.begun
    }

    /// Starts a document of a stream.
    pub fn begin(&mut self, stream: &str, document: DocumentId) -> Result<(), DocumentError> {
        self.open.clear();
        self.document = document;
        self.begun += 1;
        self.waiting = self.row_sizes();
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            listener.is_waiting = match &mut listener.engine {
                Engine::Automaton(_) => false,
                Engine::Trie(asker) => {
                    asker.trie.taken.begin();
                    false
                }
                Engine::Witnesses(witnesses) => !witnesses.begin(stream),
                Engine::Messages(messages) => {
                    messages.begin(stream, document);
                    false
                }
                Engine::Broker(broker) => {
                    broker.begin(stream, document);
                    false
                }
            };
        }
        for (_, runner) in self.runners() {
            runner.automaton.number_documents(document);
            runner.automaton.begin()?;
        }
        self.note();
        Ok(())
    }

    /// Ends the document; its witnesses, if joins listen.
    pub fn finish(
        &mut self,
        length: u64,
        has_entities: bool,
    ) -> Result<Option<Witness>, DocumentError> {
        let mut witness = None;
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            match &mut listener.engine {
                Engine::Automaton(runner) => runner.automaton.finish(length)?,
                Engine::Trie(asker) => asker.trie.taken.finish(length),
                Engine::Messages(messages) => messages.finish(length),
                Engine::Broker(broker) => broker.finish(length),
                Engine::Witnesses(witnesses) => {
                    witness = Some(match listener.is_waiting {
                        true => Witness::default(),
                        false => witnesses.finish(length, has_entities),
                    });
                }
            }
        }
        self.note();
        Ok(witness)
    }

    /// Drops a document that turned out to be bad: rows that are finished stay, and so does what
    /// tries know to be decided.
    pub fn abandon(&mut self) {
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            match &mut listener.engine {
                Engine::Automaton(runner) => runner.automaton.abandon(),
                Engine::Trie(asker) => asker.trie.taken.bundle.break_off(),
                Engine::Messages(messages) => messages.abandon(),
                Engine::Witnesses(_) | Engine::Broker(_) => {}
            }
        }
    }

    /// Whether some tier is asked, and a document is small enough for that.
    pub fn asks(&self, document: &[u8]) -> bool {
        let is_short = document.len() <= BROKERED_BYTES_MAX;
        match self.broker() {
            Some(_) => is_short && self.strategy.is_small(document),
            None => self.tries().next().is_some() && self.strategy.is_small(document),
        }
    }

    /// How many documents the tiers that are asked are best asked about together.
    pub fn together_max(&self, with_times: bool) -> usize {
        if self.broker().is_some() {
            return 1;
        }
        let each = self.tries();
        let each = each.map(|asker| together_max(&asker.tier.plan, with_times));
        each.min().unwrap_or(1).min(DOCUMENTS_MAX)
    }

    /// The tiers at hand.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The tries.
    fn tries(&self) -> impl Iterator<Item = &Asker> {
        let engines = self.list.iter().map(|listener| &listener.engine);
        engines.filter_map(Engine::asker)
    }

    /// The same, to ask them.
    pub fn askers(&mut self) -> impl Iterator<Item = &mut Asker> {
        let engines = self.list.iter_mut().map(|listener| &mut listener.engine);
        engines.filter_map(Engine::asker_mut)
    }

    /// The automata, in whatever way documents are read.
    pub fn automata(&self) -> impl Iterator<Item = &Runner> {
        let engines = self.list.iter().map(|listener| &listener.engine);
        engines.filter_map(Engine::runner)
    }

    /// The same, to change them.
    pub fn automata_mut(&mut self) -> impl Iterator<Item = &mut Runner> {
        let engines = self.list.iter_mut().map(|listener| &mut listener.engine);
        engines.filter_map(Engine::runner_mut)
    }

    /// The automata that are active, and their places.
    fn runners(&mut self) -> impl Iterator<Item = (usize, &mut Runner)> {
        let places = self.list.iter_mut().enumerate();
        let active = places.filter(|(_, listener)| listener.is_active);
        active.filter_map(|(place, listener)| Some((place, listener.engine.runner_mut()?)))
    }

    /// Those who collect witnesses.
    pub fn witnesses(&mut self) -> Option<&mut Witnesses> {
        let mut engines = self.list.iter_mut().map(|listener| &mut listener.engine);
        engines.find_map(Engine::witnesses_mut)
    }

    /// Those who evaluate queries over sequences: all, or those that the broker does not serve.
    pub fn messages(&self) -> impl Iterator<Item = &Messages> {
        let engines = self.list.iter().map(|listener| &listener.engine);
        engines.filter_map(Engine::messages)
    }

    /// The same, to change them.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = &mut Messages> {
        let engines = self.list.iter_mut().map(|listener| &mut listener.engine);
        engines.filter_map(Engine::messages_mut)
    }

    /// The broker.
    pub fn broker(&self) -> Option<&Broker> {
        let mut engines = self.list.iter().map(|listener| &listener.engine);
        engines.find_map(Engine::broker)
    }

    /// The same, to change it.
    pub fn broker_mut(&mut self) -> Option<&mut Broker> {
        let mut engines = self.list.iter_mut().map(|listener| &mut listener.engine);
        engines.find_map(Engine::broker_mut)
    }

    /// Lets the broker ask the document that has ended, and adds its messages to the rows. False if
    /// the document is none for it.
    pub fn ask_broker(&mut self) -> bool {
        let Listeners { list, rows, .. } = self;
        let mut engines = list.iter_mut().map(|listener| &mut listener.engine);
        let broker = engines.find_map(Engine::broker_mut);
        broker.is_none_or(|broker| broker.ask(rows))
    }

    /// Whether nothing that may follow in the document would add a row, or a witness.
    pub fn is_decided(&self) -> bool {
        let active = || self.list.iter().filter(|listener| listener.is_active);
        let mut automata = active().filter_map(|listener| listener.engine.runner());
        let has_ended = automata.any(|runner| runner.automaton.has_ended());
        active().all(|listener| match &listener.engine {
            Engine::Automaton(runner) => {
                let automaton = &runner.automaton;
                let is_over = has_ended && automaton.is_at_rest();
                !listener.is_waiting && (is_over || automaton.is_decided())
            }
            Engine::Trie(_) | Engine::Witnesses(_) => false,
            Engine::Messages(_) | Engine::Broker(_) => false,
        })
    }

    pub fn is_live(&self) -> bool {
        self.options.is_live
    }

    pub fn in_document_order(&self) -> bool {
        self.options.in_document_order
    }
}
