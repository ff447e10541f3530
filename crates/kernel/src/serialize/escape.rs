//! Text as content, values of attributes, comments and instructions.

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

/// Appends text as the value of an attribute, with its quotes: double ones, unless that means
/// more references.
pub fn quote(text: &[u8], out: &mut Vec<u8>) {
    let is_single = text.contains(&b'"') && !text.contains(&b'\'');
    let mark = if is_single { b'\'' } else { b'"' };
    out.push(mark);
    replace(text, out, |byte| match byte {
        b'&' => Some(b"&amp;"),
        b'<' => Some(b"&lt;"),
        b'>' => Some(b"&gt;"),
        b'"' if !is_single => Some(b"&quot;"),
        // A parser would read them as spaces.
        b'\t' => Some(b"&#9;"),
        b'\n' => Some(b"&#10;"),
        b'\r' => Some(b"&#13;"),
        _ => None,
    });
    out.push(mark);
}

/// Appends the declaration of a namespace, after a space.
pub fn declaration(prefix: &[u8], uri: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b" xmlns");
    if !prefix.is_empty() {
        out.push(b':');
        out.extend_from_slice(prefix);
    }
    out.push(b'=');
    quote(uri, out);
}

/// Appends a comment.
pub fn comment(text: &[u8], out: &mut Vec<u8>) {
    for part in [b"<!--", text, b"-->"] {
        out.extend_from_slice(part);
    }
}

/// Appends a processing instruction.
pub fn instruction(target: &[u8], text: &[u8], out: &mut Vec<u8>) {
    let space: &[u8] = if text.is_empty() { b"" } else { b" " };
    for part in [b"<?", target, space, text, b"?>"] {
        out.extend_from_slice(part);
    }
}

/// Appends text, with what a function gives in the place of single bytes.
pub(super) fn replace(text: &[u8], out: &mut Vec<u8>, with: impl Fn(u8) -> Option<&'static [u8]>) {
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
