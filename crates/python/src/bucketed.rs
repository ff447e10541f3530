//! Joins for Python whose state is divided by value into buckets, one of which is here at a time.

use crate::documents::Failure;
use crate::join_states::{Joins, limits_of, still_taking};
use crate::records::{no_record, words_of};
use crate::watch::locked;
use penstock_joins::bucket::Bucket;
use penstock_joins::finding::Shared;
use penstock_joins::joins::{self, Options};
use penstock_joins::plan::StageId;
use penstock_joins::record::{Record, bytes_of, split};
use penstock_kernel::plan::SubscriptionId;
use pyo3::exceptions::PyValueError;
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
    fn with<T: Send>(
        this: &Bound<'_, Self>,
        work: impl FnOnce(&mut joins::Joins) -> T + Send,
    ) -> PyResult<T> {
        let joins = this.as_super().get();
        joins.with(this.py(), |subscribed| work(&mut subscribed.joins))
    }
}

/// A record that passed a limit, and so was not joined: id and time of its document.
type Failed = (String, i64, Failure);

#[pymethods]
impl BucketedState {
    #[new]
    #[pyo3(signature = (limits = None, *, hash_bits = 64))]
    fn new(
        limits: Option<&Bound<'_, PyAny>>,
        hash_bits: u32,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options {
            limits: limits_of(limits)?,
            ..Options::default()
        };
        let joins = Joins::new(options, hash_bits, Box::<Shared>::default());
        Ok(PyClassInitializer::from(joins).add_subclass(BucketedState {
            queue: Mutex::new(VecDeque::new()),
        }))
    }

    /// Fixes which pairs of variables drive the search: the first of these that a row joins.
    fn pin(this: &Bound<'_, Self>, pairs: Vec<(u32, u32)>) -> PyResult<()> {
        BucketedState::with(this, |joins| joins.pin(&pairs))
    }

    /// The pairs of variables that rows join, those first whose values met least so far.
    fn ranked(this: &Bound<'_, Self>) -> PyResult<Vec<(u32, u32)>> {
        BucketedState::with(this, joins::Joins::ranked)
    }

    /// The numbers of a subscription's variables and rows, in the order of its program.
    fn numbers_of(this: &Bound<'_, Self>, subscription: u32) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let joins = this.as_super().get();
        let (variables, rows) = joins.with(this.py(), |subscribed| {
            subscribed.numbers_of(SubscriptionId(subscription))
        })?;
        Ok((variables, rows.iter().map(|row| row.0).collect()))
    }

    /// The numbers that new variables and new rows get, the last one first.
    fn vacant(this: &Bound<'_, Self>) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let joins = this.as_super().get();
        let (variables, rows) = joins.with(this.py(), |subscribed| subscribed.vacant())?;
        Ok((variables, rows.iter().map(|row| row.0).collect()))
    }

    /// Says which numbers new variables and new rows get, the last one first.
    fn vacate(this: &Bound<'_, Self>, variables: Vec<u32>, rows: Vec<u32>) -> PyResult<()> {
        let rows: Vec<StageId> = rows.into_iter().map(StageId).collect();
        let joins = this.as_super().get();
        joins.with(this.py(), |subscribed| subscribed.vacate(&variables, &rows))
    }

    /// Forgets all records and begins with those of a bucket, which are to be attached.
    fn enter(this: &Bound<'_, Self>, number: u32, count: u32) -> PyResult<()> {
        let bucket = Bucket::new(number, count);
        let bucket = bucket.ok_or_else(|| PyValueError::new_err("there is no such bucket"))?;
        locked(this.py(), &this.get().queue, VecDeque::clear)?;
        BucketedState::with(this, |joins| joins.enter(bucket))
    }

    /// The buckets that a record belongs to, of so many.
    fn route(this: &Bound<'_, Self>, record: &[u8], count: u32) -> PyResult<Vec<u32>> {
        let words = words_of(record);
        BucketedState::with(this, |joins| joins.route(&words, count))?.ok_or_else(no_record)
    }

