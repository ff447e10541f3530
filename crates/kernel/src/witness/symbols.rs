//! The names of documents as numbers, and which tests they pass.
//!
//! A symbol does not depend on the tests, so that tests may come and go while documents do. What a
//! name passes is looked up when a document first asks for it after such a change.

use super::nodetests::{NodeTests, TestId};
use crate::document::Alphabet;
use crate::events::Symbol;
use crate::plan::NodeKind;
use rustc_hash::FxHashMap;

/// More symbols than this are forgotten between documents.
const SYMBOLS_MAX: usize = 1 << 16;

struct Name {
    kind: NodeKind,
    uri: Box<[u8]>,
    local: Box<[u8]>,
    passed: Box<[TestId]>,
    /// The changes of the tests that `passed` knows of.
    changes: u64,
}

/// The symbols met so far.
pub struct Symbols {
    symbols: Vec<Name>,
    /// By namespace and local name, one after the other, with the length of the first.
    ids: FxHashMap<(NodeKind, u32, Box<[u8]>), u32>,
    key: Vec<u8>,
}

impl Default for Symbols {
    fn default() -> Self {
        let mut symbols = Symbols {
            symbols: Vec::new(),
            ids: FxHashMap::default(),
            key: Vec::new(),
        };
        symbols.begin();
        symbols
    }
}

impl Symbols {
    /// Sees to it that symbols stay bounded; returns whether they are forgotten. To be called
    /// between documents.
    pub fn forget_too_many(&mut self) -> bool {
        let is_full = self.symbols.len() > SYMBOLS_MAX;
        if is_full {
            self.begin();
        }
        is_full
    }

    fn begin(&mut self) {
        self.symbols.clear();
        self.ids.clear();
        // Those who keep the symbols of nodes without a name find them again.
        for kind in [NodeKind::Document, NodeKind::Text, NodeKind::Comment] {
            self.of(kind, b"", b"");
        }
    }

    /// The symbol of a kind and a name.
    pub fn of(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> u32 {
        self.key.clear();
        self.key.extend_from_slice(uri);
        self.key.extend_from_slice(local);
        let key = (kind, uri.len() as u32, self.key.as_slice().into());
        let next = self.symbols.len() as u32;
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.symbols.push(Name {
                kind,
                uri: uri.into(),
                local: local.into(),
                passed: Box::new([]),
                changes: u64::MAX,
            });
        }
        id
    }

    /// Brings what a symbol passes up to date.
    pub fn refresh(&mut self, symbol: u32, tests: &NodeTests) {
        let symbol = &mut self.symbols[symbol as usize];
        if symbol.changes != tests.changes {
            symbol.changes = tests.changes;
            symbol.passed = tests.passed(symbol.kind, &symbol.uri, &symbol.local);
        }
    }

    /// The tests that a symbol passes, in order; it was brought up to date.
    #[inline]
    pub fn passed(&self, symbol: u32) -> &[TestId] {
        &self.symbols[symbol as usize].passed
    }
}

impl Alphabet for Symbols {
    fn symbol(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol {
        Symbol(self.of(kind, uri, local))
    }

    /// Which tests there will be is known when the document has ended.
    #[inline]
    fn is_asked(&self, _: Symbol) -> bool {
        true
    }
}
