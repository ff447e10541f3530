//! The policies of *Twig'n Join: progressive query processing of multiple XML streams* (Tok,
//! Bressan, Lee), for the product's progressive join.

mod flushing;
mod probing;

use flushing::{AnyPartitions, Rpj, Rrpj};
use penstock_joins::progressive::policies::{Density, Flush, Matches, Probe};
use penstock_joins::progressive::{Options, Progressive};
use penstock_native::progressive::{ProgressiveJoin, Side, graph_of};
use probing::{Apriori, Sequential, Written};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A progressive join that flushes by `rrpj`, `rpj`, `random` or as the product (`auto`), and
/// probes in the order `rop-written`, `sequential`, `apriori` or that of the product (`rop`).
#[pyfunction]
#[pyo3(signature = (pages, attributes, equalities, comparisons, limits = None, *, within = None, flush = "auto", flush_fraction = 0.1, partitions = 1024, page_bytes = 40960, probe = "rop", selectivities = Vec::new(), state_bytes_max, seed = 0))]
#[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
pub fn progressive_join(
    pages: Py<PyAny>,
    attributes: Vec<u32>,
    equalities: Vec<(Side, Side)>,
    comparisons: Vec<(Side, String, Side, bool)>,
    limits: Option<&Bound<'_, PyAny>>,
    within: Option<i64>,
    flush: &str,
    flush_fraction: f64,
    partitions: u32,
    page_bytes: usize,
    probe: &str,
    selectivities: Vec<f64>,
    state_bytes_max: usize,
    seed: u64,
) -> PyResult<ProgressiveJoin> {
    let graph = graph_of(attributes, equalities, comparisons, within)?;
    let streams = graph.stream_count();
    let flush: Box<dyn Flush> = match flush {
        "auto" => Box::new(Density::new(streams, seed)),
        "rrpj" => Box::new(Rrpj::new(seed)),
        "rpj" => Box::new(Rpj::new(seed)),
        "random" => Box::new(AnyPartitions::new(seed)),
        _ => return Err(unknown("flush policy", flush)),
    };
    let probe: Box<dyn Probe> = match probe {
        "rop" => Box::new(Matches::new(streams, seed)),
        "rop-written" => Box::<Written>::default(),
        "sequential" => Box::new(Sequential),
        "apriori" => Box::new(Apriori(selectivities)),
        _ => return Err(unknown("order of probing", probe)),
    };
    let options = Options {
        flush_fraction,
        partitions,
        page_bytes,
        state_bytes_max,
        seed,
    };
    ProgressiveJoin::of(pages, limits, |ledger| {
        Progressive::new(graph, options, ledger).with_policies(flush, probe)
    })
}

fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {what} {name}"))
}
