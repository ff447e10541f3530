//! What operators make of a document: groups of lists, one group for each bound node.

/// A message: what is said, and where its groups lie.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// The plan, by its number.
    pub plan: u32,
    /// What is said.
    pub output: u32,
    /// Its groups, in `Groups::flat`.
    pub from: u32,
    /// One past them.
    pub to: u32,
}

/// Messages as groups (groupSequence-listSequence of section 2.2). A group is a bound node, and for
/// each return path the length of its list and the elements of it.
#[derive(Debug, Default)]
pub struct Groups {
    /// All groups, one behind the other.
    pub flat: Vec<u32>,
    /// The messages.
    pub messages: Vec<Made>,
}

impl Groups {
    pub(super) fn clear(&mut self) {
        self.flat.clear();
        self.messages.clear();
    }
}
