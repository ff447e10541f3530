//! XML that can be read without the document around it.
//!
//! The text of a fragment is a slice of a document that was checked to be well-formed, so nothing
//! is checked again: tags and references are found, declarations added and entities expanded.

mod escape;
mod markup;

pub use escape::{comment, declaration, escape, instruction, quote};

use crate::events::Declarations;
use markup::{Markup, entity, markup, tag_end, tag_name};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The replacement texts of internal entities by name.
pub type Entities = BTreeMap<Box<[u8]>, Box<[u8]>>;

/// A document that is not read in full may have references that go round in a circle.
const NESTED_MAX: usize = 1000;

/// What a fragment needs to stand alone: declarations in scope, and internal entities.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Prefixes and namespaces.
    pub declarations: Declarations,
    /// The same for all fragments of a document.
    pub entities: Arc<Entities>,
}

impl Surroundings {
    /// A result of a kind as XML. Elements and documents come as their source text, events and
    /// messages are XML as they are, everything else comes as its value.
    pub fn serialize<'a>(&self, kind: &str, name: &[u8], value: &'a [u8]) -> Cow<'a, [u8]> {
        let mut out = Vec::new();
        match kind {
            "element" => return self.element(name, value),
            "event" | "message" => return Cow::Borrowed(value),
            "document" => return Cow::Borrowed(without_declaration(value)),
            "comment" => comment(value, &mut out),
            "processing-instruction" => instruction(name, value, &mut out),
            _ => escape(value, &mut out),
        }
        out.into()
    }

    /// An element, given its source text.
    pub fn element<'a>(&self, name: &[u8], text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut expanded = self.expand(text);
        if text.starts_with(b"&") {
            // The source of an element from an entity is the outermost reference.
            if let Some(range) = self.find(&expanded, name) {
                expanded = expanded[range].to_vec().into();
            }
        }
        match self.declare(&expanded) {
            Cow::Borrowed(_) => expanded,
            Cow::Owned(declared) => declared.into(),
        }
    }

    /// The first element with a name, `{uri}local`.
    fn find(&self, text: &[u8], name: &[u8]) -> Option<Range<usize>> {
        let (mut depth, mut start) = (0usize, None);
        for (kind, range) in markup(text) {
            match kind {
                Markup::Start => {
                    let tag = &text[range.clone()];
                    if start.is_none() && self.is_named(tag, name) {
                        (start, depth) = (Some(range.start), 0);
                    }
                    depth += usize::from(!tag.ends_with(b"/>"));
                }
                Markup::End => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if let (Some(start), 0) = (start, depth) {
                return Some(start..range.end);
            }
        }
        None
    }

    fn is_named(&self, tag: &[u8], name: &[u8]) -> bool {
        let split = |text: &[u8], at: u8| memchr::memrchr(at, text);
        let written = tag_name(tag);
        let (prefix, local) = match split(written, b':') {
            Some(colon) => (&written[..colon], &written[colon + 1..]),
            None => (&b""[..], written),
        };
        let (uri, wanted) = match split(name, b'}') {
            Some(brace) => (&name[1..brace], &name[brace + 1..]),
            None => (&b""[..], name),
        };
        // A declaration in the entity itself is rare, and then the local name has to do.
        let mut declared = self
            .declarations
            .iter()
            .filter(|(known, _)| **known == *prefix);
        local == wanted && declared.all(|(_, known)| **known == *uri)
    }

    /// A fragment with the declarations added to its start tag that it does not make itself.
    pub fn declare<'a>(&self, fragment: &'a [u8]) -> Cow<'a, [u8]> {
        let is_tag =
            fragment.first() == Some(&b'<') && !matches!(fragment.get(1), Some(b'!' | b'?'));
        let end = if is_tag && !self.declarations.is_empty() {
            tag_end(fragment)
        } else {
            None
        };
        let Some(end) = end else {
            return Cow::Borrowed(fragment);
        };
        let tag = &fragment[..end];
        let (own, name_end) = (markup::declared(tag), 1 + tag_name(tag).len());
        let mut out = fragment[..name_end].to_vec();
        for (prefix, uri) in &self.declarations {
            if **prefix != *b"xml" && !own.contains(&&**prefix) {
                declaration(prefix, uri, &mut out);
            }
        }
        if out.len() == name_end {
            return Cow::Borrowed(fragment);
        }
        out.extend_from_slice(&fragment[name_end..]);
        out.into()
    }

    /// Text with references to internal entities replaced by what they stand for, in tags as well.
    /// A reference to an entity that was not read is removed: it adds nothing.
    pub fn expand<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if memchr::memchr(b'&', text).is_none() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        self.expand_content(text, 0, &mut out);
        out.into()
    }

    /// The same for a further piece of an element, which may begin inside a CDATA section.
    pub fn expand_further<'a>(&self, piece: &'a [u8], is_in_section: bool) -> Cow<'a, [u8]> {
        let start = if is_in_section {
            section_end(piece)
        } else {
            Some(0)
        };
        match start.map(|start| (start, self.expand(&piece[start..]))) {
            Some((start, Cow::Owned(rest))) => [&piece[..start], &rest].concat().into(),
            _ => Cow::Borrowed(piece),
        }
    }

    fn expand_content(&self, text: &[u8], nested: usize, out: &mut Vec<u8>) {
        let mut last = 0;
        for (kind, range) in markup(text) {
            let name = match kind {
                Markup::Reference(name) if !is_predefined(name) => Some(name),
                Markup::Start => None,
                _ => continue,
            };
            out.extend_from_slice(&text[last..range.start]);
            last = range.end;
            match name {
                Some(name) => self.expand_reference(name, nested, out),
                None => self.expand_values(&text[range], nested, out),
            }
        }
        out.extend_from_slice(&text[last..]);
    }

    fn expand_reference(&self, name: &[u8], nested: usize, out: &mut Vec<u8>) {
        let Some(text) = self.entity(name, nested) else {
            return;
        };
        let start = out.len();
        let mut source = Vec::with_capacity(text.len());
        escape::replace(text, &mut source, |byte| match byte {
            b'\r' => Some(b"&#13;"),
            _ => None,
        });
        self.expand_content(&source, nested + 1, out);
        // `]]>` may not arise where two texts meet that were apart.
        if out[start..].ends_with(b"]") {
            out.pop();
            out.extend_from_slice(b"&#93;");
        }
        let reference: &[u8] = match out.get(start) {
            Some(b'>') => b"&#62;",
            Some(b']') => b"&#93;",
            _ => return,
        };
        out.splice(start..=start, reference.iter().copied());
    }

    /// Expands the references in a tag, all of which are in values of attributes.
    fn expand_values(&self, tag: &[u8], nested: usize, out: &mut Vec<u8>) {
        let mut rest = tag;
        while let Some(at) = memchr::memchr(b'&', rest) {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            match entity(rest).filter(|name| !is_predefined(name)) {
                Some(name) => {
                    let mut value = Vec::new();
                    let text = self.entity(name, nested).unwrap_or_default();
                    self.expand_values(text, nested + 1, &mut value);
                    escape::replace(&value, out, |byte| match byte {
                        b'\t' | b'\n' | b'\r' => Some(b" "),
                        b'"' => Some(b"&quot;"),
                        b'\'' => Some(b"&apos;"),
                        _ => None,
                    });
                    rest = &rest[name.len() + 2..];
                }
                None => {
                    out.push(b'&');
                    rest = &rest[1..];
                }
            }
        }
        out.extend_from_slice(rest);
    }

    fn entity(&self, name: &[u8], nested: usize) -> Option<&[u8]> {
        let text = self.entities.get(name).map(|text| &**text);
        text.filter(|_| nested < NESTED_MAX)
    }
}

/// Whether a piece of an element ends inside a CDATA section.
pub fn ends_in_section(piece: &[u8], is_in_section: bool) -> bool {
    let start = if is_in_section {
        section_end(piece)
    } else {
        Some(0)
    };
    start.is_none_or(|start| {
        let last = markup(&piece[start..]).last();
        matches!(last, Some((Markup::Section(false), _)))
    })
}

fn section_end(piece: &[u8]) -> Option<usize> {
    memchr::memmem::find(piece, b"]]>").map(|at| at + 3)
}

/// A document without its XML declaration, since text has no encoding.
fn without_declaration(document: &[u8]) -> &[u8] {
    let text = document
        .strip_prefix("\u{FEFF}".as_bytes())
        .unwrap_or(document);
    let is_declared =
        text.starts_with(b"<?xml") && text.get(5).is_some_and(u8::is_ascii_whitespace);
    match memchr::memmem::find(text, b"?>") {
        Some(end) if is_declared => text[end + 2..].trim_ascii_start(),
        _ => text,
    }
}

fn is_predefined(entity: &[u8]) -> bool {
    matches!(entity, b"lt" | b"gt" | b"amp" | b"quot" | b"apos")
}
