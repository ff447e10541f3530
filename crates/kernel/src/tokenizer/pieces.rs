//! Pieces of decoded input: checked, read where they lie, and carried over where a token is cut.

use super::codes;
use super::extent::Extent;
use super::faults::{limit, malformed};
use super::scanner::{Core, Phase, Source};
use super::validity::{Flaw, Lines, check};
use crate::error::DocumentError;
use crate::events::Handler;
use crate::limits::Limits;

/// So much is checked at a time and then read, while it is in the processor's cache.
const WINDOW_BYTES: usize = 64 << 10;

/// Buffers that one long token made larger are given back with the next document.
pub(super) const KEPT_BYTES_MAX: usize = 1 << 20;

/// The input of one document so far.
pub(super) struct Pieces {
    pub core: Core,
    /// A token cut off by the end of the last piece; its last bytes may be part of a character.
    carry: Vec<u8>,
    /// So many bytes at the end of `carry` are not checked.
    partial: usize,
    /// How far the end of the carried token was looked for; `None` once it is there.
    extent: Option<Extent>,
    /// Offset of the first byte of the piece being read, or of the next one.
    base: u64,
    /// Offset of the first byte that is not used up.
    start: u64,
    /// Line ends before `start`.
    lines: Lines,
}

impl Pieces {
    pub fn new(limits: Limits) -> Self {
        Pieces {
            core: Core::new(limits),
            carry: Vec::new(),
            partial: 0,
            extent: None,
            base: 0,
            start: 0,
            lines: Lines::default(),
        }
    }

    pub fn reset(&mut self) {
        self.core.reset();
        self.carry.clear();
        self.carry.shrink_to(KEPT_BYTES_MAX);
        self.partial = 0;
        self.extent = None;
        self.base = 0;
        self.start = 0;
        self.lines = Lines::default();
    }

    /// Goes on at another place of the document, before which there are so many line ends, with so
    /// many of the open elements.
    pub fn recover(&mut self, depth: usize, offset: u64, line_ends: u64) {
        self.core.recover(depth);
        self.carry.clear();
        self.partial = 0;
        self.extent = None;
        (self.base, self.start) = (offset, offset);
        self.lines = Lines::from(line_ends);
    }

    /// Offset of the first byte that is not used up.
    pub fn position(&self) -> u64 {
        self.start
    }

    /// Reads the next piece.
    pub fn read<H: Handler>(&mut self, piece: &[u8], handler: &mut H) -> Result<(), DocumentError> {
        if piece.is_empty() {
            return Ok(());
        }
        handler.block(piece, self.base);
        let max = self.core.limits.document_bytes_max;
        let room = usize::try_from(max - self.base).unwrap_or(usize::MAX);
        let allowed = &piece[..piece.len().min(room)];
        let mut taken = 0;
        if let Err(fault) = self.read_windows(allowed, &mut taken, handler) {
            return Err(self.locate(fault, allowed, taken));
        }
        self.base += allowed.len() as u64;
        if allowed.len() < piece.len() {
            return Err(self.locate(limit("document_bytes_max", max, max), b"", 0));
        }
        handler
            .block_end(self.start)
            .map_err(|fault| self.locate(fault, b"", 0))
    }

    /// Ends the document.
    pub fn finish<H: Handler>(&mut self, handler: &mut H) -> Result<(), DocumentError> {
        if self.partial > 0 {
            return Err(self.bad_bytes("the document ends inside a character"));
        }
        let reason = match (self.carry.first(), self.core.phase) {
            (Some(b'<'), _) => {
                // What is there of the token may be wrong already, and then says more.
                self.core.is_last = true;
                if let Err(fault) = self.drive_carry(handler) {
                    return Err(self.locate(fault, b"", 0));
                }
                "the document ends inside markup"
            }
            (Some(b'&'), _) => "the document ends inside a reference",
            (_, Phase::Prolog) => {
                let fault = malformed(codes::NO_ROOT, self.base, "the document has no element");
                return Err(self.locate(fault, b"", 0));
            }
            (_, Phase::Root) if self.core.cdata.is_some() => {
                "the document ends inside a CDATA section"
            }
            (_, Phase::Root) => "the document ends before its root element does",
            (_, Phase::Epilog) => return Ok(()),
        };
        Err(self.locate(malformed(codes::UNEXPECTED_END, self.base, reason), b"", 0))
    }

