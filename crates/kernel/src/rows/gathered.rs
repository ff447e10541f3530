//! Rows that are bindings for joins.
//!
//! The program of a side gives a row for each value of a binding, a string with the number of its
//! attribute before it, and then one for each piece of its fragment: an element that wraps it. The
//! last one tells so by its name, and has the number of the binding in its loop as first attribute.

use super::columns::{RowKind, Rows, TextColumn};
use crate::ids::{DocumentId, SubscriptionId};
use smallvec::SmallVec;
use std::ops::Range;

/// The character of the first attribute; those of the others follow.
const FIRST_ATTRIBUTE: u8 = b'0';
/// The first letters of the names of last pieces.
const LAST: &[u8] = b"fPV";
/// What stands before the number of a binding, behind such a name.
const NUMBER: &[u8] = b" n=\"";

/// Bindings of several sides, in the order in which they were complete.
#[derive(Debug, Default)]
pub struct Gathered {
    heads: Vec<Head>,
    groups: Vec<Group>,
    /// The rows of one binding after those of the other.
    rows: Vec<u32>,
    kind: Vec<u8>,
    value: TextColumn,
}

/// A binding.
#[derive(Debug)]
struct Head {
    group: u32,
    /// Its number in the loop, from 0 on.
    number: u32,
    /// Where the last piece begins in its row, without that number.
    last_at: u32,
    rows: Range<u32>,
}

/// The bindings of one side in one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The document.
    pub document: DocumentId,
    /// The side, by its number behind those of the subscriptions.
    pub side: u32,
    /// How many bindings there are.
    pub count: u32,
}

/// A binding that is not complete yet.
#[derive(Default)]
struct Open {
    document: DocumentId,
    /// The group of the binding before it, if that is of the same document.
    group: Option<u32>,
    rows: SmallVec<[u32; 8]>,
}

impl Gathered {
    /// How many bindings there are.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The groups, in the order of their first bindings.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The group of a binding, by its place.
    pub fn group(&self, binding: usize) -> usize {
        self.heads[binding].group as usize
    }

    /// The number of a binding among those that its loop went through, from 0 on.
    pub fn number(&self, binding: usize) -> u32 {
        self.heads[binding].number
    }

    /// The side of a binding, by its number behind those of the subscriptions.
    pub fn side(&self, binding: usize) -> u32 {
        self.groups[self.group(binding)].side
    }

    /// The values of a binding, each with the number of its attribute.
    pub fn values(&self, binding: usize) -> impl Iterator<Item = (u8, &[u8])> + Clone {
        self.rows_of(binding).filter_map(|row| {
            let (attribute, value) = self.value.value(row).split_first()?;
            let is_value = self.kind[row] == RowKind::String as u8;
            is_value.then_some((attribute.saturating_sub(FIRST_ATTRIBUTE), value))
        })
    }

    /// The pieces of a binding's fragment, in their wrappers.
    pub fn pieces(&self, binding: usize) -> impl Iterator<Item = &[u8]> + Clone {
        let Head { last_at, rows, .. } = &self.heads[binding];
        let last = self.rows[rows.end as usize - 1] as usize;
        let rows = self.rows_of(binding);
        let rows = rows.filter(|&row| self.kind[row] != RowKind::String as u8);
        rows.map(move |row| {
            let start = if row == last { *last_at as usize } else { 0 };
            &self.value.value(row)[start..]
        })
    }

    fn rows_of(&self, binding: usize) -> impl Iterator<Item = usize> + Clone {
        let Range { start, end } = self.heads[binding].rows;
        let rows = &self.rows[start as usize..end as usize];
        rows.iter().map(|&row| row as usize)
    }
}

impl TextColumn {
    /// Takes the number out of a last piece: the number, from 0 on, and where the piece begins then.
    fn take_number(&mut self, row: usize) -> (u32, u32) {
        let start = self.offsets[row] as usize;
        let piece = &mut self.bytes[start..self.offsets[row + 1] as usize];
        let Some(digits) = piece.get(2..).and_then(|tag| tag.strip_prefix(NUMBER)) else {
            return (0, 0);
        };
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit());
        let count = count.count();
        let number = digits[..count].iter().fold(0u32, |number, digit| {
            number
                .wrapping_mul(10)
                .wrapping_add(u32::from(digit - b'0'))
        });
        let taken = NUMBER.len() + count + 1;
        piece.copy_within(..2, taken);
        (number.wrapping_sub(1), taken as u32)
    }
}

