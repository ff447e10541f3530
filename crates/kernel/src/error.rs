//! What can go wrong with a document, as fields.

use std::fmt;

/// The family of a failure; decides the exception a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes are not a well-formed, namespace-well-formed document.
    Malformed,
    /// The document passed a limit; the payload is the name of the field in `Limits`.
    Limit(&'static str),
    /// A query has no value for the document; the payload is the code of XQuery.
    Query(&'static str),
    /// Nothing is wrong: somebody asked to stop.
    Interrupted,
}

/// A failure of one document, with its place.
///
/// `code` is stable (`PD0007`); `reason` says what was found and needs no other field to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    /// Malformed, or which limit.
    pub kind: ErrorKind,
    /// Stable code, listed in `tokenizer::codes`.
    pub code: &'static str,
    /// One sentence without the place.
    pub reason: String,
    /// Offset into the decoded input (see `events::Span`).
    pub byte: u64,
    /// 1-based line of that byte.
    pub line: u64,
    /// Open elements, `/orders/order`, as written in the document.
    pub path: String,
}

impl DocumentError {
    /// A failure whose line and path are filled in where it leaves the tokenizer.
    #[cold]
    pub fn at(byte: u64, kind: ErrorKind, code: &'static str, reason: impl Into<String>) -> Self {
        DocumentError {
            kind,
            code,
            reason: reason.into(),
            byte,
            line: 0,
            path: String::new(),
        }
    }

    /// Whether the work was stopped, by a bound on its cost or because somebody asked for it.
    pub fn is_stop(&self) -> bool {
        self.kind == ErrorKind::Interrupted || self.is_due_to_queries()
    }

    /// Whether a limit was passed by what queries make of a document: one of them may be to blame.
    pub fn is_due_to_queries(&self) -> bool {
        let costs = [
            "memory_bytes_max",
            "steps_max",
            "seconds_max",
            "pairs_max",
            "candidates_max",
            "buffer_bytes_max",
        ];
        matches!(self.kind, ErrorKind::Limit(limit) if costs.contains(&limit))
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DocumentError {
            code,
            reason,
            byte,
            line,
            path,
            ..
        } = self;
        write!(f, "{code}: {reason} at byte {byte}, line {line} ({path})")
    }
}

impl std::error::Error for DocumentError {}
