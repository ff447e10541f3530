//! Building errors; place and path are filled in where the error leaves the tokenizer.

use super::codes;
use crate::error::{DocumentError, ErrorKind};

/// A longest quotation in a reason; hostile input must not make errors large.
const QUOTED_CHARS_MAX: usize = 60;

/// The way out where a second document follows.
pub(super) const SEVERAL: &str = "documents=\"many\" reads several, one after the other";

/// A malformed document.
#[cold]
pub(super) fn malformed(code: &'static str, byte: u64, reason: impl Into<String>) -> DocumentError {
    DocumentError::at(byte, ErrorKind::Malformed, code, reason)
}

/// A passed limit; `field` is the name of the field in `Limits`.
#[cold]
pub(super) fn limit(field: &'static str, byte: u64, max: u64) -> DocumentError {
    let (code, what) = match field {
        "depth_max" => (codes::DEPTH, "open elements"),
        "name_bytes_max" => (codes::NAME_BYTES, "bytes in a name"),
        "attributes_max" => (codes::ATTRIBUTES, "attributes in a tag"),
        "attribute_bytes_max" => (codes::ATTRIBUTE_BYTES, "bytes in an attribute value"),
        "entity_bytes_max" => (codes::ENTITY_BYTES, "bytes added by entities"),
        "entity_depth_max" => (codes::ENTITY_DEPTH, "entities inside each other"),
        "doctype_bytes_max" => (codes::DOCTYPE_BYTES, "bytes in a document type declaration"),
        "document_bytes_max" => (codes::DOCUMENT_BYTES, "bytes in a document"),
        "buffer_bytes_max" => (codes::BUFFER_BYTES, "bytes in a tag"),
        _ => (codes::TEXT_BYTES, "bytes in a comment or an instruction"),
    };
    let reason = format!("more than {max} {what}, which is {field}");
    DocumentError::at(byte, ErrorKind::Limit(field), code, reason)
}

/// Document text as it may appear in a sentence: cut, valid UTF-8, one line.
pub(super) fn quote(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(4 * QUOTED_CHARS_MAX)];
    let text = String::from_utf8_lossy(cut);
    let shown = text.chars().take(QUOTED_CHARS_MAX);
    let is_cut = cut.len() < bytes.len() || text.chars().nth(QUOTED_CHARS_MAX).is_some();
    let mut quoted = String::new();
    for c in shown {
        match c {
            '\u{2028}' | '\u{2029}' => quoted.extend(c.escape_unicode()),
            c if c.is_control() => quoted.extend(c.escape_default()),
            c => quoted.push(c),
        }
    }
    if is_cut {
        quoted.push('…');
    }
    quoted
}

/// The character at `at` for a sentence; control characters by number.
pub(super) fn found(bytes: &[u8], at: usize) -> String {
    let rest = &bytes[at.min(bytes.len())..];
    match String::from_utf8_lossy(&rest[..rest.len().min(4)])
        .chars()
        .next()
    {
        None => "nothing".to_owned(),
        Some(c) if c.is_control() || c.is_whitespace() => format!("U+{:04X}", u32::from(c)),
        Some(c) => format!("`{c}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_cut() {
        assert_eq!(quote(b"item"), "item");
        assert_eq!(quote("a\n\u{85}é".as_bytes()), "a\\n\\u{85}é");
        assert_eq!(quote(&[b'x'; 1000]).chars().count(), QUOTED_CHARS_MAX + 1);
    }

    #[test]
    fn found_names_a_control_character_by_number() {
        assert_eq!(found(b"a\tb", 1), "U+0009");
        assert_eq!(found("é".as_bytes(), 0), "`é`");
        assert_eq!(found(b"", 0), "nothing");
    }
}
