//! What documents gave, each thing once: who found something, and the nodes that were found.

use super::columns::{RowKind, Rows};

/// Rows in bulk. An entry says that a subscription found something in a document, and which
/// places in `nodes` name the fragments; a filter names none. Entries share places, and places
/// share fragments.
#[derive(Default)]
pub struct Found {
    /// By entry: the number of the document.
    pub document: Vec<u32>,
    /// By entry: the number of the subscription. It may have several entries for a document.
    pub subscription: Vec<u32>,
    /// By entry: the first place, and how many. Both are empty if no entry has places.
    pub first: Vec<u32>,
    /// See `first`.
    pub count: Vec<u32>,
    /// Places: rows of `fragments`.
    pub nodes: Vec<u32>,
    /// Each node once, and each value; the subscriptions of these rows mean nothing.
    pub fragments: Rows,
}

impl Found {
    /// The same as rows say.
    pub fn of(mut rows: Rows) -> Found {
        let mut found = Found::default();
        let matches = std::mem::take(&mut rows.matches);
        let mut selections = std::mem::take(&mut rows.selections);
        found.take_single(rows);
        for (document, range) in matches.documents() {
            let length = found.document.len() + range.len();
            found.document.resize(length, document);
        }
        append(&mut found.subscription, matches.subscription);
        let Some(fragments) = selections.fragments.take() else {
            if !found.first.is_empty() {
                found.first.resize(found.document.len(), 0);
                found.count.resize(found.document.len(), 0);
            }
            return found;
        };
        found.first.resize(found.document.len(), 0);
        found.count.resize(found.document.len(), 0);
        for (document, range) in selections.documents() {
            let length = found.document.len() + range.len();
            found.document.resize(length, document);
        }
        let offset = found.fragments.len() as u32;
        let start = found.nodes.len() as u32;
        let nodes = selections.items.iter();
        found.nodes.extend(nodes.map(|item| item.fragment + offset));
        if start > 0 {
            selections
                .first
                .iter_mut()
                .for_each(|first| *first += start);
        }
        append(&mut found.subscription, selections.subscription);
        append(&mut found.first, selections.first);
        append(&mut found.count, selections.count);
        if offset == 0 {
            found.fragments = *fragments;
        } else {
            found.fragments.append(*fragments);
        }
        found
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
                self.fragments.append_row(&rows, row, 0, 0);
                let values = beside.next_if(|values| values.row as usize == row);
                self.fragments.append_beside(values);
            }
        }
    }
}

/// Appends without a copy where there is nothing yet.
fn append(to: &mut Vec<u32>, mut from: Vec<u32>) {
    if to.is_empty() {
        *to = from;
    } else {
        to.append(&mut from);
    }
}
