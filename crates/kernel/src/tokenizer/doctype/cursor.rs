//! A position in a document type declaration, with the small steps every declaration needs.

use crate::error::DocumentError;
use crate::limits::Limits;
use crate::tokenizer::characters::{is_name, is_space, name_end, skip_space};
use crate::tokenizer::codes;
use crate::tokenizer::faults::{found, limit, malformed, quote};

pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// The code of whatever goes wrong here.
    pub code: &'static str,
    /// The bytes are the text of an entity.
    pub is_entity: bool,
    base: u64,
    name_bytes_max: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor over input; `base` is the offset of the first byte.
    pub fn new(bytes: &'a [u8], at: usize, base: u64, limits: &Limits) -> Self {
        let code = codes::BAD_DOCTYPE;
        Cursor {
            bytes,
            at,
            code,
            is_entity: false,
            base,
            name_bytes_max: limits.name_bytes_max,
        }
    }

    /// A cursor over an entity; `reference` is where the outermost reference stands.
    pub fn entity(bytes: &'a [u8], at: usize, reference: u64, limits: &Limits) -> Self {
        Cursor {
            is_entity: true,
            ..Cursor::new(bytes, at, reference, limits)
        }
    }

    pub fn offset(&self) -> u64 {
        if self.is_entity {
            self.base
        } else {
            self.base + self.at as u64
        }
    }

    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub fn eat(&mut self, word: &[u8]) -> bool {
        let is_there = self.bytes[self.at..].starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    /// Skips white space; was there any?
    pub fn space(&mut self) -> bool {
        let start = self.at;
        self.at = skip_space(self.bytes, start);
        self.at > start
    }

    pub fn fault(&self, wanted: &str) -> DocumentError {
        if self.peek() == Some(b'%') {
            let reason = "a parameter entity reference may only stand between declarations";
            return malformed(codes::MISPLACED_PARAMETER, self.offset(), reason);
        }
        let reason = format!(
            "{} stands where {wanted} should",
            found(self.bytes, self.at)
        );
        malformed(self.code, self.offset(), reason)
    }

    pub fn need(&mut self, word: &[u8]) -> Result<(), DocumentError> {
        if self.eat(word) {
            Ok(())
        } else {
            Err(self.fault(&format!("`{}`", quote(word))))
        }
    }

    pub fn need_space(&mut self) -> Result<(), DocumentError> {
        if self.space() {
            Ok(())
        } else {
            Err(self.fault("white space"))
        }
    }

    /// Optional white space and `>`.
    pub fn close(&mut self) -> Result<(), DocumentError> {
        self.space();
        self.need(b">")
    }

    /// The bytes of a name or token.
    pub fn token(&mut self) -> Result<&'a [u8], DocumentError> {
        let token = &self.bytes[self.at..name_end(self.bytes, self.at)];
        if token.is_empty() {
            return Err(self.fault("a name"));
        }
        if token.len() as u64 > self.name_bytes_max {
            return Err(limit("name_bytes_max", self.offset(), self.name_bytes_max));
        }
        self.at += token.len();
        Ok(token)
    }

    pub fn name(&mut self) -> Result<&'a [u8], DocumentError> {
        let start = self.offset();
        let name = self.token()?;
        if !is_name(name) {
            let reason = format!("`{}` is not a name", quote(name));
            return Err(malformed(codes::BAD_NAME, start, reason));
        }
        Ok(name)
    }

    /// A name without colons, as namespaces ask of entities and notations.
    pub fn simple_name(&mut self) -> Result<&'a [u8], DocumentError> {
        let start = self.offset();
        let name = self.name()?;
        if name.contains(&b':') {
            let reason = format!("`{}` may not contain a colon", quote(name));
            return Err(malformed(codes::BAD_NAME, start, reason));
        }
        Ok(name)
    }

    /// What stands between quotes.
    pub fn literal(&mut self) -> Result<&'a [u8], DocumentError> {
        let mark = match self.peek() {
            Some(mark @ (b'"' | b'\'')) => mark,
            _ => return Err(self.fault("a quoted literal")),
        };
        self.at += 1;
        self.until(&[mark], "the closing quote")
    }

    /// What stands before `end`, which is skipped too.
    pub fn until(&mut self, end: &[u8], wanted: &str) -> Result<&'a [u8], DocumentError> {
        let rest = &self.bytes[self.at..];
        let Some(length) = memchr::memmem::find(rest, end) else {
            self.at = self.bytes.len();
            return Err(self.fault(wanted));
        };
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    /// The rest of a comment.
    pub fn comment(&mut self) -> Result<(), DocumentError> {
        self.code = codes::BAD_COMMENT;
        self.until(b"--", "the end of a comment")?;
        self.need(b">")
    }

    /// `SYSTEM` or `PUBLIC` with their literals; a notation may go without the second.
    pub fn external_id(&mut self, is_notation: bool) -> Result<(), DocumentError> {
        if self.eat(b"PUBLIC") {
            self.need_space()?;
            let start = self.offset();
            let public = self.literal()?;
            if let Some(at) = public.iter().position(|byte| !is_public(*byte)) {
                let reason = format!("{} stands in a public identifier", found(public, at));
                return Err(malformed(self.code, start, reason));
            }
            let is_spaced = self.space();
            let is_literal = matches!(self.peek(), Some(b'"' | b'\''));
            if is_notation && !is_literal {
                return Ok(());
            }
            if !is_spaced {
                return Err(self.fault("white space"));
            }
        } else {
            self.need(b"SYSTEM")?;
            self.need_space()?;
        }
        self.literal().map(drop)
    }
}

/// Production PubidChar.
fn is_public(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || (is_space(byte) && byte != b'\t')
        || b"-'()+,./:=?;!*#@$_%".contains(&byte)
}
