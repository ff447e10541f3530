//! Signals that Python has not handled yet: long work looks for them now and then.

use penstock_kernel::ledger::Watch;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};

/// Python handles signals in its main thread, which imports the module as a rule.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// Takes the importing thread for the main one.
pub(crate) fn import() {
    MAIN.get_or_init(|| thread::current().id());
}

/// What a signal raised while the kernel worked.
#[derive(Default)]
pub(crate) struct Signals {
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    /// Looks for signals; whoever is told to stop finds the exception in `take`.
    pub(crate) fn watch(self: &Arc<Self>) -> Watch {
        let signals = self.clone();
        Box::new(move || {
            if MAIN.get() != Some(&thread::current().id()) {
                return false;
            }
            let raised = Python::attach(|py| py.check_signals().err());
            let is_raised = raised.is_some();
            if let Ok(mut slot) = signals.raised.lock() {
                *slot = raised;
            }
            is_raised
        })
    }

    /// The exception that stopped the work, if a signal did.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.raised.lock().ok()?.take()
    }
}
