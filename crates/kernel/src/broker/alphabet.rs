//! The names of documents as numbers, and which tests of queries they pass.

use crate::message::Test;
use crate::plan::{TestsByName, admits};
use crate::vocabulary::NodeKind;
use penstock_broker::{Store, TestId};
use rustc_hash::FxHashMap;

/// More names than this are forgotten between documents.
const NAMES_MAX: usize = 1 << 16;

type Key = (NodeKind, Box<[u8]>, Box<[u8]>);

/// A name of a document.
pub struct Name {
    /// Its namespace.
    pub uri: Box<[u8]>,
    /// Its local part.
    pub local: Box<[u8]>,
}

/// The tests of all queries, and the names met so far.
#[derive(Default)]
pub struct Alphabet {
    tests: Vec<Test>,
    test_ids: FxHashMap<Test, TestId>,
    by_name: TestsByName<TestId>,
    names: Vec<Name>,
    ids: FxHashMap<Key, u32>,
}

impl Alphabet {
    /// The number of a test. Names that were met before do not know of a new one.
    pub fn test(&mut self, test: Test) -> TestId {
        if let Some(&id) = self.test_ids.get(&test) {
            return id;
        }
        let id = TestId(self.tests.len() as u32);
        self.by_name.add(test.local.as_deref(), id);
        self.test_ids.insert(test.clone(), id);
        self.tests.push(test);
        id
    }

    /// The local name that a test asks for; None: any.
    pub fn local(&self, test: TestId) -> Option<&[u8]> {
        self.tests[test.0 as usize].local.as_deref()
    }

    /// The number of the name of an element or attribute; the store learns what it passes.
    pub fn name(&mut self, kind: NodeKind, uri: &[u8], local: &[u8], store: &mut Store) -> u32 {
        let key: Key = (kind, uri.into(), local.into());
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let tests = &self.tests;
        let passes = |test: TestId| {
            let Test {
                kind: own, uris, ..
            } = &tests[test.0 as usize];
            let uris = uris.as_ref().map(|uris| uris.iter().map(|uri| &**uri));
            admits((*own, uris), kind, uri)
        };
        let passed = self.by_name.passed(local, passes);
        let id = self.names.len() as u32;
        store.set_name(id, passed);
        let (_, uri, local) = key.clone();
        self.names.push(Name { uri, local });
        self.ids.insert(key, id);
        id
    }

    /// A name.
    pub fn of(&self, name: u32) -> &Name {
        &self.names[name as usize]
    }

    /// Whether there are more names than should be remembered.
    pub fn is_full(&self) -> bool {
        self.names.len() > NAMES_MAX
    }

    /// Forgets all names, but no test.
    pub fn forget(&mut self, store: &mut Store) {
        self.names.clear();
        self.ids.clear();
        store.forget_names();
    }
}
