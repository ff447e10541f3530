//! Tags as they look, in bytes that may be anything.

use std::ops::Range;

/// What begins with `<`, by its looks alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A start tag.
    Start {
        name: &'a [u8],
        is_empty: bool,
        length: usize,
    },
    /// An end tag.
    End { name: &'a [u8], length: usize },
    /// A comment, an instruction, a CDATA section or a declaration.
    Other { length: usize },
    /// No token; whether it begins like a start tag.
    Broken { is_tag: bool },
    /// The bytes do not tell.
    More,
}

/// A longer token is taken for a broken one, so that a lost end of a comment does not hide the rest.
pub(super) const TOKEN_BYTES_MAX: usize = 1 << 20;

/// Reads one token after the other; what is looked for in vain is looked for once.
#[derive(Debug, Default)]
pub(super) struct Lexer {
    /// Where no instruction ends, and where no CDATA section does.
    without_end: [Range<u64>; 2],
}

impl Lexer {
    /// The token at an offset, where the bytes begin with `<`. If `is_last`, no byte will follow.
    pub fn token<'a>(&mut self, bytes: &'a [u8], offset: u64, is_last: bool) -> Token<'a> {
        let is_short = bytes.len() <= TOKEN_BYTES_MAX;
        let bytes = &bytes[..bytes.len().min(TOKEN_BYTES_MAX)];
        match self.whole_token(bytes, offset) {
            Token::More if is_last || !is_short => Token::Broken {
                is_tag: bytes.get(1).is_some_and(|byte| is_name_start(*byte)),
            },
            found => found,
        }
    }

    fn whole_token<'a>(&mut self, bytes: &'a [u8], offset: u64) -> Token<'a> {
        match bytes.get(1) {
            None => Token::More,
            Some(b'/') => end_tag(bytes),
            Some(b'?') => closed_by(bytes, 2, offset, b"?>", &mut self.without_end[0]),
            Some(b'!') if bytes.starts_with(CDATA) => {
                closed_by(bytes, CDATA.len(), offset, b"]]>", &mut self.without_end[1])
            }
            Some(b'!') => comment(bytes),
            Some(byte) if is_name_start(*byte) => start_tag(bytes),
            Some(_) => Token::Broken { is_tag: false },
        }
    }
}

const CDATA: &[u8] = b"<![CDATA[";

fn start_tag(bytes: &[u8]) -> Token<'_> {
    // No value of an attribute has a `<` in it.
    let next = memchr::memchr(b'<', &bytes[1..]);
    let tag = next.map_or(bytes, |next| &bytes[..next + 1]);
    let open = match next {
        Some(_) => Token::Broken { is_tag: true },
        None => Token::More,
    };
    let name_end = name_end(tag, 1);
    match tag.get(name_end) {
        None => return open,
        Some(b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n') => {}
        Some(_) => return Token::Broken { is_tag: true },
    }
    let mut at = name_end;
    while let Some(found) = memchr::memchr3(b'>', b'"', b'\'', &tag[at..]) {
        at += found + 1;
        if tag[at - 1] == b'>' {
            return Token::Start {
                name: &tag[1..name_end],
                is_empty: tag[at - 2] == b'/',
                length: at,
            };
        }
        match memchr::memchr(tag[at - 1], &tag[at..]) {
            Some(close) => at += close + 1,
            None => return open,
        }
    }
    open
}

fn end_tag(bytes: &[u8]) -> Token<'_> {
    let name_end = name_end(bytes, 2);
    let space = bytes[name_end..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace());
    let close = name_end + space.count();
    match bytes.get(close) {
        None => Token::More,
        Some(b'>') if name_end > 2 => Token::End {
            name: &bytes[2..name_end],
            length: close + 1,
        },
        Some(_) => Token::Broken { is_tag: false },
    }
}

