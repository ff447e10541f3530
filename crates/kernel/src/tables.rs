//! Tables that grow with the input, and tables by id.
//!
//! A vector doubles, so memory would follow the input in steps of two. A large table grows by a
//! quarter instead: what is kept follows what is in it, and copying stays a few times that.

use crate::ids::Id;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// Up to here a table doubles.
const LARGE_BYTES: usize = 1 << 16;

/// Appends an item to a table.
#[inline]
pub fn append<T>(table: &mut Vec<T>, item: T) {
    if table.len() == table.capacity() {
        make_room(table);
    }
    table.push(item);
}

#[cold]
fn make_room<T>(table: &mut Vec<T>) {
    table.reserve_exact(more_for::<T>(table.len()));
}

/// How many items more than it has a full table should have room for.
pub fn more_for<T>(count: usize) -> usize {
    room_for(count, size_of::<T>()) - count
}

/// How many items a table that has so many should have room for.
pub fn room_for(count: usize, item_bytes: usize) -> usize {
    let is_large = count * item_bytes >= LARGE_BYTES;
    if is_large {
        count + count / 4
    } else {
        (2 * count).max(4)
    }
}

/// Bytes that a table takes, filled or not.
pub fn bytes_of<T>(table: &Vec<T>) -> usize {
    table.capacity() * size_of::<T>()
}

/// A list with a place for each id from 0 on.
#[derive(Debug)]
pub struct Table<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> Table<I, T> {
    /// A table of defaults, one for each of so many ids.
    pub fn of_defaults(count: usize) -> Self
    where
        T: Default,
    {
        (0..count).map(|_| T::default()).collect()
    }

    /// Appends an item; its id.
    #[inline]
    pub fn push(&mut self, item: T) -> I {
        append(&mut self.items, item);
        I::at(self.items.len() - 1)
    }

    /// The item of an id, if it has one.
    #[inline]
    pub fn find(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Ids and items, in order.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items
            .iter()
            .enumerate()
            .map(|(index, item)| (I::at(index), item))
    }

    /// All ids, in order. The table may change meanwhile.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::at)
    }

    /// The id of an item that is equal to this one, which is appended if there is none.
    pub fn intern(&mut self, item: T) -> I
    where
        T: PartialEq,
    {
        match self.items.iter().position(|known| *known == item) {
            Some(index) => I::at(index),
            None => self.push(item),
        }
    }

    /// Makes the table reach an id.
    pub fn reach(&mut self, id: I, item: T)
    where
        T: Clone,
    {
        if self.items.len() <= id.index() {
            self.items.resize(id.index() + 1, item);
        }
    }

    /// How many items it has room for.
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Bytes of the table, filled or not.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.items)
    }

    /// Removes all items. A table with room for more than `kept` gives its memory back.
    pub fn clear(&mut self, kept: usize) {
        if self.items.capacity() > kept {
            self.items = Vec::new();
        }
        self.items.clear();
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Table::from_iter([])
    }
}

impl<I, T> IntoIterator for Table<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Table {
            items: items.into_iter().collect(),
            ids: PhantomData,
        }
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for Table<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// A table whose ids are used again. An item that is freed stays in its place until then.
#[derive(Debug)]
pub struct Arena<I, T> {
    items: Table<I, T>,
    free: Vec<I>,
}

impl<I: Id, T> Arena<I, T> {
    /// Adds an item; its id.
    pub fn add(&mut self, item: T) -> I {
        match self.free.pop() {
            Some(id) => {
                self.items[id] = item;
                id
            }
            None => self.items.push(item),
        }
    }

    /// The id that the next item gets.
    pub fn next(&self) -> I {
        let free = self.free.last().copied();
        free.unwrap_or_else(|| I::at(self.items.len()))
    }

    /// Gives an id back.
    #[inline]
    pub fn free(&mut self, id: I) {
        self.free.push(id);
    }

    /// Bytes of the table, filled or not.
    pub fn bytes(&self) -> usize {
        self.items.bytes()
    }

    /// Removes all items. A table with room for more than `kept` gives its memory back.
    pub fn clear(&mut self, kept: usize) {
        self.items.clear(kept);
        self.free.clear();
    }
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena {
            items: Table::default(),
            free: Vec::new(),
        }
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_have_room_for_a_quarter_more_at_most() {
        let mut table = Vec::new();
        for number in 0..200_000_u64 {
            append(&mut table, number);
            let room = bytes_of(&table) / size_of::<u64>();
            let is_small = room * size_of::<u64>() <= 2 * LARGE_BYTES;
            assert!(is_small || room <= table.len() + table.len() / 4 + 1);
        }
        assert!(table.iter().enumerate().all(|(at, &n)| at as u64 == n));
    }
}
