//! Node tests.

use super::node::{Kind, NodeId, Tree};
use crate::names::{NameId, Names, StringId};

/// A namespace that a test accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UriTest {
    /// This one.
    Is(StringId),
    /// Those that a pattern with `*` matches.
    Glob(Box<str>),
}

/// What the name of a node must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameTest {
    /// Anything.
    Any,
    /// This name.
    Is(NameId),
    /// A local name in any namespace.
    Local(StringId),
    /// A local name, or any, in one of some namespaces.
    Within(Option<StringId>, Box<[UriTest]>),
}

/// What a node must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// None is `node()`.
    pub kind: Option<Kind>,
    /// Its name.
    pub name: NameTest,
    /// For document nodes: what their one element must be.
    pub element: Option<Box<Test>>,
}

impl Test {
    /// Whether a node passes.
    #[inline]
    pub fn accepts(&self, tree: &Tree, node: NodeId, names: &Names) -> bool {
        if self.kind.is_some_and(|kind| tree.kind(node) != kind) {
            return false;
        }
        match self.name {
            NameTest::Any => self.element.is_none() || self.accepts_element(tree, node, names),
            NameTest::Is(name) => tree.name(node).name == name,
            _ => self.name.accepts(tree.name(node).name, names),
        }
    }

    /// Whether a document node has one element, which passes, and no text beside it.
    fn accepts_element(&self, tree: &Tree, document: NodeId, names: &Names) -> bool {
        let Some(test) = self.element.as_deref() else {
            return true;
        };
        let (mut at, mut elements) = (document.0 + 1, 0);
        while at <= tree.last(document).0 && at as usize != tree.len() {
            let child = NodeId(at);
            match tree.kind(child) {
                Kind::Element if !test.accepts(tree, child, names) => return false,
                Kind::Element => elements += 1,
                Kind::Text => return false,
                _ => {}
            }
            at = tree.last(child).0 + 1;
        }
        elements == 1
    }
}

impl NameTest {
    /// Whether a name passes.
    pub fn accepts(&self, name: NameId, names: &Names) -> bool {
        match self {
            NameTest::Any => true,
            NameTest::Is(wanted) => *wanted == name,
            NameTest::Local(local) => names.local(name) == *local,
            NameTest::Within(local, uris) => {
                let uri = names.uri(name);
                let is_local = local.is_none_or(|local| names.local(name) == local);
                is_local && uris.iter().any(|test| test.accepts(uri, names))
            }
        }
    }
}

impl UriTest {
    fn accepts(&self, uri: StringId, names: &Names) -> bool {
        match self {
            UriTest::Is(wanted) => *wanted == uri,
            UriTest::Glob(pattern) => matches(pattern.as_bytes(), names.text(uri).as_bytes()),
        }
    }
}

/// Whether a pattern in which `*` stands for any characters matches a text.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut star = None;
    while here < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, here));
            at += 1;
        } else if pattern.get(at) == Some(&text[here]) {
            (at, here) = (at + 1, here + 1);
        } else if let Some((place, taken)) = star {
            // The last star takes one more byte.
            star = Some((place, taken + 1));
            (at, here) = (place + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(matches(b"urn:*:v*", b"urn:a:b:v1"));
        assert!(matches(b"*", b""));
        assert!(!matches(b"urn:*:v", b"urn:a:v1"));
        assert!(!matches(b"", b"a"));
    }
}
