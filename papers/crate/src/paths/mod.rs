//! Published algorithms for many path queries: YFilter's automaton, and XPaSS's shared segments.
//!
//! Documents are read by the kernel's tokenizer, so that only the algorithms differ.

mod bitmap;
mod labels;
mod nfa;
mod query;
mod reader;
mod segments;

use bitmap::{Compressed, Plain};
use nfa::Nfa;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use query::Queries;
use reader::{Matcher, Reader};
use segments::Segments;

/// Path queries, compiled by one of the algorithms.
#[pyclass(unsendable)]
pub struct PathMatcher {
    reader: Reader,
    matcher: Box<dyn Matcher>,
    found: Vec<u32>,
}

#[pymethods]
impl PathMatcher {
    /// Compiles queries, one on each line, by `yfilter`, `xpass` or `xpass compressed`.
    #[new]
    fn new(algorithm: &str, is_query: bool, texts: &str) -> PyResult<PathMatcher> {
        let queries = Queries::parse(texts).map_err(PyValueError::new_err)?;
        let matcher: Box<dyn Matcher> = match algorithm {
            "yfilter" => Box::new(Nfa::build(&queries, is_query).map_err(PyValueError::new_err)?),
            "xpass" => Box::new(Segments::<Plain>::build(&queries, is_query)),
            "xpass compressed" => Box::new(Segments::<Compressed>::build(&queries, is_query)),
            _ => {
                let message = format!("unknown algorithm `{algorithm}`");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(PathMatcher {
            reader: Reader::new(queries.names),
            matcher,
            found: Vec::new(),
        })
    }

    /// Reads a document; the numbers of what matches stay in memory until the next call.
    fn read(&mut self, document: &[u8]) -> PyResult<()> {
        self.found.clear();
        let matcher = self.matcher.as_mut();
        let read = self.reader.read(document, matcher, &mut self.found);
        read.map_err(PyValueError::new_err)
    }

    /// What matched in the last document: numbers of queries or, in query mode, pairs of an
    /// element's and a query's number.
    fn found(&self) -> Vec<u32> {
        self.found.clone()
    }

    /// Forgets what was learnt from documents.
    fn forget(&mut self) {
        self.matcher.forget();
    }
}
