//! The syntax of regular expressions in XPath, translated for the library.
//!
//! Everything is checked here, because the library reads some patterns in another way.

use std::iter::Peekable;
use std::str::Chars;

use super::classes;
use crate::error::{Error, Result};

/// Bytes that a pattern may have.
const PATTERN_BYTES_MAX: usize = 1 << 16;
/// Groups that may lie in one another, and classes too.
pub(super) const DEPTH_MAX: usize = 64;

/// The flags of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// `i`: case does not count.
    pub(super) ignores_case: bool,
    /// `s`: the dot stands for a newline too.
    dot_is_all: bool,
    /// `m`: `^` and `$` stand at lines.
    has_lines: bool,
    /// `x`: white space in the pattern does not count, except in classes.
    skips_space: bool,
}

impl Flags {
    /// The flags that are written so.
    ///
    /// # Errors
    ///
    /// FORX0001 if one does not exist.
    pub(super) fn read(written: &str) -> Result<Self> {
        let mut flags = Flags::default();
        for flag in written.chars() {
            match flag {
                'i' => flags.ignores_case = true,
                's' => flags.dot_is_all = true,
                'm' => flags.has_lines = true,
                'x' => flags.skips_space = true,
                _ => {
                    let reason = format!("`{flag}` is no flag of a pattern; s, m, i and x are");
                    return Err(Error::new("FORX0001", reason));
                }
            }
        }
        Ok(flags)
    }
}

/// The pattern in the syntax of the library.
///
/// # Errors
///
/// FORX0002 if the pattern is not valid, or refers back to what a group has matched.
pub(super) fn translate(pattern: &str, flags: Flags) -> Result<String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        let reason = format!("a pattern may have {PATTERN_BYTES_MAX} bytes");
        return Err(Error::new("FORX0002", reason));
    }
    let dense;
    let counted = if flags.skips_space {
        dense = without_space(pattern);
        &dense
    } else {
        pattern
    };
    let mut reader = Reader {
        rest: counted.chars().peekable(),
        flags,
        out: String::new(),
    };
    let read = reader
        .alternatives(0)
        .and_then(|()| match reader.rest.next() {
            None => Ok(()),
            Some(_) => Err("a `)` closes no group"),
        });
    match read {
        Ok(()) => Ok(reader.out),
        Err(reason) => Err(Error::new(
            "FORX0002",
            format!("in the pattern `{pattern}` {reason}"),
        )),
    }
}

/// The pattern without white space, except in classes.
fn without_space(pattern: &str) -> String {
    let mut dense = String::with_capacity(pattern.len());
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for character in pattern.chars() {
        if depth == 0 && matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        dense.push(character);
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    dense
}

/// What was read, or what is wrong with it.
pub(super) type Read<T> = std::result::Result<T, &'static str>;

/// Reads a pattern and writes its translation.
pub(super) struct Reader<'a> {
    pub(super) rest: Peekable<Chars<'a>>,
    pub(super) flags: Flags,
    pub(super) out: String,
}

