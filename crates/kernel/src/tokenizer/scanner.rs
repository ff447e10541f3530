//! The state of a document being read, and the loop over its tokens.

use super::doctype::Doctype;
use super::entities::{Entity, Frame};
use super::extent::Extent;
use super::faults::{found, limit, malformed, quote};
use super::input::Promise;
use super::names::{NameId, Names};
use super::namespaces::Namespaces;
use super::tags::TagParts;
use super::{characters::skip_space, codes};
use crate::error::DocumentError;
use crate::events::{Handler, Span};
use crate::limits::Limits;
use std::rc::Rc;

/// A stretch of checked input that tokens are read from.
pub(super) struct Source<'h> {
    pub bytes: &'h [u8],
    /// Offset of the first byte.
    pub base: u64,
    /// The bytes contain neither `]` nor a carriage return.
    pub is_plain: bool,
    /// The outermost reference, if this is the text of an entity; then it is also complete and
    /// its line ends are normalised.
    pub outer: Option<Span>,
}

impl Source<'_> {
    #[inline(always)]
    pub fn span(&self, start: usize, end: usize) -> Span {
        match self.outer {
            None => Span {
                start: self.base + start as u64,
                end: self.base + end as u64,
            },
            Some(outer) => outer,
        }
    }

    #[inline(always)]
    pub fn offset(&self, at: usize) -> u64 {
        self.span(at, at).start
    }
}

/// What reading one token led to.
pub(super) enum Step {
    /// Go on at this position.
    Next(usize),
    /// The token is not complete.
    More,
    /// Read an entity's text, then go on at this position.
    Enter(usize, Rc<Entity>, Span),
}

/// How far a document has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before the root element.
    Prolog,
    /// In it.
    Root,
    /// After it.
    Epilog,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub name: NameId,
    /// It declared namespaces.
    pub is_scope: bool,
}

/// Everything about a document except its bytes.
pub(super) struct Core {
    pub limits: Limits,
    /// The longest token. Not less than what a name may have, so that the commonest tokens need
    /// no look at their length.
    token_bytes_max: u64,
    pub names: Names,
    pub spaces: Namespaces,
    pub open: Vec<Open>,
    /// Elements open before the innermost entity began; only later ones may be closed in it.
    pub floor: usize,
    /// The element before this one, for guessing names.
    pub previous: NameId,
    pub phase: Phase,
    /// In a CDATA section: where the span of its next piece starts.
    pub cdata: Option<u64>,
    pub promise: Promise,
    /// Where an XML declaration may stand: after a BOM or at 0.
    pub origin: u64,
    pub doctype: Doctype,
    pub frames: Vec<Frame>,
    pub entity_bytes: u64,
    /// No byte will follow: an incomplete token is a fault.
    pub is_last: bool,
    pub parts: TagParts,
    pub scratch: Vec<u8>,
}

impl Core {
    pub fn new(limits: Limits) -> Self {
        Core {
            limits,
            token_bytes_max: limits
                .text_bytes_max
                .max(limits.name_bytes_max.saturating_add(16)),
            names: Names::new(),
            spaces: Namespaces::new(),
            open: Vec::new(),
            floor: 0,
            previous: NameId(0),
            phase: Phase::Prolog,
            cdata: None,
            promise: Promise::Label,
            origin: 0,
            doctype: Doctype::default(),
            frames: Vec::new(),
            entity_bytes: 0,
            is_last: false,
            parts: TagParts::default(),
            scratch: Vec::new(),
        }
    }

    /// Back to the start of a document; names and their symbols are kept.
    pub fn reset(&mut self) {
        self.open.clear();
        self.spaces.reset();
        self.floor = 0;
        self.phase = Phase::Prolog;
        self.cdata = None;
        self.origin = 0;
        self.doctype = Doctype::default();
        self.frames.clear();
        self.entity_bytes = 0;
        self.is_last = false;
    }

    /// Reads tokens and the entities they refer to; returns how many bytes were used up.
    pub fn drive<H: Handler>(
        &mut self,
        source: &Source<'_>,
        from: usize,
        handler: &mut H,
    ) -> Result<usize, DocumentError> {
        let mut at = from;
        loop {
            match self.scan(source, at, handler)? {
                Step::Next(end) => return Ok(end),
                Step::More => unreachable!("scan turns it into a position"),
                Step::Enter(next, entity, span) => {
                    self.expand(entity, span, handler)?;
                    at = next;
                }
            }
        }
    }