/// A comment; nothing else of its looks stands inside an element.
fn comment(bytes: &[u8]) -> Token<'_> {
    let rest = &bytes[2..];
    let begins = |word: &[u8]| rest.len() < word.len() && word.starts_with(rest);
    if begins(b"--") || begins(&CDATA[2..]) {
        return Token::More;
    }
    if !rest.starts_with(b"--") {
        return Token::Broken { is_tag: false };
    }
    // Two dashes end a comment, or break it.
    let Some(dashes) = memchr::memmem::find(&bytes[4..], b"--") else {
        return Token::More;
    };
    let close = 4 + dashes + 2;
    match bytes.get(close) {
        None => Token::More,
        Some(b'>') => Token::Other { length: close + 1 },
        Some(_) => Token::Broken { is_tag: false },
    }
}

fn closed_by<'a>(
    bytes: &'a [u8],
    from: usize,
    offset: u64,
    end: &[u8],
    without_end: &mut Range<u64>,
) -> Token<'a> {
    if !without_end.contains(&offset) {
        *without_end = offset..offset;
    }
    let skipped = (without_end.end - offset) as usize;
    let from = from.max(skipped).min(bytes.len());
    match memchr::memmem::find(&bytes[from..], end) {
        Some(length) => Token::Other {
            length: from + length + end.len(),
        },
        None => {
            let seen = bytes.len().saturating_sub(end.len() - 1);
            without_end.end = without_end.end.max(offset + seen as u64);
            Token::More
        }
    }
}

/// A byte that a name may begin with; those beyond ASCII are all taken for such.
fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || byte > 0x7F
}

/// Where a name ends that may begin here.
pub(super) fn name_end(bytes: &[u8], from: usize) -> usize {
    let is_name_byte =
        |byte: &&u8| is_name_start(**byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take_while(is_name_byte)
        .count()
}

/// The part of a name behind its prefix.
pub(super) fn local(name: &[u8]) -> &[u8] {
    memchr::memchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(bytes: &[u8], is_last: bool) -> Token<'_> {
        Lexer::default().token(bytes, 0, is_last)
    }

    #[test]
    fn tokens_are_told_by_their_looks() {
        let is_tag = true;
        for (text, expected) in [
            (
                "<a>x",
                Token::Start {
                    name: b"a",
                    is_empty: false,
                    length: 3,
                },
            ),
            (
                "<p:a b='/>' c=\">\"/>x",
                Token::Start {
                    name: b"p:a",
                    is_empty: true,
                    length: 19,
                },
            ),
            (
                "</a >x",
                Token::End {
                    name: b"a",
                    length: 5,
                },
            ),
            ("<!--a-->x", Token::Other { length: 8 }),
            ("<!--a--x", Token::Broken { is_tag: false }),
            ("<![CDATA[<a>]]>x", Token::Other { length: 15 }),
            ("<?a ?>x", Token::Other { length: 6 }),
            ("<a b='<'>", Token::Broken { is_tag }),
            ("<a <b>", Token::Broken { is_tag }),
            ("<a&>", Token::Broken { is_tag }),
            ("</>", Token::Broken { is_tag: false }),
            ("< a>", Token::Broken { is_tag: false }),
            ("<!x>", Token::Broken { is_tag: false }),
        ] {
            assert_eq!(token(text.as_bytes(), false), expected, "{text}");
            assert_eq!(token(text.as_bytes(), true), expected, "{text}");
        }
        for text in [
            "<",
            "<a",
            "<a b='>",
            "</a",
            "<!-",
            "<!--a--",
            "<![CDATA[]]",
            "<?a ?",
        ] {
            assert_eq!(token(text.as_bytes(), false), Token::More, "{text}");
            assert!(
                matches!(token(text.as_bytes(), true), Token::Broken { .. }),
                "{text}"
            );
        }
    }

    #[test]
    fn a_token_that_does_not_end_is_broken_wherever_the_input_is_cut() {
        let mut text = b"<!--".to_vec();
        text.resize(TOKEN_BYTES_MAX, b' ');
        assert_eq!(token(&text, false), Token::More);
        text.extend(b" -->");
        assert_eq!(token(&text, false), Token::Broken { is_tag: false });
        assert_eq!(
            token(&text[..=TOKEN_BYTES_MAX], false),
            Token::Broken { is_tag: false }
        );
    }
}
