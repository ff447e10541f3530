//! Rows of messages, column by column.

use super::super::operator::Joined;
use super::fragment::Fragment;
use super::outline::{Outline, OutlineError, Pieces};
use super::selections::Selections;
use crate::results::ordinal_of;
use penstock_kernel::rows::TextColumn;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// A page of rows ends behind so many bytes of values.
const VALUE_BYTES_MAX: usize = 16 << 20;
/// … or behind so many rows.
const ROWS_MAX: usize = 64 << 10;
/// More bytes than this no message has: with the page before it, they are to be counted by an i32.
const MESSAGE_BYTES_MAX: usize = 1 << 30;

/// Rows of messages about tuples, in the order of the tuples and then of the subscriptions.
#[derive(Default)]
pub struct MessageRows {
    /// The subscriptions, by their numbers in the tables.
    pub subscription: Vec<u32>,
    /// The messages.
    pub value: TextColumn,
    /// The document with the latest event time; of several, the last one.
    pub document: TextColumn,
    /// All documents.
    pub documents: TextColumn,
    /// What tells a row from others of its documents.
    pub ordinal: Vec<i64>,
    /// The latest event time.
    pub time: Vec<i64>,
    /// The rows whose messages are too large; they are empty here.
    pub failed: Vec<u32>,
}

/// How far writing has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    tuple: usize,
    row: usize,
}

/// What makes rows of tuples.
pub struct Messages {
    /// The distinct outlines.
    outlines: Vec<Made>,
    numbers: FxHashMap<Box<[u8]>, usize>,
    /// By subscription: its outline.
    own: Vec<usize>,
    place: Place,
    /// Counts what messages are made for.
    turn: u64,
    bytes_max: usize,
}

/// An outline, and the message that it made last.
struct Made {
    outline: Outline,
    turn: u64,
    written: Written,
}

/// What became of a message.
#[derive(Clone)]
enum Written {
    TooLarge,
    At(Range<usize>),
}

/// What the rows of one tuple share.
struct Told {
    /// The first arrival.
    first: u64,
    ordinal: i64,
    latest: usize,
    time: i64,
}

impl Messages {
    /// Nobody's; a message has about so many bytes at most.
    pub fn new(bytes_max: usize) -> Messages {
        Messages {
            outlines: Vec::new(),
            numbers: FxHashMap::default(),
            own: Vec::new(),
            place: Place::default(),
            turn: 0,
            bytes_max: bytes_max.min(MESSAGE_BYTES_MAX),
        }
    }

    /// Adds a subscription with the bytes of its outline; its number is the next one.
    /// `piece_counts` has the number of pieces of each side.
    ///
    /// # Errors
    /// The bytes are no outline.
    pub fn add(&mut self, bytes: &[u8], piece_counts: &[u32]) -> Result<(), OutlineError> {
        let number = match self.numbers.get(bytes) {
            Some(number) => *number,
            None => {
                let outline = Outline::read(bytes, piece_counts)?;
                let number = self.outlines.len();
                self.numbers.insert(bytes.into(), number);
                self.outlines.push(Made {
                    outline,
                    turn: 0,
                    written: Written::TooLarge,
                });
                number
            }
        };
        self.own.push(number);
        Ok(())
    }

    /// Writes the next rows of tuples; None if there are no more, and the next call begins anew.
    pub fn rows(&mut self, tuples: &[Joined], selections: &Selections) -> Option<MessageRows> {
        let mut rows = MessageRows::default();
        let mut numbers = Vec::new();
        while let Some(tuple) = tuples.get(self.place.tuple) {
            let fragments: SmallVec<[Fragment<'_>; 4]> = tuple
                .iter()
                .map(|part| Fragment::of(part.fragment()))
                .collect();
            let told = told(tuple, &fragments);
            let mut pieces = Pieces::new();
            pieces.extend(fragments.iter().map(|one| one.pieces().collect()));
            subscriptions_of(&fragments, selections, &mut numbers);
            numbers.retain(|&number| selections.sees(number, told.first));
            // What was made for the tuple before, or on the page before, is of no use here.
            self.turn += 1;
            while let Some(&number) = numbers.get(self.place.row) {
                if rows.is_full() {
                    return Some(rows);
                }
                self.place.row += 1;
                let outline = self.own[number as usize];
                let made = &mut self.outlines[outline];
                let written = made.write(self.turn, &pieces, self.bytes_max, &mut rows.value.bytes);
                if let Written::TooLarge = written {
                    rows.failed.push(rows.subscription.len() as u32);
                }
                rows.add(number, &fragments, &told);
            }
            self.place = Place {
                tuple: self.place.tuple + 1,
                row: 0,
            };
        }
        if rows.subscription.is_empty() {
            self.place = Place::default();
            return None;
        }
        Some(rows)
    }
}

impl Made {
    /// Appends the message of a tuple, which is put together once.
    fn write(
        &mut self,
        turn: u64,
        pieces: &Pieces<'_>,
        bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> &Written {
        if self.turn == turn {
            if let Written::At(range) = &self.written {
                out.extend_from_within(range.clone());
            }
            return &self.written;
        }
        self.turn = turn;
        self.written = if self.outline.piece_bytes(pieces) > bytes_max {
            Written::TooLarge
        } else {
            let start = out.len();
            self.outline.write(pieces, out);
            Written::At(start..out.len())
        };
        &self.written
    }
}

impl MessageRows {
    fn is_full(&self) -> bool {
        let bytes = self.value.bytes.len() + self.documents.bytes.len();
        bytes >= VALUE_BYTES_MAX || self.subscription.len() >= ROWS_MAX
    }