    /// Finds what a record gives by itself, in no bucket; what limit it passed, if it did.
    fn report_alone(this: &Bound<'_, Self>, record: &[u8]) -> PyResult<Option<Failure>> {
        let words = words_of(record);
        let joins = this.as_super().get();
        let reported = joins.work(this.py(), |joins| {
            (!joins.is_taking()).then(|| joins.report_alone(words))
        })?;
        match joins.done(reported.ok_or_else(still_taking)?)? {
            Ok(true) => Ok(None),
            Ok(false) => Err(no_record()),
            Err(failure) => Ok(Some(failure)),
        }
    }

    /// Queues records that lie one behind the other, in order of time; what was derived from
    /// others once, however often it comes.
    fn queue(&self, py: Python<'_>, records: &[u8], is_derived: bool) -> PyResult<()> {
        let words = words_of(records);
        let mut records = split(&words).ok_or_else(no_record)?;
        records.sort_by_key(|record| (record.time(), record.words()));
        if is_derived {
            records.dedup_by_key(|record| record.words());
        }
        let records: Vec<Box<[u32]>> = records.iter().map(|one| one.words().into()).collect();
        locked(py, &self.queue, |queue| queue.extend(records))
    }

    /// Joins queued records until a batch of results is full. Returns whether some are left, and
    /// those that passed a limit.
    fn push_queued(this: &Bound<'_, Self>) -> PyResult<(bool, Vec<Failed>)> {
        let (joins, state) = (this.as_super().get(), this.get());
        let mut failed = Vec::new();
        loop {
            let pushed = joins.work(this.py(), |joins| {
                let mut queue = state.queue.lock().ok()?;
                while !joins.is_batch_full() {
                    let Some(words) = queue.pop_front() else {
                        break;
                    };
                    let (id, time) = document_of(&words);
                    match joins.push(words) {
                        Ok(true) => {}
                        Ok(false) => return None,
                        Err(stop) => return Some(Err((id, time, stop))),
                    }
                }
                Some(Ok(!queue.is_empty()))
            })?;
            match pushed.ok_or_else(no_record)? {
                Ok(is_more) => return Ok((is_more, failed)),
                Err((id, time, stop)) => {
                    if let Err(failure) = joins.done::<()>(Err(stop))? {
                        failed.push((id, time, failure));
                    }
                }
            }
        }
    }

    /// Partial matches since the last call, as records.
    fn take_partials<'py>(this: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let partials = BucketedState::with(this, joins::Joins::take_partials)?;
        let partials = partials.iter();
        Ok(partials
            .map(|words| PyBytes::new(this.py(), bytes_of(words)))
            .collect())
    }

    /// Takes the records that were pushed, as a segment for the caller to put somewhere.
    fn write_segment<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (py, joins) = (this.py(), this.as_super().get());
        let words = joins.work_alone(py, joins::Joins::write_segment)?;
        Ok(words.map(|words| PyBytes::new(py, bytes_of(&words))))
    }

    /// Reports the absences of an attached segment that waited until a time in `start..end`, as far
    /// as they are of one depth. Returns the time until which the next one waits, and what limit
    /// they passed, if they did: then they are not reported.
    fn release_segment(
        this: &Bound<'_, Self>,
        number: u32,
        start: i64,
        end: i64,
        depth: u32,
    ) -> PyResult<(Option<i64>, Option<Failure>)> {
        let joins = this.as_super().get();
        let (released, next) = joins.work_alone(this.py(), |joins| {
            let released = joins.release_segment(number, start, end, depth);
            (released, joins.next_wait(number, end))
        })?;
        let failure = joins.done(released)?.err();
        Ok((next, failure))
    }

    /// The largest depth of an absence.
    fn depth(this: &Bound<'_, Self>) -> PyResult<u32> {
        BucketedState::with(this, joins::Joins::depth)
    }

    /// Whether an attached segment turned out to be damaged.
    fn is_damaged(this: &Bound<'_, Self>) -> PyResult<bool> {
        BucketedState::with(this, |joins| joins.is_damaged())
    }
}

/// The id and the time of the document of a record, or of a record's last one.
fn document_of(words: &[u32]) -> (String, i64) {
    let record = Record::new(words);
    let last = record.parts().last();
    let id = last.map_or_else(String::new, |part| String::from_utf8_lossy(part.id).into());
    (id, record.time())
}
