//! Whether an automaton in the middle of a document knows no more of it than a new one would: then
//! another one, with more subscriptions, can go on in its place.

use super::Automaton;
use crate::circuit::Circuit;
use crate::plan::SubscriptionId;
use crate::source::Source;

impl Automaton {
    /// Whether the open elements, with their attributes, are all that it knows of the document.
    /// This may say no where it would do.
    pub fn is_fresh(&self) -> bool {
        let is_quiet = self.queue.is_empty()
            && self.decided.is_empty()
            && self.answers.is_empty()
            && self.values.is_empty()
            && self.text_span.is_none();
        let has_found = !self.candidates.is_empty()
            || !self.tallies.is_empty()
            || self.answer_count > 0
            || self.has_ended;
        let circuit = self.circuit.as_ref();
        let is_untouched = circuit.is_none_or(Circuit::is_untouched);
        is_quiet && !has_found && is_untouched && self.frames.are_as_opened()
    }

    /// How many results a subscription has in the document under way.
    pub fn ordinal(&self, subscription: SubscriptionId) -> u64 {
        self.ordinals.find(subscription).copied().unwrap_or(0)
    }

    /// Takes out the input that is still needed.
    pub fn take_source(&mut self) -> Source {
        std::mem::replace(&mut self.source, Source::new())
    }

    /// Replaces other automata that were fresh, after the open elements were replayed: takes over
    /// their input and the ordinals of their next results. Elements that open from `start` on may
    /// be results.
    pub fn continue_with(&mut self, source: Source, ordinals: &[u64], start: u64) {
        self.source = source;
        self.silent_until = start;
        for (own, &ordinal) in ordinals.iter().enumerate() {
            let subscription = SubscriptionId(own as u32);
            self.ordinals.reach(subscription, 0);
            self.ordinals[subscription] = ordinal;
        }
    }
}
