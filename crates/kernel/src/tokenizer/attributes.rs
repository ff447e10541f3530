//! The attributes of a start tag: read, and completed from the document type.

use super::characters::skip_space;
use super::codes;
use super::entities::markup_in_value;
use super::faults::{found, limit, malformed, quote};
use super::names::{NameId, Role, name_at};
use super::namespaces::UriId;
use super::scanner::{Core, Source};
use super::search::value_end;
use crate::error::DocumentError;
use crate::events::{Attribute, Span};

/// What an attribute takes that no byte of the tag stands for: it is bound, and all engines see it.
const STEPS_PER_DEFAULT: u64 = 8;

/// An attribute as parsed: positions instead of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawAttribute {
    pub name: NameId,
    pub uri: UriId,
    pub span: Span,
    /// Range of the value, in `TagParts::values` if it was normalised, else in the source.
    pub from: usize,
    pub to: usize,
    pub is_normalized: bool,
}

/// The same memory for attributes of another tag.
pub(super) fn recycle<'b>(mut list: Vec<Attribute<'_>>) -> Vec<Attribute<'b>> {
    list.clear();
    // No element is left to convert; collecting in place keeps the allocation.
    list.into_iter()
        .map(|_| unreachable!("cleared above"))
        .collect()
}

impl Core {
    /// Reads a tag from the end of its name: where it ends, and whether it is an empty-element
    /// tag. `None` if it is not complete.
    pub(super) fn parse_attributes(
        &mut self,
        source: &Source<'_>,
        element: NameId,
        after: usize,
    ) -> Result<Option<(usize, bool)>, DocumentError> {
        self.parts.attributes.clear();
        self.parts.values.clear();
        self.parts.has_declaration = false;
        let bytes = source.bytes;
        let mut previous = element;
        let mut at = after;
        loop {
            let start = skip_space(bytes, at);
            match bytes.get(start) {
                None => return Ok(None),
                Some(b'>') => return Ok(Some((start + 1, false))),
                Some(b'/') => match bytes.get(start + 1) {
                    None => return Ok(None),
                    Some(b'>') => return Ok(Some((start + 2, true))),
                    Some(_) => {
                        let reason = "`/` stands in a tag without `>` after it";
                        return Err(malformed(codes::BAD_TAG, source.offset(start), reason));
                    }
                },
                Some(_) if start == at => {
                    let what = found(bytes, start);
                    let reason = format!("{what} follows without white space in a tag");
                    return Err(malformed(codes::BAD_TAG, source.offset(start), reason));
                }
                Some(_) => match self.parse_attribute(source, start, previous)? {
                    None => return Ok(None),
                    Some((name, end)) => (previous, at) = (name, end),
                },
            }
        }
    }

    #[inline(always)]
    fn parse_attribute(
        &mut self,
        source: &Source<'_>,
        start: usize,
        previous: NameId,
    ) -> Result<Option<(NameId, usize)>, DocumentError> {
        let bytes = source.bytes;
        let name = match self.names.guess_attribute(previous, bytes, start) {
            Some(name) => name,
            None => match self.attribute_name(source, start, previous)? {
                Some(name) => name,
                None => return Ok(None),
            },
        };
        let mut at = start + self.names.get(name).bytes.len();
        if bytes[at] != b'=' {
            at = skip_space(bytes, at);
            match bytes.get(at) {
                None => return Ok(None),
                Some(b'=') => {}
                Some(_) => return Err(self.bad_attribute(source, name, at, "`=`")),
            }
        }
        at += 1;
        if bytes
            .get(at)
            .is_some_and(|byte| !matches!(byte, b'"' | b'\''))
        {
            at = skip_space(bytes, at);
        }
        let quote = match bytes.get(at) {
            None => return Ok(None),
            Some(quote @ (b'"' | b'\'')) => *quote,
            Some(_) => return Err(self.bad_attribute(source, name, at, "a quoted value")),
        };
        let from = at + 1;
        let stop = value_end(bytes, from, quote);
        let attribute = match bytes.get(stop) {
            None => return Ok(None),
            Some(byte) if *byte == quote => {
                let span = source.span(start, stop + 1);
                let uri = UriId::NONE;
                RawAttribute {
                    name,
                    uri,
                    span,
                    from,
                    to: stop,
                    is_normalized: false,
                }
            }
            Some(_) => match self.normalize_value(source, name, start, from, quote)? {
                Some(attribute) => attribute,
                None => return Ok(None),
            },
        };
        self.push_attribute(attribute, source.offset(start))?;
        let length = if attribute.is_normalized {
            memchr::memchr(quote, &bytes[stop..]).map_or(bytes.len(), |more| stop + more)
        } else {
            stop
        };
        Ok(Some((name, length + 1)))
    }

    #[inline(always)]
    fn push_attribute(&mut self, attribute: RawAttribute, start: u64) -> Result<(), DocumentError> {
        if self.parts.attributes.len() as u64 >= self.limits.attributes_max {
            return Err(limit("attributes_max", start, self.limits.attributes_max));
        }
        if (attribute.to - attribute.from) as u64 > self.limits.attribute_bytes_max {
            return Err(limit(
                "attribute_bytes_max",
                start,
                self.limits.attribute_bytes_max,
            ));
        }
        self.parts.has_declaration |= self.names.get(attribute.name).role != Role::Attribute;
        self.parts.attributes.push(attribute);
        Ok(())
    }

