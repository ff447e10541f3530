//! Plans for Python.

use crate::watch::away;
use penstock_kernel::plan::{self, Builder, Place, Requested, SubscriptionId, TargetId, Tier};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex};

/// Many programs interned together, in one tier or several.
#[pyclass(frozen, module = "penstock._native")]
pub struct Plan {
    pub(crate) tiers: Vec<Tier>,
}

impl Plan {
    fn of(plan: plan::Plan) -> Plan {
        Plan {
            tiers: vec![Tier::of(Arc::new(plan))],
        }
    }

    fn only(&self) -> PyResult<&plan::Plan> {
        match self.tiers.as_slice() {
            [tier] => Ok(&tier.plan),
            _ => Err(PyValueError::new_err("the plan has several tiers")),
        }
    }
}

#[pymethods]
impl Plan {
    /// Interns programs; the numbers of the subscriptions are those of the list.
    #[staticmethod]
    fn build(py: Python<'_>, programs: Vec<PyBackedBytes>) -> PyResult<Plan> {
        away(py, || {
            let mut builder = Builder::new();
            for (number, program) in programs.iter().enumerate() {
                add(&mut builder, number as u32, number as u64, program)?;
            }
            Ok(Plan::of(builder.freeze()))
        })
    }

    /// Takes an image back. A read-only buffer, such as a mapped file, is used where it lies.
    #[staticmethod]
    fn load(image: &Bound<'_, PyAny>) -> PyResult<Plan> {
        let buffer = PyBuffer::<u8>::get(image)?;
        let start = buffer.buf_ptr().cast::<u32>().cast_const();
        let is_usable = buffer.readonly() && buffer.is_c_contiguous() && start.is_aligned();
        let inner = if is_usable {
            // SAFETY: the buffer is contiguous, aligned and not ours to change; the plan owns it
            // and with it the memory. Whoever maps a file must not shorten it meanwhile.
            unsafe {
                let words = std::slice::from_raw_parts(start, buffer.len_bytes() / 4);
                plan::Plan::from_owner(words, Box::new(buffer))
            }
        } else {
            let bytes = buffer.to_vec(image.py())?;
            let words = bytes.chunks_exact(4);
            let words = words.map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
            plan::Plan::from_words(words.collect())
        };
        inner.map(Plan::of).map_err(PyValueError::new_err)
    }

    /// One plan of several, each with the number of its first subscription.
    #[staticmethod]
    fn attached(parts: Vec<(PyRef<'_, Plan>, u32)>) -> Plan {
        let mut tiers = Vec::new();
        for (part, first) in parts {
            tiers.extend(part.tiers.iter().map(|tier| Tier {
                first: tier.first.saturating_add(first),
                ..tier.clone()
            }));
        }
        Plan { tiers }
    }

    /// The plan without some of its subscriptions.
    fn without(&self, removed: Vec<u32>) -> PyResult<Plan> {
        self.only()?;
        let tier = &self.tiers[0];
        let mut words = tier.removed.to_vec();
        for number in removed {
            let (word, bit) = (number as usize / 64, number % 64);
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << bit;
        }
        Ok(Plan {
            tiers: vec![Tier {
                removed: words.into(),
                ..tier.clone()
            }],
        })
    }

    /// The plan as bytes; `load` takes them back.
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let words = self.only()?.words();
        if !self.tiers[0].removed.is_empty() {
            return Err(PyValueError::new_err(
                "the image would hold what was removed",
            ));
        }
        PyBytes::new_with(py, words.len() * 4, |bytes| {
            for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
                place.copy_from_slice(&word.to_ne_bytes());
            }
            Ok(())
        })
    }

    /// How many spine steps, formulas, guards and targets the plan has.
    fn sizes(&self) -> (u32, u32, u32, u32) {
        let mut sum = (0, 0, 0, 0);
        for plan in self.tiers.iter().map(|tier| &tier.plan) {
            sum.0 += plan.spine_count();
            sum.1 += plan.formula_count();
            sum.2 += plan.guard_count();
            sum.3 += plan.target_count();
        }
        sum
    }

    /// How many tiers there are.
    fn tier_count(&self) -> usize {
        self.tiers.len()
    }

    /// How many distinct questions can be asked of whole documents.
    fn question_count(&self) -> u32 {
        self.tiers
            .iter()
            .map(|tier| tier.plan.question_count())
            .sum()
    }

    /// How many subscriptions have a request of a kind.
    fn request_count(&self, kind: u32) -> PyResult<usize> {
        Ok(plan::requests(&self.tiers, kind_of(kind)?).count())
    }

    /// Those subscriptions: number, place and program.
    fn requests<'py>(&self, py: Python<'py>, kind: u32) -> PyResult<Vec<Request<'py>>> {
        let requests = plan::requests(&self.tiers, kind_of(kind)?);
        Ok(requests.map(|request| read_request(py, request)).collect())
    }

    /// What changed of that since an older plan: its numbers of those that went, and those that
    /// came. One that moved from tier to tier is among both. Tiers that both plans have cost what
    /// was removed from them.
    fn requests_since<'py>(
        &self,
        py: Python<'py>,
        kind: u32,
        older: Option<PyRef<'_, Plan>>,
    ) -> PyResult<(Vec<u32>, Vec<Request<'py>>)> {
        let before: &[Tier] = older.as_ref().map_or(&[], |plan| &plan.tiers);
        let (gone, come) = plan::requests_since(before, &self.tiers, kind_of(kind)?);
        let come = come.into_iter().map(|request| read_request(py, request));
        Ok((gone.iter().map(|id| id.0).collect(), come.collect()))
    }

    /// The subscriptions that share a target.
    fn subscriptions(&self, target: u32) -> PyResult<Vec<u32>> {
        let plan = self.only()?;
        if target >= plan.target_count() {
            return Err(PyValueError::new_err("there is no such target"));
        }
        let (_, subscriptions) = plan.target(TargetId(target));
        Ok(subscriptions
            .iter()
            .map(|subscription| subscription.0)
            .collect())
    }
}

