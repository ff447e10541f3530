//! Which prefix stands for which namespace, now.
//!
//! Prefixes and namespace names are numbered, so that a name's symbol is known to be right by one
//! comparison of numbers. A declaration overwrites its prefix and is undone at the end tag.

use crate::events::Scope;
use std::collections::HashMap;
use std::rc::Rc;

/// The number of a namespace name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UriId(pub u32);

/// The number of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrefixId(pub u32);

impl UriId {
    /// No namespace.
    pub const NONE: UriId = UriId(0);
    /// The namespace of `xml:`.
    pub const XML: UriId = UriId(1);
    /// The namespace of declarations.
    pub const XMLNS: UriId = UriId(2);
    /// A prefix that is not declared.
    pub const UNBOUND: UriId = UriId(u32::MAX);
}

impl PrefixId {
    /// The empty prefix.
    pub const DEFAULT: PrefixId = PrefixId(0);
    /// `xml`.
    pub const XML: PrefixId = PrefixId(1);
    /// `xmlns`.
    pub const XMLNS: PrefixId = PrefixId(2);
}

const XML_URI: &[u8] = b"http://www.w3.org/XML/1998/namespace";
const XMLNS_URI: &[u8] = b"http://www.w3.org/2000/xmlns/";
const BYTES_MAX: usize = 8 << 20;

struct Level {
    scope: Rc<Scope>,
    undo_from: usize,
}

/// The state of all declarations.
pub(super) struct Namespaces {
    uris: Vec<Box<[u8]>>,
    uri_ids: HashMap<Box<[u8]>, UriId>,
    prefixes: Vec<(Box<[u8]>, UriId)>,
    prefix_ids: HashMap<Box<[u8]>, PrefixId>,
    undo: Vec<(PrefixId, UriId)>,
    /// The outermost level is the empty scope around the root element.
    levels: Vec<Level>,
    /// The last scope made and what it declared: the next record often declares the same.
    recent: Option<Rc<Scope>>,
    recent_declared: Vec<(PrefixId, UriId)>,
    bytes_total: usize,
    bytes_max: usize,
}

impl Namespaces {
    pub fn new() -> Self {
        let mut spaces = Namespaces {
            uris: Vec::new(),
            uri_ids: HashMap::new(),
            prefixes: Vec::new(),
            prefix_ids: HashMap::new(),
            undo: Vec::new(),
            levels: vec![Level {
                scope: Rc::default(),
                undo_from: 0,
            }],
            recent: None,
            recent_declared: Vec::new(),
            bytes_total: 0,
            bytes_max: BYTES_MAX,
        };
        spaces.seat_reserved();
        spaces
    }

    fn seat_reserved(&mut self) {
        for uri in [b"".as_slice(), XML_URI, XMLNS_URI] {
            self.uri(uri);
        }
        for (prefix, uri) in [
            (b"".as_slice(), UriId::NONE),
            (b"xml", UriId::XML),
            (b"xmlns", UriId::UNBOUND),
        ] {
            let id = self.prefix(prefix);
            self.prefixes[id.0 as usize].1 = uri;
        }
    }

    /// Back to the start of a document.
    pub fn reset(&mut self) {
        self.leave_to(0);
    }

    /// Leaves elements with declarations until so many are open.
    pub fn leave_to(&mut self, scopes: usize) {
        while self.levels.len() > scopes + 1 {
            self.leave();
        }
    }

    /// The number of a namespace name.
    pub fn uri(&mut self, uri: &[u8]) -> UriId {
        if let Some(id) = self.uri_ids.get(uri) {
            return *id;
        }
        let id = UriId(self.uris.len() as u32);
        self.uris.push(uri.into());
        self.uri_ids.insert(uri.into(), id);
        self.bytes_total += uri.len() + 64;
        id
    }

    /// The number of a prefix.
    pub fn prefix(&mut self, prefix: &[u8]) -> PrefixId {
        if let Some(id) = self.prefix_ids.get(prefix) {
            return *id;
        }
        let id = PrefixId(self.prefixes.len() as u32);
        self.prefixes.push((prefix.into(), UriId::UNBOUND));
        self.prefix_ids.insert(prefix.into(), id);
        self.bytes_total += prefix.len() + 64;
        id
    }

    /// The namespace a prefix stands for.
    #[inline(always)]
    pub fn resolve(&self, prefix: PrefixId) -> UriId {
        self.prefixes[prefix.0 as usize].1
    }

    /// The namespace name behind a number.
    #[inline(always)]
    pub fn uri_bytes(&self, uri: UriId) -> &[u8] {
        &self.uris[uri.0 as usize]
    }

    /// The prefix behind a number.
    pub fn prefix_bytes(&self, prefix: PrefixId) -> &[u8] {
        &self.prefixes[prefix.0 as usize].0
    }

    /// The innermost scope.
    #[inline(always)]
    pub fn scope(&self) -> &Rc<Scope> {
        &self.levels[self.levels.len() - 1].scope
    }

    /// Enters an element with declarations.
    pub fn enter(&mut self, declared: &[(PrefixId, UriId)]) {
        let undo_from = self.undo.len();
        for &(prefix, uri) in declared {
            let slot = &mut self.prefixes[prefix.0 as usize].1;
            self.undo.push((prefix, std::mem::replace(slot, uri)));
        }
        let scope = match self.recent.take() {
            Some(scope) if self.is_recent(&scope, declared) => scope,
            _ => self.make_scope(declared),
        };
        self.recent = Some(scope.clone());
        self.levels.push(Level { scope, undo_from });
    }

