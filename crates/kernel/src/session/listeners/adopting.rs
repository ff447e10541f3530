//! Which listeners there are: they follow the tiers of a session, as its strategy chooses.

use super::Listeners;
use super::engines::{Asker, Engine, Listener, Runner, Way};
use crate::automaton::Automaton;
use crate::broker::{Broker, is_brokered};
use crate::ledger::Account;
use crate::message::{Aliases, Messages};
use crate::plan::Tier;
use crate::trie::Trie;
use crate::witness::{SharedPaths, Witnesses};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Subscriptions are counted one by one where there are no more targets.
const TARGETS_COUNTED_MAX: u32 = 4096;

impl Listeners {
    /// Goes on with other tiers; what was learnt about a plan that stays is kept.
    pub fn adopt(&mut self, tiers: Vec<Tier>) {
        self.gather();
        let mut before = std::mem::take(&mut self.list);
        for tier in &tiers {
            let asker = self.asker(tier, &mut before);
            let way = asker.as_ref().map(|_| Way::Events);
            self.add_runner(tier, way, &mut before);
            if let Some(asker) = asker {
                if let Some(plan) = asker.rest.clone() {
                    let rest = Tier {
                        plan,
                        ..tier.clone()
                    };
                    self.add_runner(&rest, Some(Way::Asked), &mut before);
                }
                self.add(Engine::Trie(asker), Some(Way::Asked));
            }
        }
        self.adopt_messages(&tiers, before);
        let parts = tiers.iter().map(|tier| tier.plan.part_count());
        let askers = tiers.iter().map(askers);
        let (askers, parts) = (askers.sum(), parts.sum());
        let members = self.messages().map(Messages::member_count).sum();
        self.ledger.expect(askers, parts, members);
        self.tiers = tiers;
        self.way = None;
        self.hush();
    }

    /// The same for those who write messages, given the listeners before. What stays costs nothing.
    fn adopt_messages(&mut self, tiers: &[Tier], before: Vec<Listener>) {
        let had_broker = before.iter().any(|one| one.engine.broker().is_some());
        let mut broker = None;
        let mut messages = Vec::new();
        for listener in before {
            match listener.engine {
                Engine::Witnesses(_) => self.list.push(listener),
                Engine::Messages(own) => messages.push((listener.way, own)),
                Engine::Broker(own) => broker = Some(own),
                _ => {}
            }
        }
        let mut broker = broker.unwrap_or_else(|| {
            let account = Account::new(self.ledger.clone());
            Box::new(Broker::new(&self.limits, account))
        });
        if self.strategy.may_broker() {
            broker.adopt(tiers, &self.streams);
        }
        let has_broker = self.strategy.brokers(broker.count());
        if has_broker != had_broker {
            messages.clear();
            self.prepared.clear();
            self.tiers.clear();
        }
        let is_served = |program: &[u8]| !(has_broker && is_brokered(program));
        for tier in tiers {
            self.keep_messages(tier, &mut messages);
            if !self.tiers.iter().any(|own| is_continued(own, tier)) {
                self.add_messages(tier, is_served, None);
            }
        }
        self.prepared
            .retain(|own| tiers.iter().any(|tier| is_continued(own, tier)));
        if has_broker {
            self.add(Engine::Broker(broker), Some(Way::Asked));
        }
    }

    /// Keeps the listeners before that serve a tier.
    fn keep_messages(&mut self, tier: &Tier, before: &mut Vec<(Option<Way>, Box<Messages>)>) {
        for (way, mut messages) in before.extract_if(.., |(_, own)| own.reads(tier)) {
            messages.adopt(tier);
            self.list.push(Listener {
                engine: Engine::Messages(messages),
                way,
                is_active: false,
                is_waiting: false,
            });
        }
    }

    fn add_messages(&mut self, tier: &Tier, is_served: impl Fn(&[u8]) -> bool, way: Option<Way>) {
        let account = Account::new(self.ledger.clone());
        let (limits, options) = (&self.limits, &self.options);
        let messages = Messages::of(tier, is_served, limits, options, &self.streams, account);
        if let Some(messages) = messages {
            self.add(Engine::Messages(Box::new(messages)), way);
        }
    }

    /// Sees to it that everybody is there whom a way of reading needs: what the broker serves is
    /// evaluated one by one only if a document comes that is none for it.
    pub fn prepare(&mut self, way: Way) {
        if way == Way::Asked || self.broker().is_none() {
            return;
        }
        let is_missing = |tier: &&Tier| !self.prepared.iter().any(|own| is_continued(own, tier));
        let missing: Vec<Tier> = self.tiers.iter().filter(is_missing).cloned().collect();
        if missing.is_empty() {
            return;
        }
        for tier in missing {
            self.add_messages(&tier, is_brokered, Some(Way::Events));
            self.prepared.push(tier);
        }
        self.way = None;
        self.hush();
    }