impl Reader<'_> {
    /// `a|b|c`, up to the end or a closing parenthesis.
    fn alternatives(&mut self, depth: usize) -> Read<()> {
        if depth > DEPTH_MAX {
            return Err("groups lie too deep in one another");
        }
        loop {
            match self.rest.peek() {
                None | Some(')') => return Ok(()),
                Some('|') => {
                    self.rest.next();
                    self.out.push('|');
                }
                Some(_) => {
                    self.atom(depth)?;
                    self.quantifier()?;
                }
            }
        }
    }

    fn atom(&mut self, depth: usize) -> Read<()> {
        let Some(character) = self.rest.next() else {
            return Err("a part is missing");
        };
        match character {
            '(' => {
                self.out.push('(');
                self.alternatives(depth + 1)?;
                if self.rest.next().is_none() {
                    return Err("a `(` is not closed");
                }
                self.out.push(')');
            }
            '[' => classes::class(self, 0)?,
            '\\' => self.escape()?,
            '.' => self.out.push_str(if self.flags.dot_is_all {
                "(?s:.)"
            } else {
                "[^\\n]"
            }),
            '^' => self.out.push_str(if self.flags.has_lines {
                "(?m:^)"
            } else {
                "\\A"
            }),
            '$' => self.out.push_str(if self.flags.has_lines {
                "(?m:$)"
            } else {
                "\\z"
            }),
            '?' | '*' | '+' | '{' => return Err("a quantifier has nothing to repeat"),
            '}' => return Err("a `}` has to be escaped"),
            ']' => return Err("a `]` has to be escaped"),
            character => push_literal(character, &mut self.out),
        }
        Ok(())
    }

    fn escape(&mut self) -> Read<()> {
        if self.rest.peek().is_some_and(char::is_ascii_digit) {
            return Err("a back-reference is used; matching in linear time has none");
        }
        match classes::escape(self)? {
            classes::Escape::Character(character) => push_literal(character, &mut self.out),
            // Properties stay as they are where case does not count.
            classes::Escape::Class(class) => {
                self.out.push_str("(?-i:");
                self.out.push_str(&class);
                self.out.push(')');
            }
        }
        Ok(())
    }

    fn quantifier(&mut self) -> Read<()> {
        match self.rest.peek() {
            Some('{') => {
                self.rest.next();
                self.quantity()?;
            }
            Some(mark @ ('?' | '*' | '+')) => {
                self.out.push(*mark);
                self.rest.next();
            }
            _ => return Ok(()),
        }
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(())
    }

    /// `2}`, `2,}` or `2,3}`.
    fn quantity(&mut self) -> Read<()> {
        let least = self.number()?.ok_or("a quantity has no number")?;
        let most = match self.rest.next() {
            Some('}') => Some(least),
            Some(',') => {
                let most = self.number()?;
                if self.rest.next() != Some('}') {
                    return Err("a quantity is not closed");
                }
                most
            }
            _ => return Err("a quantity is not closed"),
        };
        match most {
            Some(most) if most < least => return Err("a quantity has its bounds exchanged"),
            Some(most) => self.out.push_str(&format!("{{{least},{most}}}")),
            None => self.out.push_str(&format!("{{{least},}}")),
        }
        Ok(())
    }

    fn number(&mut self) -> Read<Option<u32>> {
        let mut number = None;
        while let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(10)) {
            self.rest.next();
            let so_far = number.unwrap_or(0_u32).checked_mul(10);
            let with_digit = so_far.and_then(|so_far| so_far.checked_add(digit));
            number = Some(with_digit.ok_or("a quantity is too large")?);
        }
        Ok(number)
    }
}

/// Write a character so that it stands for itself, in a class too.
pub(super) fn push_literal(character: char, out: &mut String) {
    if character.is_ascii_alphanumeric() || !character.is_ascii() {
        out.push(character);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(character)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(pattern: &str) -> &'static str {
        translate(pattern, Flags::default()).map_or_else(|error| error.code, |_| "valid")
    }

    #[test]
    fn what_xpath_does_not_have_is_an_error() {
        for pattern in [
            "*a",
            "a**",
            "a+*",
            "a???",
            "(",
            ")",
            "(a",
            "a)",
            "a{",
            "a{,2}",
            "a{2,1}",
            "a{x}",
            "}",
            "]",
            "{",
            "a{99999999999}",
            "(?:a)",
            "(?i)a",
            "(?=a)",
            "\\",
            "\\1",
            "(a)\\1",
            "\\b",
            "\\A",
            "\\z",
            "\\x41",
            "\\u0041",
            "\\e",
            "\\h",
            "\\-a*+",
            "[a",
            "a{1",
            "|*",
        ] {
            assert_eq!(code(pattern), "FORX0002", "{pattern}");
        }
    }

    #[test]
    fn what_xpath_has_is_valid() {
        for pattern in [
            "",
            "|",
            "a|",
            "()",
            "a*",
            "a*?",
            "a{2}",
            "a{2,}",
            "a{2,3}?",
            "(a|b)+",
            "^a$",
            "a^b$c",
            "\\(\\)\\[\\]\\{\\}\\|\\?\\*\\+\\.\\^\\$\\\\\\-\\n\\r\\t",
            "é",
            "#",
            "a-b",
            "^*",
            "~&-",
        ] {
            let translated = translate(pattern, Flags::default()).unwrap();
            assert!(
                regex_automata::meta::Regex::new(&translated).is_ok(),
                "{pattern} as {translated}"
            );
        }
    }

    #[test]
    fn nesting_and_length_have_bounds() {
        let nested = |depth| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(code(&nested(DEPTH_MAX)), "valid");
        assert!(
            regex_automata::meta::Regex::new(
                &translate(&nested(DEPTH_MAX), Flags::default()).unwrap()
            )
            .is_ok()
        );
        assert_eq!(code(&nested(DEPTH_MAX + 1)), "FORX0002");
        assert_eq!(code(&"(".repeat(PATTERN_BYTES_MAX)), "FORX0002");
        assert_eq!(code(&"a".repeat(PATTERN_BYTES_MAX)), "valid");
        assert_eq!(code(&"a".repeat(PATTERN_BYTES_MAX + 1)), "FORX0002");
    }
}