    /// An error about the bytes after the last piece, or about a character it ends in.
    pub fn bad_bytes(&self, reason: &str) -> DocumentError {
        let byte = self.base - self.partial as u64;
        self.locate(malformed(codes::BAD_BYTES, byte, reason), b"", 0)
    }

    /// Gives an error the place that is reached.
    pub fn locate_here(&self, mut fault: DocumentError) -> DocumentError {
        fault.byte = self.start;
        self.locate(fault, b"", 0)
    }

    /// Adds line and path to an error, unless it has them. `taken` bytes of the piece are in
    /// `carry`.
    fn locate(&self, mut fault: DocumentError, piece: &[u8], taken: usize) -> DocumentError {
        if fault.line == 0 {
            let mut lines = self.lines;
            let wanted = fault.byte.saturating_sub(self.start) as usize;
            let carried = wanted.min(self.carry.len());
            lines.advance(&self.carry[..carried], false);
            let from = match self.carry.is_empty() {
                true => self.start.saturating_sub(self.base) as usize,
                false => taken,
            };
            let rest = &piece[from.min(piece.len())..];
            lines.advance(&rest[..(wanted - carried).min(rest.len())], false);
            fault.line = lines.count + 1;
        }
        if fault.path.is_empty() {
            fault.path = self.core.path();
        }
        fault
    }

    /// Reads a piece window by window.
    fn read_windows<H: Handler>(
        &mut self,
        piece: &[u8],
        taken: &mut usize,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        self.complete_character(piece, taken)?;
        let mut checked = *taken;
        // How much of the piece is used up, and whether the checked bytes after that are plain.
        let mut at = *taken;
        let mut is_plain = true;
        let mut window = WINDOW_BYTES;
        loop {
            let end = piece.len().min(checked + window);
            let state = check(&piece[checked..end]);
            is_plain = state.is_plain && (is_plain || at == checked);
            checked += state.valid;
            let before = at;
            if !self.carry.is_empty() && self.partial == 0 {
                at = self.resume(&piece[..checked], taken, handler)?;
                is_plain = is_plain && at >= before;
            }
            if self.carry.is_empty() {
                self.read_window(&piece[..checked], &mut at, is_plain, handler)?;
            }
            if let Some(flaw) = state.flaw.filter(|flaw| *flaw != Flaw::Partial) {
                return Err(self.flaw(flaw, piece, checked));
            }
            if end == piece.len() {
                return self.keep(piece, at, checked, *taken);
            }
            // A token longer than a window is read again in a window of twice the size, so that
            // the work stays in proportion to its length.
            window = if at == before {
                window * 2
            } else {
                WINDOW_BYTES
            };
        }
    }

    #[inline]
    fn read_window<H: Handler>(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        is_plain: bool,
        handler: &mut H,
    ) -> Result<(), DocumentError> {
        let source = Source {
            bytes,
            base: self.base,
            is_plain,
            outer: None,
        };
        let used = self.core.drive(&source, *at, handler)?;
        self.lines.advance(&bytes[*at..used], is_plain);
        self.start = self.base + used as u64;
        *at = used;
        Ok(())
    }

    fn flaw(&self, flaw: Flaw, bytes: &[u8], at: usize) -> DocumentError {
        let byte = self.base + at as u64;
        match flaw {
            Flaw::Forbidden(code) => {
                let reason = format!("character U+{code:04X} is not allowed in XML");
                malformed(codes::BAD_CHARACTER, byte, reason)
            }
            Flaw::Malformed | Flaw::Partial => {
                let reason = format!("byte {:#04X} begins no UTF-8 character", bytes[at]);
                malformed(codes::BAD_BYTES, byte, reason)
            }
        }
    }

