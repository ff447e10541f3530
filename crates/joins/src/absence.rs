//! What waits for a partner and is reported if none comes.

use crate::bindings::{Distinct, Fixed, Search};
use crate::head::key_of;
use crate::meter::Meter;
use crate::plan::{Stage, StageId};
use crate::record::Record;
use crate::segment::{Segment, Wait};
use crate::shape::Shape;
use crate::store::{Place, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A record that waits for a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    /// The stage.
    pub stage: StageId,
    /// Where the left record is. Nothing goes out of the store while it waits.
    pub place: Place,
}

/// Something that waits until a time; of several, those who came first are first.
type Due = Reverse<(i64, u64, Waiting)>;

/// All that waits, by the time up to which a partner may come. What waits of the records in memory
/// is here, what waits of a segment is written there.
#[derive(Default)]
pub struct Absences {
    due: BinaryHeap<Due>,
    /// By segment: the time until which its first one waits, and which one that is.
    segments: BinaryHeap<Reverse<(i64, u32, usize)>>,
    /// How many wait in segments.
    outside: usize,
    next: u64,
    is_finished: bool,
}

/// Bytes that a record which waits costs, beside the record itself.
const WAITING_BYTES: usize = size_of::<Due>();

impl Absences {
    /// Lets a record wait for a stage until the watermark has passed `until`.
    pub fn wait(&mut self, until: i64, waiting: Waiting) {
        self.due.push(Reverse((until, self.next, waiting)));
        self.next += 1;
    }

    /// No partner comes any more, for anybody.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// The records in memory moved, and some are gone; what waits for a stage that does not see it
    /// any more is forgotten.
    pub fn relocate(&mut self, moved: &FxHashMap<u32, u32>, is_seen: impl Fn(Waiting) -> bool) {
        let all = std::mem::take(&mut self.due).into_iter();
        self.due = all
            .filter_map(|Reverse((until, number, mut waiting))| {
                if let Place::Head(place) = waiting.place {
                    waiting.place = Place::Head(*moved.get(&place)?);
                }
                is_seen(waiting).then_some(Reverse((until, number, waiting)))
            })
            .collect();
    }

    /// The places in memory of records that wait.
    pub fn places(&self) -> FxHashSet<u32> {
        let places = self.due.iter().map(|one| one.0.2.place);
        places
            .filter_map(|place| match place {
                Place::Head(place) => Some(place),
                Place::Segment(..) => None,
            })
            .collect()
    }

    /// Takes out what waits of the records in memory, to be written into their segment.
    pub fn seal(&mut self) -> Vec<Wait> {
        let mut sealed = Vec::new();
        self.due.retain(|&Reverse((until, _, waiting))| {
            let Waiting { stage, place } = waiting;
            if let Place::Head(record) = place {
                sealed.push(Wait {
                    until,
                    stage,
                    record,
                });
            }
            !matches!(place, Place::Head(_))
        });
        sealed
    }

    /// A segment was sealed with what waits of it.
    pub fn sealed(&mut self, number: u32, segment: &Segment) {
        if segment.wait_count() > 0 {
            self.outside += segment.wait_count();
            self.segments
                .push(Reverse((segment.wait(0).until, number, 0)));
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.due.len() + self.outside
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.due.len() * WAITING_BYTES
    }

    /// The time until which the first ones wait.
    fn first(&self) -> Option<i64> {
        let inside = self.due.peek().map(|one| one.0.0);
        let outside = self.segments.peek().map(|one| one.0.0);
        inside.into_iter().chain(outside).min()
    }

    /// Forgets what nobody took although its time had passed before `now`: its record goes next.
    pub fn forget_before(&mut self, now: i64, store: &Store) {
        while let Some(first) = self.first()
            && first < now
        {
            self.take_at(first, store);
        }
    }

    /// Takes out all that wait until a time.
    fn take_at(&mut self, until: i64, store: &Store) -> Vec<(u64, Waiting)> {
        let mut taken = Vec::new();
        while let Some(&Reverse((first, number, mut at))) = self.segments.peek()
            && first == until
        {
            self.segments.pop();
            let Some(segment) = store.segment(number) else {
                continue;
            };
            while at < segment.wait_count() && segment.wait(at).until == until {
                let Wait { stage, record, .. } = segment.wait(at);
                let place = Place::Segment(number, record);
                taken.push((0, Waiting { stage, place }));
                self.outside -= 1;
                at += 1;
            }
            if at < segment.wait_count() {
                let next = segment.wait(at).until;
                self.segments.push(Reverse((next, number, at)));
            }
        }
        while let Some(&Reverse((first, number, waiting))) = self.due.peek()
            && first == until
        {
            self.due.pop();
            taken.push((number, waiting));
        }
        taken
    }

    /// Those whose time has passed first, if it has passed. Of several, the least deep
    /// come first: what they publish may be what the others wait for.
    pub fn take_due(
        &mut self,
        now: i64,
        store: &Store,
        depth_of: impl Fn(StageId) -> u32,
    ) -> Vec<Waiting> {
        let Some(first) = self.first() else {
            return Vec::new();
        };
        if first >= now && !self.is_finished {
            return Vec::new();
        }
        let due = self.take_at(first, store);
        let depths = due.iter().map(|one| depth_of(one.1.stage));
        let least = depths.min();
        let mut taken = Vec::new();
        for (number, waiting) in due {
            if Some(depth_of(waiting.stage)) == least {
                taken.push(waiting);
            } else {
                self.due.push(Reverse((first, number, waiting)));
            }
        }
        taken
    }
}

/// A record, and a row that reports what of it has no partner.
pub struct Absent<'a> {
    /// Where partners are.
    pub store: &'a Store,
    /// The row's shape.
    pub shape: &'a Shape,
    /// The row.
    pub stage: &'a Stage,
    /// The record.
    pub left: Record<'a>,
    /// Where its steps are counted.
    pub meter: &'a Meter,
}