impl Rows {
    /// Takes the bindings out of the rows: what subscriptions from a number on gave. A binding that
    /// was broken off is dropped.
    pub fn take_gathered(&mut self, first: SubscriptionId) -> Gathered {
        let is_gathered = |subscription: &SubscriptionId| subscription.0 >= first.0;
        if !self.subscription.iter().any(is_gathered) {
            return Gathered::default();
        }
        let mut rows = std::mem::take(self).spread();
        if !rows.subscription.iter().all(is_gathered) {
            *self = rows.without(|rows, row| is_gathered(&rows.subscription[row]));
        }
        let mut gathered = Gathered::default();
        // Sides take turns in the rows of one document.
        let mut open: Vec<Open> = Vec::new();
        for row in 0..rows.len() {
            let (subscription, document) = (rows.subscription[row], rows.document[row]);
            if !is_gathered(&subscription) {
                continue;
            }
            let side = (subscription.0 - first.0) as usize;
            if open.len() <= side {
                open.resize_with(side + 1, Open::default);
            }
            let own = &mut open[side];
            if own.document != document {
                *own = Open {
                    document,
                    ..Open::default()
                };
            }
            own.rows.push(row as u32);
            let is_piece = rows.kind[row] != RowKind::String as u8;
            let name = rows.value.value(row).get(1);
            if is_piece && name.is_some_and(|letter| LAST.contains(letter)) {
                let group = *own.group.get_or_insert_with(|| {
                    gathered.groups.push(Group {
                        document,
                        side: side as u32,
                        count: 0,
                    });
                    gathered.groups.len() as u32 - 1
                });
                let count = &mut gathered.groups[group as usize].count;
                let start = gathered.rows.len() as u32;
                gathered.rows.extend(own.rows.drain(..));
                let (number, last_at) = rows.value.take_number(row);
                gathered.heads.push(Head {
                    group,
                    number,
                    last_at,
                    rows: start..gathered.rows.len() as u32,
                });
                *count += 1;
            }
        }
        gathered.kind = std::mem::take(&mut rows.kind);
        gathered.value = std::mem::take(&mut rows.value);
        gathered
    }

    /// Drops the rows of documents, whose numbers are in order.
    pub fn drop_documents(&mut self, documents: &[u32]) {
        let mut rows = std::mem::take(self).spread();
        *self = rows.without(|rows, row| documents.binary_search(&rows.document[row].0).is_ok());
    }

    /// The rows that are not left out.
    fn without(&mut self, is_left_out: impl Fn(&Rows, usize) -> bool) -> Rows {
        let mut rest = Rows::default();
        let first_scope = rest.add_scopes(self);
        let mut beside = std::mem::take(&mut self.bindings).into_iter().peekable();
        for row in 0..self.len() {
            let values = beside.next_if(|values| values.row as usize == row);
            if !is_left_out(self, row) {
                rest.append_row(self, row, self.subscription[row], first_scope);
                rest.append_beside(values);
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::RowHead;

    fn add(rows: &mut Rows, document: u32, subscription: u32, kind: RowKind, value: &[u8]) {
        rows.value.bytes.extend_from_slice(value);
        let head = RowHead {
            document: DocumentId(document),
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
        add(&mut rows, 3, 0, RowKind::String, b"0 a row");
        add(&mut rows, 3, 1, RowKind::String, b"0x");
        add(&mut rows, 3, 2, RowKind::String, b"1y");
        add(&mut rows, 3, 1, RowKind::Element, b"<p/>");
        add(&mut rows, 3, 1, RowKind::Element, b"<P n=\"1\">1</P>");
        add(&mut rows, 3, 1, RowKind::Element, b"<f n=\"3\"/>");
        add(&mut rows, 3, 2, RowKind::Element, b"<V n=\"12\" a=\"7\"/>");
        add(&mut rows, 3, 2, RowKind::String, b"0broken off");
        add(&mut rows, 4, 2, RowKind::Element, b"<P n=\"1\"/>");
        let found = rows.take_gathered(SubscriptionId(1));
        let said: Vec<_> = (0..found.len())
            .map(|one| {
                let pieces: Vec<_> = found.pieces(one).collect();
                (found.side(one), found.values(one).count(), pieces)
            })
            .collect();
        assert_eq!(
            said,
            [
                (0, 1, vec![&b"<p/>"[..], b"<P>1</P>"]),
                (0, 0, vec![b"<f/>"]),
                (1, 1, vec![b"<V a=\"7\"/>"]),
                (1, 0, vec![b"<P/>"]),
            ]
        );
        assert_eq!(found.values(2).next(), Some((1, &b"y"[..])));
        let groups = found.groups().iter().map(|one| (one.document.0, one.count));
        assert_eq!(groups.collect::<Vec<_>>(), [(3, 2), (3, 1), (4, 1)]);
        let numbers: Vec<_> = (0..found.len()).map(|one| found.number(one)).collect();
        assert_eq!((found.group(1), numbers), (0, vec![0, 2, 11, 0]));
        assert_eq!((rows.len(), rows.value.value(0)), (1, &b"0 a row"[..]));
    }
}
