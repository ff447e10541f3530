//! The names of documents as symbols, and which tests of the projections they pass.

use super::places::Test;
use crate::events::Symbol;
use crate::ids::ids;
use crate::plan::{TestsByName, admits};
use crate::tables::Table;
use crate::vocabulary::NodeKind;
use rustc_hash::FxHashMap;

/// More symbols than this are forgotten between documents.
const SYMBOLS_MAX: usize = 1 << 16;

ids! {
    /// A distinct node test of all projections.
    TestId,
    /// Names that no test can tell apart.
    ClassId,
}

/// A kind, a namespace and a local name.
type Key = (NodeKind, Box<[u8]>, Box<[u8]>);

/// A name of a document.
pub struct Name {
    pub uri: Box<[u8]>,
    pub local: Box<[u8]>,
    pub class: ClassId,
}

/// The tests of projections, and the names met so far.
#[derive(Default)]
pub struct Names {
    tests: Table<TestId, Test>,
    test_ids: FxHashMap<Test, TestId>,
    by_name: TestsByName<TestId>,
    names: Table<Symbol, Name>,
    symbols: FxHashMap<Key, Symbol>,
    classes: Table<ClassId, Box<[TestId]>>,
    class_ids: FxHashMap<Box<[TestId]>, ClassId>,
}

impl Names {
    /// The id of a test. Tests come before names.
    pub fn intern(&mut self, test: &Test) -> TestId {
        debug_assert!(self.names.is_empty());
        if let Some(&id) = self.test_ids.get(test) {
            return id;
        }
        let id = self.tests.push(test.clone());
        self.by_name.add(test.local.as_deref(), id);
        self.test_ids.insert(test.clone(), id);
        id
    }

    /// Whether a name of a class passes a test.
    #[inline]
    pub fn passes(&self, class: ClassId, test: TestId) -> bool {
        self.classes[class].binary_search(&test).is_ok()
    }

    /// The class of a kind and a name.
    pub fn class(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> ClassId {
        let tests = &self.tests;
        let passes = |test: TestId| {
            let Test {
                kind: own, uris, ..
            } = &tests[test];
            let uris = uris.as_ref().map(|uris| uris.iter().map(|uri| &**uri));
            admits((*own, uris), kind, uri)
        };
        let passed = self.by_name.passed(local, passes);
        if let Some(&id) = self.class_ids.get(&passed) {
            return id;
        }
        let id = self.classes.push(passed.clone());
        self.class_ids.insert(passed, id);
        id
    }

    /// The symbol of an element's or attribute's name.
    pub fn symbol(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol {
        let key: Key = (kind, uri.into(), local.into());
        if let Some(&symbol) = self.symbols.get(&key) {
            return symbol;
        }
        let class = self.class(kind, uri, local);
        let (_, uri, local) = key.clone();
        let symbol = self.names.push(Name { uri, local, class });
        self.symbols.insert(key, symbol);
        symbol
    }

    /// The name of a symbol.
    #[inline]
    pub fn name(&self, symbol: Symbol) -> &Name {
        &self.names[symbol]
    }

    /// Sees to it that symbols stay bounded; returns whether they are forgotten. To be called
    /// between documents.
    pub fn forget_too_many(&mut self) -> bool {
        let is_full = self.names.len() > SYMBOLS_MAX;
        if is_full {
            self.names.clear(0);
            self.symbols.clear();
        }
        is_full
    }
}
