//! Which of the paper's strategies is used.

/// How much of a query the path matching is shared for, and whether plans are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Binding paths only (PathSharing-F, section 3.1).
    Bindings,
    /// Paths of conditions too (PathSharing-FW, section 3.2).
    Conditions,
    /// Return paths too (PathSharing-FWR, section 3.3).
    Returns,
    /// All paths, and joins, selections and groups of all plans (section 5.2).
    Plans,
}

/// What is known to leave out operators, or to choose cheaper ones (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Nothing is left out.
    Nothing,
    /// The queries: Opt(q).
    Queries,
    /// The queries and the schema of the stream, if it has one: Opt(q+dtd).
    Schema,
}

/// A strategy of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// What is shared.
    pub sharing: Sharing,
    /// What is known.
    pub knowledge: Knowledge,
}

/// An element that passes a test, in another one that passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// Nothing is known.
    Unknown,
    /// It never lies in one.
    Never,
    /// It may; elements on one loop may lie in each other.
    Loop(u32),
}
