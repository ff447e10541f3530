//! The node tests of all steps and conditions, found by the names that may pass them.

use crate::counted::Counted;
use crate::plan::{NodeKind, TestSpec, TestsByName, admits};

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
}

/// The tests that somebody holds.
#[derive(Default)]
pub struct NodeTests {
    tests: Counted<NodeTest>,
    by_name: TestsByName<TestId>,
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
            self.by_name.add(local.as_deref(), id);
        }
        id
    }

    /// Holds a test that is held already once more.
    pub fn hold_again(&mut self, test: TestId) {
        self.tests.hold_again(test);
    }

    /// Gives up a test once.
    pub fn release(&mut self, test: TestId) {
        if let Some(gone) = self.tests.release(test) {
            self.changes += 1;
            self.by_name.remove(gone.local.as_deref(), test);
        }
    }

    /// The tests that a node of this kind and name passes, in order.
    pub fn passed(&self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Box<[TestId]> {
        self.by_name.passed(local, |test| {
            self.tests.get(test).is_some_and(|test| {
                let uris = test.uris.as_ref().map(|uris| uris.iter().map(|uri| &**uri));
                admits((test.kind, uris), kind, uri)
            })
        })
    }

    /// How many tests there are.
    pub fn len(&self) -> usize {
        self.tests.len()
    }
}
