//! What waits for a partner and is reported if none comes.

use crate::bindings::{Search, remove_repeated};
use crate::head::key_of;
use crate::plan::{Stage, StageId};
use crate::record::Record;
use crate::shape::Shape;
use crate::store::Store;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A record that waits for a stage.
pub struct Waiting {
    /// The stage.
    pub stage: StageId,
    /// The left record.
    pub record: Arc<[u32]>,
}

/// All that waits, by the time up to which a partner may come.
#[derive(Default)]
pub struct Absences {
    due: BinaryHeap<Reverse<(i64, u64)>>,
    waiting: rustc_hash::FxHashMap<u64, Waiting>,
    next: u64,
    last: Option<Arc<[u32]>>,
    is_finished: bool,
}

impl Absences {
    /// Lets a record wait for a stage until the watermark has passed `until`.
    pub fn wait(&mut self, until: i64, stage: StageId, words: &[u32]) {
        // A record often waits for many stages, one call after the other.
        let record = match &self.last {
            Some(last) if **last == *words => last.clone(),
            _ => Arc::from(words),
        };
        self.last = Some(record.clone());
        self.due.push(Reverse((until, self.next)));
        self.waiting.insert(self.next, Waiting { stage, record });
        self.next += 1;
    }

    /// No partner comes any more, for anybody.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Forgets what waits for a stage that does not see it any more.
    pub fn retain(&mut self, is_seen: impl Fn(StageId, &Record<'_>) -> bool) {
        self.waiting
            .retain(|_, waiting| is_seen(waiting.stage, &Record::new(&waiting.record)));
        let waiting = &self.waiting;
        self.due
            .retain(|Reverse((_, number))| waiting.contains_key(number));
        self.last = None;
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Those whose time has passed first, if it has passed. Of several, the least deep
    /// come first: what they publish may be what the others wait for.
    pub fn take_due(&mut self, now: i64, depth_of: impl Fn(StageId) -> u32) -> Vec<Waiting> {
        let Some(&Reverse((first, _))) = self.due.peek() else {
            return Vec::new();
        };
        if first >= now && !self.is_finished {
            return Vec::new();
        }
        let mut due = Vec::new();
        while let Some(&Reverse((until, number))) = self.due.peek()
            && until == first
        {
            self.due.pop();
            let depth = self
                .waiting
                .get(&number)
                .map(|waiting| depth_of(waiting.stage));
            due.push((depth, number));
        }
        let least = due.iter().map(|&(depth, _)| depth).min().flatten();
        let mut taken = Vec::new();
        for (depth, number) in due {
            if depth == least {
                taken.extend(self.waiting.remove(&number));
            } else {
                self.due.push(Reverse((first, number)));
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
}

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
        }
    }

    /// The distinct tuples of kept nodes of those bindings that found no partner among the
    /// documents read under `since` or later; None if all found one. A binding has one value at
    /// the first value join, and with that value all its partners, so it is one bucket's matter;
    /// several may give the same tuple.
    pub fn survivors(&self, since: u32) -> Option<Vec<u32>> {
        let (shape, left) = (self.shape, self.left);
        let width = shape.left_count as usize;
        let mut met: FxHashSet<Box<[u32]>> = FxHashSet::default();
        for right in self.partners() {
            if right.version() >= since {
                self.search(right).run(&shape.steps, &mut |nodes| {
                    met.insert(nodes[..width].into());
                    true
                });
            }
        }
        let first = shape.joins[0].0 as usize;
        let mut tuples = Vec::new();
        let mut is_alone = false;
        self.search(left).run(&shape.left_steps, &mut |nodes| {
            if self.is_own(nodes[first]) && !met.contains(&nodes[..width]) {
                is_alone = true;
                tuples.extend(shape.kept.iter().map(|&slot| nodes[slot as usize]));
            }
            true
        });
        if !shape.kept.is_empty() {
            remove_repeated(&mut tuples, 0, shape.kept.len());
        }
        is_alone.then_some(tuples)
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
