//! The native module `penstock._native`: the kernel's buffers for `penstock.kernel`, its only
//! importer. Nothing is decided here.

mod bindings;
mod columns;
mod counting;
mod images;
mod joins;
mod plans;
mod serialization;
mod sessions;
mod witnesses;

/// The kernel for `penstock.kernel`, its only importer.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::columns::Column;
    #[pymodule_export]
    use crate::counting::count_events;
    #[pymodule_export]
    use crate::images::{merge_runs, read_run};
    #[pymodule_export]
    use crate::joins::{Joins, read_record};
    #[pymodule_export]
    use crate::plans::{Plan, PlanBuilder};
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
    const JOIN_MEMORY_BYTES_MAX: usize = joins::MEMORY_BYTES_MAX;
    #[pymodule_export]
    const JOIN_VIEWS_MAX: usize = joins::VIEWS_MAX;
}
