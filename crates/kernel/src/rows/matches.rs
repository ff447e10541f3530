//! Rows of filters in bulk: many subscriptions match one document, and little else is to say.

use super::columns::{RowKind, Rows};
use crate::ids::{DocumentId, SubscriptionId};
use std::ops::Range;

/// The offset of a match that is not kept. Only small documents have matches in bulk.
const UNKNOWN: u32 = u32::MAX;

/// Matches that are not spread out into rows yet.
#[derive(Debug, Default)]
pub struct Matches {
    /// The subscriptions, documents behind each other.
    pub subscription: Vec<SubscriptionId>,
    /// Offset just past the deciding event. Whoever reads in bulk is not told: what is missing at
    /// the end is `UNKNOWN`.
    decided_at: Vec<u32>,
    /// For each document with matches: how many rows come before them, and where they start.
    runs: Vec<(DocumentId, usize, usize)>,
}

impl Matches {
    /// Starts the matches of a document, behind so many rows.
    pub fn begin(&mut self, document: DocumentId, rows: usize) {
        self.runs.push((document, rows, self.subscription.len()));
    }

    /// Adds matches to the document begun last, with the offsets that decided them.
    pub fn extend(
        &mut self,
        subscriptions: &[SubscriptionId],
        decided_at: impl Iterator<Item = u32>,
    ) {
        self.decided_at.resize(self.subscription.len(), UNKNOWN);
        self.subscription.extend_from_slice(subscriptions);
        self.decided_at.extend(decided_at);
    }

    /// Makes room.
    pub fn reserve(&mut self, count: usize, with_offsets: bool) {
        self.subscription.reserve(count);
        if with_offsets {
            self.decided_at.reserve(count);
        }
    }

    /// Room for matches in the document begun last: for subscriptions, and for offsets.
    pub fn room(&mut self, count: usize) -> (&mut [SubscriptionId], &mut [u32]) {
        let before = self.subscription.len();
        self.subscription.resize(before + count, SubscriptionId(0));
        self.decided_at.resize(before, UNKNOWN);
        self.decided_at.resize(before + count, 0);
        (
            &mut self.subscription[before..],
            &mut self.decided_at[before..],
        )
    }

    /// Room for subscriptions alone.
    pub fn untimed_room(&mut self, count: usize) -> &mut [SubscriptionId] {
        let before = self.subscription.len();
        self.subscription.resize(before + count, SubscriptionId(0));
        &mut self.subscription[before..]
    }

    /// Where matches end now, for `rewind`.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.subscription.len(), self.runs.len())
    }

    /// Drops the matches since then.
    pub(super) fn rewind(&mut self, (length, runs): (usize, usize)) {
        self.subscription.truncate(length);
        self.decided_at.truncate(length);
        self.runs.truncate(runs);
    }

    /// How many documents with matches there are.
    pub fn document_count(&self) -> usize {
        self.runs.len()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.subscription.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.subscription.is_empty()
    }

    /// Documents, and which matches are theirs.
    pub fn documents(&self) -> impl Iterator<Item = (DocumentId, Range<usize>)> + '_ {
        let runs = self.runs.iter().enumerate();
        runs.map(|(run, &(document, ..))| (document, self.range(run)))
    }

    /// Which matches are those of a document, by its place among those that have some.
    pub(super) fn range(&self, run: usize) -> Range<usize> {
        let next = self.runs.get(run + 1);
        self.runs[run].2..next.map_or(self.len(), |next| next.2)
    }

    /// Behind how many rows each document's come.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs.iter().map(|run| run.1)
    }

    /// Appends the rows of one document.
    pub(super) fn spread_run(&self, run: usize, to: &mut Rows) {
        self.fill_run(run, to);
        let length = to.len();
        to.ordinal.resize(length, 0);
        to.start.resize(length, -1);
        to.end.resize(length, -1);
        to.node.resize(length, 0);
        to.scope.resize(length, -1);
        for column in [&mut to.name, &mut to.value] {
            let end = column.bytes.len() as i32;
            column.offsets.resize(length + 1, end);
        }
    }

    /// Appends to the columns in which the rows differ, and to that of their kind.
    pub(super) fn fill_run(&self, run: usize, to: &mut Rows) {
        let range = self.range(run);
        let length = to.len() + range.len();
        to.document.resize(length, self.runs[run].0);
        to.subscription
            .extend_from_slice(&self.subscription[range.clone()]);
        match self.decided_at.get(range) {
            Some(offsets) => to
                .decided_at
                .extend(offsets.iter().map(|&at| row_offset(at))),
            None => to.decided_at.resize(length, row_offset(UNKNOWN)),
        }
        to.kind.resize(length, RowKind::Match as u8);
    }
}

/// An offset as rows have it.
#[inline]
fn row_offset(offset: u32) -> i64 {
    if offset == UNKNOWN {
        -1
    } else {
        i64::from(offset)
    }
}
