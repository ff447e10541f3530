//! Searching with a compiled pattern, where all work is counted.
//!
//! One search may read far more text than it matches, and one byte may cost as much as the pattern
//! is long. So automata that are built on the way (`regex_automata::hybrid`) read the text byte by
//! byte, and the meter hears of it at once: it may end the evaluation in the middle of a search.

use std::cell::RefCell;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, meta};
use rustc_hash::FxHashSet;

use crate::error::{Error, Result};

/// Bytes that one compiled pattern may take, and each of its automata besides.
const COMPILED_BYTES_MAX: usize = 4 << 20;
/// So many bytes are read before the meter hears of them.
const BYTES_AT_ONCE: u64 = 256;
/// So many bytes are read in one step of work.
const BYTES_OF_STEP: u64 = 4;
/// So many states of the pattern are visited in one step of work.
const STATES_OF_STEP: u64 = 4;
/// The same where the library looks up groups.
const CAPTURED_STATES_OF_STEP: u64 = 32;
/// Bytes that a state of an automaton takes besides its transitions and its states of the pattern.
const STATE_BYTES: u64 = 36;

/// A pattern of so few states is searched for by the library, which is faster; its worst case is
/// some hundred nanoseconds for each byte.
const STATES_SMALL_MAX: u64 = 64;

/// What hears of steps of work.
pub(super) type Meter<'m> = &'m mut dyn FnMut(u64);

/// What became of a pattern in the syntax of the library.
pub(super) enum Compiled {
    Pattern(Box<Pattern>),
    TooLarge,
    Invalid,
}

/// A pattern that texts are searched for.
pub(super) struct Pattern {
    whole: meta::Regex,
    ends: Automaton,
    starts: Automaton,
    /// Whether it matches a text of no characters.
    pub is_empty_matched: bool,
}

impl Pattern {
    /// The pattern in the syntax of the library.
    pub fn compile(translated: &str, ignores_case: bool) -> Compiled {
        let syntax = syntax::Config::new().case_insensitive(ignores_case);
        let config = meta::Config::new()
            .nfa_size_limit(Some(COMPILED_BYTES_MAX))
            .hybrid_cache_capacity(COMPILED_BYTES_MAX);
        let mut builder = meta::Regex::builder();
        let whole = match builder.configure(config).syntax(syntax).build(translated) {
            Ok(whole) => whole,
            Err(error) if error.size_limit().is_some() => return Compiled::TooLarge,
            Err(_) => return Compiled::Invalid,
        };
        let (Some(ends), Some(starts)) = (
            Automaton::compile(translated, syntax, false),
            Automaton::compile(translated, syntax, true),
        ) else {
            return Compiled::TooLarge;
        };
        Compiled::Pattern(Box::new(Pattern {
            is_empty_matched: whole.is_match(""),
            whole,
            ends,
            starts,
        }))
    }

    /// How many states the pattern has.
    pub fn states(&self) -> u64 {
        self.ends.dfa.get_nfa().states().len() as u64
    }

    /// Bytes of the compiled form, and of what was built while texts were searched.
    pub fn bytes(&self) -> usize {
        self.whole.memory_usage() + self.ends.bytes() + self.starts.bytes()
    }

    /// How many groups the pattern has.
    pub fn groups(&self) -> usize {
        self.whole.captures_len() - 1
    }

    /// Whether the pattern matches somewhere in a text.
    pub fn is_match(&self, text: &str, meter: Meter<'_>) -> Result<bool> {
        if self.states() <= STATES_SMALL_MAX {
            meter(text.len() as u64 / BYTES_OF_STEP);
            return Ok(self.whole.is_match(text));
        }
        Ok(self.ends.forward(text, 0, true, meter)?.is_some())
    }

    /// Where the pattern matches first, behind a place.
    pub fn find(&self, text: &str, at: usize, meter: Meter<'_>) -> Result<Option<(usize, usize)>> {
        let Some(end) = self.ends.forward(text, at, false, meter)? else {
            return Ok(None);
        };
        Ok(Some((self.starts.backward(text, at, end, meter)?, end)))
    }

