//! Tiers that become one in the middle of a document.
//!
//! A live document gets a tier with each change. Where the automata of some know no more of the
//! document than new ones would, one automaton goes on in their place. What another knows of the
//! document is true of its subscriptions alone, which may have come later than those with the same
//! conditions; such a tier stays until it has forgotten.

use super::engines::{Listener, Runner};
use super::open_tags::replay;
use super::{Listeners, Way};
use crate::automaton::Automaton;
use crate::error::DocumentError;
use crate::message::Messages;
use crate::plan::Tier;
use std::sync::Arc;

/// What can be done with a tier in the middle of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierState {
    /// Its subscriptions keep their numbers.
    Fixed = 0,
    /// It stays as it is; its numbers may change.
    Busy = 1,
    /// It may become part of another.
    Fresh = 2,
}

impl Listeners {
    /// By tier: what can be done with it.
    pub fn tier_states(&self) -> Vec<TierState> {
        let state = |tier: &Tier| {
            // Message listeners keep numbers of subscriptions.
            if tier.plan.request_count() > 0 || !self.silent.is_empty() {
                return TierState::Fixed;
            }
            match self.runner_of(tier) {
                Some((false, runner)) if runner.automaton.is_fresh() => TierState::Fresh,
                _ => TierState::Busy,
            }
        };
        self.tiers.iter().map(state).collect()
    }

    /// The automaton of a tier, and whether it waits for the next start tag.
    fn runner_of(&self, tier: &Tier) -> Option<(bool, &Runner)> {
        let mut active = self.list.iter().filter(|listener| listener.is_active);
        active.find_map(|listener| {
            let runner = listener.engine.runner()?;
            let is_own = Arc::ptr_eq(&runner.tier.plan, &tier.plan);
            is_own.then_some((listener.is_waiting, runner))
        })
    }

    /// Goes on with other tiers, of which the one at a place takes over from those that are no
    /// longer there: its subscriptions had these numbers. False if that cannot be done now.
    pub fn merge_tiers(
        &mut self,
        tiers: Vec<Tier>,
        place: usize,
        numbers: &[u32],
    ) -> Result<bool, DocumentError> {
        let is_kept = |own: &Tier| tiers.iter().any(|tier| Arc::ptr_eq(&tier.plan, &own.plan));
        let states = self.tier_states();
        let mut gone = self
            .tiers
            .iter()
            .zip(&states)
            .filter(|(own, _)| !is_kept(own));
        let (Some(start), true) = (
            self.open.next_start(),
            gone.all(|(_, &state)| state == TierState::Fresh),
        ) else {
            return Ok(false);
        };
        let ordinals: Vec<u64> = numbers.iter().map(|&n| self.ordinal(n)).collect();
        let gone = |listener: &&mut Listener| {
            let runner = listener.engine.runner();
            runner.is_some_and(|runner| listener.is_active && !is_kept(&runner.tier))
        };
        let first = self.list.iter_mut().find(gone);
        let automaton = first.and_then(|listener| listener.engine.runner_mut());
        let Some(source) = automaton.map(|runner| runner.automaton.take_source()) else {
            return Ok(false);
        };
        let plan = tiers[place].plan.clone();
        self.adopt_within(tiers);
        let (open, document) = (&self.open, self.document);
        let mut runners = self
            .list
            .iter_mut()
            .filter_map(|one| one.engine.runner_mut());
        if let Some(runner) = runners.find(|runner| Arc::ptr_eq(&runner.tier.plan, &plan)) {
            let automaton: &mut Automaton = &mut runner.automaton;
            replay(automaton, open, document)?;
            automaton.continue_with(source, &ordinals, start);
        }
        Ok(true)
    }

    /// Goes on with other tiers in the middle of a document. Message listeners need the whole
    /// document, so new ones begin with the next.
    pub(super) fn adopt_within(&mut self, tiers: Vec<Tier>) {
        let active = self.list.iter().filter(|listener| listener.is_active);
        let messages = active.filter_map(|listener| listener.engine.messages());
        let begun: Vec<*const Messages> = messages.map(std::ptr::from_ref).collect();
        self.adopt(tiers);
        self.turn_to(Way::Events);
        for listener in &mut self.list {
            if let Some(messages) = listener.engine.messages()
                && !begun.contains(&std::ptr::from_ref(messages))
            {
                listener.is_active = false;
                // The active listeners are determined anew for the next document.
                self.way = None;
            }
        }
    }

    /// How many results a subscription has in the document under way, by the session's number.
    fn ordinal(&self, number: u32) -> u64 {
        let at = self.tiers.partition_point(|tier| tier.first <= number);
        let tier = at.checked_sub(1).map(|at| &self.tiers[at]);
        let Some((_, runner)) = tier.and_then(|tier| self.runner_of(tier)) else {
            return 0;
        };
        let own = crate::ids::SubscriptionId(number - runner.tier.first);
        runner.automaton.ordinal(own)
    }
}
