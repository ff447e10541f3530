//! Those who listen to the tokenizer: automata, tries and the witnesses of joins, in one list.
//!
//! A session has several plans, its *tiers*: a large one that stays, small ones for what came later.
//! The strategy gives each tier an automaton, or an automaton for some documents and a trie for
//! others. A document has one way of being read, and the listeners of that way are *active*.

mod fan;
mod merging;
mod open_tags;
mod symbols;

use super::strategy::{Strategy, together_max};
use crate::automaton::Automaton;
use crate::document::DOCUMENTS_MAX;
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::{Plan, Tier};
use crate::rows::Rows;
use crate::trie::Trie;
use crate::witness::{SharedPaths, Witness, Witnesses};
use open_tags::OpenTags;
use std::sync::Arc;
use symbols::SymbolTable;

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
    noted: usize,
}

/// A trie and the tier whose questions it asks.
pub struct Asker {
    pub tier: Tier,
    pub trie: Trie,
    /// What of the tier's plan cannot be asked.
    rest: Option<Arc<Plan>>,
}

/// What a listener does with events. Engines are large, and lists of them move.
pub enum Engine {
    Automaton(Box<Runner>),
    Trie(Box<Asker>),
    Witnesses(Box<Witnesses>),
}

/// Somebody who listens to documents.
struct Listener {
    engine: Engine,
    /// The way of reading that needs it; None: every one.
    way: Option<Way>,
    /// Whether it takes part in the document under way.
    is_active: bool,
    /// An automaton that came in the middle of a document waits for the next start tag, witnesses
    /// of other streams for the next document.
    is_waiting: bool,
}

/// All listeners of a session, in the order of their tiers.
pub struct Listeners {
    list: Vec<Listener>,
    tiers: Vec<Tier>,
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
    open: OpenTags,
    /// The number of the document under way, and how many have begun since the tries forgot theirs.
    number: u32,
    begun: usize,
}

