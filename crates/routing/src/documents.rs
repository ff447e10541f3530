//! What a producer has to know of a document before it writes offsets into it.

use memchr::memmem;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether offsets into the document are places in its bytes: it is in UTF-8. `encoding` overrides
/// what the document says of itself. Where that is unclear, it is not.
pub fn is_utf8(document: &[u8], encoding: Option<&str>) -> bool {
    if let Some(label) = encoding {
        return is_label(label.as_bytes());
    }
    if document.starts_with(BYTE_ORDER_MARK) {
        return true;
    }
    // Every other encoding that can be told by its first bytes starts differently.
    if document.first() != Some(&b'<') && !document.first().is_some_and(u8::is_ascii_whitespace) {
        return false;
    }
    if document.get(1) == Some(&0) {
        return false;
    }
    declared_encoding(document).is_none_or(is_label)
}

fn is_label(label: &[u8]) -> bool {
    label.eq_ignore_ascii_case(b"utf-8")
}

/// What the XML declaration says the encoding is; anything that is hard to read is some encoding.
fn declared_encoding(document: &[u8]) -> Option<&[u8]> {
    let declaration = document.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memmem::find(declaration, b"?>")?];
    let place = memmem::find(declaration, b"encoding")?;
    let value = declaration[place + b"encoding".len()..].trim_ascii_start();
    let value = value.strip_prefix(b"=").unwrap_or(b"?").trim_ascii_start();
    let Some((&quote, value)) = value.split_first() else {
        return Some(b"");
    };
    let end = memchr::memchr(quote, value).unwrap_or(0);
    Some(&value[..end])
}

/// Whether the document declares entities or attributes: then references and attributes of its
/// parts cannot be understood without it.
pub fn is_declaring(document: &[u8]) -> bool {
    has_doctype(document)
        && [&b"<!ENTITY"[..], b"<!ATTLIST"]
            .iter()
            .any(|word| memmem::find(document, word).is_some())
}

/// Whether there is a document type declaration before the root element.
fn has_doctype(document: &[u8]) -> bool {
    let mut rest = document.strip_prefix(BYTE_ORDER_MARK).unwrap_or(document);
    loop {
        rest = rest.trim_ascii_start();
        let end: &[u8] = match rest {
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!', b'-', ..] => b"-->",
            _ => return rest.starts_with(b"<!DOCTYPE"),
        };
        match memmem::find(rest, end) {
            Some(place) => rest = &rest[place + end.len()..],
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf8_has_places_in_its_bytes() {
        for document in [
            &b"<a/>"[..],
            b"\xEF\xBB\xBF<a/>",
            b"<?xml version='1.0'?><a/>",
            b"<?xml version='1.0' encoding='UTF-8'?><a/>",
            b"<?xml version='1.0' encoding = \"utf-8\" ?><a/>",
            b"\xEF\xBB\xBF<?xml version='1.0' encoding='latin1'?><a/>",
        ] {
            assert!(is_utf8(document, None), "{document:?}");
        }
        for document in [
            &b"<?xml version='1.0' encoding='latin1'?><a/>"[..],
            b"<?xml version='1.0' encoding='US-ASCII'?><a/>",
            b"<?xml version='1.0' encoding?><a/>",
            b"\xFE\xFF\0<\0a\0/\0>",
            b"\xFF\xFE<\0a\0/\0>\0",
            b"<\0a\0/\0>\0",
            b"\0<\0a\0/\0>",
            b"",
        ] {
            assert!(!is_utf8(document, None), "{document:?}");
        }
        assert!(is_utf8(
            b"<?xml version='1.0' encoding='latin1'?><a/>",
            Some("UTF-8")
        ));
        assert!(!is_utf8(b"<a/>", Some("latin1")));
    }

    #[test]
    fn declarations_are_found_behind_comments_and_instructions() {
        let with = b"<?xml version='1.0'?><!-- <a> --><?p?>\n<!DOCTYPE a [<!ENTITY e 'x'>]><a/>";
        assert!(is_declaring(with));
        assert!(!is_declaring(b"<!DOCTYPE a><a/>"));
        assert!(!is_declaring(b"<a><![CDATA[<!DOCTYPE a [<!ENTITY]]></a>"));
    }
}
