//! What listeners may cost: how much is read at a time, who is silent, and who is to blame.

use super::{Engine, Listeners};
use crate::broker::Broker;
use crate::error::{DocumentError, ErrorKind};
use crate::ids::{DocumentId, SubscriptionId};
use crate::message::Messages;
use crate::plan::Tier;
use crate::tokenizer::codes;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A subscription that failed at a document, while others did not.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The number of the document.
    pub document: DocumentId,
    /// The session's number of the subscription.
    pub subscription: SubscriptionId,
    /// Why, and how far it came.
    pub error: DocumentError,
}

/// So much is read at a time, if the results that are open are small.
const SLICE_BYTES: usize = 32 << 10;
/// The least that is read at a time; a few end tags.
const SLICE_BYTES_MIN: usize = 16;
/// The shortest end tag.
const END_TAG_BYTES_MIN: usize = 4;
/// Bytes of results that may end in one slice.
const ENDING_BYTES_MAX: u64 = 16 << 20;
/// Rows that may wait while a document is read.
const ROWS_MAX: usize = 1 << 16;
/// Bytes of their values.
const VALUE_BYTES_MAX: usize = 8 << 20;

impl Listeners {
    /// How much is read before somebody looks at the rows. Open results may all end within a few
    /// bytes, and each of them is a row as long as its element.
    pub fn slice_bytes(&self) -> usize {
        let automata = self.automata();
        let ends = automata.filter_map(|one| one.automaton.ends_within(ENDING_BYTES_MAX));
        let ends = ends.min().map(|ends| ends * END_TAG_BYTES_MIN);
        ends.map_or(SLICE_BYTES, |bytes| {
            bytes.clamp(SLICE_BYTES_MIN, SLICE_BYTES)
        })
    }

    /// Whether so many rows of the document wait that they should be taken.
    pub fn is_full(&self) -> bool {
        let (rows, value_bytes) = self.row_sizes();
        let (rows_before, bytes_before) = self.waiting;
        rows >= rows_before + ROWS_MAX || value_bytes >= bytes_before + VALUE_BYTES_MAX
    }

    /// The subscription that more than half of the work on the document was done for, or that took
    /// more than it may alone.
    pub fn blamed(&mut self) -> Option<SubscriptionId> {
        if let Some(dear) = self.messages().find_map(Messages::dear) {
            return Some(dear);
        }
        let mut charges: FxHashMap<SubscriptionId, f64> = FxHashMap::default();
        for (_, runner) in self.runners() {
            for (own, steps) in runner.automaton.charges() {
                if let Some(number) = runner.tier.number(own) {
                    *charges.entry(number).or_default() += steps;
                }
            }
        }
        for (number, steps) in self.messages().flat_map(Messages::charges) {
            *charges.entry(number).or_default() += steps;
        }
        let sum: f64 = charges.values().sum();
        let most = charges.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, steps)| steps * 2.0 > sum)
            .map(|(number, _)| number)
    }

    /// Makes subscriptions silent from the next document on, and no others.
    pub fn silence(&mut self, silent: &[SubscriptionId]) {
        if *self.silent == *silent {
            return;
        }
        self.silent = silent.into();
        self.hush();
        // Those who need not listen are found anew.
        self.way = None;
    }

    /// Tells engines who is silent.
    pub(super) fn hush(&mut self) {
        for listener in &mut self.list {
            match &mut listener.engine {
                Engine::Automaton(runner) => {
                    let own = runner.tier.own_ids(&self.silent);
                    runner.automaton.silence(own.collect());
                }
                // Its tier is the session's, but for those who are silent.
                Engine::Trie(asker) => {
                    let is_own = |tier: &&Tier| Arc::ptr_eq(&tier.plan, &asker.tier.plan);
                    if let Some(tier) = self.tiers.iter().find(is_own) {
                        asker.tier = tier.without(&self.silent);
                    }
                }
                Engine::Messages(messages) => messages.silence(&self.silent),
                Engine::Broker(broker) => broker.silence(&self.silent),
                Engine::Witnesses(_) => {}
            }
        }
    }

    /// Subscriptions that failed at a document since the last call.
    pub fn take_failing(&mut self) -> Vec<Failing> {
        let most = self.limits.results_max;
        let mut failing = std::mem::take(&mut self.failing);
        for runner in self.automata_mut() {
            for (document, own, byte) in runner.automaton.take_exceeded() {
                let kind = ErrorKind::Limit("results_max");
                let reason = format!("there are more than {most} results (`results_max`)");
                failing.extend(runner.tier.number(own).map(|subscription| Failing {
                    document,
                    subscription,
                    error: DocumentError::at(byte, kind, codes::RESULTS, reason),
                }));
            }
        }
        let failed: Vec<_> = self
            .messages_mut()
            .flat_map(Messages::take_failed)
            .collect();
        let brokered = self.broker_mut().map_or(Vec::new(), Broker::take_failed);
        let failed = failed
            .into_iter()
            .chain(brokered)
            .map(|(document, subscription, error)| Failing {
                document,
                subscription,
                error,
            });
        failing.extend(failed);
        failing
    }

    /// Forgets which subscriptions failed at a document, which is read again.
    pub fn forget_failing(&mut self, document: DocumentId) {
        let mut failing = self.take_failing();
        failing.retain(|one| one.document != document);
        self.failing = failing;
    }

    /// Whether nothing is left of the documents so far but what waits to be taken.
    pub fn is_clear(&self) -> bool {
        self.list.iter().all(|listener| match &listener.engine {
            Engine::Automaton(runner) => runner.automaton.is_clear(),
            Engine::Messages(messages) => messages.is_clear(),
            // They begin with nothing, whatever they had.
            Engine::Trie(_) | Engine::Witnesses(_) | Engine::Broker(_) => true,
        })
    }

    /// Whether rows of a document wait, those in bulk aside.
    pub fn has_rows_of(&self, document: DocumentId) -> bool {
        let own = self.automata().map(|runner| runner.automaton.rows());
        let messages = self.messages().map(Messages::rows);
        let mut rows = own.chain(messages).chain([&self.rows]);
        rows.any(|rows| rows.document.contains(&document))
    }

    /// Bytes of values that wait, where they lie: those that many subscriptions share count once.
    pub fn held_value_bytes(&self) -> usize {
        let own = self.automata().map(|runner| runner.automaton.value_bytes());
        let messages: usize = self.messages().map(|messages| messages.row_sizes().1).sum();
        self.rows.held_value_bytes() + own.sum::<usize>() + messages
    }

    /// How many rows stand for themselves.
    pub fn single_rows(&self) -> usize {
        let own = self.automata().map(|runner| runner.automaton.row_count());
        let messages: usize = self.messages().map(|messages| messages.row_sizes().0).sum();
        self.rows.len() + own.sum::<usize>() + messages
    }

    /// Drops rows that stand for themselves, behind the first ones.
    pub fn drop_rows(&mut self, length: usize) {
        self.gather();
        self.rows.truncate(length);
    }

    /// Makes all engines anew, after one of them was stopped amid its work. Their finished rows stay.
    pub fn renew(&mut self) {
        for runner in self.automata_mut() {
            runner.automaton.mend_rows();
        }
        self.messages_mut().for_each(Messages::mend_rows);
        self.gather();
        self.failing = self.take_failing();
        let paths = self.witnesses().map(|witnesses| witnesses.paths.clone());
        self.list.clear();
        self.prepared.clear();
        let tiers = std::mem::take(&mut self.tiers);
        self.adopt(tiers);
        self.listen(paths);
    }
}
