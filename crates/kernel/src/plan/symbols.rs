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
    named: FxHashMap<Box<[u8]>, Vec<TestId>>,
    unnamed: Vec<TestId>,
    pub document: Symbol,
    pub text: Symbol,
    pub comment: Symbol,
}

impl Symbols {
    pub fn new(plan: &Plan) -> Self {
        let mut symbols = Symbols {
            classes: Table::default(),
            ids: FxHashMap::default(),
            named: FxHashMap::default(),
            unnamed: Vec::new(),
            document: Symbol::default(),
            text: Symbol::default(),
            comment: Symbol::default(),
        };
        for test in plan.tests() {
            match plan.test(test).1 {
                Some(local) => symbols.named.entry(local.into()).or_default().push(test),
                None => symbols.unnamed.push(test),
            }
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
        let named = self.named.get(local).map_or(&[][..], Vec::as_slice);
        let mut tests: Vec<TestId> = named
            .iter()
            .chain(&self.unnamed)
            .copied()
            .filter(|&test| test_holds(plan, test, kind, uri))
            .collect();
        tests.sort_unstable();
        let class = SymbolClass {
            kind,
            tests: tests.into(),
        };
        if let Some(&id) = self.ids.get(&class) {
            return id;
        }
        let id = self.classes.push(class.clone());
        self.ids.insert(class, id);
        id
    }
}

fn test_holds(plan: &Plan, test: TestId, kind: NodeKind, uri: &[u8]) -> bool {
    let (wanted, _, uris) = plan.test(test);
    let kind_holds = wanted == NodeKind::Any || wanted == kind;
    kind_holds
        && uris.is_none_or(|uris| {
            uris.iter()
                .any(|&pattern| uri_matches(plan.string(pattern), uri))
        })
}

/// Whether the URI is the pattern; `*` in the pattern stands for any run of characters.
pub fn uri_matches(pattern: &[u8], uri: &[u8]) -> bool {
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
