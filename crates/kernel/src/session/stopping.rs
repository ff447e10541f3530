//! Documents that are stopped: by a bound on what they cost, or because somebody asked for it.

use super::reading::Reading;
use crate::error::{DocumentError, ErrorKind};
use crate::ledger::{Account, Stop};
use crate::tokenizer::{Tokenizer, codes};

impl Reading {
    /// Does work on the document under way. Where the ledger stops it, engines are in no state to
    /// go on and are made anew; the rows that were finished stay.
    pub(super) fn guard<T>(
        &mut self,
        work: impl FnOnce(&mut Reading) -> Result<T, DocumentError>,
    ) -> Result<T, DocumentError> {
        let ledger = self.ledger.clone();
        let done = ledger.guard(|| work(self));
        done.unwrap_or_else(|stop| Err(self.stopped(stop)))
    }

    #[cold]
    fn stopped(&mut self, stop: Stop) -> DocumentError {
        if stop != Stop::Interrupted {
            self.blamed = self.listeners.blamed();
        }
        let account = Account::new(self.ledger.clone());
        let fresh = Tokenizer::new(self.limits).with_account(account);
        let mut broken = std::mem::replace(&mut self.tokenizer, fresh);
        let error = broken.fail(self.error(stop));
        self.tokenizer.fail(error.clone());
        self.listeners.renew();
        error
    }

    fn error(&self, stop: Stop) -> DocumentError {
        let limits = &self.limits;
        let (kind, code, reason) = match stop {
            Stop::Interrupted => {
                let reason = "the work was interrupted".to_owned();
                (ErrorKind::Interrupted, codes::INTERRUPTED, reason)
            }
            Stop::Limit(limit) => {
                let (code, reason) = match limit {
                    "memory_bytes_max" => {
                        let most = limits.memory_bytes_max;
                        let reason = format!("the document costs more than {most} bytes of memory");
                        (codes::MEMORY_BYTES, reason)
                    }
                    "steps_max" => {
                        let most = limits.steps_max;
                        let reason = format!("the document takes more than {most} steps of work");
                        (codes::STEPS, reason)
                    }
                    _ => (codes::SECONDS, "the document takes too long".to_owned()),
                };
                (
                    ErrorKind::Limit(limit),
                    code,
                    format!("{reason} (`{limit}`)"),
                )
            }
        };
        DocumentError {
            kind,
            code,
            reason,
            byte: 0,
            line: 0,
            path: String::new(),
        }
    }
}