    fn add(&mut self, number: u32, fragments: &[Fragment<'_>], told: &Told) {
        self.value.finish_value();
        self.subscription.push(number);
        self.ordinal.push(told.ordinal);
        self.time.push(told.time);
        let latest = fragments[told.latest].document;
        self.document.bytes.extend_from_slice(latest);
        self.document.finish_value();
        for fragment in fragments {
            self.documents.bytes.extend_from_slice(fragment.document);
            self.documents.finish_value();
        }
    }
}

fn told(tuple: &Joined, fragments: &[Fragment<'_>]) -> Told {
    let documents = fragments.iter().map(|fragment| fragment.document);
    let nodes = (0..).zip(fragments);
    let ordinal = ordinal_of(documents, nodes.map(|(side, one)| [side, one.number, 0]));
    let mut latest = 0;
    for (at, part) in tuple.iter().enumerate() {
        if part.time >= tuple[latest].time {
            latest = at;
        }
    }
    Told {
        first: tuple.iter().map(|part| part.arrival).min().unwrap_or(0),
        ordinal: ordinal as i64,
        latest,
        time: tuple[latest].time,
    }
}

/// The subscriptions that selected all bindings of a tuple, in order.
fn subscriptions_of(fragments: &[Fragment<'_>], selections: &Selections, out: &mut Vec<u32>) {
    out.clear();
    out.extend_from_slice(selections.free());
    let free = out.len();
    for (at, fragment) in fragments.iter().enumerate() {
        // Each is looked at where it is listed first.
        out.extend(fragment.selected().filter(|&number| {
            selections.asked(number).is_some_and(|asked| {
                asked[0] == at
                    && asked[1..]
                        .iter()
                        .all(|&other| fragments[other].is_selected_by(number))
            })
        }));
    }
    if out.len() > free {
        out.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::binding::Binding;
    use super::super::super::graph::StreamId;
    use super::*;

    /// `<m>[0.0]</m>`
    const OUTLINE: &[u8] = b"\x01m\0\0\x01\x01\0\0";

    fn tuple(piece: &str, selected: &[u32]) -> Joined {
        let part = |stream: u8, document: &str, time: i64| {
            let (mut fragment, piece) = (Vec::new(), format!("<P>{piece}</P>"));
            let pieces = std::iter::once(piece.as_bytes());
            let origin = (document.as_bytes(), 3);
            Fragment::write(origin, selected, pieces, true, &mut fragment);
            let none: &[Vec<&[u8]>] = &[];
            Binding::new(StreamId(stream), 7, time, none, &fragment, &mut Vec::new())
        };
        let parts = [part(0, "d0", 9), part(1, "d1", 8)];
        parts.into_iter().flatten().collect()
    }

    #[test]
    fn a_message_is_made_once_for_all_who_get_it_and_one_that_is_too_large_is_missing() {
        let mut selections = Selections::new(2);
        let mut messages = Messages::new(5);
        for since in [0, 0, 7] {
            selections.add(Vec::new(), since, true);
            assert_eq!(messages.add(OUTLINE, &[1, 1]), Ok(()));
        }
        let tuples = [tuple("a", &[]), tuple("larger", &[])];
        let rows = messages.rows(&tuples, &selections).unwrap_or_default();
        // The last one came when the bindings were there.
        assert_eq!(rows.subscription, [0, 1, 0, 1]);
        assert_eq!(rows.failed, [2, 3]);
        assert_eq!(rows.value.value(1), b"<m>a</m>");
        assert_eq!(rows.value.value(2), b"");
        assert_eq!((rows.document.value(0), rows.time[0]), (&b"d0"[..], 9));
        assert_eq!(rows.documents.value(3), b"d1");
        assert!(messages.rows(&tuples, &selections).is_none());
    }
}
