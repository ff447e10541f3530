//! Compiled patterns, kept for the next call.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::searching::{Compiled, Meter, Pattern};
use super::syntax::{Flags, translate};
use crate::error::{Error, Result};

/// Patterns that are kept, and bytes of them. When there are more, all are dropped.
const PATTERNS_MAX: usize = 32;
const BYTES_MAX: usize = 16 << 20;
/// Steps of work for each character of a pattern that is read, and for one that becomes too large
/// while it is compiled.
const STEPS_OF_CHARACTER: u64 = 8;
const STEPS_OF_TOO_LARGE: u64 = 1 << 20;
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
    /// The pattern with these flags. The meter hears of the steps that it takes to compile it, as
    /// many as its compiled form is large.
    ///
    /// # Errors
    ///
    /// FORX0001 for flags that do not exist. FORX0002 for a pattern that is not valid, or too large.
    pub(super) fn get(&self, pattern: &str, flags: &str, meter: Meter<'_>) -> Result<Rc<Pattern>> {
        let mut compiled = self.compiled.borrow_mut();
        if let Some(known) = compiled
            .get(flags)
            .and_then(|patterns| patterns.get(pattern))
        {
            return Ok(known.clone());
        }
        meter(STEPS_OF_CHARACTER * pattern.len() as u64);
        let fresh = Rc::new(compile(pattern, flags, meter)?);
        let kept = || compiled.values().flat_map(FxHashMap::values);
        let bytes: usize = kept().map(|pattern| pattern.bytes()).sum();
        if kept().count() >= PATTERNS_MAX || bytes + fresh.bytes() > BYTES_MAX {
            compiled.clear();
        }
        compiled
            .entry(flags.into())
            .or_default()
            .insert(pattern.into(), fresh.clone());
        drop(compiled);
        meter(STEPS_OF_STATE * fresh.states());
        Ok(fresh)
    }
}

fn compile(pattern: &str, flags: &str, meter: Meter<'_>) -> Result<Pattern> {
    let flags = Flags::read(flags)?;
    let translated = translate(pattern, flags)?;
    let compiled = Pattern::compile(&translated, flags.ignores_case);
    let shown: String = pattern.chars().take(60).collect();
    let reason = match compiled {
        Compiled::Pattern(pattern) => return Ok(*pattern),
        Compiled::TooLarge => {
            meter(STEPS_OF_TOO_LARGE);
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
        let mut steps = 0;
        let first = patterns.get("a+", "i", &mut |more| steps += more);
        assert!(steps > 0);
        let again = patterns.get("a+", "i", &mut |_| panic!("it was compiled"));
        assert!(Rc::ptr_eq(&first.unwrap(), &again.unwrap()));
        let other = patterns.get("a+", "", &mut |_| ());
        assert!(!Rc::ptr_eq(
            &patterns.get("a+", "i", &mut |_| ()).unwrap(),
            &other.unwrap()
        ));
    }

    #[test]
    fn the_number_of_patterns_is_bounded() {
        let patterns = Patterns::default();
        for number in 0..10 * PATTERNS_MAX {
            patterns
                .get(&format!("a{{{number}}}"), "", &mut |_| ())
                .unwrap();
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
            let mut steps = 0;
            let error = patterns.get(pattern, "", &mut |more| steps += more);
            let error = error.err().unwrap();
            assert!(
                steps >= STEPS_OF_TOO_LARGE,
                "it took as long as a large one"
            );
            assert_eq!(error.code, "FORX0002", "{pattern}");
            assert!(error.reason.contains("too large"), "{}", error.reason);
        }
        assert!(patterns.get("\\w{20}", "", &mut |_| ()).is_ok());
    }
}
