//! Bounds on everything a document could make unbounded.

/// One field per thing that a document could make unbounded. Passing one fails that document only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open elements at once.
    pub depth_max: u64,
    /// Bytes of one element, attribute or target name.
    pub name_bytes_max: u64,
    /// Attributes of one start tag, defaults included.
    pub attributes_max: u64,
    /// Bytes of one attribute value after normalisation.
    pub attribute_bytes_max: u64,
    /// Bytes of one string value, comment, instruction or other token that has to be assembled.
    pub text_bytes_max: u64,
    /// Candidates held at once.
    pub candidates_max: u64,
    /// Bytes of input held at once for candidates and open results.
    pub buffer_bytes_max: u64,
    /// Pairs of a node and a member of its set that expressions look at, beyond a few for each node.
    pub pairs_max: u64,
    /// Bytes that entity references may add to one document.
    pub entity_bytes_max: u64,
    /// Entity references open inside each other.
    pub entity_depth_max: u64,
    /// Bytes of one document type declaration.
    pub doctype_bytes_max: u64,
    /// Bytes of one document.
    pub document_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth_max: 10_000,
            name_bytes_max: 65_536,
            attributes_max: 10_000,
            attribute_bytes_max: 10 << 20,
            text_bytes_max: 64 << 20,
            candidates_max: 1_000_000,
            buffer_bytes_max: 256 << 20,
            pairs_max: 4_000_000,
            entity_bytes_max: 8 << 20,
            entity_depth_max: 32,
            doctype_bytes_max: 4 << 20,
            document_bytes_max: 1 << 40,
        }
    }
}
