//! The replacement string of `replace`.

use regex_automata::util::captures::Captures;

use crate::error::{Error, Result};
use crate::functions::made::Made;

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Characters as they are.
    Text(String),
    /// What a group matched; group 0 is the whole match.
    Group(usize),
}

/// The parts of a replacement for a pattern with so many groups.
///
/// # Errors
///
/// FORX0004 if `$` has no number behind it, or `\` neither `$` nor `\`.
pub(super) fn read(replacement: &str, groups: usize) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = replacement;
    while let Some(place) = rest.find(['$', '\\']) {
        text.push_str(&rest[..place]);
        let (mark, behind) = rest[place..].split_at(1);
        if mark == "$" {
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let (number, used) = group(&behind[..digits], groups)
                .ok_or_else(|| malformed(replacement, "`$` needs the number of a group"))?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            if number <= groups {
                parts.push(Part::Group(number));
            }
            rest = &behind[used..];
        } else {
            match behind.chars().next() {
                Some(character @ ('$' | '\\')) => text.push(character),
                _ => return Err(malformed(replacement, "`\\` stands before `$` or `\\`")),
            }
            rest = &behind[1..];
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

/// The group that digits name, and how many of them name it; the others are text.
///
/// As many digits count as give a group that exists, but the first one always does.
fn group(digits: &str, groups: usize) -> Option<(usize, usize)> {
    let mut end = digits.len();
    while end > 1 {
        match digits[..end].parse() {
            Ok(number) if number <= groups => return Some((number, end)),
            _ => end -= 1,
        }
    }
    Some((digits.get(..1)?.parse().ok()?, 1))
}

/// Whether a replacement asks for what groups match, not only for the whole match.
pub(super) fn has_groups(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Group(1..)))
}

/// Append the replacement of the match at a place; `captures` are there if it has groups.
pub(super) fn write(
    parts: &[Part],
    text: &str,
    place: (usize, usize),
    captures: Option<&Captures>,
    out: &mut Made<'_>,
) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Group(0) => out.push_str(&text[place.0..place.1]),
            Part::Group(number) => {
                let group = captures.and_then(|captures| captures.get_group(*number));
                out.push_str(group.map_or("", |group| &text[group.start..group.end]));
            }
        }
    }
}

fn malformed(replacement: &str, rule: &str) -> Error {
    Error::new(
        "FORX0004",
        format!("the replacement `{replacement}` is not valid: {rule}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Part {
        Part::Text(text.into())
    }

    #[test]
    fn digits_name_a_group_as_long_as_it_exists() {
        assert_eq!(read("$1", 1), Ok(vec![Part::Group(1)]));
        assert_eq!(read("$0x", 0), Ok(vec![Part::Group(0), text("x")]));
        assert_eq!(read("$15", 1), Ok(vec![Part::Group(1), text("5")]));
        assert_eq!(read("$15", 15), Ok(vec![Part::Group(15)]));
        assert_eq!(read("a$3b", 2), Ok(vec![text("a"), text("b")]));
        assert_eq!(
            read("$99999999999999999999", 1),
            Ok(vec![text("9999999999999999999")])
        );
        assert_eq!(read("$01", 1), Ok(vec![Part::Group(1)]));
    }

    #[test]
    fn marks_are_escaped() {
        assert_eq!(read(r"\$1\\", 1), Ok(vec![text(r"$1\")]));
        for wrong in ["$", "a$b", r"\", r"\a", r"a\1"] {
            assert_eq!(read(wrong, 1).unwrap_err().code, "FORX0004", "{wrong}");
        }
    }
}
