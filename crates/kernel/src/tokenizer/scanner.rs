//! The state of a document being read, and the loop over its tokens.

use super::doctype::Doctype;
use super::entities::{Entity, Frame};
use super::extent::{Extent, Token};
use super::faults::{found, limit, malformed, quote};
use super::input::Promise;
use super::names::{NameId, Names, Previous};
use super::namespaces::Namespaces;
use super::pieces::KEPT_BYTES_MAX;
use super::tags::TagParts;
use super::{characters::skip_space, codes};
use crate::error::DocumentError;
use crate::events::{Handler, Span};
use crate::ledger::Account;
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

/// Why reading tokens stopped before the end of the bytes.
pub(super) enum Stop {
    /// The token is not complete.
    More,
    /// An entity's text has to be read before going on at this position.
    Enter(usize, Rc<Entity>, Span),
    /// The document is wrong.
    Fault(DocumentError),
}

/// A stop in a box: a position or a stop then travels in two registers, which a third of the
/// scanner's speed depends on.
pub(super) struct Halt(pub Box<Stop>);

impl Halt {
    #[cold]
    pub fn more() -> Halt {
        Halt(Box::new(Stop::More))
    }
}

impl From<DocumentError> for Halt {
    #[cold]
    fn from(fault: DocumentError) -> Halt {
        Halt(Box::new(Stop::Fault(fault)))
    }
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
    /// The longest tag. Not less than what a name may have, so that the commonest tags need no look
    /// at their length.
    tag_bytes_max: u64,
    pub names: Names,
    pub spaces: Namespaces,
    pub open: Vec<Open>,
    /// Elements open before the innermost entity began; only later ones may be closed in it.
    pub floor: usize,
    /// The last tag, for guessing the next name.
    pub previous: Previous,
    pub phase: Phase,
    /// In a CDATA section: where the span of its next piece starts.
    pub cdata: Option<u64>,
    /// Where the last CDATA section starts.
    pub section_start: u64,
    pub promise: Promise,
    /// Where an XML declaration may stand: after a BOM or at 0.
    pub origin: u64,
    pub doctype: Doctype,
    pub frames: Vec<Frame>,
    pub entity_bytes: u64,
    /// No byte will follow: an incomplete token is a fault.
    pub is_last: bool,
    /// Where the token begins that is at fault, if one is.
    pub fault_start: Option<u64>,
    pub parts: TagParts,
    pub scratch: Vec<u8>,
    /// Where work is counted that input has no bytes for.
    pub account: Option<Account>,
}