    /// Adds to `carry` what is missing of the character it ends in.
    fn complete_character(&mut self, piece: &[u8], taken: &mut usize) -> Result<(), DocumentError> {
        while self.partial > 0 && *taken < piece.len() {
            self.carry.push(piece[*taken]);
            *taken += 1;
            self.partial += 1;
            let start = self.carry.len() - self.partial;
            match check(&self.carry[start..]).flaw {
                Some(Flaw::Partial) => {}
                None => {
                    self.partial = 0;
                    self.seek(start);
                }
                Some(flaw) => {
                    let mut fault = self.flaw(flaw, &self.carry, start);
                    fault.byte = self.start + start as u64;
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    /// Looks for the end of the carried token in the bytes of `carry` from `from`.
    fn seek(&mut self, from: usize) {
        if let Some(extent) = &mut self.extent
            && extent.advance(&self.carry[from..]).is_some()
        {
            self.extent = None;
        }
    }

    /// Completes the carried token from the piece and reads it; returns where in the piece to go
    /// on. If `carry` is not empty afterwards, the whole piece has been taken.
    fn resume<H: Handler>(
        &mut self,
        piece: &[u8],
        taken: &mut usize,
        handler: &mut H,
    ) -> Result<usize, DocumentError> {
        loop {
            let rest = &piece[*taken..];
            let is_markup = matches!(self.carry[0], b'<' | b'&');
            let length = if !is_markup {
                few_characters(rest)
            } else if let Some(extent) = &mut self.extent {
                match extent.advance(rest) {
                    Some(length) => {
                        self.extent = None;
                        length
                    }
                    None => rest.len(),
                }
            } else {
                0
            };
            self.carry.extend_from_slice(&rest[..length]);
            *taken += length;
            if let Some(extent) = self.extent.filter(|_| is_markup) {
                self.core
                    .check_length(self.start, self.carry.len(), extent.token())?;
                return Ok(piece.len());
            }
            let used = self.drive_carry(handler)?;
            self.lines.advance(&self.carry[..used], false);
            self.start += used as u64;
            let older = self.carry.len() - *taken;
            if used >= older {
                self.carry.clear();
                return Ok(used - older);
            }
            self.carry.drain(..used);
            if *taken == piece.len() {
                return Ok(piece.len());
            }
            debug_assert!(
                length > 0 && !is_markup,
                "a token was not read: {:?}",
                self.carry
            );
        }
    }

    fn drive_carry<H: Handler>(&mut self, handler: &mut H) -> Result<usize, DocumentError> {
        let carry = std::mem::take(&mut self.carry);
        let source = Source {
            bytes: &carry,
            base: self.start,
            is_plain: false,
            outer: None,
        };
        let used = self.core.drive(&source, 0, handler);
        self.carry = carry;
        used
    }

    /// Keeps what the end of a piece cut off.
    fn keep(
        &mut self,
        piece: &[u8],
        at: usize,
        checked: usize,
        taken: usize,
    ) -> Result<(), DocumentError> {
        self.partial = self.partial.max(piece.len() - checked);
        if !self.carry.is_empty() {
            self.carry.extend_from_slice(&piece[taken.max(checked)..]);
            return Ok(());
        }
        self.carry.extend_from_slice(&piece[at..]);
        let valid = checked - at;
        self.extent = None;
        if valid > 0 && matches!(self.carry[0], b'<' | b'&') {
            let mut extent = Extent::Start;
            let end = extent.advance(&self.carry[..valid]);
            debug_assert!(end.is_none(), "a token with its end in view was read");
            self.extent = Some(extent);
            self.core.check_length(self.start, valid, extent.token())?;
        }
        Ok(())
    }
}

/// The length of the next few whole characters: enough to decide about `]`, `]]` and `\r`.
fn few_characters(bytes: &[u8]) -> usize {
    let is_inside = |byte: &u8| byte & 0xC0 == 0x80;
    let few = bytes.len().min(4);
    few + bytes[few..]
        .iter()
        .take_while(|byte| is_inside(byte))
        .count()
}
