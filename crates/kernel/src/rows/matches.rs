//! Rows of filters in bulk: many subscriptions match one document, and little else is to say.

use super::columns::{Beside, RowKind, Rows};
use std::iter::Peekable;
use std::ops::Range;

/// The offset of a match in bulk, which is not kept.
const UNTOLD: i64 = -1;

/// Matches that are not spread out into rows yet.
#[derive(Debug, Default)]
pub struct Matches {
    /// Numbers of the subscriptions, documents behind each other.
    pub subscription: Vec<u32>,
    /// Offset just past the deciding event. Whoever reads in bulk is not told: what is missing at
    /// the end is `UNTOLD`.
    decided_at: Vec<i64>,
    /// For each document with matches: its number, how many rows come before them, and where
    /// they start.
    runs: Vec<(u32, usize, usize)>,
}

impl Matches {
    /// Starts the matches of a document, behind so many rows.
    pub fn begin(&mut self, document: u32, rows: usize) {
        self.runs.push((document, rows, self.subscription.len()));
    }

    /// Adds matches to the document begun last, with the offsets that decided them.
    pub fn extend(&mut self, subscriptions: &[u32], decided_at: &[i64]) {
        self.decided_at.resize(self.subscription.len(), UNTOLD);
        self.subscription.extend_from_slice(subscriptions);
        self.decided_at.extend_from_slice(decided_at);
    }

    /// Makes room.
    pub fn reserve(&mut self, count: usize) {
        self.subscription.reserve(count);
    }

    /// Room for matches without offsets in the document begun last.
    pub fn room(&mut self, count: usize) -> &mut [u32] {
        let before = self.subscription.len();
        self.subscription.resize(before + count, 0);
        &mut self.subscription[before..]
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
    pub fn documents(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        self.runs
            .iter()
            .enumerate()
            .map(|(index, &(number, _, from))| {
                let to = self.runs.get(index + 1).map_or(self.len(), |next| next.2);
                (number, from..to)
            })
    }
}

impl Rows {
    /// Puts what was found in bulk among the rows, each document's behind its others.
    pub fn spread(mut self) -> Rows {
        if self.matches.is_empty() && self.selections.is_empty() {
            return self;
        }
        let matches = std::mem::take(&mut self.matches);
        let mut selections = std::mem::take(&mut self.selections);
        let mut spread = Rows::default();
        // Scopes of the fragments come behind those of the rows.
        let shift = self.scopes.len() as i32;
        spread.scopes = std::mem::take(&mut self.scopes);
        spread.scopes.extend(selections.take_scopes());
        let matched = matches
            .runs
            .iter()
            .enumerate()
            .map(|(run, &(_, at, _))| (at, 0, run));
        let selected = selections
            .places()
            .enumerate()
            .map(|(run, at)| (at, 1, run));
        let mut runs: Vec<(usize, u8, usize)> = matched.chain(selected).collect();
        runs.sort_unstable();
        let mut beside = std::mem::take(&mut self.bindings).into_iter().peekable();
        let mut row = 0;
        for (at, kind, run) in runs {
            spread.append_range(&self, row..at, &mut beside);
            row = at;
            if kind == 0 {
                spread.append_matches(&matches, run);
            } else {
                selections.spread_run(run, shift, &mut spread);
            }
        }
        spread.append_range(&self, row..self.len(), &mut beside);
        spread
    }

    fn append_range(
        &mut self,
        other: &Rows,
        rows: Range<usize>,
        beside: &mut Peekable<impl Iterator<Item = Beside>>,
    ) {
        for row in rows {
            self.append_row(other, row, other.subscription[row], 0);
            self.append_beside(beside.next_if(|values| values.row as usize == row));
        }
    }

    fn append_matches(&mut self, matches: &Matches, run: usize) {
        let (document, _, from) = matches.runs[run];
        let to = matches
            .runs
            .get(run + 1)
            .map_or(matches.len(), |next| next.2);
        let length = self.len() + to - from;
        self.document.resize(length, document);
        self.subscription
            .extend_from_slice(&matches.subscription[from..to]);
        match matches.decided_at.get(from..to) {
            Some(offsets) => self.decided_at.extend_from_slice(offsets),
            None => self.decided_at.resize(length, UNTOLD),
        }
        self.ordinal.resize(length, 0);
        self.kind.resize(length, RowKind::Match as u8);
        self.start.resize(length, -1);
        self.end.resize(length, -1);
        self.node.resize(length, 0);
        self.scope.resize(length, -1);
        for column in [&mut self.name, &mut self.value] {
            let end = column.bytes.len() as i32;
            column.offsets.resize(length + 1, end);
        }
    }
}
