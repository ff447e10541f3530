//! What sessions gathered goes into a progressive join, and comes back as rows, without a step per
//! binding in Python.

use crate::arrow::{Columns, array, numbers, strings};
use crate::documents::Failure;
use crate::gathered::Gathered;
use crate::join_states::passed;
use crate::progressive::ProgressiveJoin;
use crate::serialization::text_of;
use crate::watch::{broken, detached, locked};
use arrow_schema::{DataType, Field, TimeUnit};
use penstock_joins::progressive::messages::{
    self, Condition, Cursor, Fragment, Messages, Origin, Selection, Tuples,
};
use penstock_joins::progressive::{Binding, Fault, Joined, Pages, Progressive, StreamId};
use penstock_kernel::rows;
use penstock_kernel::rows::TextColumn;
use penstock_kernel::tokenizer::codes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A binding of a tuple: its document, its number there, event time, fragment.
type Part<'py> = (Bound<'py, PyString>, u32, i64, Bound<'py, PyBytes>);

/// A row: subscription, message or None if it is too large, document, all documents, ordinal, time.
type Row<'py> = (
    u32,
    Option<Bound<'py, PyString>>,
    Bound<'py, PyString>,
    Vec<Bound<'py, PyString>>,
    i64,
    i64,
);

/// What is being fed.
struct Job {
    gathered: Arc<rows::Gathered>,
    routes: Vec<Vec<StreamId>>,
    origins: Vec<Option<Origin>>,
    cursor: Cursor,
}

struct State {
    feeder: messages::Feeder,
    /// None if tuples are handed out as they are.
    messages: Option<Messages>,
    piece_counts: Vec<u32>,
    job: Option<Job>,
    /// What was fed last.
    fed: Option<Arc<rows::Gathered>>,
    tuples: Tuples,
}

impl State {
    /// Feeds the job on; whether it is over. An error has the number of the document.
    fn feed(
        &mut self,
        join: &mut Progressive,
        pages: &mut dyn Pages,
    ) -> Result<bool, (u32, Fault)> {
        let Some(job) = &mut self.job else {
            return Ok(true);
        };
        let gathered = &*job.gathered;
        let given = (gathered, job.routes.as_slice(), job.origins.as_slice());
        let fed = self
            .feeder
            .feed(join, given, &mut job.cursor, &mut self.tuples, pages);
        let fed = fed.map_err(|(at, fault)| {
            let group = gathered.groups()[gathered.group(at)];
            (group.document.0, fault)
        });
        if fed == Ok(true) {
            self.job = None;
        }
        fed
    }
}

/// Feeds a progressive join, and makes rows of its tuples.
#[pyclass(frozen, module = "penstock._native")]
pub struct Feeder {
    join: Py<ProgressiveJoin>,
    inner: Mutex<State>,
}

#[pymethods]
impl Feeder {
    /// `key_counts` has the number of keys of each side, `by_document` whether it joins by its
    /// document, too, which is the last key then. With `piece_counts`, the number of pieces
    /// of each side, rows are messages that outlines make of them; without, tuples are handed out.
    #[new]
    #[pyo3(signature = (join, key_counts, by_document, piece_counts, message_bytes_max))]
    fn new(
        join: Py<ProgressiveJoin>,
        key_counts: Vec<u32>,
        by_document: Vec<bool>,
        piece_counts: Option<Vec<u32>>,
        message_bytes_max: usize,
    ) -> Self {
        let is_direct = piece_counts.is_some();
        let state = State {
            feeder: messages::Feeder::new(key_counts, by_document, is_direct),
            messages: is_direct.then(|| Messages::new(message_bytes_max)),
            piece_counts: piece_counts.unwrap_or_default(),
            job: None,
            fed: None,
            tuples: Tuples::default(),
        };
        Feeder {
            join,
            inner: Mutex::new(state),
        }
    }

    /// Adds a subscription, whose number is the next one: its outline, and what it selects as
    /// side, attribute, operator and constant. If it `is_strict`, values that are compared with
    /// numbers and are none are errors. What was joined before is none of its business.
    fn add(
        &self,
        py: Python<'_>,
        outline: Option<&[u8]>,
        selections: Vec<(u8, u8, u8, Vec<u8>)>,
        is_strict: bool,
    ) -> PyResult<()> {
        let since = self.join.get().arrivals(py)?;
        locked(py, &self.inner, |state| {
            if let (Some(messages), Some(outline)) = (&mut state.messages, outline) {
                messages.add(outline, &state.piece_counts)?;
            }
            let selections = selections.into_iter().map(selection);
            let selections = selections.collect::<Result<_, _>>()?;
            state.feeder.selections.add(selections, since, is_strict);
            Ok(())
        })?
        .map_err(|error: messages::OutlineError| PyValueError::new_err(error.to_string()))
    }

