//! The open elements of a document, and the record among them.

use super::Target;
use super::lexical::local;
use crate::error::{DocumentError, ErrorKind};
use crate::events::{Handler, Span, StartTag, Symbol};
use crate::tokenizer::codes;

/// Listens to the tokenizer alone.
pub(super) struct Elements {
    pub target: Target,
    /// What is held because it may be lost has no more bytes.
    pub bytes_max: u64,
    /// Where the open elements start.
    pub open: Vec<u64>,
    /// How many elements are around the record that is open, and where it starts.
    pub record: Option<(usize, u64)>,
    /// How many elements were around the last record, and where the innermost of them starts.
    pub home: Option<(usize, u64)>,
    pub has_root: bool,
    /// Just past the end tag of the root element, once it is read.
    pub root_end: u64,
}

/// Stops the tokenizer at the end tag of the root element, which then stays open there.
pub(super) const ROOT_END: &str = "";

impl Elements {
    /// What is wrong with a record, or a CDATA section, that is too long.
    pub fn too_long(&self, start: u64) -> DocumentError {
        let max = self.bytes_max;
        let kind = ErrorKind::Limit("buffer_bytes_max");
        let reason = format!("a record has more than {max} bytes, which is buffer_bytes_max");
        DocumentError::at(start + max, kind, codes::BUFFER_BYTES, reason)
    }

    /// The innermost of so many open elements.
    pub fn home_at(&self, around: usize) -> Option<(usize, u64)> {
        let last = around.checked_sub(1)?;
        Some((around, self.open[last]))
    }

    /// Leaves so many elements open, none of which is a record.
    pub fn truncate(&mut self, depth: usize) {
        self.open.truncate(depth);
        self.record = None;
    }
}

impl Handler for Elements {
    fn element_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }

    fn attribute_symbol(&mut self, _uri: &[u8], _local: &[u8]) -> Symbol {
        Symbol(0)
    }

    #[inline]
    fn start(&mut self, tag: &StartTag<'_>) -> Result<(), DocumentError> {
        let around = self.open.len();
        if self.record.is_none()
            && self.target.may_stand(around)
            && self.target.has(local(tag.name))
        {
            self.record = Some((around, tag.span.start));
            self.home = self.home_at(around);
        }
        self.has_root = true;
        self.open.push(tag.span.start);
        Ok(())
    }

    #[inline]
    fn end(&mut self, span: Span) -> Result<(), DocumentError> {
        if self.open.len() == 1 {
            self.root_end = span.end;
            return Err(DocumentError::at(
                span.start,
                ErrorKind::Malformed,
                ROOT_END,
                "",
            ));
        }
        if let Some((around, start)) = self.record
            && self.open.len() == around + 1
        {
            if span.end - start > self.bytes_max {
                return Err(self.too_long(start));
            }
            self.record = None;
        }
        self.open.pop();
        Ok(())
    }

    #[inline]
    fn text(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }

    fn comment(&mut self, _value: &[u8], _span: Span) -> Result<(), DocumentError> {
        Ok(())
    }

    fn instruction(
        &mut self,
        _target: &[u8],
        _value: &[u8],
        _span: Span,
    ) -> Result<(), DocumentError> {
        Ok(())
    }
}
