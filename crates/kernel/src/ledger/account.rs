//! Where one engine counts its steps.

use super::{Ledger, Stop};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// An account looks into its ledger after so many steps of a document.
const STEPS_BETWEEN_LOOKS: u64 = 1024;
/// One of so many steps is looked at to find out for whom it was done; of all documents, so that
/// small ones have their share.
const STEPS_BETWEEN_SAMPLES: u64 = 1024;

/// A row takes so many steps beside its value: it is made here, and an object wherever it goes.
const STEPS_PER_ROW: u64 = 48;
/// So many bytes are copied in the time of a step.
const BYTES_PER_STEP: u64 = 256;
/// The value of a row is copied, checked and copied again. More than twice as many steps would end
/// documents that many subscriptions select as a whole: rows may take one step for each byte and
/// sixteen of them.
const ROW_BYTES_PER_STEP: u64 = 32;
/// What is longer takes fresh pages from the system, each time again: bytes beyond count twice.
const ROW_BYTES_REUSED: u64 = 64 << 10;
/// Items of lists that are gone through in the time of a step.
const ITEMS_PER_STEP: u64 = 4;

/// Steps that it takes to copy a value: one, and more for a long one.
#[inline]
pub fn steps_of_copy(bytes: usize) -> u64 {
    1 + bytes as u64 / BYTES_PER_STEP
}

/// Steps that a row takes.
#[inline]
pub fn steps_of_row(value_bytes: usize) -> u64 {
    let bytes = value_bytes as u64;
    let fresh = bytes.saturating_sub(ROW_BYTES_REUSED);
    STEPS_PER_ROW + (bytes + fresh) / ROW_BYTES_PER_STEP
}

/// Who works, as the engine numbers them.
pub type Actor = u32;

/// The steps of one engine, for whom they were done, and the ledger that they go into.
pub struct Account {
    /// Steps so far, over all documents.
    pub steps: u64,
    /// Those of them that are walks over open nodes: they follow the depth, whoever asks.
    pub walked: u64,
    /// How much of the document has been read: each byte allows some steps.
    pub position: u64,
    /// Who works now.
    pub actor: Actor,
    /// The next look or sample is due at so many steps.
    due_at: u64,
    look_at: u64,
    sample_at: u64,
    /// Steps that the ledger knows of.
    told: u64,
    /// Samples by actor: of earlier documents, and of this one.
    earlier: FxHashMap<Actor, u64>,
    samples: FxHashMap<Actor, u64>,
    /// The actor that everything is done for now, if that is certain.
    worker: Option<Actor>,
    /// The steps of this document by worker, as looks find them. They depend on nothing before,
    /// unlike samples.
    own: FxHashMap<Actor, u64>,
    /// The actor that took more steps of this document than one alone may.
    dear: Option<Actor>,
    ledger: Arc<Ledger>,
}

impl Account {
    /// An account that goes into a ledger.
    pub fn new(ledger: Arc<Ledger>) -> Self {
        Account {
            steps: 0,
            walked: 0,
            position: 0,
            actor: 0,
            due_at: STEPS_BETWEEN_LOOKS.min(STEPS_BETWEEN_SAMPLES),
            look_at: STEPS_BETWEEN_LOOKS,
            sample_at: STEPS_BETWEEN_SAMPLES,
            told: 0,
            earlier: FxHashMap::default(),
            samples: FxHashMap::default(),
            worker: None,
            own: FxHashMap::default(),
            dear: None,
            ledger,
        }
    }

    /// All work is done for an actor from now on, until `act_for_all`: it may take no more steps
    /// than if it were alone.
    #[inline]
    pub fn act_for(&mut self, actor: Actor) {
        self.actor = actor;
        self.worker = Some(actor);
    }

    /// What is done from now on is not done for one actor alone, though samples charge the last one.
    #[inline]
    pub fn act_for_all(&mut self) {
        self.worker = None;
    }

    /// An account that nothing stops.
    #[cfg(test)]
    pub fn free() -> Self {
        let ledger = Ledger::new(&crate::limits::Limits::NONE, None, None);
        Account::new(Arc::new(ledger))
    }

    /// An account of another engine that goes into the same ledger.
    pub fn fork(&self) -> Self {
        Account::new(self.ledger.clone())
    }

    /// A document begins. What is spent on it depends on nothing before, so looks start anew.
    pub fn begin(&mut self) {
        self.position = 0;
        self.told = self.steps;
        self.look_at = self.steps + STEPS_BETWEEN_LOOKS;
        self.due_at = self.look_at.min(self.sample_at);
        (self.worker, self.dear) = (None, None);
        self.own.clear();
        for (actor, samples) in self.samples.drain() {
            *self.earlier.entry(actor).or_default() += samples;
        }
    }

    /// Counts steps of work. It may unwind to the ledger's guard.
    #[inline]
    pub fn spend(&mut self, steps: u64) {
        self.steps += steps;
        if self.steps >= self.due_at {
            self.look();
        }
    }

    /// Counts a row that waits to be taken, and its steps.
    pub fn add_row(&mut self, value_bytes: usize) {
        self.ledger.add_row(value_bytes);
        self.spend(steps_of_copy(value_bytes));
    }

    /// Counts a walk through so many items of lists.
    #[inline]
    pub fn go_through(&mut self, items: usize) {
        self.spend(1 + items as u64 / ITEMS_PER_STEP);
    }

    /// Counts rows that wait to be taken, and their steps.
    pub fn add_rows(&mut self, count: usize, value_bytes: usize) {
        let each = value_bytes / count.max(1);
        (0..count).for_each(|_| self.ledger.add_row(each));
        self.spend(count as u64 * steps_of_copy(each));
    }

    /// Counts a walk over open nodes.
    #[inline]
    pub fn walk(&mut self, steps: u64) {
        self.walked += steps;
        self.spend(steps);
    }

    /// The samples of all documents since the last call: actors, and how many steps they stand for.
    pub fn take_samples(&mut self) -> impl Iterator<Item = (Actor, u64)> + use<> {
        let samples = std::mem::take(&mut self.samples).into_iter();
        samples.chain(std::mem::take(&mut self.earlier))
    }

    /// The samples of the document under way.
    pub fn samples(&self) -> impl Iterator<Item = (Actor, u64)> + '_ {
        self.samples.iter().map(|(&actor, &steps)| (actor, steps))
    }

    /// The actor that took more steps of the document under way than one alone may.
    pub fn dear(&self) -> Option<Actor> {
        self.dear
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        if self.steps >= self.sample_at {
            let missed = (self.steps - self.sample_at) / STEPS_BETWEEN_SAMPLES;
            let stands_for = (missed + 1) * STEPS_BETWEEN_SAMPLES;
            *self.samples.entry(self.actor).or_default() += stands_for;
            self.sample_at += stands_for;
        }
        let is_due = self.steps >= self.look_at;
        let fresh = self.steps - self.told;
        if is_due {
            self.told = self.steps;
            self.look_at = self.steps + STEPS_BETWEEN_LOOKS;
        }
        self.due_at = self.look_at.min(self.sample_at);
        if is_due {
            self.ledger.spend(fresh, self.position);
            self.look_at_worker(fresh);
        }
    }

    /// Ends the work of an actor that takes more steps than it may alone.
    fn look_at_worker(&mut self, fresh: u64) {
        let Some(worker) = self.worker else {
            return;
        };
        let steps = self.own.entry(worker).or_default();
        *steps += fresh;
        if !self.ledger.allows_alone(*steps, self.position) {
            self.dear = Some(worker);
            Ledger::stop(Stop::Limit("steps_max"));
        }
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.steps)
    }
}
