//! Compiled patterns, kept for the next call.

use std::cell::RefCell;
use std::rc::Rc;

use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use super::syntax::{Flags, translate};
use crate::error::{Error, Result};

/// Patterns that are kept. When there are more, all are dropped.
const PATTERNS_MAX: usize = 32;
/// Bytes that one compiled pattern may take, and its automaton besides.
const COMPILED_BYTES_MAX: usize = 4 << 20;

/// Compiled patterns by their text.
type ByText = FxHashMap<Box<str>, Rc<Regex>>;

/// Compiled patterns by their flags and text.
#[derive(Default)]
pub(in crate::functions) struct Patterns {
    compiled: RefCell<FxHashMap<Box<str>, ByText>>,
}

impl Patterns {
    /// The pattern with these flags.
    ///
    /// # Errors
    ///
    /// FORX0001 for flags that do not exist. FORX0002 for a pattern that is not valid, or too large.
    pub(super) fn get(&self, pattern: &str, flags: &str) -> Result<Rc<Regex>> {
        let mut compiled = self.compiled.borrow_mut();
        if let Some(regex) = compiled
            .get(flags)
            .and_then(|patterns| patterns.get(pattern))
        {
            return Ok(regex.clone());
        }
        let regex = Rc::new(compile(pattern, flags)?);
        if compiled.values().map(FxHashMap::len).sum::<usize>() >= PATTERNS_MAX {
            compiled.clear();
        }
        compiled
            .entry(flags.into())
            .or_default()
            .insert(pattern.into(), regex.clone());
        Ok(regex)
    }
}

fn compile(pattern: &str, flags: &str) -> Result<Regex> {
    let flags = Flags::read(flags)?;
    let translated = translate(pattern, flags)?;
    RegexBuilder::new(&translated)
        .case_insensitive(flags.ignores_case)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| Error::new("FORX0002", reason(pattern, &error)))
}

fn reason(pattern: &str, error: &regex::Error) -> String {
    let shown: String = pattern.chars().take(60).collect();
    match error {
        regex::Error::CompiledTooBig(_) => {
            format!("the pattern `{shown}` is too large; repeat less, or a smaller class")
        }
        _ => format!("the pattern `{shown}` cannot be compiled"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_once() {
        let patterns = Patterns::default();
        let first = patterns.get("a+", "i").unwrap();
        assert!(Rc::ptr_eq(&first, &patterns.get("a+", "i").unwrap()));
        assert!(!Rc::ptr_eq(&first, &patterns.get("a+", "").unwrap()));
    }

    #[test]
    fn the_number_of_patterns_is_bounded() {
        let patterns = Patterns::default();
        for number in 0..10 * PATTERNS_MAX {
            patterns.get(&format!("a{{{number}}}"), "").unwrap();
            let kept: usize = patterns
                .compiled
                .borrow()
                .values()
                .map(FxHashMap::len)
                .sum();
            assert!(kept <= PATTERNS_MAX);
        }
    }

    #[test]
    fn a_pattern_that_is_too_large_is_an_error() {
        let patterns = Patterns::default();
        for pattern in [
            "(((a{100}){100}){100}){100}",
            "a{100000000}",
            "(\\w{500}){500}",
        ] {
            let error = patterns.get(pattern, "").unwrap_err();
            assert_eq!(error.code, "FORX0002", "{pattern}");
            assert!(error.reason.contains("too large"), "{}", error.reason);
        }
        assert!(patterns.get("\\w{20}", "").is_ok());
    }
}