    /// Gives streams other names; queries may use both.
    pub fn name_streams(&mut self, streams: Box<Aliases>) {
        self.streams = streams;
        let is_other = |listener: &Listener| {
            !matches!(listener.engine, Engine::Messages(_) | Engine::Broker(_))
        };
        self.list.retain(is_other);
        self.prepared.clear();
        let tiers = std::mem::take(&mut self.tiers);
        self.adopt(tiers);
    }

    /// Collects the witnesses of joins by these paths from now on, or no more.
    pub fn listen(&mut self, paths: Option<SharedPaths>) {
        let own = self.witnesses().map(|witnesses| &witnesses.paths);
        if own == paths.as_ref() {
            return;
        }
        let is_other = |listener: &Listener| !matches!(listener.engine, Engine::Witnesses(_));
        self.list.retain(is_other);
        if let Some(paths) = paths {
            let witnesses = Witnesses::new(self.limits, paths, Account::new(self.ledger.clone()));
            self.add(Engine::Witnesses(Box::new(witnesses)), None);
        }
        self.way = None;
    }

    fn add(&mut self, engine: Engine, way: Option<Way>) {
        self.list.push(Listener {
            engine,
            way,
            is_active: false,
            is_waiting: false,
        });
    }

    /// Adds the automaton of a tier, which may have been among those before. A plan without targets
    /// needs none, but a trace is that of an automaton.
    fn add_runner(&mut self, tier: &Tier, way: Option<Way>, before: &mut Vec<Listener>) {
        if tier.plan.target_count() == 0 && !self.options.is_traced {
            return;
        }
        let is_known = |listener: &Listener| {
            let runner = listener.engine.runner();
            runner.is_some_and(|runner| Arc::ptr_eq(&runner.tier.plan, &tier.plan))
        };
        if let Some(place) = before.iter().position(is_known) {
            let mut listener = before.remove(place);
            if let Engine::Automaton(runner) = &mut listener.engine {
                runner.tier = tier.clone();
            }
            self.list.push(Listener { way, ..listener });
            return;
        }
        let runner = Runner {
            tier: tier.clone(),
            automaton: Automaton::new(tier.plan.clone(), self.limits, self.options, &self.ledger),
            noted: 0,
        };
        self.add(Engine::Automaton(Box::new(runner)), way);
    }

    /// The trie of a tier, which may have been among those before; None if automata read it all.
    fn asker(&self, tier: &Tier, before: &mut Vec<Listener>) -> Option<Box<Asker>> {
        let is_known = |listener: &Listener| {
            let asker = listener.engine.asker();
            asker.is_some_and(|asker| Arc::ptr_eq(&asker.tier.plan, &tier.plan))
        };
        if let Some(place) = before.iter().position(is_known)
            && let Engine::Trie(mut asker) = before.remove(place).engine
        {
            asker.tier = tier.clone();
            return Some(asker);
        }
        if !self.strategy.asks(&tier.plan) {
            return None;
        }
        let account = Account::new(self.ledger.clone());
        let trie = Trie::new(tier.plan.clone(), self.limits.candidates_max, account)?;
        Some(Box::new(Asker {
            tier: tier.clone(),
            trie,
            rest: tier.plan.rest(),
        }))
    }

    /// By tier: how many questions are asked of a small document that is at hand, and how many
    /// targets are matched, event by event, even there.
    pub fn structures(&self) -> Vec<(u32, u32)> {
        let of_tier = |tier: &Tier| {
            let is_own = |asker: &&Asker| Arc::ptr_eq(&asker.tier.plan, &tier.plan);
            match self.tries().find(is_own) {
                Some(asker) => {
                    let rest = asker.rest.as_ref().map_or(0, |rest| rest.target_count());
                    (tier.plan.question_count(), rest)
                }
                None => (0, tier.plan.target_count()),
            }
        };
        self.tiers.iter().map(of_tier).collect()
    }

    /// What listeners for messages make, in a word: how many distinct programs there are, and for
    /// how many subscriptions. Programs without subscriptions are left out.
    pub fn messages_made(&self) -> Vec<(&'static str, usize, usize)> {
        let mut sums: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
        let described = self.messages().flat_map(Messages::described);
        for (kind, subscriptions) in described.filter(|(_, subscriptions)| *subscriptions > 0) {
            let sum = sums.entry(kind).or_default();
            *sum = (sum.0 + 1, sum.1 + subscriptions);
        }
        let sums = sums.into_iter();
        sums.map(|(kind, (programs, all))| (kind, programs, all))
            .collect()
    }
}

/// Whether a tier is another one of before, from which nothing but subscriptions were removed.
fn is_continued(before: &Tier, tier: &Tier) -> bool {
    before.is_same_plan(tier) && tier.left_out_by(before).next().is_none()
}

/// About how many subscriptions ask for rows. Where targets are many, those who share one are not
/// counted, as that takes time.
fn askers(tier: &Tier) -> usize {
    let plan = &tier.plan;
    let requests = plan.request_count() as usize;
    if plan.target_count() > TARGETS_COUNTED_MAX {
        return plan.target_count() as usize + requests;
    }
    let postings = plan.targets().map(|target| plan.target(target).1.len());
    postings.sum::<usize>() + requests
}
