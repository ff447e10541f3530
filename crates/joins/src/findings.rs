//! Rows that hold in records, as long as their results are not written out.

use crate::finding::Other;
use crate::plan::StageId;
use crate::record::Record;
use crate::store::{Place, Store};

/// What a row holds with, beside the record that was joined.
#[derive(Clone, Copy, Debug)]
pub enum With {
    /// Nothing: it is a row of one block.
    Alone,
    /// A record that was there before.
    Other(Other),
    /// Nothing, for those who see documents from this version on: it is a row of absence.
    Nobody(u32),
}

/// A row that holds.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// The row.
    pub row: StageId,
    /// The record that was joined: a place in `Findings::owns`.
    pub own: u32,
    /// What it holds with.
    pub with: With,
}

/// A record that was joined.
#[derive(Debug)]
pub enum Own {
    /// It is kept.
    Place(Place),
    /// It is not.
    Words(Box<[u32]>),
}

/// All rows that hold since results were taken last.
#[derive(Default)]
pub struct Findings {
    /// In the order in which they were found.
    pub list: Vec<Finding>,
    /// Records that were joined.
    pub owns: Vec<Own>,
}

/// A left and a right record, or one alone.
pub type Records<'a> = (Record<'a>, Option<Record<'a>>);

impl Findings {
    /// How many there are; see `truncate`.
    pub fn mark(&self) -> (usize, usize) {
        (self.list.len(), self.owns.len())
    }

    /// Forgets what was found since a mark.
    pub fn truncate(&mut self, mark: (usize, usize)) {
        self.list.truncate(mark.0);
        self.owns.truncate(mark.1);
    }

    /// The records that a row holds in; None if one of them is gone.
    pub fn records<'a>(&'a self, store: &'a Store, finding: &Finding) -> Option<Records<'a>> {
        let own = match self.owns.get(finding.own as usize)? {
            Own::Place(place) => store.record(*place)?,
            Own::Words(words) => Record::new(words),
        };
        Some(match finding.with {
            With::Alone | With::Nobody(_) => (own, None),
            With::Other(Other { place, is_left }) => {
                let other = store.record(place)?;
                if is_left {
                    (other, Some(own))
                } else {
                    (own, Some(other))
                }
            }
        })
    }
}

/// The event time of what a row gives.
pub fn time_of((left, right): Records<'_>) -> i64 {
    right.map_or(left.time(), |right| right.time().max(left.time()))
}

/// The version that a subscription must see for it.
pub fn version_of((left, right): Records<'_>) -> u32 {
    right.map_or(left.version(), |right| right.version().min(left.version()))
}
