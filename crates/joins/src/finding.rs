//! How rows are found that two records may satisfy.
//!
//! `Shared` finds them by value. Other finders may take its place (`Joins::with_finder`); all find
//! the same rows, or more of them, since each row is checked against its two records afterwards.

pub use crate::head::key_of;
pub use crate::meter::Meter;
use crate::plan::{Plan, Stage, StageId};
use crate::record::Record;
pub use crate::shared::Shared;
pub use crate::store::{Place, Seen, Store};

/// Called with a row, its left and its right record, and which of them was there before.
pub type Found<'f, 'r> = dyn FnMut(StageId, Record<'r>, Record<'r>, Other) + 'f;

/// The record of the store that a row was found with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// Where it is.
    pub place: Place,
    /// Whether it is the left one.
    pub is_left: bool,
}

/// A way to find rows.
pub trait Finder: Send {
    /// Rows changed.
    fn refresh(&mut self, _plan: &Plan) {}

    /// A record is about to be joined: what is rare may be learnt from it.
    fn learn(&mut self, _plan: &mut Plan, _store: &Store, _record: &Record<'_>) {}

    /// Calls `found` with the rows that a record may satisfy together with one of the store.
    fn find<'r>(
        &mut self,
        plan: &Plan,
        store: &'r Store,
        record: &Record<'r>,
        meter: &Meter,
        found: &mut Found<'_, 'r>,
    );

    /// The record that was joined is in the store now.
    fn inserted(&mut self, _store: &Store, _place: Place) {}

    /// Records of the store have gone or moved.
    fn forget(&mut self) {}
}

/// Times of records of the other side: from, to. `distances` are right minus left.
pub fn times(time: i64, distances: (i64, i64), is_right: bool) -> (i64, i64) {
    if is_right {
        (
            time.saturating_sub(distances.1),
            time.saturating_sub(distances.0),
        )
    } else {
        (
            time.saturating_add(distances.0),
            time.saturating_add(distances.1),
        )
    }
}

/// Whether a row admits two records: their times, and that no document is in both.
pub fn admits(stage: &Stage, left: &Record<'_>, right: &Record<'_>) -> bool {
    let distance = right.time().saturating_sub(left.time());
    stage.distances.0 <= distance && distance <= stage.distances.1
}

/// Whether a document is part of both records: then they are no pair.
pub fn is_overlapping(left: &Record<'_>, right: &Record<'_>) -> bool {
    right.parts().any(|part| left.contains(part.number))
}