impl Listeners {
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options) -> Self {
        let mut listeners = Listeners {
            list: Vec::new(),
            tiers: Vec::new(),
            way: None,
            symbols: SymbolTable::default(),
            automata: 0,
            runs: Vec::new(),
            rows: Rows::default(),
            strategy: Strategy::new(&limits, &options),
            limits,
            options,
            open: OpenTags::default(),
            number: 0,
            begun: 0,
        };
        listeners.adopt(tiers);
        listeners
    }

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
        let is_kept = |listener: &Listener| matches!(listener.engine, Engine::Witnesses(_));
        self.list.extend(before.into_iter().filter(is_kept));
        self.tiers = tiers;
        self.way = None;
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
            let witnesses = Witnesses::new(self.limits, paths);
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
            let runner = listener.runner();
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
            automaton: Automaton::new(tier.plan.clone(), self.limits, self.options),
            noted: 0,
        };
        self.add(Engine::Automaton(Box::new(runner)), way);
    }

    /// The trie of a tier, which may have been among those before; None if automata read it all.
    fn asker(&self, tier: &Tier, before: &mut Vec<Listener>) -> Option<Box<Asker>> {
        let is_known = |listener: &Listener| {
            let asker = listener.asker();
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
        let trie = Trie::new(tier.plan.clone(), self.limits.candidates_max)?;
        Some(Box::new(Asker {
            tier: tier.clone(),
            trie,
            rest: tier.plan.rest(),
        }))
    }

    /// Turns to a way of reading; whether symbols mean something else than before.
    pub fn turn_to(&mut self, way: Way) -> bool {
        let is_crowded = self.witnesses().is_some_and(Witnesses::forget_symbols);
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
            listener.is_active = listener.way.is_none_or(|own| own == way);
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

    /// Starts a document of a stream, whose rows carry a number.
    pub fn begin(&mut self, stream: &str, number: u32) -> Result<(), DocumentError> {
        self.open.clear();
        self.number = number;
        self.begun += 1;
        for listener in self.list.iter_mut().filter(|listener| listener.is_active) {
            listener.is_waiting = match &mut listener.engine {
                Engine::Automaton(_) => false,
                Engine::Trie(asker) => {
                    asker.trie.taken.begin();
                    false
                }
                Engine::Witnesses(witnesses) => !witnesses.begin(stream),
            };
        }
        for (_, runner) in self.runners() {
            runner.automaton.number_documents(number);
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
                Engine::Witnesses(_) => {}
            }
        }
    }

    /// Whether some tier is asked, and a document is small enough for that.
    pub fn asks(&self, document: &[u8]) -> bool {
        let mut askers = self.list.iter().filter_map(Listener::asker);
        askers.next().is_some() && self.strategy.is_small(document)
    }

    /// How many documents the tiers that are asked are best asked about together.
    pub fn together_max(&self, with_times: bool) -> usize {
        let askers = self.list.iter().filter_map(Listener::asker);
        let each = askers.map(|asker| together_max(&asker.tier.plan, with_times));
        each.min().unwrap_or(1).min(DOCUMENTS_MAX)
    }

    /// The tries.
    pub fn askers(&mut self) -> impl Iterator<Item = &mut Asker> {
        self.list
            .iter_mut()
            .filter_map(|listener| match &mut listener.engine {
                Engine::Trie(asker) => Some(&mut **asker),
                _ => None,
            })
    }

    /// The automata, in whatever way documents are read.
    pub fn automata(&self) -> impl Iterator<Item = &Runner> {
        self.list.iter().filter_map(Listener::runner)
    }

    /// The same, to change them.
    pub fn automata_mut(&mut self) -> impl Iterator<Item = &mut Runner> {
        let engines = self.list.iter_mut().map(|listener| &mut listener.engine);
        engines.filter_map(Engine::as_runner)
    }

    /// The automata that are active, and their places.
    fn runners(&mut self) -> impl Iterator<Item = (usize, &mut Runner)> {
        let places = self.list.iter_mut().enumerate();
        let active = places.filter(|(_, listener)| listener.is_active);
        active.filter_map(|(place, listener)| Some((place, listener.engine.as_runner()?)))
    }

    /// Those who collect witnesses.
    pub fn witnesses(&mut self) -> Option<&mut Witnesses> {
        self.list
            .iter_mut()
            .find_map(|listener| match &mut listener.engine {
                Engine::Witnesses(witnesses) => Some(&mut **witnesses),
                _ => None,
            })
    }

    /// Whether nothing that may follow in the document would add a row, or a witness.
    pub fn is_decided(&self) -> bool {
        let active = self.list.iter().filter(|listener| listener.is_active);
        active.into_iter().all(|listener| match &listener.engine {
            Engine::Automaton(runner) => !listener.is_waiting && runner.automaton.is_decided(),
            Engine::Trie(_) | Engine::Witnesses(_) => false,
        })
    }

    pub fn is_live(&self) -> bool {
        self.options.is_live
    }

    pub fn in_document_order(&self) -> bool {
        self.options.in_document_order
    }

    /// By tier: how many questions are asked of a small document that is at hand, and how many
    /// targets are matched, event by event, even there.
    pub fn structures(&self) -> Vec<(u32, u32)> {
        let of_tier = |tier: &Tier| {
            let is_own = |asker: &&Asker| Arc::ptr_eq(&asker.tier.plan, &tier.plan);
            match self.list.iter().filter_map(Listener::asker).find(is_own) {
                Some(asker) => {
                    let rest = asker.rest.as_ref().map_or(0, |rest| rest.target_count());
                    (tier.plan.question_count(), rest)
                }
                None => (0, tier.plan.target_count()),
            }
        };
        self.tiers.iter().map(of_tier).collect()
    }
}

impl Engine {
    fn as_runner(&mut self) -> Option<&mut Runner> {
        match self {
            Engine::Automaton(runner) => Some(runner),
            _ => None,
        }
    }
}

impl Listener {
    fn runner(&self) -> Option<&Runner> {
        match &self.engine {
            Engine::Automaton(runner) => Some(runner),
            _ => None,
        }
    }

    fn asker(&self) -> Option<&Asker> {
        match &self.engine {
            Engine::Trie(asker) => Some(asker),
            _ => None,
        }
    }
}
