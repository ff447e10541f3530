//! What functions may know besides their arguments.

use super::patterns::Patterns;
use crate::atomic::Moment;

/// The time of the evaluation, and patterns that were compiled before.
pub struct Environment {
    /// The current date and time in UTC; constant while a query is evaluated.
    pub now: Moment,
    pub(super) patterns: Patterns,
}

impl Environment {
    /// An environment at a time. A time in another zone is converted to UTC.
    pub fn new(now: Moment) -> Self {
        Environment {
            now: now.in_zone(Some(0)).unwrap_or(now),
            patterns: Patterns::default(),
        }
    }
}