    /// What the groups match within a match.
    pub fn captures(&self, text: &str, place: (usize, usize), meter: Meter<'_>) -> Captures {
        // One run through the match, which nothing interrupts: it is paid before.
        let cost = self.ends.widest() / CAPTURED_STATES_OF_STEP + self.states() / 2_048;
        meter((place.1 - place.0) as u64 * (1 + cost));
        let mut captures = self.whole.create_captures();
        let input = Input::new(text)
            .range(place.0..place.1)
            .anchored(Anchored::Yes);
        self.whole.captures(input, &mut captures);
        captures
    }
}

/// An automaton whose states are built when a text first needs them.
struct Automaton {
    dfa: DFA,
    built: RefCell<Built>,
}

/// What was built of an automaton.
struct Built {
    cache: Cache,
    /// Transitions that are known, from states that the library does not tell of.
    known: FxHashSet<(LazyStateID, u8)>,
    /// States of the pattern in the largest state.
    widest: u64,
    /// What was not yet told the meter.
    bytes: u64,
    steps: u64,
}

impl Automaton {
    fn compile(translated: &str, syntax: syntax::Config, is_reverse: bool) -> Option<Automaton> {
        let kind = if is_reverse {
            MatchKind::All
        } else {
            MatchKind::LeftmostFirst
        };
        let config = DFA::config()
            .match_kind(kind)
            .cache_capacity(COMPILED_BYTES_MAX)
            .skip_cache_capacity_check(true);
        let nfa = thompson::Config::new()
            .reverse(is_reverse)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(COMPILED_BYTES_MAX));
        let mut builder = DFA::builder();
        let built = builder
            .configure(config)
            .syntax(syntax)
            .thompson(nfa)
            .build(translated);
        let dfa = built.ok()?;
        let built = RefCell::new(Built {
            cache: dfa.create_cache(),
            known: FxHashSet::default(),
            widest: 0,
            bytes: 0,
            steps: 0,
        });
        Some(Automaton { dfa, built })
    }

    fn bytes(&self) -> usize {
        let built = self.built.borrow();
        self.dfa.get_nfa().memory_usage() + built.cache.memory_usage()
    }

    fn widest(&self) -> u64 {
        self.built.borrow().widest
    }

    /// Where the leftmost match behind a place ends, or the first one that ends.
    fn forward(
        &self,
        text: &str,
        at: usize,
        is_earliest: bool,
        meter: Meter<'_>,
    ) -> Result<Option<usize>> {
        let built = &mut *self.built.borrow_mut();
        let input = Input::new(text).range(at..);
        let state = self.dfa.start_state_forward(&mut built.cache, &input);
        let mut state = state.map_err(|_| unusable())?;
        let mut end = None;
        for (place, &byte) in text.as_bytes().iter().enumerate().skip(at) {
            state = built.step(&self.dfa, state, byte, meter)?;
            // A state tells of a match one byte later.
            if state.is_match() {
                end = Some(place);
                if is_earliest {
                    break;
                }
            } else if state.is_dead() {
                built.settle(meter);
                return Ok(end);
            }
        }
        built.settle(meter);
        if is_earliest && end.is_some() {
            return Ok(end);
        }
        let state = self.dfa.next_eoi_state(&mut built.cache, state);
        let is_at_end = state.map_err(|_| unusable())?.is_match();
        Ok(if is_at_end { Some(text.len()) } else { end })
    }

    /// Where the match that ends at a place starts.
    fn backward(&self, text: &str, least: usize, end: usize, meter: Meter<'_>) -> Result<usize> {
        let built = &mut *self.built.borrow_mut();
        let input = Input::new(text).range(least..end).anchored(Anchored::Yes);
        let state = self.dfa.start_state_reverse(&mut built.cache, &input);
        let mut state = state.map_err(|_| unusable())?;
        let mut start = end;
        for (place, &byte) in text
            .as_bytes()
            .iter()
            .enumerate()
            .take(end)
            .skip(least)
            .rev()
        {
            state = built.step(&self.dfa, state, byte, meter)?;
            if state.is_match() {
                start = place + 1;
            } else if state.is_dead() {
                built.settle(meter);
                return Ok(start);
            }
        }
        built.settle(meter);
        let state = match least.checked_sub(1) {
            Some(before) => built.step(&self.dfa, state, text.as_bytes()[before], meter)?,
            None => {
                let state = self.dfa.next_eoi_state(&mut built.cache, state);
                state.map_err(|_| unusable())?
            }
        };
        Ok(if state.is_match() { least } else { start })
    }
}

