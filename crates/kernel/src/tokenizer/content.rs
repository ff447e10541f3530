//! Character data: text, CDATA sections and references in content.

use super::codes;
use super::entities::{Entity, Target};
use super::faults::malformed;
use super::references::{Reference, parse_reference};
use super::scanner::{Core, Halt, Source, Stop};
use super::search::{careful_text_end, text_end};
use crate::events::{Handler, Span};

impl Core {
    /// A run of text, which starts with neither `<` nor `&`.
    #[inline(always)]
    pub(super) fn text<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        if !source.is_plain {
            return careful_text(source, at, handler);
        }
        let end = text_end(source.bytes, at);
        handler.text(&source.bytes[at..end], source.span(at, end))?;
        Ok(end)
    }

    /// A piece of a CDATA section, to its end or to that of the input.
    pub(super) fn cdata<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let rest = &source.bytes[at..];
        let close = if source.is_plain {
            None
        } else {
            memchr::memmem::find(rest, b"]]>")
        };
        let (value, end) = match close {
            Some(length) => (&rest[..length], at + length + 3),
            None => {
                let value = without_undecided(rest);
                (value, at + value.len())
            }
        };
        if value.is_empty() && close.is_none() {
            return Err(Halt::more());
        }
        let start = self.cdata.unwrap_or_default();
        let end_offset = source.span(end, end).end;
        let span = Span {
            start,
            end: end_offset,
        };
        self.cdata = if close.is_some() {
            None
        } else {
            Some(end_offset)
        };
        if source.outer.is_some() {
            // Within an entity nothing is known but the place of its reference.
            self.cdata = self.cdata.and(Some(source.offset(end)));
        }
        if value.is_empty() {
            handler.empty_text(span)?;
        } else if source.outer.is_none() && value.contains(&b'\r') {
            self.scratch.clear();
            normalize_lines(value, &mut self.scratch);
            handler.text(&self.scratch, span)?;
        } else {
            handler.text(value, span)?;
        }
        Ok(end)
    }

    /// A reference in content.
    pub(super) fn reference<H: Handler>(
        &mut self,
        source: &Source<'_>,
        at: usize,
        handler: &mut H,
    ) -> Result<usize, Halt> {
        let start = source.offset(at);
        let Some((reference, end)) = parse_reference(source.bytes, at, start, &self.limits)? else {
            return Err(Halt::more());
        };
        let span = source.span(at, end);
        let name = match reference {
            Reference::Character(c) => {
                handler.text(c.encode_utf8(&mut [0; 4]).as_bytes(), span)?;
                return Ok(end);
            }
            Reference::Entity(name) => name,
        };
        let entity = match self.target(name, start)? {
            Target::Unread => None,
            Target::Entity(entity) => {
                self.include(&entity, start)?;
                Some(entity)
            }
        };
        match entity.as_deref() {
            Some(Entity {
                has_markup: true, ..
            }) => {
                let Some(entity) = entity else {
                    return Ok(end);
                };
                return Err(Halt(Box::new(Stop::Enter(end, entity, span))));
            }
            Some(Entity { text, .. }) if !text.is_empty() => handler.text(text, span)?,
            _ => handler.empty_text(span)?,
        }
        Ok(end)
    }
}

/// Text among which `]` and carriage returns have to be looked at.
fn careful_text<H: Handler>(
    source: &Source<'_>,
    at: usize,
    handler: &mut H,
) -> Result<usize, Halt> {
    let bytes = source.bytes;
    let is_entity = source.outer.is_some();
    let first = at;
    let (mut at, mut from) = (first, first);
    // The value of a piece may start later than its span: `\r\n` is reported as its second byte.
    if bytes[at] == b'\r' && !is_entity {
        match bytes.get(at + 1) {
            None => return Err(Halt::more()),
            Some(b'\n') => from = at + 1,
            Some(_) => {
                handler.text(b"\n", source.span(at, at + 1))?;
                at += 1;
                from = at;
            }
        }
    }
    let mut end = from;
    let fault = loop {
        end = careful_text_end(bytes, end);
        let rest = &bytes[end..];
        match rest.first() {
            Some(b']') if rest.starts_with(b"]]>") => break true,
            Some(b']') if !is_entity && without_undecided(rest).is_empty() => break false,
            Some(b']') => end += 1,
            Some(b'\r') if is_entity => end += 1,
            _ => break false,
        }
    };
    if end > from {
        handler.text(&bytes[from..end], source.span(at, end))?;
    }
    if fault {
        let reason = "`]]>` may not stand in character data";
        return Err(malformed(codes::CDATA_END_IN_TEXT, source.offset(end), reason).into());
    }
    // Nothing used up means that the next byte has to be awaited.
    if end > first {
        Ok(end)
    } else {
        Err(Halt::more())
    }
}

/// Leaves off what cannot be judged before the next byte: `]`, `]]` and a carriage return.
fn without_undecided(bytes: &[u8]) -> &[u8] {
    let held = match bytes {
        [.., b']', b']'] => 2,
        [.., b']' | b'\r'] => 1,
        _ => 0,
    };
    &bytes[..bytes.len() - held]
}

/// Adds `bytes` to `out` with `\r\n` and `\r` as `\n`.
pub(super) fn normalize_lines(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\r', rest) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_become_line_feeds() {
        let mut out = Vec::new();
        normalize_lines(b"a\r\nb\rc\n\r\r\n", &mut out);
        assert_eq!(out, b"a\nb\nc\n\n\n");
    }

    #[test]
    fn only_the_undecided_end_is_left_off() {
        assert_eq!(without_undecided(b"a]]"), b"a");
        assert_eq!(without_undecided(b"a]]]"), b"a]");
        assert_eq!(without_undecided(b"]\r"), b"]");
        assert_eq!(without_undecided(b"ab"), b"ab");
    }
}
