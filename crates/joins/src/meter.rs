//! The steps of joins: every loop whose length depends on records counts its rounds here.

use penstock_kernel::ledger::{Account, Ledger};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// So many steps are counted here before the account hears of them.
const STEPS_TOGETHER: u64 = 1024;

/// Counts steps wherever joins work; shared, since searches only read.
pub struct Meter {
    left: Cell<u64>,
    account: RefCell<Account>,
}

impl Meter {
    /// A meter whose steps go into a ledger.
    pub fn new(ledger: Arc<Ledger>) -> Self {
        Meter {
            left: Cell::new(STEPS_TOGETHER),
            account: RefCell::new(Account::new(ledger)),
        }
    }

    /// A document of so many bytes begins.
    pub fn begin(&mut self, bytes: usize) {
        self.left.set(STEPS_TOGETHER);
        let account = self.account.get_mut();
        account.begin();
        account.position = bytes as u64;
    }

    /// Results went out: each allows some steps, as a byte of the document does.
    pub fn earn(&mut self, results: usize) {
        self.account.get_mut().position += results as u64;
    }

    /// Counts steps. It may unwind to the guard of the ledger, so nothing that is kept may be half
    /// written then.
    #[inline]
    pub fn spend(&self, steps: u64) {
        let left = self.left.get();
        if steps < left {
            self.left.set(left - steps);
        } else {
            self.tell(steps);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell(&self, steps: u64) {
        let fresh = STEPS_TOGETHER - self.left.replace(STEPS_TOGETHER) + steps;
        self.account.borrow_mut().spend(fresh);
    }
}