    /// Reads tokens until the bytes or an entity stop it.
    pub fn scan<H: Handler>(
        &mut self,
        source: &Source<'_>,
        from: usize,
        handler: &mut H,
    ) -> Result<Step, DocumentError> {
        let bytes = source.bytes;
        let mut at = from;
        while at < bytes.len() {
            let step = if self.open.is_empty() {
                self.outside(source, at, handler)?
            } else if self.cdata.is_some() {
                self.cdata(source, at, handler)?
            } else {
                match bytes[at] {
                    b'<' => self.markup(source, at, handler)?,
                    b'&' => match self.reference(source, at, handler) {
                        Err(fault) => self.settle(source, at, fault)?,
                        Ok(step) => step,
                    },
                    _ => self.text(source, at, handler)?,
                }
            };
            match step {
                Step::Next(next) => at = next,
                Step::More => break,
                Step::Enter(..) => return Ok(step),
            }
        }
        Ok(Step::Next(at))
    }

    /// Outside the root element: white space and markup.
    fn outside<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<Step, DocumentError> {
        let bytes = source.bytes;
        if source.base + at as u64 == 0 && bytes[at..].starts_with(b"\xEF\xBB\xBF") {
            self.origin = 3;
            return Ok(Step::Next(at + 3));
        }
        let start = skip_space(bytes, at);
        match bytes.get(start) {
            Some(b'<') if start == at => self.markup(source, at, handler),
            None | Some(b'<') => Ok(Step::Next(start)),
            Some(_) => {
                let place = if self.phase == Phase::Prolog {
                    "before"
                } else {
                    "after"
                };
                let what = found(bytes, start);
                let reason = format!("{what} stands {place} the root element");
                Err(malformed(
                    codes::TEXT_OUTSIDE_ROOT,
                    source.offset(start),
                    reason,
                ))
            }
        }
    }

    #[inline(always)]
    fn markup<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<Step, DocumentError> {
        let Some(next) = source.bytes.get(at + 1) else {
            return Ok(Step::More);
        };
        let result = match next {
            b'/' => self.end_tag(source, at, handler),
            b'!' => self.declaration(source, at, handler),
            b'?' => self.instruction(source, at, handler),
            _ => self.start_tag(source, at, handler),
        };
        match result {
            Err(fault) => self.settle(source, at, fault),
            step => step,
        }
    }

    /// Reports a fault only when the whole token is in view, so that it is the same fault however
    /// the input was cut.
    #[cold]
    fn settle(
        &self,
        source: &Source<'_>,
        at: usize,
        fault: DocumentError,
    ) -> Result<Step, DocumentError> {
        if source.outer.is_some() || self.is_last {
            return Err(fault);
        }
        let mut extent = Extent::Start;
        match extent.advance(&source.bytes[at..]) {
            None => Ok(Step::More),
            Some(length) => {
                self.check_length(source.offset(at), length, extent.is_doctype())?;
                Err(fault)
            }
        }
    }

    /// Refuses a token that is too long.
    #[inline]
    pub fn check_length(
        &self,
        start: u64,
        length: usize,
        is_doctype: bool,
    ) -> Result<(), DocumentError> {
        let (field, max) = if is_doctype {
            ("doctype_bytes_max", self.limits.doctype_bytes_max)
        } else {
            ("text_bytes_max", self.token_bytes_max)
        };
        if length as u64 > max {
            Err(limit(field, start, max))
        } else {
            Ok(())
        }
    }

    /// The open elements as a path; a deep one is abridged.
    pub fn path(&self) -> String {
        const SHOWN: usize = 16;
        if self.open.is_empty() {
            return "/".to_owned();
        }
        let mut path = String::new();
        for (depth, open) in self.open.iter().enumerate() {
            if depth >= SHOWN && depth + SHOWN < self.open.len() {
                if depth == SHOWN {
                    path.push_str("/…");
                }
                continue;
            }
            path.push('/');
            path.push_str(&quote(&self.names.get(open.name).bytes));
        }
        path
    }

    /// Forgets names that are not in use. Called between tokens only.
    pub fn compact(&mut self) {
        let used: Vec<Box<[u8]>> = self
            .open
            .iter()
            .map(|open| self.names.get(open.name).bytes.clone())
            .collect();
        self.names.clear();
        self.spaces.compact();
        for (open, bytes) in self.open.iter_mut().zip(used) {
            if let Some(id) = self.names.intern(&bytes, &mut self.spaces) {
                open.name = id;
            }
        }
        self.names.leave_room();
        self.previous = NameId(0);
    }
}
