//! Tags and references of text that was checked to be well-formed.

use memchr::{memchr, memchr2, memchr3, memmem};
use std::ops::Range;

/// Something in a text that is not plain characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// A comment or an instruction.
    Verbatim,
    /// A CDATA section, and whether its end is there.
    Section(bool),
    /// A start tag.
    Start,
    /// An end tag.
    End,
    /// A reference to an entity, by its name. References to characters are plain characters here.
    Reference(&'a [u8]),
}

/// The markup of a text and where it is, in order.
pub(super) fn markup(text: &[u8]) -> impl Iterator<Item = (Markup<'_>, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memchr2(b'<', b'&', &text[at..])?;
            if let Some((kind, length)) = markup_at(&text[at..]) {
                at += length;
                return Some((kind, at - length..at));
            }
            at += 1;
        }
    })
}

fn markup_at(text: &[u8]) -> Option<(Markup<'_>, usize)> {
    let ends =
        |start: usize, end: &[u8]| Some(start + memmem::find(&text[start..], end)? + end.len());
    if text[0] == b'&' {
        let name = entity(text)?;
        return Some((Markup::Reference(name), name.len() + 2));
    }
    if text.starts_with(b"<![CDATA[") {
        let end = ends(9, b"]]>");
        return Some((Markup::Section(end.is_some()), end.unwrap_or(text.len())));
    }
    if text.starts_with(b"<!--") {
        return Some((Markup::Verbatim, ends(4, b"-->")?));
    }
    match text.get(1)? {
        b'?' => Some((Markup::Verbatim, ends(2, b"?>")?)),
        b'!' => None,
        b'/' => Some((Markup::End, tag_end(text)?)),
        _ => Some((Markup::Start, tag_end(text)?)),
    }
}

/// The name of the entity that a text begins with a reference to.
pub(super) fn entity(text: &[u8]) -> Option<&[u8]> {
    let end = 1 + memchr3(b';', b'#', b'&', &text[1..])?;
    (text[end] == b';' && end > 1).then(|| &text[1..end])
}

/// Where the tag ends that a text begins with.
pub(super) fn tag_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr3(b'>', b'"', b'\'', &text[at..])?;
        if text[at] == b'>' {
            return Some(at + 1);
        }
        at += 2 + memchr(text[at], &text[at + 1..])?;
    }
}

/// The name in a start tag.
pub(super) fn tag_name(tag: &[u8]) -> &[u8] {
    let is_end = |&byte: &u8| byte.is_ascii_whitespace() || byte == b'/' || byte == b'>';
    let end = tag.iter().position(is_end).unwrap_or(tag.len());
    &tag[1..end]
}

/// The prefixes that a start tag declares; the default namespace has none.
pub(super) fn declared(tag: &[u8]) -> Vec<&[u8]> {
    let mut prefixes = Vec::new();
    let mut rest = &tag[1 + tag_name(tag).len()..];
    while let Some(equals) = memchr(b'=', rest) {
        let name = rest[..equals].trim_ascii();
        if name == b"xmlns" {
            prefixes.push(&b""[..]);
        }
        prefixes.extend(name.strip_prefix(b"xmlns:"));
        let value = rest[equals + 1..].trim_ascii_start();
        let Some(length) = value.first().and_then(|&mark| memchr(mark, &value[1..])) else {
            break;
        };
        rest = &value[length + 2..];
    }
    prefixes
}
