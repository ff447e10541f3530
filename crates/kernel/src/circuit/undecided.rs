//! Members that were undecided when they came, by number.

use super::ids::MemberId;
use std::collections::VecDeque;

/// What is kept of each undecided member until it is decided. Numbers grow for ever; members at the
/// front that are decided go.
#[derive(Debug)]
pub struct Undecided<T> {
    members: VecDeque<Option<T>>,
    /// How many members are gone from the front.
    gone: u32,
}

impl<T> Default for Undecided<T> {
    fn default() -> Self {
        Undecided {
            members: VecDeque::new(),
            gone: 0,
        }
    }
}

impl<T> Undecided<T> {
    /// Adds a member; its number.
    pub fn push(&mut self, member: T) -> MemberId {
        self.members.push_back(Some(member));
        MemberId(self.gone + self.members.len() as u32 - 1)
    }

    /// A member, unless it is decided.
    pub fn get_mut(&mut self, number: MemberId) -> Option<&mut T> {
        self.members[(number.0 - self.gone) as usize].as_mut()
    }

    /// Takes out a member that is decided; nothing where it was already.
    pub fn take(&mut self, number: MemberId) -> Option<T> {
        let member = self.members[(number.0 - self.gone) as usize].take();
        while self.members.front().is_some_and(Option::is_none) {
            self.members.pop_front();
            self.gone += 1;
        }
        member
    }

    /// The members that are undecided.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.members.iter().flatten()
    }

    pub fn bytes(&self) -> usize {
        self.members.capacity() * size_of::<Option<T>>()
    }
}