    /// The name of an attribute that is not the expected one.
    fn attribute_name(
        &mut self,
        source: &Source<'_>,
        start: usize,
        previous: NameId,
    ) -> Result<Option<NameId>, DocumentError> {
        let Some(bytes) = name_at(source.bytes, start) else {
            return Ok(None);
        };
        if bytes.is_empty() {
            let what = found(source.bytes, start);
            let reason = format!("{what} stands in a tag where an attribute should start");
            return Err(malformed(
                codes::BAD_ATTRIBUTE,
                source.offset(start),
                reason,
            ));
        }
        let name = self.checked_name(bytes, source.offset(start))?;
        self.names.learn_attribute(previous, name);
        Ok(Some(name))
    }

    #[cold]
    fn bad_attribute(
        &self,
        source: &Source<'_>,
        name: NameId,
        at: usize,
        wanted: &str,
    ) -> DocumentError {
        let name = quote(&self.names.get(name).bytes);
        let reason = format!(
            "attribute `{name}` needs {wanted}, not {}",
            found(source.bytes, at)
        );
        malformed(codes::BAD_ATTRIBUTE, source.offset(at), reason)
    }

    /// A value with references or white space to replace.
    fn normalize_value(
        &mut self,
        source: &Source<'_>,
        name: NameId,
        start: usize,
        from: usize,
        quote: u8,
    ) -> Result<Option<RawAttribute>, DocumentError> {
        let Some(length) = memchr::memchr2(quote, b'<', &source.bytes[from..]) else {
            return Ok(None);
        };
        let end = from + length;
        if source.bytes[end] != quote {
            return Err(markup_in_value(source.offset(end)));
        }
        let mut values = std::mem::take(&mut self.parts.values);
        let value_from = values.len();
        let is_entity = source.outer.is_some();
        let value = &source.bytes[from..end];
        let result = self.append_value(value, source.offset(start), is_entity, &mut values);
        let value_to = values.len();
        self.parts.values = values;
        result?;
        Ok(Some(RawAttribute {
            name,
            uri: UriId::NONE,
            span: source.span(start, end + 1),
            from: value_from,
            to: value_to,
            is_normalized: true,
        }))
    }

    /// Applies what the document type declares about this element's attributes.
    pub(super) fn apply_declared(
        &mut self,
        source: &Source<'_>,
        element: NameId,
        span: Span,
    ) -> Result<(), DocumentError> {
        let Some(declared) = self
            .doctype
            .attributes
            .get(&self.names.get(element).bytes)
            .cloned()
        else {
            return Ok(());
        };
        for index in 0..self.parts.attributes.len() {
            let attribute = self.parts.attributes[index];
            let name = &self.names.get(attribute.name).bytes;
            if declared
                .get(name)
                .is_some_and(|declared| declared.is_tokenized)
            {
                let from = self.parts.values.len();
                if attribute.is_normalized {
                    self.parts
                        .values
                        .extend_from_within(attribute.from..attribute.to);
                } else {
                    let value = &source.bytes[attribute.from..attribute.to];
                    self.parts.values.extend_from_slice(value);
                }
                collapse_spaces(&mut self.parts.values, from);
                let to = self.parts.values.len();
                let attribute = RawAttribute {
                    from,
                    to,
                    is_normalized: true,
                    ..attribute
                };
                self.parts.attributes[index] = attribute;
            }
        }
        let mut given: Vec<NameId> = self
            .parts
            .attributes
            .iter()
            .map(|given| given.name)
            .collect();
        given.sort_unstable();
        for (bytes, value) in declared.defaults() {
            let name = self.checked_name(bytes, span.start)?;
            if given.binary_search(&name).is_ok() {
                continue;
            }
            let from = self.parts.values.len();
            self.parts.values.extend_from_slice(value);
            let to = self.parts.values.len();
            if let Some(account) = &mut self.account {
                account.position = span.start;
                account.spend(STEPS_PER_DEFAULT);
            }
            let uri = UriId::NONE;
            let attribute = RawAttribute {
                name,
                uri,
                span,
                from,
                to,
                is_normalized: true,
            };
            self.push_attribute(attribute, span.start)?;
        }
        Ok(())
    }
}

/// Removes leading, trailing and repeated spaces from `bytes[from..]`.
pub(super) fn collapse_spaces(bytes: &mut Vec<u8>, from: usize) {
    let mut to = from;
    for at in from..bytes.len() {
        let byte = bytes[at];
        if byte != b' ' || (to > from && bytes[to - 1] != b' ') {
            bytes[to] = byte;
            to += 1;
        }
    }
    if to > from && bytes[to - 1] == b' ' {
        to -= 1;
    }
    bytes.truncate(to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_collapse() {
        for (text, collapsed) in [("  a   b ", "a b"), ("", ""), ("   ", ""), ("a", "a")] {
            let mut bytes = format!("x {text}").into_bytes();
            collapse_spaces(&mut bytes, 2);
            assert_eq!(bytes, format!("x {collapsed}").into_bytes());
        }
    }
}