impl Core {
    pub fn new(limits: Limits) -> Self {
        Core {
            limits,
            tag_bytes_max: limits
                .buffer_bytes_max
                .max(limits.name_bytes_max.saturating_add(16)),
            names: Names::new(),
            spaces: Namespaces::new(),
            open: Vec::new(),
            floor: 0,
            previous: Previous::default(),
            phase: Phase::Prolog,
            cdata: None,
            section_start: 0,
            promise: Promise::Label,
            origin: 0,
            doctype: Doctype::default(),
            frames: Vec::new(),
            entity_bytes: 0,
            is_last: false,
            fault_start: None,
            parts: TagParts::default(),
            scratch: Vec::new(),
            account: None,
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
        self.fault_start = None;
        if let Some(account) = &mut self.account {
            account.begin();
        }
        for buffer in [&mut self.scratch, &mut self.parts.values] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES_MAX);
        }
    }

    /// Goes on in the middle of a document, with so many of the open elements.
    pub fn recover(&mut self, depth: usize) {
        self.open.truncate(depth);
        let scopes = self.open.iter().filter(|open| open.is_scope).count();
        self.spaces.leave_to(scopes);
        self.floor = 0;
        self.previous = Previous::default();
        self.cdata = None;
        self.frames.clear();
        self.is_last = false;
        self.fault_start = None;
        if depth > 0 {
            self.phase = Phase::Root;
        }
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
            match self.scan(source, &mut at, handler) {
                Ok(()) => return Ok(at),
                Err(halt) => match *halt.0 {
                    Stop::More => return Ok(at),
                    Stop::Fault(fault) => {
                        self.fault_start = Some(source.offset(at));
                        return Err(fault);
                    }
                    Stop::Enter(next, entity, span) => {
                        let expanded = self.expand(entity, span, handler);
                        expanded.inspect_err(|_| self.fault_start = Some(span.start))?;
                        at = next;
                    }
                },
            }
        }
    }

    /// Reads tokens from `at` on until the bytes or a halt end it; `at` is then the first token
    /// that was not read.
    pub fn scan<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: &mut usize,
        handler: &mut H,
    ) -> Result<(), Halt> {
        let bytes = source.bytes;
        while *at < bytes.len() {
            *at = if self.open.is_empty() {
                self.outside(source, *at, handler)?
            } else if self.cdata.is_some() {
                self.cdata(source, *at, handler)?
            } else {
                match bytes[*at] {
                    b'<' => self.markup(source, *at, handler)?,
                    b'&' => match self.reference(source, *at, handler) {
                        Err(halt) => return Err(self.settle(source, *at, halt)),
                        Ok(next) => next,
                    },
                    _ => self.text(source, *at, handler)?,
                }
            };
        }
        Ok(())
    }

    /// Outside the root element: white space and markup.
    fn outside<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let bytes = source.bytes;
        if source.base + at as u64 == 0 && bytes[at..].starts_with(b"\xEF\xBB\xBF") {
            self.origin = 3;
            return Ok(at + 3);
        }
        let start = skip_space(bytes, at);
        match bytes.get(start) {
            Some(b'<') if start == at => self.markup(source, at, handler),
            None | Some(b'<') => Ok(start),
            Some(_) => {
                let place = if self.phase == Phase::Prolog {
                    "before"
                } else {
                    "after"
                };
                let what = found(bytes, start);
                let reason = format!("{what} stands {place} the root element");
                Err(malformed(codes::TEXT_OUTSIDE_ROOT, source.offset(start), reason).into())
            }
        }
    }

    #[inline(always)]
    fn markup<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let Some(next) = source.bytes.get(at + 1) else {
            return Err(Halt::more());
        };
        let result = match next {
            b'/' => self.end_tag(source, at, handler),
            b'!' => self.declaration(source, at, handler),
            b'?' => self.instruction(source, at, handler),
            _ => self.start_tag(source, at, handler),
        };
        result.map_err(|halt| self.settle(source, at, halt))
    }

    /// Reports a fault only when the whole token is in view, so that it is the same fault however
    /// the input was cut.
    #[cold]
    fn settle(&self, source: &Source<'_>, at: usize, halt: Halt) -> Halt {
        if source.outer.is_some() || self.is_last || !matches!(*halt.0, Stop::Fault(_)) {
            return halt;
        }
        let mut extent = Extent::Start;
        match extent.advance(&source.bytes[at..]) {
            None => Halt::more(),
            Some(length) => match self.check_length(source.offset(at), length, extent.token()) {
                Err(too_long) => too_long.into(),
                Ok(()) => halt,
            },
        }
    }

    /// Refuses a token that is too long.
    #[inline]
    pub fn check_length(
        &self,
        start: u64,
        length: usize,
        token: Token,
    ) -> Result<(), DocumentError> {
        let limits = &self.limits;
        let (field, max, markup) = match token {
            Token::Tag => ("buffer_bytes_max", self.tag_bytes_max, 0),
            Token::Comment => ("text_bytes_max", limits.text_bytes_max, "<!---->".len()),
            Token::Instruction => ("text_bytes_max", limits.text_bytes_max, "<??>".len()),
            Token::Doctype => ("doctype_bytes_max", limits.doctype_bytes_max, 0),
        };
        if length as u64 > max + markup as u64 {
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
        self.previous = Previous::default();
    }
}
