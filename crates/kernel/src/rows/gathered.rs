//! Rows that are bindings for joins.
//!
//! The program of a side gives a row for each value that a binding joins by, a string with the
//! number of its attribute before it, and then a row that is the fragment, which ends the binding.

use super::columns::{RowKind, Rows};
use crate::ids::{DocumentId, SubscriptionId};
use std::collections::BTreeMap;

/// The character of the first attribute; those of the others follow.
const FIRST_ATTRIBUTE: u8 = b'0';

/// Attributes and values.
type Values = Vec<(u8, Box<[u8]>)>;

/// A binding of one side.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered {
    /// The document.
    pub document: DocumentId,
    /// The side, by its number behind those of the subscriptions.
    pub number: u32,
    /// Attributes and values.
    pub values: Values,
    /// What the message needs.
    pub fragment: Box<[u8]>,
}

impl Rows {
    /// Takes the bindings out of the rows: what subscriptions from a number on gave. They are in
    /// the order in which they were complete; a binding that was broken off is dropped.
    pub fn take_gathered(&mut self, first: SubscriptionId) -> Vec<Gathered> {
        let is_gathered = |subscription: &SubscriptionId| subscription.0 >= first.0;
        if !self.subscription.iter().any(is_gathered) {
            return Vec::new();
        }
        let mut rows = std::mem::take(self).spread();
        let mut rest = Rows::default();
        let first_scope = rest.add_scopes(&rows);
        let mut beside = std::mem::take(&mut rows.bindings).into_iter().peekable();
        // Sides take turns in the rows of one document.
        let mut open: BTreeMap<u32, Values> = BTreeMap::new();
        let mut found = Vec::new();
        for row in 0..rows.len() {
            let subscription = rows.subscription[row];
            if !is_gathered(&subscription) {
                rest.append_row(&rows, row, subscription, first_scope);
                rest.append_beside(beside.next_if(|values| values.row as usize == row));
                continue;
            }
            let (number, value) = (subscription.0 - first.0, rows.value.value(row));
            let values = open.entry(number).or_default();
            match value.split_first() {
                Some((attribute, value)) if rows.kind[row] == RowKind::String as u8 => {
                    values.push((attribute.saturating_sub(FIRST_ATTRIBUTE), value.into()));
                }
                _ => found.push(Gathered {
                    document: rows.document[row],
                    number,
                    values: std::mem::take(values),
                    fragment: value.into(),
                }),
            }
        }
        *self = rest;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::RowHead;

    fn add(rows: &mut Rows, subscription: u32, kind: RowKind, value: &[u8]) {
        rows.value.bytes.extend_from_slice(value);
        let head = RowHead {
            document: DocumentId(3),
            subscription: SubscriptionId(subscription),
            ordinal: 0,
            kind,
            span: None,
            decided_at: 0,
            node: 0,
        };
        rows.push(head, b"", None);
    }

    #[test]
    fn bindings_of_sides_that_take_turns_are_kept_apart() {
        let mut rows = Rows::default();
        add(&mut rows, 0, RowKind::String, b"0 a row");
        add(&mut rows, 1, RowKind::String, b"0x");
        add(&mut rows, 2, RowKind::String, b"1y");
        add(&mut rows, 1, RowKind::Element, b"<f/>");
        add(&mut rows, 1, RowKind::Element, b"<g/>");
        add(&mut rows, 2, RowKind::Element, b"<h/>");
        add(&mut rows, 2, RowKind::String, b"0broken off");
        let found = rows.take_gathered(SubscriptionId(1));
        let said: Vec<_> = found
            .iter()
            .map(|one| (one.number, one.values.len(), &*one.fragment))
            .collect();
        assert_eq!(
            said,
            [(0, 1, &b"<f/>"[..]), (0, 0, b"<g/>"), (1, 1, b"<h/>")]
        );
        assert_eq!(found[2].values[0], (1, b"y"[..].into()));
        assert_eq!((rows.len(), rows.value.value(0)), (1, &b"0 a row"[..]));
    }
}
