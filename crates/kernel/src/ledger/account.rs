//! Where one engine counts its steps.

use super::Ledger;
use std::fmt;
use std::sync::Arc;

/// An account looks into its ledger after so many steps.
const STEPS_BETWEEN_LOOKS: u64 = 1024;

/// The steps of one engine, and the ledger that they go into.
pub struct Account {
    /// Steps so far, over all documents.
    pub steps: u64,
    /// How much of the document has been read: each byte allows some steps.
    pub position: u64,
    look_at: u64,
    told: u64,
    ledger: Option<Arc<Ledger>>,
}

impl Account {
    /// An account that goes into a ledger.
    pub fn new(ledger: Arc<Ledger>) -> Self {
        Account {
            ledger: Some(ledger),
            ..Account::default()
        }
    }

    /// A document begins. Where it stops depends on the document alone, so looks start anew.
    pub fn begin(&mut self) {
        self.position = 0;
        self.told = self.steps;
        self.look_at = self.steps + STEPS_BETWEEN_LOOKS;
    }

    /// Counts steps of work. It may unwind to the ledger's guard.
    #[inline]
    pub fn spend(&mut self, steps: u64) {
        self.steps += steps;
        if self.steps >= self.look_at {
            self.look();
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        let fresh = self.steps - self.told;
        self.told = self.steps;
        self.look_at = self.steps + STEPS_BETWEEN_LOOKS;
        if let Some(ledger) = &self.ledger {
            ledger.spend(fresh, self.position);
        }
    }
}

impl Default for Account {
    /// An account that goes nowhere.
    fn default() -> Self {
        Account {
            steps: 0,
            position: 0,
            look_at: STEPS_BETWEEN_LOOKS,
            told: 0,
            ledger: None,
        }
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps", self.steps)
    }
}
