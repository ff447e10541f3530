//! Built-in functions that the evaluator knows itself: those of nodes and of whole sequences.

/// A function of nodes or of sequences of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum NodeFunction {
    BaseUri,
    Boolean,
    Count,
    Data,
    DeepEqual,
    DocumentUri,
    Empty,
    ExactlyOne,
    Exists,
    Id,
    InScopePrefixes,
    InsertBefore,
    Lang,
    LocalName,
    Name,
    NamespaceUri,
    NamespaceUriForPrefix,
    Nilled,
    NodeName,
    Not,
    OneOrMore,
    Remove,
    ResolveQName,
    Reverse,
    Root,
    String,
    Subsequence,
    Trace,
    Unordered,
    ZeroOrOne,
}

use NodeFunction as F;

/// Names, and how many arguments there are at least and at most.
const FUNCTIONS: [(&str, NodeFunction, usize, usize); 30] = [
    ("base-uri", F::BaseUri, 1, 1),
    ("boolean", F::Boolean, 1, 1),
    ("count", F::Count, 1, 1),
    ("data", F::Data, 1, 1),
    ("deep-equal", F::DeepEqual, 2, 3),
    ("document-uri", F::DocumentUri, 1, 1),
    ("empty", F::Empty, 1, 1),
    ("exactly-one", F::ExactlyOne, 1, 1),
    ("exists", F::Exists, 1, 1),
    ("id", F::Id, 2, 2),
    ("in-scope-prefixes", F::InScopePrefixes, 1, 1),
    ("insert-before", F::InsertBefore, 3, 3),
    ("lang", F::Lang, 2, 2),
    ("local-name", F::LocalName, 1, 1),
    ("name", F::Name, 1, 1),
    ("namespace-uri", F::NamespaceUri, 1, 1),
    ("namespace-uri-for-prefix", F::NamespaceUriForPrefix, 2, 2),
    ("nilled", F::Nilled, 1, 1),
    ("node-name", F::NodeName, 1, 1),
    ("not", F::Not, 1, 1),
    ("one-or-more", F::OneOrMore, 1, 1),
    ("remove", F::Remove, 2, 2),
    ("resolve-QName", F::ResolveQName, 2, 2),
    ("reverse", F::Reverse, 1, 1),
    ("root", F::Root, 1, 1),
    ("string", F::String, 1, 1),
    ("subsequence", F::Subsequence, 2, 3),
    ("trace", F::Trace, 2, 2),
    ("unordered", F::Unordered, 1, 1),
    ("zero-or-one", F::ZeroOrOne, 1, 1),
];

/// Functions whose last argument is the context item where it is left out, and how many arguments
/// they have then.
const OF_CONTEXT: [(&str, usize); 11] = [
    ("base-uri", 0),
    ("id", 1),
    ("lang", 1),
    ("local-name", 0),
    ("name", 0),
    ("namespace-uri", 0),
    ("normalize-space", 0),
    ("number", 0),
    ("root", 0),
    ("string", 0),
    ("string-length", 0),
];

impl NodeFunction {
    /// The function with a name that takes so many arguments.
    pub fn find(name: &str, arity: usize) -> Option<NodeFunction> {
        let mut functions = FUNCTIONS.iter();
        let (_, function, ..) = functions
            .find(|(known, _, least, most)| *known == name && (*least..=*most).contains(&arity))?;
        Some(*function)
    }

    /// Whether the value is a truth value.
    pub fn is_boolean(self) -> bool {
        matches!(
            self,
            F::Boolean | F::DeepEqual | F::Empty | F::Exists | F::Lang | F::Not
        )
    }
}

/// Whether a call with so few arguments gets the context item as one more.
pub(super) fn takes_context(name: &str, arity: usize) -> bool {
    OF_CONTEXT.contains(&(name, arity))
}
