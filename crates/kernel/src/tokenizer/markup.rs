//! Comments, processing instructions, the XML declaration and the start of a CDATA section.

use super::characters::{is_simple_name, is_space, name_end, skip_space};
use super::codes;
use super::content::normalize_lines;
use super::encodings::Objection;
use super::extent::{Extent, Token};
use super::faults::{SEVERAL, found, limit, malformed, quote};
use super::scanner::{Core, Halt, Phase, Source};
use crate::error::DocumentError;
use crate::events::Handler;

impl Core {
    /// Whatever starts with `<!`.
    pub(super) fn declaration<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let rest = &source.bytes[at + 2..];
        if rest.starts_with(b"--") {
            return self.comment(source, at, handler);
        }
        if rest.starts_with(b"[CDATA[") && !self.open.is_empty() {
            self.section_start = source.offset(at);
            self.cdata = Some(self.section_start);
            return Ok(at + 9);
        }
        if rest.starts_with(b"DOCTYPE") && source.outer.is_none() {
            return self.doctype(source, at, handler);
        }
        let is_start = |word: &&[u8]| rest.len() < word.len() && word.starts_with(rest);
        if [b"--".as_slice(), b"[CDATA[", b"DOCTYPE"]
            .iter()
            .any(is_start)
        {
            return Err(Halt::more());
        }
        let reason = format!("`<!` is followed by {}", found(rest, 0));
        Err(malformed(codes::BAD_MARKUP, source.offset(at), reason).into())
    }

    fn comment<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let rest = &source.bytes[at + 4..];
        let Some(length) = memchr::memmem::find(rest, b"--") else {
            return Err(Halt::more());
        };
        match rest.get(length + 2) {
            None => return Err(Halt::more()),
            Some(b'>') => {}
            Some(_) => {
                let start = source.offset(at + 4 + length);
                return Err(
                    malformed(codes::BAD_COMMENT, start, "`--` stands in a comment").into(),
                );
            }
        }
        let end = at + 4 + length + 3;
        let span = source.span(at, end);
        self.check_length(span.start, end - at, Token::Comment)?;
        handler.comment(self.normal_lines(source, &rest[..length]), span)?;
        Ok(end)
    }

    /// A value of a comment or an instruction with its line ends normalised.
    fn normal_lines<'a>(&'a mut self, source: &Source<'_>, value: &'a [u8]) -> &'a [u8] {
        if source.outer.is_some() || memchr::memchr(b'\r', value).is_none() {
            return value;
        }
        self.scratch.clear();
        normalize_lines(value, &mut self.scratch);
        &self.scratch
    }

    pub(super) fn instruction<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let rest = &source.bytes[at + 2..];
        let Some(length) = memchr::memmem::find(rest, b"?>") else {
            return Err(Halt::more());
        };
        let body = &rest[..length];
        let end = at + 2 + length + 2;
        let span = source.span(at, end);
        self.check_length(span.start, end - at, Token::Instruction)?;
        let target = &body[..name_end(body, 0)];
        if target == b"xml" && source.outer.is_none() && span.start == self.origin {
            self.xml_declaration(body, span.start + 2)?;
            return Ok(end);
        }
        if target == b"xml" && self.phase == Phase::Epilog {
            let reason = format!("an XML declaration stands after the root element; {SEVERAL}");
            return Err(malformed(codes::BAD_INSTRUCTION, span.start, reason).into());
        }
        let value = check_instruction(body, span.start, self.limits.name_bytes_max)?;
        handler.instruction(target, self.normal_lines(source, value), span)?;
        Ok(end)
    }

    /// `body` is what stands between `<?` and `?>`, `start` the offset of its first byte.
    fn xml_declaration(&mut self, body: &[u8], start: u64) -> Result<(), DocumentError> {
        let mut rest = Fields { body, at: 3, start };
        match rest.take(b"version")? {
            Some(version) if is_version(version) => {}
            Some(version) => {
                return Err(rest.fault(format!("version `{}` is not 1.x", quote(version))));
            }
            None => return Err(rest.fault("the XML declaration has no version".to_owned())),
        }
        if let Some(label) = rest.take(b"encoding")? {
            if !is_label(label) {
                return Err(rest.fault(format!("`{}` is no encoding name", quote(label))));
            }
            let label_text = quote(label);
            match self.promise.check(label) {
                Ok(()) => {}
                Err(Objection::Unknown) => {
                    let reason = format!("encoding `{label_text}` is not known");
                    return Err(malformed(codes::UNKNOWN_ENCODING, start, reason));
                }
                Err(Objection::Conflict) => {
                    let reason =
                        format!("encoding `{label_text}` is declared, but the bytes differ");
                    return Err(malformed(codes::ENCODING_CONFLICT, start, reason));
                }
            }
        }
        match rest.take(b"standalone")? {
            None | Some(b"no") => {}
            Some(b"yes") => self.doctype.is_standalone = true,
            Some(other) => {
                let reason = format!("standalone is `{}`, neither yes nor no", quote(other));
                return Err(rest.fault(reason));
            }
        }
        let end = skip_space(body, rest.at);
        if end < body.len() {
            rest.at = end;
            return Err(rest.fault(format!(
                "{} stands in the XML declaration",
                found(body, end)
            )));
        }
        Ok(())
    }

    fn doctype<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let start = source.offset(at);
        let length = match Extent::Start.advance(&source.bytes[at..]) {
            Some(length) => length,
            None if self.is_last => source.bytes.len() - at,
            None => return Err(Halt::more()),
        };
        self.check_length(start, length, Token::Doctype)?;
        if self.phase != Phase::Prolog || self.doctype.is_declared {
            let reason = "a document type declaration may only stand once, before the root element";
            return Err(malformed(codes::MISPLACED_DOCTYPE, start, reason).into());
        }
        self.doctype.is_declared = true;
        self.read_doctype(&source.bytes[at..at + length], start)?;
        if !self.doctype.entities.is_empty() || self.doctype.may_declare_elsewhere() {
            handler.declare_entities();
        }
        Ok(at + length)
    }
}

