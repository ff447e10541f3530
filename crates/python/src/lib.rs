//! The native module `penstock._native`: the kernel's buffers for `penstock.kernel`, its only
//! importer. Nothing is decided here.

mod arrow;
mod batches;
mod bindings;
mod bucketed;
mod counting;
mod cutting;
mod documents;
mod feeding;
mod gathered;
pub mod join_states;
mod mending;
mod plans;
pub mod progressive;
mod records;
mod routing;
mod segments;
mod serialization;
mod sessions;
mod tables;
mod watch;
mod witnesses;

use penstock_kernel::ledger::Counting;

/// Counts what documents cost in memory.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The kernel for `penstock.kernel`, its only importer.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::watch::import();
        Ok(())
    }

    #[pymodule_export]
    use crate::arrow::Columns;
    #[pymodule_export]
    use crate::batches::Batch;
    #[pymodule_export]
    use crate::bucketed::BucketedState;
    #[pymodule_export]
    use crate::counting::count_events;
    #[pymodule_export]
    use crate::cutting::Cutter;
    #[pymodule_export]
    use crate::feeding::{Feeder, MessageRows};
    #[pymodule_export]
    use crate::gathered::Gathered;
    #[pymodule_export]
    use crate::join_states::{JoinState, Joins};
    #[pymodule_export]
    use crate::mending::Mender;
    #[pymodule_export]
    use crate::plans::{Plan, PlanBuilder};
    #[pymodule_export]
    use crate::progressive::ProgressiveJoin;
    #[pymodule_export]
    use crate::records::{Paths, Witness, read_record};
    #[pymodule_export]
    use crate::routing::{Router, ValueTest, header_part, read_header, write_header};
    #[pymodule_export]
    use crate::segments::{merge_segments, read_segment};
    #[pymodule_export]
    use crate::serialization::{Surroundings, ends_in_cdata, escape, quote};
    #[pymodule_export]
    use crate::sessions::Session;
    #[pymodule_export]
    use crate::witnesses::{event_ordinal, witness_columns};
    use penstock_joins::joins;
    use penstock_kernel::session;

    #[pymodule_export]
    const WHOLE_BYTES_MAX: usize = session::WHOLE_BYTES_MAX;
    #[pymodule_export]
    const BUNDLE_BYTES_MAX: usize = session::BUNDLE_BYTES_MAX;
    #[pymodule_export]
    const BUNDLE_DOCUMENTS_MAX: usize = session::BUNDLE_DOCUMENTS_MAX;
    #[pymodule_export]
    const JOIN_STATE_BYTES_MAX: usize = joins::STATE_BYTES_MAX;
    #[pymodule_export]
    const JOIN_BATCH_ROWS_MAX: usize = joins::BATCH_ROWS_MAX;
}
