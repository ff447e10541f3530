//! The form of references: `&#65;`, `&#x41;`, `&name;`.

use super::characters::{is_char, is_name_byte, is_simple_name};
use super::codes;
use super::faults::{limit, malformed, quote};
use crate::error::DocumentError;
use crate::limits::Limits;

/// A reference as written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// To a character, by number or by one of the five names that need no declaration.
    Character(char),
    /// To an entity of this name.
    Entity(&'a [u8]),
}

/// Reads the reference at `at`, whose `&` is there, and tells where it ends. `None` if it is not
/// complete. `start` is the byte for errors.
pub(super) fn parse_reference<'a>(
    bytes: &'a [u8],
    at: usize,
    start: u64,
    limits: &Limits,
) -> Result<Option<(Reference<'a>, usize)>, DocumentError> {
    let mut end = at + 1;
    while bytes
        .get(end)
        .is_some_and(|byte| is_name_byte(*byte) || *byte == b'#')
    {
        end += 1;
    }
    let Some(&after) = bytes.get(end) else {
        return Ok(None);
    };
    let body = &bytes[at + 1..end];
    if body.len() as u64 > limits.name_bytes_max {
        return Err(limit("name_bytes_max", start, limits.name_bytes_max));
    }
    if after != b';' {
        let reason = format!("`&{}` is not a reference: no `;` follows", quote(body));
        return Err(malformed(codes::BAD_REFERENCE, start, reason));
    }
    let reference = match body {
        b"lt" => Reference::Character('<'),
        b"gt" => Reference::Character('>'),
        b"amp" => Reference::Character('&'),
        b"quot" => Reference::Character('"'),
        b"apos" => Reference::Character('\''),
        [b'#', digits @ ..] => Reference::Character(parse_character(digits, start)?),
        _ if is_simple_name(body) => Reference::Entity(body),
        _ => {
            let reason = format!("`&{};` is not a reference: this is no name", quote(body));
            return Err(malformed(codes::BAD_REFERENCE, start, reason));
        }
    };
    Ok(Some((reference, end + 1)))
}

fn parse_character(digits: &[u8], start: u64) -> Result<char, DocumentError> {
    let (digits, radix) = match digits {
        [b'x', hex @ ..] => (hex, 16),
        _ => (digits, 10),
    };
    if digits.is_empty() || !digits.iter().all(|byte| char::from(*byte).is_digit(radix)) {
        let reason = format!("`{}` is not the number of a character", quote(digits));
        return Err(malformed(codes::BAD_REFERENCE, start, reason));
    }
    let code = digits.iter().try_fold(0_u32, |code, byte| {
        let code = code.checked_mul(radix)? + char::from(*byte).to_digit(radix)?;
        (code <= 0x10_FFFF).then_some(code)
    });
    code.filter(|code| is_char(*code))
        .and_then(char::from_u32)
        .ok_or_else(|| {
            let reason = format!("character number {} is not allowed in XML", quote(digits));
            malformed(codes::BAD_CHARACTER_REFERENCE, start, reason)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<(Reference<'_>, usize)>, &'static str> {
        parse_reference(text.as_bytes(), 0, 0, &Limits::NONE).map_err(|error| error.code)
    }

    #[test]
    fn references_are_read_or_refused() {
        assert_eq!(parse("&amp;x"), Ok(Some((Reference::Character('&'), 5))));
        assert_eq!(
            parse("&#x1F600;"),
            Ok(Some((Reference::Character('😀'), 9)))
        );
        assert_eq!(parse("&#0065;"), Ok(Some((Reference::Character('A'), 7))));
        assert_eq!(
            parse("&é;"),
            Ok(Some((Reference::Entity("é".as_bytes()), 4)))
        );
        assert_eq!(parse("&#x1F60"), Ok(None));
        for bad in [
            "& ", "&;", "&a b;", "&#;", "&#x;", "&#X41;", "&#6a;", "&1;", "&a:b;", "&a#;",
        ] {
            assert_eq!(parse(bad), Err(codes::BAD_REFERENCE), "{bad}");
        }
        for bad in [
            "&#0;",
            "&#xD800;",
            "&#x110000;",
            "&#99999999999999999999;",
            "&#xFFFE;",
        ] {
            assert_eq!(parse(bad), Err(codes::BAD_CHARACTER_REFERENCE), "{bad}");
        }
    }
}
