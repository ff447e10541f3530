//! The node tests of all steps and conditions, found by the names that may pass them.

use crate::counted::Counted;
use crate::plan::{NodeKind, TestSpec, uri_matches};
use rustc_hash::FxHashMap;

/// The number of a test.
pub type TestId = u32;

/// A node test: a kind, a local name and patterns of namespaces; None admits any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeTest {
    kind: NodeKind,
    local: Option<Box<[u8]>>,
    uris: Option<Box<[Box<[u8]>]>>,
}

impl NodeTest {
    /// The test that the document node alone passes.
    pub const DOCUMENT: NodeTest = NodeTest {
        kind: NodeKind::Document,
        local: None,
        uris: None,
    };

    /// A test of a program.
    pub fn of(spec: &TestSpec, strings: &[Vec<u8>]) -> NodeTest {
        let string = |&at: &u32| Box::from(strings[at as usize].as_slice());
        NodeTest {
            kind: spec.kind,
            local: spec.local.as_ref().map(string),
            uris: spec
                .uris
                .as_ref()
                .map(|uris| uris.iter().map(string).collect()),
        }
    }

    /// Whether a node of the test's local name passes.
    fn admits(&self, kind: NodeKind, uri: &[u8]) -> bool {
        let is_kind = self.kind == NodeKind::Any || self.kind == kind;
        let uris = self.uris.as_ref();
        is_kind && uris.is_none_or(|uris| uris.iter().any(|pattern| uri_matches(pattern, uri)))
    }
}

/// The tests that somebody holds.
#[derive(Default)]
pub struct NodeTests {
    tests: Counted<NodeTest>,
    named: FxHashMap<Box<[u8]>, Vec<TestId>>,
    unnamed: Vec<TestId>,
    /// Grows whenever a test comes or goes.
    pub changes: u64,
}

impl NodeTests {
    /// Holds a test once more.
    pub fn hold(&mut self, test: NodeTest) -> TestId {
        let local = test.local.clone();
        let (id, is_new) = self.tests.hold(test);
        if is_new {
            self.changes += 1;
            match local {
                Some(local) => self.named.entry(local).or_default().push(id),
                None => self.unnamed.push(id),
            }
        }
        id
    }

    /// Holds a test that is held already once more.
    pub fn hold_again(&mut self, test: TestId) {
        self.tests.hold_again(test);
    }

    /// Gives up a test once.
    pub fn release(&mut self, test: TestId) {
        let Some(gone) = self.tests.release(test) else {
            return;
        };
        self.changes += 1;
        let Some(local) = &gone.local else {
            self.unnamed.retain(|&one| one != test);
            return;
        };
        if let Some(same) = self.named.get_mut(local) {
            same.retain(|&one| one != test);
            if same.is_empty() {
                self.named.remove(local);
            }
        }
    }

    /// The tests that a node of this kind and name passes, in order.
    pub fn passed(&self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Box<[TestId]> {
        let named = self.named.get(local).map_or(&[][..], Vec::as_slice);
        let candidates = named.iter().chain(&self.unnamed).copied();
        let passes = |&test: &TestId| {
            let test = self.tests.get(test);
            test.is_some_and(|test| test.admits(kind, uri))
        };
        let mut passed: Vec<TestId> = candidates.filter(passes).collect();
        passed.sort_unstable();
        passed.into()
    }

    /// How many tests there are.
    pub fn len(&self) -> usize {
        self.tests.len()
    }
}