    /// Removes a subscription; its number stays its own.
    fn remove(&self, py: Python<'_>, number: u32) -> PyResult<()> {
        locked(py, &self.inner, |state| {
            state.feeder.selections.remove(number);
        })
    }

    /// Begins to feed what was gathered, and gives up what is left of what was begun before.
    /// `routes` has the streams of the join that each side goes to; `origins` the document, the
    /// event time and the number of the document of each group, or None if it is left out.
    fn begin(
        &self,
        py: Python<'_>,
        gathered: &Gathered,
        routes: Vec<Vec<u8>>,
        origins: Vec<Option<(Vec<u8>, i64, u64)>>,
    ) -> PyResult<()> {
        let streams = |route: Vec<u8>| route.into_iter().map(StreamId).collect();
        let origin = |(document, time, number): (Vec<u8>, i64, u64)| Origin {
            document: document.into(),
            time,
            number: number.to_le_bytes(),
        };
        let job = Job {
            gathered: gathered.inner.clone(),
            routes: routes.into_iter().map(streams).collect(),
            origins: origins.into_iter().map(|one| one.map(origin)).collect(),
            cursor: Cursor::default(),
        };
        locked(py, &self.inner, |state| {
            state.fed = Some(job.gathered.clone());
            state.job = Some(job);
        })
    }

    /// Feeds on, until many tuples wait. Returns whether all is fed, and if a limit was passed, the
    /// number of the document and the reason; feeding goes on behind that binding.
    fn feed(&self, py: Python<'_>) -> PyResult<(bool, Option<(u32, Failure)>)> {
        let mut document = 0;
        let fed = self.join.get().work(py, |join, pages| {
            let Ok(mut state) = self.inner.lock() else {
                return Ok(None);
            };
            let fed = state.feed(join, pages).map_err(|(at, fault)| {
                document = at;
                fault
            });
            fed.map(Some)
        })?;
        match fed {
            Ok(is_over) => Ok((is_over.ok_or_else(broken)?, None)),
            Err(failure) => Ok((false, Some((document, failure)))),
        }
    }

    /// Takes who failed at a binding, since a value that is compared with a number is none: the
    /// number of the document, the subscription, and why.
    fn take_failing(&self, py: Python<'_>) -> PyResult<Vec<(u32, u32, Failure)>> {
        locked(py, &self.inner, |state| {
            let gathered = state.fed.as_ref();
            let failing = std::mem::take(&mut state.feeder.failing).into_iter();
            let failing = failing.filter_map(|one| {
                let gathered = gathered?;
                let group = gathered.groups()[gathered.group(one.binding)];
                let reason = one.error.to_string();
                let code = Some(one.error.code);
                let failure = (codes::QUERY, reason, 0, 0, String::new(), None, code);
                Some((group.document.0, one.subscription, failure))
            });
            failing.collect()
        })
    }

    /// Takes tuples of the join that wait, until many do here. Returns whether there are no more,
    /// and the reason if a limit was passed.
    fn collect(&self, py: Python<'_>) -> PyResult<(bool, Option<Failure>)> {
        let taken = self.join.get().work(py, |join, pages| {
            let Ok(mut state) = self.inner.lock() else {
                return Ok(None);
            };
            while join.has_results() && !state.tuples.is_full() {
                state.tuples.take(join, pages)?;
            }
            Ok(Some(!join.has_results()))
        })?;
        match taken {
            Ok(is_over) => Ok((is_over.ok_or_else(broken)?, None)),
            Err(failure) => Ok((false, Some(failure))),
        }
    }

    /// The next rows of the tuples that wait; None if there are no more.
    fn rows(&self, py: Python<'_>) -> PyResult<Option<MessageRows>> {
        let rows = detached(py, &self.inner, |state| {
            let messages = state.messages.as_mut()?;
            let rows = messages.rows(&state.tuples.all, &state.feeder.selections);
            if rows.is_none() {
                state.tuples.clear();
            }
            rows
        })?;
        Ok(rows.map(|rows| MessageRows {
            row_count: rows.subscription.len(),
            has_failed: !rows.failed.is_empty(),
            inner: Mutex::new(rows),
        }))
    }

    /// The tuples that wait, side by side.
    fn tuples<'py>(&self, py: Python<'py>) -> PyResult<Vec<Vec<Part<'py>>>> {
        let tuples = locked(py, &self.inner, |state| std::mem::take(&mut state.tuples))?;
        tuples.all.iter().map(|tuple| parts(py, tuple)).collect()
    }
}

