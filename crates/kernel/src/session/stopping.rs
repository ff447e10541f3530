//! Documents that are stopped: by a bound on what they cost, or because somebody asked for it.

use super::reading::Reading;
use crate::error::{DocumentError, ErrorKind};
use crate::ledger::{Account, Stop};
use crate::limits::Limits;
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
        self.renewed();
        error
    }

    fn error(&self, stop: Stop) -> DocumentError {
        let Limits {
            memory_bytes_max,
            steps_max,
            ..
        } = self.limits;
        let Stop::Limit(limit) = stop else {
            let reason = "the work was interrupted";
            return DocumentError::at(0, ErrorKind::Interrupted, codes::INTERRUPTED, reason);
        };
        let (code, cost) = match limit {
            "memory_bytes_max" => (
                codes::MEMORY_BYTES,
                format!("costs more than {memory_bytes_max} bytes of memory"),
            ),
            "steps_max" => (
                codes::STEPS,
                format!("takes more than {steps_max} steps of work"),
            ),
            _ => (codes::SECONDS, "takes too long".to_owned()),
        };
        let reason = format!("the document {cost} (`{limit}`)");
        DocumentError::at(0, ErrorKind::Limit(limit), code, reason)
    }
}
