//! Compiled patterns, kept for the next call.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::searching::{Compiled, Pattern};
use super::syntax::{Flags, translate};
use crate::error::{Error, Result};

/// Patterns that are kept. When there are more, all are dropped.
const PATTERNS_MAX: usize = 32;
/// Steps of work for each state of a pattern that is compiled.
const STEPS_OF_STATE: u64 = 16;

/// Compiled patterns by their text.
type ByText = FxHashMap<Box<str>, Rc<Pattern>>;

/// Compiled patterns by their flags and text.
#[derive(Default)]
pub(in crate::functions) struct Patterns {
    compiled: RefCell<FxHashMap<Box<str>, ByText>>,
}

impl Patterns {
    /// The pattern with these flags, and the steps of work that compiling it took.
    ///
    /// # Errors
    ///
    /// FORX0001 for flags that do not exist. FORX0002 for a pattern that is not valid, or too large.
    pub(super) fn get(&self, pattern: &str, flags: &str) -> Result<(Rc<Pattern>, u64)> {
        let mut compiled = self.compiled.borrow_mut();
        if let Some(known) = compiled
            .get(flags)
            .and_then(|patterns| patterns.get(pattern))
        {
            return Ok((known.clone(), 0));
        }
        let fresh = Rc::new(compile(pattern, flags)?);
        if compiled.values().map(FxHashMap::len).sum::<usize>() >= PATTERNS_MAX {
            compiled.clear();
        }
        compiled
            .entry(flags.into())
            .or_default()
            .insert(pattern.into(), fresh.clone());
        let steps = STEPS_OF_STATE * fresh.states();
        Ok((fresh, steps))
    }
}

fn compile(pattern: &str, flags: &str) -> Result<Pattern> {
    let flags = Flags::read(flags)?;
    let translated = translate(pattern, flags)?;
    let compiled = Pattern::compile(&translated, flags.ignores_case);
    let shown: String = pattern.chars().take(60).collect();
    let reason = match compiled {
        Compiled::Pattern(pattern) => return Ok(*pattern),
        Compiled::TooLarge => {
            format!("the pattern `{shown}` is too large; repeat less, or a smaller class")
        }
        Compiled::Invalid => format!("the pattern `{shown}` cannot be compiled"),
    };
    Err(Error::new("FORX0002", reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_once() {
        let patterns = Patterns::default();
        let (first, steps) = patterns.get("a+", "i").unwrap();
        assert!(steps > 0);
        let (again, steps) = patterns.get("a+", "i").unwrap();
        assert!(Rc::ptr_eq(&first, &again) && steps == 0);
        assert!(!Rc::ptr_eq(&first, &patterns.get("a+", "").unwrap().0));
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
            let error = patterns.get(pattern, "").err().unwrap();
            assert_eq!(error.code, "FORX0002", "{pattern}");
            assert!(error.reason.contains("too large"), "{}", error.reason);
        }
        assert!(patterns.get("\\w{20}", "").is_ok());
    }
}
