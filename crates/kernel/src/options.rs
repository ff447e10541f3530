//! What callers choose about the reading of documents.

/// How a session reads documents and hands out rows. Callers choose it all.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rows in document order per subscription instead of as early as possible.
    pub in_document_order: bool,
    /// Stream out decided elements before they are complete.
    pub in_parts: bool,
    /// Record every event.
    pub is_traced: bool,
    /// Plans may come in the middle of a document: the start tags of open elements are kept.
    pub is_live: bool,
    /// Bytes of the automaton's states to keep.
    pub cache_bytes_max: usize,
    /// From so many distinct questions on, whole documents are asked them instead of matched;
    /// none for as many as the strategy thinks best.
    pub questions_min: Option<u32>,
}
