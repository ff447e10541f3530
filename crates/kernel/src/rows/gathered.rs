//! Rows that are bindings for joins.
//!
//! The program of a side gives a row for each value that a binding joins by, a string with the
//! number of its attribute before it, and then a row that is the fragment, which ends the binding.

use super::columns::{RowKind, Rows};
use crate::ids::{DocumentId, SubscriptionId};
use std::collections::BTreeMap;

/// The character of the first attribute; those of the others follow.
const FIRST_ATTRIBUTE: u8 = b'0';

/// A binding of one side.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered {
    /// The document.
    pub document: DocumentId,
    /// The side, by its number behind those of the subscriptions.
    pub number: u32,
    /// Attributes and values.
    pub values: Vec<(u8, Box<[u8]>)>,
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
        let mut open: BTreeMap<u32, Vec<(u8, Box<[u8]>)>> = BTreeMap::new();
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
