//! The place behind damage where a document goes on.

use super::Target;
use super::lexical::{Lexer, Token, local, name_end};
use crate::error::DocumentError;
use std::collections::HashMap;

/// What is known of a name: none where a start tag is broken.
type Name = Option<Box<[u8]>>;

/// Elements that began in the damaged bytes, as they look, up to so many.
const LEVELS_MAX: usize = 10_000;

/// Damage, and how far behind it was looked.
pub(super) struct Search {
    pub error: DocumentError,
    /// Where the token begins that is at fault. Nothing goes on before.
    pub fault: u64,
    /// How far was looked.
    pub at: u64,
    /// No look is worth while until so much has come.
    pub wait_until: u64,
    /// The names of the elements that are open around the damage.
    pub around: Vec<Box<[u8]>>,
    /// The damage is in a record, which is lost with its beginning.
    pub is_inside: bool,
    /// The last record stood directly in the innermost element around.
    pub is_home: bool,
    /// The token at fault looks like an end tag.
    pub is_end: bool,
    inner: Vec<Name>,
    /// The last token was broken as well: they may have been one.
    is_broken: bool,
    /// How often a name is among `inner`.
    counts: HashMap<Box<[u8]>, usize>,
    unknown: usize,
}

/// Where to go on, and how many of the elements around stay open.
pub(super) type Place = (u64, usize);

impl Search {
    pub fn new(error: DocumentError, fault: u64, from: u64, around: Vec<Box<[u8]>>) -> Search {
        Search {
            error,
            fault,
            at: from,
            wait_until: 0,
            around,
            is_inside: false,
            is_home: false,
            is_end: false,
            inner: Vec::new(),
            is_broken: false,
            counts: HashMap::new(),
            unknown: 0,
        }
    }

    /// Looks on in the bytes from `at` on.
    pub fn run(
        &mut self,
        bytes: &[u8],
        lexer: &mut Lexer,
        target: &Target,
        is_last: bool,
    ) -> Option<Place> {
        let base = self.at;
        let mut place = 0;
        while let Some(skipped) = memchr::memchr(b'<', &bytes[place..]) {
            place += skipped;
            self.at = base + place as u64;
            let token = lexer.token(&bytes[place..], self.at, is_last);
            let was_broken = self.is_broken;
            if token != Token::More {
                self.is_broken = matches!(token, Token::Broken { .. });
            }
            match token {
                Token::More => {
                    self.wait_until = self.at + 2 * (bytes.len() - place) as u64;
                    return None;
                }
                Token::Start {
                    name,
                    is_empty,
                    length,
                } => {
                    if let Some(depth) = self.depth_of_start(name, target) {
                        return Some((self.at, depth));
                    }
                    if !is_empty {
                        self.push(Some(name.into()));
                    }
                    place += length;
                }
                Token::End { name, length } => {
                    if let Some(depth) = self.depth_of_end(name) {
                        return Some((self.at, depth));
                    }
                    place += length;
                }
                Token::Other { length } => place += length,
                Token::Broken { is_tag } => {
                    let name = &bytes[place + 1..name_end(bytes, place + 1)];
                    if is_tag && !was_broken && !target.begins_like(local(name)) {
                        self.push(None);
                    }
                    place += 1;
                }
            }
        }
        self.at = base + bytes.len() as u64;
        None
    }

    /// How many elements are open around a start tag, if the document goes on with it.
    fn depth_of_start(&self, name: &[u8], target: &Target) -> Option<usize> {
        // The token at fault would fail again.
        if self.at < self.fault || (self.at == self.fault && !self.is_inside) {
            return None;
        }
        let depth = self.around.len();
        if target.has(local(name)) {
            return match target.depth {
                Some(own) => (depth + 1 >= own).then_some(own - 1),
                // A start tag at fault may be that of an element around records.
                None => {
                    let is_known = self.is_inside || self.is_home || self.inner.is_empty();
                    is_known.then_some(depth)
                }
            };
        }
        if !self.inner.is_empty() {
            return None;
        }
        // Where an end tag is broken, the next element of its name stands beside it.
        let beside = self.around.iter().rposition(|own| **own == *name);
        Some(
            beside
                .filter(|own| self.is_end && *own > 0)
                .unwrap_or(depth),
        )
    }

    /// How many elements are open around an end tag and with the one that it closes, likewise.
    fn depth_of_end(&mut self, name: &[u8]) -> Option<usize> {
        if self.counts.get(name).is_some_and(|count| *count > 0) {
            while self
                .pop()
                .is_some_and(|popped| popped.as_deref() != Some(name))
            {}
            return None;
        }
        let own = self.around.iter().rposition(|own| **own == *name);
        if let Some(own) = own
            && self.at >= self.fault
            && (self.at > self.fault || self.is_inside || own + 1 < self.around.len())
        {
            return Some(own + 1);
        }
        if self.unknown > 0 {
            while self.pop().is_some_and(|popped| popped.is_some()) {}
        }
        None
    }

    fn push(&mut self, name: Name) {
        if self.inner.len() == LEVELS_MAX {
            self.inner.clear();
            self.counts.clear();
            self.unknown = 0;
        }
        match &name {
            Some(name) => *self.counts.entry(name.clone()).or_default() += 1,
            None => self.unknown += 1,
        }
        self.inner.push(name);
    }

    fn pop(&mut self) -> Option<Name> {
        let name = self.inner.pop()?;
        match &name {
            Some(name) => {
                if let Some(count) = self.counts.get_mut(name) {
                    *count -= 1;
                }
            }
            None => self.unknown -= 1,
        }
        Some(name)
    }
}

/// The outermost elements that end before a record breaks off and may be records themselves: where
/// they start and end in the bytes, which begin with the record's start tag.
pub(super) fn whole_ones(bytes: &[u8], target: &Target) -> Vec<(usize, usize)> {
    let mut lexer = Lexer::default();
    let mut open: Vec<(&[u8], usize)> = Vec::new();
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut note = |start: usize, end: usize, name: &[u8]| {
        if start > 0 && target.has(local(name)) {
            while found.last().is_some_and(|last| last.0 > start) {
                found.pop();
            }
            found.push((start, end));
        }
    };
    let mut at = 0;
    while let Some(skipped) = memchr::memchr(b'<', &bytes[at..]) {
        at += skipped;
        match lexer.token(&bytes[at..], at as u64, true) {
            Token::Start {
                name,
                is_empty,
                length,
            } => {
                match is_empty {
                    true => note(at, at + length, name),
                    false => open.push((name, at)),
                }
                at += length;
            }
            Token::End { name, length } => {
                match open.pop() {
                    Some((own, start)) if own == name => note(start, at + length, name),
                    // Whatever is open has this in it.
                    _ => open.clear(),
                }
                at += length;
            }
            Token::Other { length } => at += length,
            Token::Broken { .. } | Token::More => at += 1,
        }
    }
    found
}
