//! What documents gave, each thing once: who found something, and the nodes that were found.

use super::rows::{RowKind, Rows};

/// Rows in bulk. An entry says that a subscription found something in a document, and which
/// places in `nodes` name the fragments; a filter names none. Entries share places, and places
/// share fragments.
#[derive(Default)]
pub struct Found {
    /// By entry: the number of the document.
    pub document: Vec<u32>,
    /// By entry: the number of the subscription. It may have several entries for a document.
    pub subscription: Vec<u32>,
    /// By entry: the first place, and how many.
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
        let selections = std::mem::take(&mut rows.selections);
        found.take_single(rows);
        for (document, range) in matches.documents() {
            let length = found.document.len() + range.len();
            found.document.resize(length, document);
            found.first.resize(length, 0);
            found.count.resize(length, 0);
        }
        if found.subscription.is_empty() {
            found.subscription = matches.subscription;
        } else {
            found.subscription.extend(matches.subscription);
        }
        let offset = found.fragments.len() as u32;
        let start = found.nodes.len() as u32;
        let Some((fragments, lists, entries)) = selections.into_parts() else {
            return found;
        };
        found
            .nodes
            .extend(lists.items.iter().map(|item| item.fragment + offset));
        found.document.reserve(entries.len());
        found.subscription.reserve(entries.len());
        found.first.reserve(entries.len());
        found.count.reserve(entries.len());
        for (subscription, list, _) in entries {
            let (from, to) = lists.range(list);
            let node = lists.items[from].fragment as usize;
            found.document.push(fragments.document[node]);
            found.subscription.push(subscription);
            found.first.push(start + from as u32);
            found.count.push((to - from) as u32);
        }
        if offset == 0 {
            found.fragments = fragments;
        } else {
            found.fragments.append(fragments);
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