    fn is_recent(&self, scope: &Scope, declared: &[(PrefixId, UriId)]) -> bool {
        let is_here = scope
            .outer
            .as_ref()
            .is_some_and(|outer| Rc::ptr_eq(outer, self.scope()));
        is_here && self.recent_declared == declared
    }

    fn make_scope(&mut self, declared: &[(PrefixId, UriId)]) -> Rc<Scope> {
        self.recent_declared.clear();
        self.recent_declared.extend_from_slice(declared);
        let bytes = |&(prefix, uri): &(PrefixId, UriId)| {
            (self.prefix_bytes(prefix).into(), self.uri_bytes(uri).into())
        };
        let declared = declared.iter().map(bytes).collect();
        Rc::new(Scope {
            outer: Some(self.scope().clone()),
            declared,
        })
    }

    /// Leaves the innermost element that declared any.
    pub fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            for (prefix, uri) in self.undo.drain(level.undo_from..).rev() {
                self.prefixes[prefix.0 as usize].1 = uri;
            }
        }
    }

    /// Have the tables outgrown their bound?
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.bytes_total > self.bytes_max
    }

    /// Forgets prefixes and namespaces that are not in use; all numbers change.
    pub fn compact(&mut self) {
        let uris = std::mem::take(&mut self.uris);
        let prefixes = std::mem::take(&mut self.prefixes);
        let undo = std::mem::take(&mut self.undo);
        self.recent = None;
        self.uri_ids.clear();
        self.prefix_ids.clear();
        self.bytes_total = 0;
        self.seat_reserved();
        let mut renumber = |uri: UriId| match uri {
            UriId::UNBOUND => uri,
            _ => self.uri(&uris[uri.0 as usize]),
        };
        let kept: Vec<UriId> = prefixes.iter().map(|(_, uri)| renumber(*uri)).collect();
        let old: Vec<UriId> = undo.iter().map(|(_, uri)| renumber(*uri)).collect();
        for ((prefix, _), uri) in prefixes.iter().zip(kept) {
            if uri != UriId::UNBOUND {
                let id = self.prefix(prefix);
                self.prefixes[id.0 as usize].1 = uri;
            }
        }
        for ((prefix, _), uri) in undo.iter().zip(old) {
            let id = self.prefix(&prefixes[prefix.0 as usize].0);
            self.undo.push((id, uri));
        }
        self.bytes_max = BYTES_MAX.max(self.bytes_total * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_end_with_their_element() {
        let mut spaces = Namespaces::new();
        let (p, u, v) = (spaces.prefix(b"p"), spaces.uri(b"u"), spaces.uri(b"v"));
        assert_eq!(spaces.resolve(p), UriId::UNBOUND);
        spaces.enter(&[(p, u)]);
        spaces.enter(&[(p, v), (PrefixId::DEFAULT, u)]);
        assert_eq!(
            (spaces.resolve(p), spaces.resolve(PrefixId::DEFAULT)),
            (v, u)
        );
        assert_eq!(*spaces.scope().declared[0].1, *b"v");
        spaces.leave();
        assert_eq!(
            (spaces.resolve(p), spaces.resolve(PrefixId::DEFAULT)),
            (u, UriId::NONE)
        );
        spaces.reset();
        assert_eq!(spaces.resolve(p), UriId::UNBOUND);
        assert_eq!(spaces.resolve(PrefixId::XML), UriId::XML);
    }

    #[test]
    fn records_that_declare_the_same_share_a_scope() {
        let mut spaces = Namespaces::new();
        let (p, u, v) = (spaces.prefix(b"p"), spaces.uri(b"u"), spaces.uri(b"v"));
        spaces.enter(&[(p, u)]);
        let first = spaces.scope().clone();
        spaces.leave();
        spaces.enter(&[(p, u)]);
        assert!(Rc::ptr_eq(&first, spaces.scope()));
        spaces.enter(&[(p, u)]);
        assert!(!Rc::ptr_eq(&first, spaces.scope()));
        spaces.reset();
        spaces.enter(&[(p, v)]);
        assert_eq!(*spaces.scope().declared[0].1, *b"v");
    }

    #[test]
    fn compaction_keeps_what_is_in_use() {
        let mut spaces = Namespaces::new();
        for i in 0..100 {
            spaces.prefix(format!("p{i}").as_bytes());
            spaces.uri(format!("u{i}").as_bytes());
        }
        let (p, q) = (spaces.prefix(b"p"), spaces.prefix(b"q"));
        let (u, v) = (spaces.uri(b"u"), spaces.uri(b"v"));
        spaces.enter(&[(p, u)]);
        spaces.enter(&[(p, v), (q, u)]);
        spaces.compact();
        let (p, q) = (spaces.prefix(b"p"), spaces.prefix(b"q"));
        assert_eq!(spaces.uri_bytes(spaces.resolve(p)), b"v");
        assert_eq!(spaces.uri_bytes(spaces.resolve(q)), b"u");
        spaces.leave();
        assert_eq!(spaces.uri_bytes(spaces.resolve(p)), b"u");
        assert_eq!(spaces.resolve(q), UriId::UNBOUND);
    }
}
