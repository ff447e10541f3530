//! What waits for a partner and is reported if none comes.

use crate::bindings::{Search, remove_repeated};
use crate::head::key_of;
use crate::plan::Stage;
use crate::record::Record;
use crate::shape::Shape;
use crate::store::Store;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// A record that waits for a stage.
pub struct Waiting {
    /// The stage.
    pub stage: u32,
    /// The left record.
    pub record: Rc<[u32]>,
}

/// All that waits, by the time up to which a partner may come.
#[derive(Default)]
pub struct Absences {
    due: BinaryHeap<Reverse<(i64, u64)>>,
    waiting: rustc_hash::FxHashMap<u64, Waiting>,
    next: u64,
    last: Option<Rc<[u32]>>,
    is_finished: bool,
}

impl Absences {
    /// Lets a record wait for a stage until the watermark has passed `until`.
    pub fn wait(&mut self, until: i64, stage: u32, words: &[u32]) {
        // A record often waits for many stages, one call after the other.
        let record = match &self.last {
            Some(last) if **last == *words => last.clone(),
            _ => Rc::from(words),
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

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Those whose time has passed first, if it has passed.
    pub fn take_due(&mut self, now: i64) -> Vec<Waiting> {
        let mut taken = Vec::new();
        let Some(&Reverse((first, _))) = self.due.peek() else {
            return taken;
        };
        if first >= now && !self.is_finished {
            return taken;
        }
        while let Some(&Reverse((until, number))) = self.due.peek()
            && until == first
        {
            self.due.pop();
            taken.extend(self.waiting.remove(&number));
        }
        taken
    }
}

impl Waiting {
    /// The versions from which on the stage's subscriptions see documents, as far as they see the
    /// record that waits.
    pub fn versions(&self, stage: &Stage) -> Vec<u32> {
        let seen = Record::new(&self.record).version();
        let mut versions: Vec<u32> = stage
            .subscriptions
            .iter()
            .map(|one| one.1)
            .filter(|&since| since <= seen)
            .collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    /// The distinct tuples of kept nodes of those bindings that found no partner among the
    /// documents read under `since` or later; None if all found one.
    pub fn survivors(
        &self,
        store: &Store,
        shape: &Shape,
        stage: &Stage,
        since: u32,
    ) -> Option<Vec<u32>> {
        let left = Record::new(&self.record);
        let width = shape.left_count as usize;
        let search = |right| Search {
            shape,
            variables: &stage.variables,
            left,
            right,
        };
        let mut met: FxHashSet<Box<[u32]>> = FxHashSet::default();
        for right in self.partners(store, shape, stage) {
            if right.version() >= since {
                search(right).run(&shape.steps, &mut |nodes| {
                    met.insert(nodes[..width].into());
                    true
                });
            }
        }
        let mut tuples = Vec::new();
        let mut is_alone = false;
        search(left).run(&shape.left_steps, &mut |nodes| {
            if !met.contains(&nodes[..width]) {
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

    /// The records within the window that have a value in common at the first value join.
    fn partners<'a>(&self, store: &'a Store, shape: &Shape, stage: &Stage) -> Vec<Record<'a>> {
        let left = Record::new(&self.record);
        let (one, two) = shape.joins[0];
        let (variable, other) = (stage.variables[one as usize], stage.variables[two as usize]);
        let time = left.time();
        let (from, to) = (time.saturating_add(1), time.saturating_add(stage.window));
        let mut places = FxHashSet::default();
        for node in left.nodes_of(variable).iter() {
            store.find(
                key_of(other, left.node(node).hash),
                from,
                to,
                &mut |place| {
                    places.insert(place);
                },
            );
        }
        let records = places.into_iter().filter_map(|place| store.record(place));
        records
            .filter(|right| right.parts().all(|part| !left.contains(part.number)))
            .collect()
    }
}
