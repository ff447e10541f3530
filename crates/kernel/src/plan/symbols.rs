//! Names become symbols: classes of nodes that no node test of the plan can tell apart.

use super::ids::TestId;
use super::{NodeKind, Plan};
use crate::events::Symbol;
use crate::tables::Table;
use rustc_hash::FxHashMap;

/// A class of nodes: their kind and the tests they pass.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymbolClass {
    pub kind: NodeKind,
    /// Sorted ids of the tests that hold.
    pub tests: Box<[TestId]>,
}

/// The symbols met so far. Their number is bounded by the plan, not by the documents.
pub struct Symbols {
    classes: Table<Symbol, SymbolClass>,
    ids: FxHashMap<SymbolClass, Symbol>,
    tests: TestsByName<TestId>,
    pub document: Symbol,
    pub text: Symbol,
    pub comment: Symbol,
}

impl Symbols {
    pub fn new(plan: &Plan) -> Self {
        let mut symbols = Symbols {
            classes: Table::default(),
            ids: FxHashMap::default(),
            tests: TestsByName::default(),
            document: Symbol::default(),
            text: Symbol::default(),
            comment: Symbol::default(),
        };
        for test in plan.tests() {
            symbols.tests.add(plan.test(test).1, test);
        }
        symbols.document = symbols.resolve(plan, NodeKind::Document, b"", b"");
        symbols.text = symbols.resolve(plan, NodeKind::Text, b"", b"");
        symbols.comment = symbols.resolve(plan, NodeKind::Comment, b"", b"");
        symbols
    }

    pub fn class(&self, symbol: Symbol) -> &SymbolClass {
        &self.classes[symbol]
    }

    #[inline]
    pub fn passes(&self, symbol: Symbol, test: TestId) -> bool {
        self.classes[symbol].tests.binary_search(&test).is_ok()
    }

    /// The symbol of a node with this kind and name.
    pub fn resolve(&mut self, plan: &Plan, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol {
        let passes = |test: TestId| {
            let (wanted, _, uris) = plan.test(test);
            let uris = uris.map(|uris| uris.iter().map(|&uri| plan.string(uri)));
            admits((wanted, uris), kind, uri)
        };
        let tests = self.tests.passed(local, passes);
        let class = SymbolClass { kind, tests };
        if let Some(&id) = self.ids.get(&class) {
            return id;
        }
        let id = self.classes.push(class.clone());
        self.ids.insert(class, id);
        id
    }
}

/// Node tests by the local name that they ask for; some ask for none.
#[derive(Debug, Default)]
pub struct TestsByName<T> {
    named: FxHashMap<Box<[u8]>, Vec<T>>,
    unnamed: Vec<T>,
}

impl<T: Copy + Ord> TestsByName<T> {
    pub fn add(&mut self, local: Option<&[u8]>, test: T) {
        match local {
            Some(local) => self.named.entry(local.into()).or_default().push(test),
            None => self.unnamed.push(test),
        }
    }

    pub fn remove(&mut self, local: Option<&[u8]>, test: T) {
        let Some(local) = local else {
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

    /// The tests that a node of a local name passes if they admit it otherwise, in order.
    pub fn passed(&self, local: &[u8], admits: impl Fn(T) -> bool) -> Box<[T]> {
        let named = self.named.get(local).map_or(&[][..], Vec::as_slice);
        let all = named.iter().chain(&self.unnamed).copied();
        let mut passed: Vec<T> = all.filter(|&test| admits(test)).collect();
        passed.sort_unstable();
        passed.into()
    }
}

/// Whether a test of a kind and of patterns for namespaces, or of any, admits a node of its name.
pub fn admits<'a>(
    (wanted, patterns): (NodeKind, Option<impl IntoIterator<Item = &'a [u8]>>),
    kind: NodeKind,
    uri: &[u8],
) -> bool {
    let is_in = |pattern: &[u8]| uri_matches(pattern, uri);
    (wanted == NodeKind::Any || wanted == kind)
        && patterns.is_none_or(|patterns| patterns.into_iter().any(is_in))
}

/// Whether the URI is the pattern; `*` in the pattern stands for any run of characters.
fn uri_matches(pattern: &[u8], uri: &[u8]) -> bool {
    let Some(star) = memchr::memchr(b'*', pattern) else {
        return pattern == uri;
    };
    let (head, mut rest) = (&pattern[..star], &pattern[star + 1..]);
    let Some(mut uri) = uri.strip_prefix(head) else {
        return false;
    };
    // Pieces between stars match leftmost; the last one has to end the URI.
    while let Some(star) = memchr::memchr(b'*', rest) {
        let Some(at) = memchr::memmem::find(uri, &rest[..star]) else {
            return false;
        };
        uri = &uri[at + star..];
        rest = &rest[star + 1..];
    }
    uri.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::uri_matches;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(uri_matches(b"urn:pacs.*", b"urn:pacs.008.001.08"));
        assert!(uri_matches(b"urn:*.008.*", b"urn:pacs.008.001.08"));
        assert!(!uri_matches(b"urn:*.009.*", b"urn:pacs.008.001.08"));
        assert!(!uri_matches(b"urn:pacs", b"urn:pacs.008"));
        assert!(!uri_matches(b"a*a", b"a"));
    }
}
