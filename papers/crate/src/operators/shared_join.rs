//! Shared joins: one for all semijoins of a binding path with a predicate path (section 5.2).
//!
//! Selections are pulled up over them, so all tuples of both sides are joined, and nothing but the
//! binding path and the predicate path tells joins apart. The order of the bound nodes stays.

use super::columns::{ColumnId, Columns};
use super::streams::{StreamId, Streams};
use rustc_hash::FxHashMap;

/// A join, and what it found in a document.
#[derive(Debug)]
pub(super) struct SharedJoin {
    pub bound: StreamId,
    pub column: ColumnId,
    pub is_ordered: bool,
    /// Bound nodes, and the place of the value in the column.
    pub pairs: Vec<(u32, u32)>,
}

/// Values by bound node, for joins that hash.
pub(super) type Table = FxHashMap<u32, Vec<u32>>;

impl SharedJoin {
    /// Joins the bound nodes with the values of a document.
    pub fn run(&mut self, streams: &Streams, columns: &Columns, table: &mut Table) {
        self.pairs.clear();
        let column = columns.get(self.column);
        let (left, right) = (streams.get(self.bound), streams.get(column.stream));
        if left.is_empty() || column.tuples.is_empty() {
            return;
        }
        let last = left.width - 1;
        let bound_of = |place: usize| right.field(column.tuples[place], last as u32);
        if self.is_ordered {
            let (mut from, count) = (0, column.tuples.len());
            for tuple in left.iter() {
                let node = tuple[last];
                while from < count && bound_of(from) < node {
                    from += 1;
                }
                let mut at = from;
                while at < count && bound_of(at) == node {
                    self.pairs.push((node, at as u32));
                    at += 1;
                }
            }
            return;
        }
        table.values_mut().for_each(Vec::clear);
        for place in 0..column.tuples.len() {
            table.entry(bound_of(place)).or_default().push(place as u32);
        }
        for tuple in left.iter() {
            if let Some(places) = table.get(&tuple[last]) {
                let pairs = places.iter().map(|&place| (tuple[last], place));
                self.pairs.extend(pairs);
            }
        }
    }
}
