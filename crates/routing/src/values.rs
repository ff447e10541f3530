//! String values of nodes, from their bytes in a document that was found well-formed before.

use crate::header::NodeKind;
use memchr::{memchr, memchr2, memchr3, memmem};
use std::borrow::Cow;

/// The string value of a node; None if its bytes alone do not say it, as they refer to an entity of
/// the document, or are no such node at all.
pub fn string_value(kind: NodeKind, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    match kind {
        NodeKind::Element => content_value(content_of(bytes)?),
        NodeKind::Attribute => attribute_value(bytes),
        NodeKind::Text => content_value(bytes),
    }
}

/// What stands between the tags of an element.
fn content_of(element: &[u8]) -> Option<&[u8]> {
    let tag = tag_length(element)?;
    if element[tag - 2] == b'/' {
        return (tag == element.len()).then_some(b"");
    }
    let end = memmem::rfind(element, b"</")?;
    element.get(tag..end)
}

/// How long a start tag or an end tag is; quoted values may hold any `>`.
fn tag_length(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'<') {
        return None;
    }
    let mut place = 1;
    loop {
        place += memchr3(b'>', b'"', b'\'', &bytes[place..])?;
        let quote = bytes[place];
        if quote == b'>' {
            return Some(place + 1);
        }
        place += memchr(quote, &bytes[place + 1..])? + 2;
    }
}

/// The characters of content: tags, comments and instructions left out, sections and references
/// replaced, line ends normalised.
fn content_value(content: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr3(b'<', b'&', b'\r', content).is_none() {
        return Some(Cow::Borrowed(content));
    }
    let mut value = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(place) = memchr3(b'<', b'&', b'\r', rest) {
        value.extend_from_slice(&rest[..place]);
        rest = &rest[place..];
        let length = match rest[0] {
            b'<' => append_markup(rest, &mut value)?,
            b'&' => append_reference(rest, &mut value)?,
            _ => {
                value.push(b'\n');
                if rest.starts_with(b"\r\n") { 2 } else { 1 }
            }
        };
        rest = &rest[length..];
    }
    value.extend_from_slice(rest);
    Some(Cow::Owned(value))
}

/// Passes over markup, and appends the characters of a CDATA section.
fn append_markup(bytes: &[u8], value: &mut Vec<u8>) -> Option<usize> {
    const SECTION: &[u8] = b"<![CDATA[";
    if bytes.starts_with(SECTION) {
        let length = memmem::find(bytes, b"]]>")?;
        let mut rest = bytes.get(SECTION.len()..length)?;
        while let Some(place) = memchr(b'\r', rest) {
            value.extend_from_slice(&rest[..place]);
            value.push(b'\n');
            let is_pair = rest[place..].starts_with(b"\r\n");
            rest = &rest[place + 1 + usize::from(is_pair)..];
        }
        value.extend_from_slice(rest);
        Some(length + 3)
    } else if bytes.starts_with(b"<!--") {
        Some(memmem::find(bytes.get(4..)?, b"-->")? + 7)
    } else if bytes.starts_with(b"<?") {
        Some(memmem::find(bytes, b"?>")? + 2)
    } else {
        tag_length(bytes)
    }
}

/// Appends the character that a reference stands for. Entities of the document are not known here.
fn append_reference(bytes: &[u8], value: &mut Vec<u8>) -> Option<usize> {
    let end = memchr(b';', bytes)?;
    let character = match &bytes[1..end] {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"apos" => '\'',
        b"quot" => '"',
        [b'#', b'x', digits @ ..] => number_character(digits, 16)?,
        [b'#', digits @ ..] => number_character(digits, 10)?,
        _ => return None,
    };
    let mut encoded = [0; 4];
    value.extend_from_slice(character.encode_utf8(&mut encoded).as_bytes());
    Some(end + 1)
}

fn number_character(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

/// The value of an attribute that no declaration gives a type: white space becomes spaces.
fn attribute_value(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    if matches!(bytes.first(), None | Some(b'<' | b'&')) {
        return None;
    }
    let quoted = bytes[memchr(b'=', bytes)? + 1..].trim_ascii_start();
    let (&quote, quoted) = quoted.split_first()?;
    let (&last, raw) = quoted.split_last()?;
    if last != quote || memchr2(b'<', quote, raw).is_some() {
        return None;
    }
    let is_plain = |&byte: &u8| !matches!(byte, b'&' | b'\t' | b'\n' | b'\r');
    if raw.iter().all(is_plain) {
        return Some(Cow::Borrowed(raw));
    }
    let mut value = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(&byte) = rest.first() {
        let length = match byte {
            b'&' => append_reference(rest, &mut value)?,
            b'\t' | b'\n' | b'\r' => {
                value.push(b' ');
                if rest.starts_with(b"\r\n") { 2 } else { 1 }
            }
            _ => {
                value.push(byte);
                1
            }
        };
        rest = &rest[length..];
    }
    Some(Cow::Owned(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(kind: NodeKind, bytes: &str) -> Option<String> {
        let value = string_value(kind, bytes.as_bytes())?;
        Some(String::from_utf8(value.into_owned()).expect("values of texts are texts"))
    }

    #[test]
    fn elements_have_the_characters_inside_them() {
        for (element, want) in [
            ("<a>x</a>", "x"),
            ("<a/>", ""),
            ("<a b='>'/>", ""),
            ("<a b='/'>x</a >", "x"),
            ("<a>x<b c='</a>'>y</b><!-- <z> -->z<?p <q> ?></a>", "xyz"),
            (
                "<a>&lt;&#65;&#x42;<![CDATA[<&amp;\r\n>]]>\r\r\n</a>",
                "<AB<&amp;\n>\n\n",
            ),
            ("<a><!--->--></a>", ""),
        ] {
            assert_eq!(
                value(NodeKind::Element, element).as_deref(),
                Some(want),
                "{element}"
            );
        }
    }

    #[test]
    fn entities_of_the_document_are_not_known() {
        assert_eq!(value(NodeKind::Element, "<a>&e;</a>"), None);
        assert_eq!(value(NodeKind::Element, "&e;"), None);
        assert_eq!(value(NodeKind::Attribute, "a='&e;'"), None);
        assert_eq!(value(NodeKind::Attribute, "<a>"), None);
        assert_eq!(value(NodeKind::Text, "&e;"), None);
    }

    #[test]
    fn attributes_are_normalised() {
        assert_eq!(
            value(NodeKind::Attribute, "a = \"x'y\""),
            Some("x'y".into())
        );
        assert_eq!(
            value(NodeKind::Attribute, "a='\t\r\n&#10;&quot;'"),
            Some("  \n\"".into())
        );
    }

    proptest! {
        #[test]
        fn no_bytes_break_anything(bytes: Vec<u8>, marks in "[<>&;/'\"=!\\-\\[\\]a]{0,40}") {
            for kind in [NodeKind::Element, NodeKind::Attribute, NodeKind::Text] {
                string_value(kind, &bytes);
                string_value(kind, marks.as_bytes());
            }
        }
    }
}
