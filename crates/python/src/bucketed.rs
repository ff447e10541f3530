//! Joins for Python whose state is divided by value into buckets, one of which is here at a time.

use crate::join_states::Joins;
use crate::records::{no_record, words_of};
use penstock_joins::bucket::Bucket;
use penstock_joins::joins::Options;
use penstock_joins::record::{bytes_of, split};
use penstock_joins::subscribed::Subscribed;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::VecDeque;
use std::sync::Mutex;

/// Joins of one bucket after the other.
#[pyclass(frozen, extends = Joins, module = "penstock._native")]
pub struct BucketedState {
    /// Records that are still to be joined.
    queue: Mutex<VecDeque<Box<[u32]>>>,
}

impl BucketedState {
    fn with<T>(this: &Bound<'_, Self>, work: impl FnOnce(&mut Subscribed) -> T) -> PyResult<T> {
        this.as_super().get().with(work)
    }

    fn queued<T>(&self, work: impl FnOnce(&mut VecDeque<Box<[u32]>>) -> T) -> PyResult<T> {
        let queue = self.queue.lock();
        let mut queue =
            queue.map_err(|_| PyRuntimeError::new_err("an earlier call broke these joins"))?;
        Ok(work(&mut queue))
    }
}

#[pymethods]
impl BucketedState {
    #[new]
    #[pyo3(signature = (*, hash_bits = 64))]
    fn new(hash_bits: u32) -> PyClassInitializer<Self> {
        let joins = Joins::new(Options::default(), hash_bits);
        PyClassInitializer::from(joins).add_subclass(BucketedState {
            queue: Mutex::new(VecDeque::new()),
        })
    }

    /// Fixes which pairs of variables drive the search: the first of these that a row joins.
    fn pin(this: &Bound<'_, Self>, pairs: Vec<(u32, u32)>) -> PyResult<()> {
        BucketedState::with(this, |subscribed| subscribed.joins.pin(&pairs))
    }

    /// The pairs of variables that rows join, those first whose values met least so far.
    fn ranked(this: &Bound<'_, Self>) -> PyResult<Vec<(u32, u32)>> {
        BucketedState::with(this, |subscribed| subscribed.joins.ranked())
    }

    /// Forgets all records and begins with those of a bucket, which are to be attached.
    fn enter(this: &Bound<'_, Self>, number: u32, count: u32) -> PyResult<()> {
        let bucket = Bucket::new(number, count);
        let bucket = bucket.ok_or_else(|| PyValueError::new_err("there is no such bucket"))?;
        this.get().queued(VecDeque::clear)?;
        BucketedState::with(this, |subscribed| subscribed.joins.enter(bucket))
    }

    /// The buckets that a record belongs to, of so many.
    fn route(this: &Bound<'_, Self>, record: &[u8], count: u32) -> PyResult<Vec<u32>> {
        let words = words_of(record);
        BucketedState::with(this, |subscribed| subscribed.joins.route(&words, count))?
            .ok_or_else(no_record)
    }

    /// Finds what a record gives by itself, in no bucket.
    fn report_alone(this: &Bound<'_, Self>, record: &[u8]) -> PyResult<()> {
        let words = words_of(record);
        let report = |subscribed: &mut Subscribed| subscribed.joins.report_alone(&words);
        let is_record = BucketedState::with(this, report)?;
        if is_record { Ok(()) } else { Err(no_record()) }
    }

    /// Queues records that lie one behind the other, in order of time; what was derived from
    /// others once, however often it comes.
    fn queue(&self, records: &[u8], is_derived: bool) -> PyResult<()> {
        let words = words_of(records);
        let mut records = split(&words).ok_or_else(no_record)?;
        records.sort_by_key(|record| (record.time(), record.words()));
        if is_derived {
            records.dedup_by_key(|record| record.words());
        }
        let records = records.iter().map(|record| record.words().into());
        self.queued(|queue| queue.extend(records))
    }

    /// Joins queued records until there are so many results; returns whether some are left.
    fn push_queued(this: &Bound<'_, Self>, results_max: usize) -> PyResult<bool> {
        let (joins, state) = (this.as_super().get(), this.get());
        let push = |subscribed: &mut Subscribed| {
            state.queued(|queue| {
                while subscribed.joins.result_count() < results_max {
                    match queue.pop_front() {
                        None => return Some(false),
                        Some(words) if subscribed.joins.push(&words) => {}
                        Some(_) => return None,
                    }
                }
                Some(!queue.is_empty())
            })
        };
        let pushed = this.py().detach(|| joins.with(push))??;
        pushed.ok_or_else(no_record)
    }

    /// Partial matches since the last call, as records.
    fn take_partials<'py>(this: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let take = |subscribed: &mut Subscribed| subscribed.joins.take_partials();
        let partials = BucketedState::with(this, take)?;
        let partials = partials.iter();
        Ok(partials
            .map(|words| PyBytes::new(this.py(), bytes_of(words)))
            .collect())
    }

    /// Takes the records that were pushed, as a segment for the caller to put somewhere.
    fn write_segment<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (py, joins) = (this.py(), this.as_super().get());
        let words = py.detach(|| joins.with(|subscribed| subscribed.joins.write_segment()))?;
        Ok(words.map(|words| PyBytes::new(py, bytes_of(&words))))
    }

    /// Reports the absences of an attached segment that waited until a time in `start..end`, as far
    /// as they are of one depth; returns the time until which the next one waits.
    fn release_segment(
        this: &Bound<'_, Self>,
        number: u32,
        start: i64,
        end: i64,
        depth: u32,
    ) -> PyResult<Option<i64>> {
        let joins = this.as_super().get();
        let release = |subscribed: &mut Subscribed| {
            let joins = &mut subscribed.joins;
            joins.release_segment(number, start, end, depth)
        };
        this.py().detach(|| joins.with(release))
    }

    /// The largest depth of an absence.
    fn depth(this: &Bound<'_, Self>) -> PyResult<u32> {
        BucketedState::with(this, |subscribed| subscribed.joins.depth())
    }

    /// Whether an attached segment turned out to be damaged.
    fn is_damaged(this: &Bound<'_, Self>) -> PyResult<bool> {
        BucketedState::with(this, |subscribed| subscribed.joins.is_damaged())
    }
}
