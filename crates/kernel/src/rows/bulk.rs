//! Rows in bulk, each thing once: which subscriptions matched, and the nodes that they selected.

use super::columns::{Beside, RowKind, Rows};
use crate::ids::{DocumentId, SubscriptionId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// Rows in bulk. An entry says that a subscription matched a document, and which places in
/// `nodes` name the fragments; a filter names none. Entries share places, and places
/// share fragments.
#[derive(Default)]
pub struct BulkRows {
    /// By entry: the number of the document.
    pub document: Vec<DocumentId>,
    /// By entry: the number of the subscription. It may have several entries for a document.
    pub subscription: Vec<SubscriptionId>,
    /// By entry: the first place, and how many. Both are empty if no entry has places.
    pub first: Vec<u32>,
    /// See `first`.
    pub count: Vec<u32>,
    /// Places: rows of `fragments`.
    pub nodes: Vec<u32>,
    /// Each node once, and each value; the subscriptions of these rows mean nothing.
    pub fragments: Rows,
}

impl BulkRows {
    /// The same as rows say.
    pub fn of(mut rows: Rows) -> BulkRows {
        let mut bulk = BulkRows::default();
        let matches = std::mem::take(&mut rows.matches);
        let mut selections = std::mem::take(&mut rows.selections);
        let known = bulk.take_single(rows);
        bulk.add_documents(matches.documents());
        append(&mut bulk.subscription, matches.subscription);
        let fragments = selections.fragments.take();
        if fragments.is_some() || !bulk.first.is_empty() {
            bulk.first.resize(bulk.document.len(), 0);
            bulk.count.resize(bulk.document.len(), 0);
        }
        let Some(fragments) = fragments else {
            return bulk;
        };
        bulk.add_documents(selections.documents());
        let start = bulk.nodes.len() as u32;
        let nodes = selections.items.iter().map(|item| item.fragment);
        if bulk.fragments.is_empty() {
            bulk.nodes.extend(nodes);
            bulk.fragments = *fragments;
        } else {
            let places = bulk.add_fragments(*fragments, known);
            bulk.nodes.extend(nodes.map(|node| places[node as usize]));
        }
        if start > 0 {
            let firsts = selections.first.iter_mut();
            firsts.for_each(|first| *first += start);
        }
        append(&mut bulk.subscription, selections.subscription);
        append(&mut bulk.first, selections.first);
        append(&mut bulk.count, selections.count);
        bulk
    }

    /// Names the document of as many entries as each of these has.
    fn add_documents(&mut self, documents: impl Iterator<Item = (DocumentId, Range<usize>)>) {
        for (document, range) in documents {
            let length = self.document.len() + range.len();
            self.document.resize(length, document);
        }
    }

    /// Takes over rows that stand for themselves. Subscriptions that found the same share it.
    fn take_single(&mut self, mut rows: Rows) -> Known {
        let mut known = Known::default();
        self.fragments.scopes = std::mem::take(&mut rows.scopes);
        let mut beside = std::mem::take(&mut rows.bindings).into_iter().peekable();
        for row in 0..rows.len() {
            let is_node = rows.kind[row] != RowKind::Match as u8;
            self.document.push(rows.document[row]);
            self.subscription.push(rows.subscription[row]);
            self.first.push(self.nodes.len() as u32);
            self.count.push(u32::from(is_node));
            if is_node {
                let values = beside.next_if(|values| values.row as usize == row);
                let place = self.add_fragment((&rows, row), values, 0, &mut known);
                self.nodes.push(place);
            }
        }
        known
    }

    /// Adds fragments, and says which places they have; those that are there have theirs.
    fn add_fragments(&mut self, mut rows: Rows, mut known: Known) -> Vec<u32> {
        let first_scope = self.fragments.add_scopes(&rows);
        let mut beside = std::mem::take(&mut rows.bindings).into_iter().peekable();
        let places = (0..rows.len()).map(|row| {
            let values = beside.next_if(|values| values.row as usize == row);
            self.add_fragment((&rows, row), values, first_scope, &mut known)
        });
        places.collect()
    }

    fn add_fragment(
        &mut self,
        (rows, row): (&Rows, usize),
        values: Option<Beside>,
        first_scope: i32,
        known: &mut Known,
    ) -> u32 {
        let fragments = &mut self.fragments;
        let next = fragments.len() as u32;
        if values.is_none() {
            let place = *known.entry(key(rows, row)).or_insert(next);
            if place != next && is_same(fragments, place as usize, rows, row) {
                return place;
            }
        }
        fragments.append_row(rows, row, SubscriptionId(0), first_scope);
        fragments.append_beside(values);
        next
    }
}

/// The first fragment of each key, of those without values beside them.
type Known = FxHashMap<(DocumentId, u64), u32>;

/// What rows that say the same have in common. The place tells nodes apart, so their source need
/// not be looked at.
fn key(rows: &Rows, row: usize) -> (DocumentId, u64) {
    let mut hasher = FxHasher::default();
    place(rows, row).hash(&mut hasher);
    if rows.start[row] < 0 {
        rows.value.value(row).hash(&mut hasher);
    }
    (rows.document[row], hasher.finish())
}

/// Whether two rows of one document say the same.
fn is_same(one: &Rows, at: usize, other: &Rows, row: usize) -> bool {
    place(one, at) == place(other, row)
        && one.name.value(at) == other.name.value(row)
        && one.value.value(at) == other.value.value(row)
}

fn place(rows: &Rows, row: usize) -> (u8, i64, i64) {
    (rows.kind[row], rows.start[row], rows.end[row])
}

/// Appends without a copy where there is nothing yet.
fn append<T>(to: &mut Vec<T>, mut from: Vec<T>) {
    if to.is_empty() {
        *to = from;
    } else {
        to.append(&mut from);
    }
}
