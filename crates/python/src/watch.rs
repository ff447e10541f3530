//! Signals that arrive while the kernel works: Ctrl-C ends the work.
//!
//! Whoever works looks for signals now and then and attaches to the interpreter for that, with the
//! lock of its object held. So a thread that is attached never waits for such a lock: it tries, and
//! detaches before it waits (`locked`).

use penstock_kernel::ledger::{Watch, is_on_piece, with_stack};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread::{self, ThreadId};

/// Python handles signals in its main thread, which imports the module as a rule.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// Takes the importing thread for the main one.
pub(crate) fn import() {
    MAIN.get_or_init(|| thread::current().id());
}

/// What a signal handler raised, for whoever called the work that it ended.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Looks for signals, and where what their handlers raise is put.
pub(crate) fn signals() -> (Watch, Raised) {
    let raised = Raised::default();
    let slot = raised.clone();
    let watch = move || {
        // Python 3.14 takes another stack than the thread's for one that has overflown.
        if MAIN.get() != Some(&thread::current().id()) || is_on_piece() {
            return false;
        }
        let looked = Python::try_attach(|py| py.check_signals());
        let Some(Err(error)) = looked else {
            return false;
        };
        if let Ok(mut slot) = slot.lock() {
            *slot = Some(error);
        }
        true
    };
    (Box::new(watch), raised)
}

/// Takes what a signal handler raised.
pub(crate) fn take_raised(raised: &Raised) -> Option<PyErr> {
    raised.lock().ok()?.take()
}

/// Does something short with what a lock protects, attached if nobody else has the lock.
pub(crate) fn locked<S: Send, T: Send>(
    py: Python<'_>,
    lock: &Mutex<S>,
    work: impl FnOnce(&mut S) -> T + Send,
) -> PyResult<T> {
    match lock.try_lock() {
        Ok(mut held) => Ok(with_stack(|| work(&mut held))),
        Err(TryLockError::Poisoned(_)) => Err(broken()),
        Err(TryLockError::WouldBlock) => detached(py, lock, work),
    }
}

/// Does something detached, on a stack that is large enough.
pub(crate) fn away<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| with_stack(work))
}

/// Does something long with what a lock protects, detached.
pub(crate) fn detached<S: Send, T: Send>(
    py: Python<'_>,
    lock: &Mutex<S>,
    work: impl FnOnce(&mut S) -> T + Send,
) -> PyResult<T> {
    let done = away(py, || {
        let mut held = lock.lock().ok()?;
        Some(work(&mut held))
    });
    done.ok_or_else(broken)
}

pub(crate) fn broken() -> PyErr {
    PyRuntimeError::new_err("an earlier call broke this object")
}