impl Built {
    /// The state behind one more byte.
    #[inline(always)]
    fn step(
        &mut self,
        dfa: &DFA,
        state: LazyStateID,
        byte: u8,
        meter: Meter<'_>,
    ) -> Result<LazyStateID> {
        self.bytes += 1;
        if self.bytes >= BYTES_AT_ONCE {
            self.settle(meter);
        }
        if !state.is_tagged() {
            let next = dfa.next_state_untagged(&self.cache, state, byte);
            if !next.is_unknown() {
                return Ok(next);
            }
        }
        self.build(dfa, state, byte)
    }

    /// The state behind one more byte, where it may have to be built.
    #[inline(never)]
    fn build(&mut self, dfa: &DFA, state: LazyStateID, byte: u8) -> Result<LazyStateID> {
        if state.is_tagged() && self.known.contains(&(state, byte)) {
            let next = dfa.next_state(&mut self.cache, state, byte);
            return next.map_err(|_| unusable());
        }
        let before = (self.cache.clear_count(), self.cache.memory_usage());
        let next = dfa.next_state(&mut self.cache, state, byte);
        let next = next.map_err(|_| unusable())?;
        if self.cache.clear_count() != before.0 {
            self.known.clear();
        } else {
            if state.is_tagged() {
                self.known.insert((state, byte));
            }
            let transitions = 4 << dfa.byte_classes().stride2();
            let grown = (self.cache.memory_usage() - before.1) as u64;
            self.widest = self
                .widest
                .max(grown.saturating_sub(transitions + STATE_BYTES));
        }
        // What leads from state to state in the pattern without a byte is visited as well.
        let visited = self.widest + dfa.get_nfa().states().len() as u64 / 16;
        self.steps += 1 + visited / STATES_OF_STEP;
        Ok(next)
    }

    fn settle(&mut self, meter: Meter<'_>) {
        let steps = std::mem::take(&mut self.steps) + self.bytes.div_ceil(BYTES_OF_STEP);
        self.bytes = 0;
        meter(steps);
    }
}

/// The automata give up for no reason that patterns have; if they do, there is no answer.
fn unusable() -> Error {
    Error::new("FORX0002", "the pattern cannot be searched for")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Box<Pattern> {
        match Pattern::compile(text, false) {
            Compiled::Pattern(pattern) => pattern,
            Compiled::TooLarge | Compiled::Invalid => panic!("{text}"),
        }
    }

    fn matches(pattern: &Pattern, text: &str) -> (Vec<(usize, usize)>, u64) {
        let (mut found, mut steps, mut at) = (Vec::new(), 0, 0);
        while let Some(place) = pattern.find(text, at, &mut |more| steps += more).unwrap() {
            found.push(place);
            at = place.1;
        }
        (found, steps)
    }

    #[test]
    fn the_library_finds_the_same() {
        for (written, text) in [
            ("a+?b|a", "aaabxaab"),
            ("(?m)^x", "x\nxx\nyx"),
            ("x$", "xx\nx"),
            ("é|[à-ü]x", "aéüxà"),
            ("\\w+", "the river, the gate"),
            ("(ab|a)(c|bcd)", "abcd"),
            (".", "a\u{10ffff}b"),
        ] {
            let pattern = pattern(written);
            let expected = pattern.whole.find_iter(text);
            let expected: Vec<_> = expected.map(|one| (one.start(), one.end())).collect();
            assert_eq!(matches(&pattern, text).0, expected, "{written}");
            let is_match = pattern.is_match(text, &mut |_| ()).unwrap();
            assert_eq!(is_match, !expected.is_empty(), "{written}");
        }
    }

    #[test]
    fn text_that_is_read_again_counts_again() {
        let pattern = pattern("a[^b]*b|a");
        let steps = |count: usize| matches(&pattern, &"a".repeat(count)).1;
        steps(64);
        let (less, more) = (steps(1_000), steps(4_000));
        assert!(more > 12 * less, "{less} {more}");
        assert!(less > 1_000 * 1_000 / 2 / BYTES_OF_STEP);
    }
}
