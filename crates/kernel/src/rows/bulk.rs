//! Rows in bulk, each thing once: which subscriptions matched, and the nodes that they selected.

use super::columns::{RowKind, Rows};
use crate::ids::{DocumentId, SubscriptionId};
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
        bulk.take_single(rows);
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
        let offset = bulk.fragments.len() as u32;
        let start = bulk.nodes.len() as u32;
        let nodes = selections.items.iter();
        bulk.nodes.extend(nodes.map(|item| item.fragment + offset));
        if start > 0 {
            let firsts = selections.first.iter_mut();
            firsts.for_each(|first| *first += start);
        }
        append(&mut bulk.subscription, selections.subscription);
        append(&mut bulk.first, selections.first);
        append(&mut bulk.count, selections.count);
        if offset == 0 {
            bulk.fragments = *fragments;
        } else {
            bulk.fragments.append(*fragments);
        }
        bulk
    }

    /// Names the document of as many entries as each of these has.
    fn add_documents(&mut self, documents: impl Iterator<Item = (DocumentId, Range<usize>)>) {
        for (document, range) in documents {
            let length = self.document.len() + range.len();
            self.document.resize(length, document);
        }
    }

    /// Takes over rows that stand for themselves.
    fn take_single(&mut self, mut rows: Rows) {
        self.fragments.scopes = std::mem::take(&mut rows.scopes);
        let mut beside = std::mem::take(&mut rows.bindings).into_iter().peekable();
        for row in 0..rows.len() {
            let is_node = rows.kind[row] != RowKind::Match as u8;
            self.document.push(rows.document[row]);
            self.subscription.push(rows.subscription[row]);
            self.first.push(self.nodes.len() as u32);
            self.count.push(u32::from(is_node));
            if is_node {
                self.nodes.push(self.fragments.len() as u32);
                self.fragments.append_row(&rows, row, SubscriptionId(0), 0);
                let values = beside.next_if(|values| values.row as usize == row);
                self.fragments.append_beside(values);
            }
        }
    }
}

/// Appends without a copy where there is nothing yet.
fn append<T>(to: &mut Vec<T>, mut from: Vec<T>) {
    if to.is_empty() {
        *to = from;
    } else {
        to.append(&mut from);
    }
}
