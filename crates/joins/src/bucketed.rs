//! Joins whose state is divided by value into buckets, one of which is here at a time.
//!
//! Where ranks are fixed, the same pairs of variables drive the search in every bucket and at any
//! time, so a record's buckets are known: those of its values at these variables. A pair of records
//! meets in several buckets and counts in one; what is made of it goes to its own buckets, by way
//! of the caller, and so does what is let go.

use crate::bucket::Bucket;
use crate::codes::FOREVER;
use crate::joining::WAITED_BYTES;
use crate::joins::Joins;
use crate::segment::Wait;
use crate::store::Place;
use penstock_kernel::ledger::Stop;

impl Joins {
    /// Fixes which pairs of variables drive the search: the first that a row has.
    pub fn pin(&mut self, pairs: &[(u32, u32)]) {
        let count = self.plan.variable_count() as u32;
        let known = pairs.iter().copied();
        let known: Vec<_> = known.filter(|one| one.0.max(one.1) < count).collect();
        self.plan.pin(&known);
    }

    /// The pairs of variables that rows join, those first whose values met least so far.
    pub fn ranked(&mut self) -> Vec<(u32, u32)> {
        self.refresh();
        self.plan.rank();
        self.refresh();
        self.plan.pairs().ranked()
    }

    /// Forgets all records and begins with those of a bucket, which are to be attached.
    pub fn enter(&mut self, bucket: Bucket) {
        self.clear();
        self.store.keys.bucket = bucket;
    }

    /// The buckets that a record belongs to, of so many; None if the words are no record.
    pub fn route(&mut self, words: &[u32], count: u32) -> Option<Vec<u32>> {
        self.refresh();
        let record = self.read(words)?;
        let mut buckets: Vec<u32> = record
            .entries()
            .filter(|entry| self.plan.is_accessed(entry.variable))
            .map(|entry| Bucket::of(entry.hash, count))
            .collect();
        buckets.sort_unstable();
        buckets.dedup();
        Some(buckets)
    }

    /// Finds what a record gives by itself, in no bucket; returns whether it is a record.
    pub fn report_alone(&mut self, words: impl Into<Box<[u32]>>) -> Result<bool, Stop> {
        self.refresh();
        self.join_alone(words.into())
    }

    /// Partial matches since the last call.
    pub fn take_partials(&mut self) -> Vec<Box<[u32]>> {
        std::mem::take(&mut self.partials)
    }

    /// Takes the records that were pushed out of memory, as a segment, with what waits of them.
    pub fn write_segment(&mut self) -> Option<Vec<u32>> {
        let waits = std::mem::take(&mut self.waits);
        self.store.write(&waits)
    }

    /// Lets go what waited in vain in an attached segment until a time in `from..to`, as far as it
    /// is of one depth; `FOREVER` as the end is the end of all streams, and lets go what waits for
    /// ever, too. If work was stopped, nothing is let go.
    pub fn release_segment(
        &mut self,
        number: u32,
        from: i64,
        to: i64,
        depth: u32,
    ) -> Result<(), Stop> {
        self.refresh();
        let Some(segment) = self.store.segment(number) else {
            return Ok(());
        };
        let end = match to {
            FOREVER => segment.wait_count(),
            _ => segment.first_wait(to),
        };
        let first = segment.first_wait(from);
        let due: Vec<Wait> = (first..end).map(|index| segment.wait(index)).collect();
        self.begin(due.len() * WAITED_BYTES);
        self.gather(|joins| {
            for wait in due {
                // Rows that nobody asks for any more have no depth.
                let delay = joins.plan.retention.delay_of(wait.stage);
                if delay.map(|delay| delay.depth) == Some(depth) {
                    joins.let_go(wait.stage, Place::Segment(number, wait.record));
                }
            }
            Vec::new()
        })
    }

    /// The time until which the first one waits in an attached segment that waits until a time or
    /// longer, if there is any.
    pub fn next_wait(&self, number: u32, time: i64) -> Option<i64> {
        let segment = self.store.segment(number)?;
        let at = segment.first_wait(time);
        (at < segment.wait_count()).then(|| segment.wait(at).until)
    }

    /// The largest depth of a row of absence.
    pub fn depth(&mut self) -> u32 {
        self.refresh();
        self.plan.retention.depth()
    }
}