/// A plan under construction, for more programs than one would hold in a list.
#[pyclass(frozen, module = "penstock._native")]
pub struct PlanBuilder {
    inner: Mutex<(Builder, u32)>,
}

#[pymethods]
impl PlanBuilder {
    #[new]
    fn new() -> PlanBuilder {
        PlanBuilder {
            inner: Mutex::new((Builder::new(), 0)),
        }
    }

    /// Adds programs that lie behind each other, by their lengths, under the next numbers. Their
    /// places tell subscriptions from others that had their names before.
    fn add(
        &self,
        py: Python<'_>,
        programs: PyBackedBytes,
        lengths: Vec<usize>,
        places: Vec<u64>,
    ) -> PyResult<()> {
        away(py, || {
            let mut guard = self.lock()?;
            let (builder, next) = &mut *guard;
            let mut rest: &[u8] = &programs;
            if places.len() != lengths.len() {
                return Err(PyValueError::new_err("each program needs a place"));
            }
            for (length, place) in lengths.into_iter().zip(places) {
                let Some((program, after)) = rest.split_at_checked(length) else {
                    return Err(PyValueError::new_err("the lengths do not fit the programs"));
                };
                add(builder, *next, place, program)?;
                (*next, rest) = (*next + 1, after);
            }
            Ok(())
        })
    }

    /// The plan of everything added so far; the builder is empty afterwards.
    fn freeze(&self, py: Python<'_>) -> PyResult<Plan> {
        away(py, || {
            let (builder, _) = std::mem::replace(&mut *self.lock()?, (Builder::new(), 0));
            Ok(Plan::of(builder.freeze()))
        })
    }
}

impl PlanBuilder {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, (Builder, u32)>> {
        self.inner
            .lock()
            .map_err(|_| PyRuntimeError::new_err("an earlier call broke this builder"))
    }
}

/// The number of a subscription, its place and its program.
type Request<'py> = (u32, u64, Bound<'py, PyBytes>);

fn read_request<'py>(py: Python<'py>, request: Requested<&[u8]>) -> Request<'py> {
    let program = PyBytes::new(py, request.program);
    (request.subscription.0, request.place.0, program)
}

fn kind_of(code: u32) -> PyResult<plan::Request> {
    plan::Request::of_code(code).ok_or_else(|| PyValueError::new_err("there is no such request"))
}

fn add(builder: &mut Builder, number: u32, place: u64, program: &[u8]) -> PyResult<()> {
    builder
        .add(SubscriptionId(number), Place(place), program)
        .map_err(|reason| PyValueError::new_err(reason.to_string()))
}
