//! Bounds on everything a document could make unbounded.

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// One field per thing that a document could make unbounded. Passing one fails that
        /// document only. Callers choose them all: the kernel has no bounds of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits { $($(#[$doc])* pub $name: u64,)+ }

        impl Limits {
            /// No bounds, but that sums of two of them stay numbers.
            pub const NONE: Limits = Limits { $($name: u64::MAX / 2,)+ };

            /// The limits by their names.
            pub fn read<E>(mut limit: impl FnMut(&str) -> Result<u64, E>) -> Result<Limits, E> {
                Ok(Limits { $($name: limit(stringify!($name))?,)+ })
            }
        }
    };
}

limits! {
    /// Open elements at once.
    depth_max,
    /// Bytes of one element, attribute or target name.
    name_bytes_max,
    /// Attributes of one start tag, defaults included.
    attributes_max,
    /// Bytes of one attribute value after normalisation.
    attribute_bytes_max,
    /// Bytes of one string value, comment, instruction or other token that has to be assembled.
    text_bytes_max,
    /// Candidates held at once.
    candidates_max,
    /// Bytes of input held at once for candidates and open results.
    buffer_bytes_max,
    /// Pairs of a node and a member of its set that expressions look at, beyond a few for each node.
    pairs_max,
    /// Bytes that entity references may add to one document.
    entity_bytes_max,
    /// Entity references open inside each other.
    entity_depth_max,
    /// Bytes of one document type declaration.
    doctype_bytes_max,
    /// Bytes of one document.
    document_bytes_max,
    /// Bytes of memory that one document costs, whoever spends them.
    memory_bytes_max,
    /// Steps of work on one document, beyond a few for each byte.
    steps_max,
    /// Calls of a query's functions inside each other.
    recursion_max,
    /// Results of one subscription in one document.
    results_max,
}