/// The bindings of a left tree that found a partner.
pub type Partnered = FxHashSet<Box<[u32]>>;

impl<'a> Absent<'a> {
    /// The versions from which on the stage's subscriptions see documents, as far as they see the
    /// record that waits.
    pub fn versions(&self) -> Vec<u32> {
        let seen = self.left.version();
        let mut versions: Vec<u32> = self
            .stage
            .subscriptions
            .iter()
            .map(|&(_, version)| version)
            .filter(|&since| since <= seen)
            .collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    /// The row with a partner.
    pub fn search(&self, right: Record<'a>) -> Search<'a> {
        Search {
            shape: self.shape,
            variables: &self.stage.variables,
            left: self.left,
            right,
            meter: self.meter,
        }
    }

    /// The bindings that found a partner among the documents read under `since` or later.
    pub fn partnered(&self, since: u32) -> Partnered {
        let width = self.shape.left_count as usize;
        let mut met = Partnered::default();
        for right in self.partners() {
            if right.version() >= since {
                self.search(right).run(&self.shape.steps, &mut |nodes| {
                    met.insert(nodes[..width].into());
                    true
                });
            }
        }
        met
    }

    /// Appends the distinct tuples of kept nodes of those bindings that found no partner, or more
    /// than `tuples_max` of them where there are more; returns whether there is any. A binding has
    /// one value at the first value join, and with that value all its partners, so it is one
    /// bucket's matter; several may give the same tuple.
    pub fn survivors(
        &self,
        met: &Partnered,
        fixed: Option<&Fixed>,
        tuples: &mut Vec<u32>,
        tuples_max: usize,
    ) -> bool {
        let shape = self.shape;
        let width = shape.left_count as usize;
        let first = shape.joins[0].0 as usize;
        let mut is_alone = false;
        let mut distinct = Distinct::new(tuples, shape.kept.len().max(1), tuples_max);
        let mut found = |nodes: &[u32]| {
            if !self.is_own(nodes[first]) || met.contains(&nodes[..width]) {
                return true;
            }
            is_alone = true;
            // Who asks for no tuples asks whether there is any.
            !shape.kept.is_empty()
                && distinct.add(shape.kept.iter().map(|&slot| nodes[slot as usize]))
                && tuples_max > 0
        };
        let search = self.search(self.left);
        match fixed {
            None => search.run(&shape.left_steps, &mut found),
            Some(fixed) => search.run_fixed(&shape.left_steps, fixed, &mut found),
        }
        distinct.finish();
        is_alone
    }

    fn is_own(&self, node: u32) -> bool {
        self.store.keys.bucket.holds(self.left.node(node).hash)
    }

    /// The records within the window that have a value in common at the first value join.
    fn partners(&self) -> Vec<Record<'a>> {
        let (one, two) = self.shape.joins[0];
        let variables = &self.stage.variables;
        let (variable, other) = (variables[one as usize], variables[two as usize]);
        let time = self.left.time();
        let (from, to) = (
            time.saturating_add(1),
            time.saturating_add(self.stage.window),
        );
        let mut places = FxHashSet::default();
        for node in self.left.nodes_of(variable).iter() {
            if self.is_own(node) {
                let key = key_of(other, self.left.node(node).hash);
                self.store.find(key, from, to, &mut |place| {
                    self.meter.spend(1);
                    places.insert(place);
                });
            }
        }
        let records = places
            .into_iter()
            .filter_map(|place| self.store.record(place));
        records
            .filter(|right| right.parts().all(|part| !self.left.contains(part.number)))
            .collect()
    }
}
