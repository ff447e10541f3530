//! What functions may know besides their arguments.

use crate::atomic::Moment;

/// The time of the evaluation, and patterns that were compiled before.
pub struct Environment {
    /// The current date and time, in the time zone that functions report; constant in a query.
    pub now: Moment,
}

impl Environment {
    /// An environment at a time.
    pub fn new(now: Moment) -> Self {
        Environment { now }
    }
}
