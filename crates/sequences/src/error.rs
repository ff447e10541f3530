//! Dynamic errors, with the codes of XQuery 1.0.

use std::fmt;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The code of XQuery, such as `FORG0001`.
    pub code: &'static str,
    /// What went wrong, as a sentence without a full stop.
    pub reason: String,
}

/// A value, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with a code and a reason.
    pub fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Error {
            code,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code, self.reason)
    }
}

impl std::error::Error for Error {}
