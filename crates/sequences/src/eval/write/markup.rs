//! Text as content, and as values of attributes.

/// Appends text as content of an element.
pub fn escape(text: &[u8], out: &mut Vec<u8>) {
    replace(text, out, |byte| match byte {
        b'&' => Some(b"&amp;"),
        b'<' => Some(b"&lt;"),
        b'>' => Some(b"&gt;"),
        // A parser would read it as a line feed.
        b'\r' => Some(b"&#13;"),
        _ => None,
    });
}

/// Appends an attribute or a declaration, after a space.
pub fn attribute(prefix: &str, local: &str, value: &[u8], out: &mut Vec<u8>) {
    out.push(b' ');
    name(prefix, local, out);
    out.extend_from_slice(b"=\"");
    replace(value, out, |byte| match byte {
        b'&' => Some(b"&amp;"),
        b'<' => Some(b"&lt;"),
        b'>' => Some(b"&gt;"),
        b'"' => Some(b"&quot;"),
        // A parser would read them as spaces.
        b'\t' => Some(b"&#9;"),
        b'\n' => Some(b"&#10;"),
        b'\r' => Some(b"&#13;"),
        _ => None,
    });
    out.push(b'"');
}

/// Appends the declaration of a namespace, after a space.
pub(super) fn declaration(prefix: &str, uri: &str, out: &mut Vec<u8>) {
    if prefix.is_empty() {
        attribute("", "xmlns", uri.as_bytes(), out);
    } else {
        attribute("xmlns", prefix, uri.as_bytes(), out);
    }
}

/// Appends a name.
pub(super) fn name(prefix: &str, local: &str, out: &mut Vec<u8>) {
    if !prefix.is_empty() {
        out.extend_from_slice(prefix.as_bytes());
        out.push(b':');
    }
    out.extend_from_slice(local.as_bytes());
}

/// Appends text, with what a function gives in the place of single bytes.
fn replace(text: &[u8], out: &mut Vec<u8>, with: impl Fn(u8) -> Option<&'static [u8]>) {
    let mut last = 0;
    for (at, &byte) in text.iter().enumerate() {
        if let Some(reference) = with(byte) {
            out.extend_from_slice(&text[last..at]);
            out.extend_from_slice(reference);
            last = at + 1;
        }
    }
    out.extend_from_slice(&text[last..]);
}

/// The length of `<` and the name in a start tag, and the prefixes that the tag declares.
pub(super) fn start_tag(source: &[u8]) -> (usize, Vec<&[u8]>) {
    let is_end = |&byte: &u8| byte.is_ascii_whitespace() || byte == b'/' || byte == b'>';
    let name_end = source.iter().position(is_end).unwrap_or(source.len());
    let (mut prefixes, mut rest) = (Vec::new(), &source[name_end..]);
    loop {
        rest = rest.trim_ascii_start();
        let Some(equals) = rest
            .iter()
            .position(|byte| matches!(byte, b'=' | b'>' | b'/'))
        else {
            break;
        };
        if rest[equals] != b'=' {
            break;
        }
        let name = rest[..equals].trim_ascii();
        if name == b"xmlns" {
            prefixes.push(&b""[..]);
        }
        prefixes.extend(name.strip_prefix(b"xmlns:"));
        let value = rest[equals + 1..].trim_ascii_start();
        let quote = value.first().copied();
        let length = value.iter().skip(1).position(|&byte| Some(byte) == quote);
        let Some(length) = length else {
            break;
        };
        rest = &value[length + 2..];
    }
    (name_end, prefixes)
}

#[cfg(test)]
mod tests {
    use super::start_tag;

    #[test]
    fn the_declarations_of_a_tag_are_found_behind_any_values() {
        let source =
            b"<p:a x='>/=' xmlns:q = \"u\" y=\"xmlns:no='1'\" xmlns=''><b xmlns:r='z'/></p:a>";
        assert_eq!(start_tag(source), (4, vec![&b"q"[..], &b""[..]]));
        assert_eq!(start_tag(b"<a/>"), (2, vec![]));
        assert_eq!(start_tag(b"<a>x='1'</a>"), (2, vec![]));
    }
}