/// Checks what stands between `<?` and `?>` and returns the part after the target.
pub(super) fn check_instruction(
    body: &[u8],
    start: u64,
    name_bytes_max: u64,
) -> Result<&[u8], DocumentError> {
    let (target, rest) = body.split_at(name_end(body, 0));
    if target.len() as u64 > name_bytes_max {
        return Err(limit("name_bytes_max", start, name_bytes_max));
    }
    if target.eq_ignore_ascii_case(b"xml") {
        let reason = if target == b"xml" {
            "an XML declaration may only stand at the very start".to_owned()
        } else {
            format!("the target `{}` is reserved", quote(target))
        };
        return Err(malformed(codes::BAD_INSTRUCTION, start, reason));
    }
    if !is_simple_name(target) {
        let reason = format!(
            "`{}` is no target of a processing instruction",
            quote(target)
        );
        return Err(malformed(codes::BAD_INSTRUCTION, start, reason));
    }
    if rest.first().is_some_and(|byte| !is_space(*byte)) {
        let reason = format!("{} follows the target `{}`", found(rest, 0), quote(target));
        return Err(malformed(codes::BAD_INSTRUCTION, start, reason));
    }
    Ok(&rest[skip_space(rest, 0)..])
}

/// The fields of an XML declaration, taken one after the other.
struct Fields<'a> {
    body: &'a [u8],
    at: usize,
    start: u64,
}

impl<'a> Fields<'a> {
    /// The value of the next field if it has this name.
    fn take(&mut self, name: &[u8]) -> Result<Option<&'a [u8]>, DocumentError> {
        let body = self.body;
        let start = skip_space(body, self.at);
        if start == self.at || !body[start..].starts_with(name) {
            return Ok(None);
        }
        self.at = skip_space(body, start + name.len());
        if body.get(self.at) != Some(&b'=') {
            return Err(self.fault(format!("`{}` needs `=`", quote(name))));
        }
        self.at = skip_space(body, self.at + 1);
        let mark = match body.get(self.at) {
            Some(mark @ (b'"' | b'\'')) => *mark,
            _ => return Err(self.fault(format!("`{}` needs a quoted value", quote(name)))),
        };
        let from = self.at + 1;
        let Some(length) = memchr::memchr(mark, &body[from..]) else {
            return Err(self.fault(format!("the value of `{}` does not end", quote(name))));
        };
        self.at = from + length + 1;
        Ok(Some(&body[from..from + length]))
    }

    fn fault(&self, reason: String) -> DocumentError {
        malformed(codes::BAD_DECLARATION, self.start + self.at as u64, reason)
    }
}

fn is_version(version: &[u8]) -> bool {
    let minor = version.strip_prefix(b"1.").unwrap_or_default();
    !minor.is_empty() && minor.iter().all(u8::is_ascii_digit)
}

fn is_label(label: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    label.first().is_some_and(u8::is_ascii_alphabetic) && label.iter().all(is_part)
}
