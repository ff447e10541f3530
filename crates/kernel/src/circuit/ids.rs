//! The ids of what the circuit keeps.

crate::ids::ids! {
    /// A candidate of the automaton: a node that may become a result.
    CandidateId,
    /// A cell, as long as it lives.
    CellId,
    /// What an input is to the cell that depends on it: its place among the arguments, or the
    /// number of a member. Each kind of cell gives its own meaning.
    Tag,
    /// A step and the rest of its path.
    RouteId,
    /// A step whose nodes are counted by groups.
    CountedId,
    /// A set along an axis that is summed up, or of which the first node is asked.
    FoldedId,
    /// A set that many contexts share, for one comparison.
    SharedId,
    /// A remembered node.
    InfoId,
    /// A sink, as long as it is in use.
    SinkId,
    /// A list of nodes in which positions count.
    ListId,
    /// A comparison of two sets.
    PairId,
    /// The members of a counted step under one node, or in the document.
    GroupId,
    /// The index of a shared set under one node, or in the document.
    IndexId,
    /// The members of a set behind which sums are asked.
    SuffixId,
    /// A number that moves with others (`slack`), in order of asking.
    EntryId,
    /// A member that was undecided when it came, in order of arrival.
    MemberId,
    /// A node that waits for members of a shared set.
    SlotId,
    /// A value that nodes wait for.
    ValueId,
    /// A truth that waits for a value.
    WaiterId,
}