fn selection(
    (side, attribute, operator, constant): (u8, u8, u8, Vec<u8>),
) -> Result<Selection, messages::OutlineError> {
    let condition = if operator == 0 {
        Condition::Is(constant.into())
    } else {
        let number = String::from_utf8_lossy(&constant).parse::<f64>();
        let number = number.ok().filter(|number| number.is_finite());
        let number =
            number.ok_or_else(|| messages::OutlineError::new("a constant is no number"))?;
        match operator {
            1 => Condition::Equals(number),
            2 => Condition::Within(f64::NEG_INFINITY, number.next_down()),
            3 => Condition::Within(f64::NEG_INFINITY, number),
            4 => Condition::Within(number.next_up(), f64::INFINITY),
            5 => Condition::Within(number, f64::INFINITY),
            _ => return Err(messages::OutlineError::new("an unknown operator")),
        }
    };
    Ok(Selection {
        side: StreamId(side),
        attribute,
        condition,
    })
}

fn parts<'py>(py: Python<'py>, tuple: &Joined) -> PyResult<Vec<Part<'py>>> {
    let part = |binding: &Binding| {
        let fragment = Fragment::of(binding.fragment());
        let bytes: Vec<u8> = fragment.pieces().flatten().copied().collect();
        Ok((
            text_of(py, fragment.document)?,
            fragment.number,
            binding.time,
            PyBytes::new(py, &bytes),
        ))
    };
    tuple.iter().map(part).collect()
}

/// Rows of messages. They have one form, the first that is asked for.
#[pyclass(frozen, module = "penstock._native")]
pub struct MessageRows {
    inner: Mutex<messages::MessageRows>,
    #[pyo3(get)]
    row_count: usize,
    /// Whether messages are missing, since they are too large.
    #[pyo3(get)]
    has_failed: bool,
}

impl MessageRows {
    fn take(&self) -> PyResult<messages::MessageRows> {
        let mut held = self.inner.lock().map_err(|_| broken())?;
        Ok(std::mem::take(&mut held))
    }
}

#[pymethods]
impl MessageRows {
    /// The rows as columns; subscriptions are numbers.
    fn columns(&self) -> PyResult<Columns> {
        let rows = self.take()?;
        let length = rows.subscription.len();
        let each = rows.documents.offsets.len().saturating_sub(1) / length.max(1);
        let places: Vec<i32> = (0..=length).map(|row| (row * each) as i32).collect();
        let ids = strings(as_text(rows.documents), None);
        let lists = DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)));
        let times = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let columns = [
            ("subscription", numbers(rows.subscription)),
            ("value", strings(rows.value, None)),
            ("document", strings(as_text(rows.document), None)),
            (
                "documents",
                array(lists, length, None, vec![places.into()], vec![ids]),
            ),
            ("ordinal", numbers(rows.ordinal)),
            (
                "event_time",
                array(times, length, None, vec![rows.time.into()], vec![]),
            ),
        ];
        Ok(Columns::of(length, columns))
    }

    /// The rows as tuples.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Row<'py>>> {
        let rows = self.take()?;
        let length = rows.subscription.len();
        let each = rows.documents.offsets.len().saturating_sub(1) / length.max(1);
        let row = |at: usize| {
            let is_missing = rows.failed.binary_search(&(at as u32)).is_ok();
            let value = || text_of(py, rows.value.value(at));
            let ids = each * at..each * (at + 1);
            let documents = ids.map(|id| text_of(py, rows.documents.value(id)));
            Ok((
                rows.subscription[at],
                if is_missing { None } else { Some(value()?) },
                text_of(py, rows.document.value(at))?,
                documents.collect::<PyResult<_>>()?,
                rows.ordinal[at],
                rows.time[at],
            ))
        };
        (0..length).map(row).collect()
    }

    /// How many rows each subscription has, those whose messages are missing left out.
    fn counts(&self) -> PyResult<Vec<(u32, u32)>> {
        let rows = self.inner.lock().map_err(|_| broken())?;
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for subscription in &rows.subscription {
            *counts.entry(*subscription).or_default() += 1;
        }
        for &row in &rows.failed {
            let failed = rows.subscription.get(row as usize);
            if let Some(count) = failed.and_then(|subscription| counts.get_mut(subscription)) {
                *count -= 1;
            }
        }
        Ok(counts.into_iter().filter(|(_, count)| *count > 0).collect())
    }

    /// The subscriptions whose messages are missing, each once.
    fn failing(&self) -> PyResult<Vec<u32>> {
        let rows = self.inner.lock().map_err(|_| broken())?;
        let failed = rows.failed.iter();
        let failing = failed.filter_map(|&row| rows.subscription.get(row as usize).copied());
        Ok(failing.collect::<BTreeSet<u32>>().into_iter().collect())
    }

    /// Why a message is missing.
    #[staticmethod]
    fn reason() -> Failure {
        passed("memory_bytes_max")
    }
}

/// Ids that are no text, as Python allows, become one for Arrow.
fn as_text(column: TextColumn) -> TextColumn {
    if std::str::from_utf8(&column.bytes).is_ok() {
        return column;
    }
    let mut text = TextColumn::default();
    for row in 0..column.offsets.len() - 1 {
        let value = String::from_utf8_lossy(column.value(row));
        text.bytes.extend_from_slice(value.as_bytes());
        text.finish_value();
    }
    text
}
