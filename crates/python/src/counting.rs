//! The events of a document, counted: what the tokenizer does alone.

use crate::documents::{Chunk, Failure, failure, read_limits};
use crate::watch::away;
use penstock_kernel::error::DocumentError;
use penstock_kernel::events::{Handler, Span, StartTag, Symbol};
use penstock_kernel::tokenizer::Tokenizer;
use pyo3::prelude::*;

/// Counts events, to measure the tokenizer alone.
#[derive(Default)]
struct Counter {
    events: u64,
}

impl Handler for Counter {
    fn element_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }
    fn attribute_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }
    fn start(&mut self, _tag: &StartTag<'_>) -> Result<(), DocumentError> {
        self.events += 1;
        Ok(())
    }
    fn end(&mut self, _span: Span) -> Result<(), DocumentError> {
        self.events += 1;
        Ok(())
    }
    fn text(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }
    fn comment(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        self.events += 1;
        Ok(())
    }
    fn instruction(
        &mut self,
        _target: &[u8],
        _value: &[u8],
        _span: Span,
    ) -> Result<(), DocumentError> {
        self.events += 1;
        Ok(())
    }
}

/// Reads a document with nobody listening: the number of its events, or what is wrong with it.
#[pyfunction]
pub fn count_events(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    chunk_bytes: usize,
    limits: &Bound<'_, PyAny>,
) -> PyResult<(u64, Option<Failure>)> {
    let (chunk, limits) = (Chunk::of(data)?, read_limits(limits)?);
    let raw = chunk.raw();
    Ok(away(py, || {
        let (mut tokenizer, mut counter) = (Tokenizer::new(limits), Counter::default());
        let mut read = || {
            tokenizer.begin(None)?;
            for piece in raw.bytes().chunks(chunk_bytes.max(1)) {
                tokenizer.feed(piece, &mut counter)?;
            }
            tokenizer.finish(&mut counter)
        };
        let error = read().err().map(failure);
        (counter.events, error)
    }))
}
