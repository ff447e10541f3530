//! Ways to find the rows that two records may satisfy.
//!
//! `Shared` is the one to use. The others are the baselines that it is measured against; all find
//! the same rows, or more of them: whoever asks checks each row against its two records.

mod mmqjp;
mod sequential;
mod shared;
mod views;

use crate::meter::Meter;
use crate::plan::{Plan, Stage, StageId};
use crate::record::Record;
use crate::store::{Place, Store};
use mmqjp::Templates;
use shared::Shared;
use views::Views;

/// How rows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By value, then by pair of records, along a trie over variable pairs.
    Shared,
    /// One row after the other, each a hash join of its own.
    Sequential,
    /// One conjunctive query for each template (MMQJP, algorithm 1).
    Mmqjp,
    /// The same over shared views, slices of which are cached by value (algorithms 4 and 5).
    Views,
}

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

/// Finds rows by one of the strategies.
pub enum Finder {
    /// See `Strategy`.
    Shared(Box<Shared>),
    /// See `Strategy`; the rows one after the other.
    Sequential(Vec<StageId>),
    /// See `Strategy`.
    Mmqjp(Templates),
    /// See `Strategy`.
    Views(Templates, Box<Views>),
}

impl Finder {
    /// A finder.
    pub fn new(strategy: Strategy, views_max: usize) -> Finder {
        match strategy {
            Strategy::Shared => Finder::Shared(Box::default()),
            Strategy::Sequential => Finder::Sequential(Vec::new()),
            Strategy::Mmqjp => Finder::Mmqjp(Templates::default()),
            Strategy::Views => Finder::Views(Templates::default(), Box::new(Views::new(views_max))),
        }
    }

    /// Rows changed.
    pub fn refresh(&mut self, plan: &Plan) {
        match self {
            Finder::Shared(_) => {}
            Finder::Sequential(rows) => *rows = plan.positive().map(|row| row.0).collect(),
            Finder::Mmqjp(templates) => *templates = Templates::of(plan),
            Finder::Views(templates, views) => {
                *templates = Templates::of(plan);
                views.forget();
            }
        }
    }

    /// A record is about to be joined: the strategy may learn what is rare.
    pub fn learn(&mut self, plan: &mut Plan, store: &Store, record: &Record<'_>) {
        if let Finder::Shared(shared) = self {
            shared.learn(plan, store, record);
        }
    }

    /// Calls `found` with the rows that a record may satisfy together with one of the store.
    pub fn find<'r>(
        &mut self,
        plan: &Plan,
        store: &'r Store,
        record: &Record<'r>,
        meter: &Meter,
        found: &mut Found<'_, 'r>,
    ) {
        match self {
            Finder::Shared(shared) => shared.find(plan, store, record, meter, found),
            Finder::Sequential(rows) => sequential::find(rows, plan, store, record, meter, found),
            Finder::Mmqjp(templates) => templates.find(plan, store, record, meter, found),
            Finder::Views(templates, views) => {
                views.find(templates, plan, store, record, meter, found);
            }
        }
    }

    /// The record that was joined is in the store now.
    pub fn inserted(&mut self, store: &Store, place: u32) {
        if let Finder::Views(_, views) = self {
            views.inserted(store, Place::Head(place));
        }
    }

    /// Records of the store have gone or moved.
    pub fn forget(&mut self) {
        if let Finder::Views(_, views) = self {
            views.forget();
        }
    }
}

/// Times of records of the other side: from, to. `distances` are right minus left.
fn times(time: i64, distances: (i64, i64), is_right: bool) -> (i64, i64) {
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
fn admits(stage: &Stage, left: &Record<'_>, right: &Record<'_>) -> bool {
    let distance = right.time().saturating_sub(left.time());
    stage.distances.0 <= distance && distance <= stage.distances.1
}

/// Whether a document is part of both records: then they are no pair.
fn is_overlapping(left: &Record<'_>, right: &Record<'_>) -> bool {
    right.parts().any(|part| left.contains(part.number))
}
