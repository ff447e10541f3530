//! What a listener is: an engine, the tier that it reads, and when it takes part.

use crate::automaton::Automaton;
use crate::broker::Broker;
use crate::message::Messages;
use crate::plan::{Plan, Tier};
use crate::trie::Trie;
use crate::witness::Witnesses;
use std::sync::Arc;

/// How a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Everything is evaluated event by event.
    Events,
    /// The document is kept, and tries are asked at its end.
    Asked,
}

/// An automaton and the tier whose rows it finds.
pub struct Runner {
    pub tier: Tier,
    pub automaton: Automaton,
    /// Rows that are part of a run already.
    pub noted: usize,
}

/// A trie and the tier whose questions it asks.
pub struct Asker {
    pub tier: Tier,
    pub trie: Trie,
    /// What of the tier's plan cannot be asked.
    pub rest: Option<Arc<Plan>>,
}

/// What a listener does with events. Engines are large, and lists of them move.
pub enum Engine {
    Automaton(Box<Runner>),
    Trie(Box<Asker>),
    Witnesses(Box<Witnesses>),
    Messages(Box<Messages>),
    Broker(Box<Broker>),
}

/// Somebody who listens to documents.
pub struct Listener {
    pub engine: Engine,
    /// The way of reading that needs it; None: every one.
    pub way: Option<Way>,
    /// Whether it takes part in the document under way.
    pub is_active: bool,
    /// An automaton that came in the middle of a document waits for the next start tag, witnesses
    /// of other streams for the next document.
    pub is_waiting: bool,
}

impl Engine {
    pub fn runner(&self) -> Option<&Runner> {
        match self {
            Engine::Automaton(runner) => Some(runner),
            _ => None,
        }
    }

    pub fn runner_mut(&mut self) -> Option<&mut Runner> {
        match self {
            Engine::Automaton(runner) => Some(runner),
            _ => None,
        }
    }

    pub fn asker(&self) -> Option<&Asker> {
        match self {
            Engine::Trie(asker) => Some(asker),
            _ => None,
        }
    }

    pub fn asker_mut(&mut self) -> Option<&mut Asker> {
        match self {
            Engine::Trie(asker) => Some(asker),
            _ => None,
        }
    }

    pub fn witnesses_mut(&mut self) -> Option<&mut Witnesses> {
        match self {
            Engine::Witnesses(witnesses) => Some(witnesses),
            _ => None,
        }
    }

    pub fn messages(&self) -> Option<&Messages> {
        match self {
            Engine::Messages(messages) => Some(messages),
            _ => None,
        }
    }

    pub fn messages_mut(&mut self) -> Option<&mut Messages> {
        match self {
            Engine::Messages(messages) => Some(messages),
            _ => None,
        }
    }

    pub fn broker(&self) -> Option<&Broker> {
        match self {
            Engine::Broker(broker) => Some(broker),
            _ => None,
        }
    }

    pub fn broker_mut(&mut self) -> Option<&mut Broker> {
        match self {
            Engine::Broker(broker) => Some(broker),
            _ => None,
        }
    }
}
