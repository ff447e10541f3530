//! Names as numbers: one table for the expressions and the trees that they are evaluated over.
//!
//! Two names are equal exactly if their numbers are, so a node test compares numbers.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An interned string: a prefix, a local name or a namespace name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StringId(pub u32);

impl StringId {
    /// The empty string.
    pub const EMPTY: StringId = StringId(0);

    /// Whether it is the empty string.
    pub fn is_empty(self) -> bool {
        self == StringId::EMPTY
    }
}

/// An expanded name: namespace name and local name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

impl NameId {
    /// The name of nodes without one.
    pub const NONE: NameId = NameId(0);
}

/// A name as a node has it: an expanded name, and the prefix that it is written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QName {
    /// What the name is compared by.
    pub name: NameId,
    /// Empty for none.
    pub prefix: StringId,
}

/// How much of a table to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamesMark {
    strings: usize,
    names: usize,
}

/// The table of names. It grows with the distinct names of queries and of one document.
#[derive(Debug)]
pub struct Names {
    strings: Vec<Rc<str>>,
    string_ids: FxHashMap<Rc<str>, StringId>,
    names: Vec<(StringId, StringId)>,
    name_ids: FxHashMap<(StringId, StringId), NameId>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names {
            strings: Vec::new(),
            string_ids: FxHashMap::default(),
            names: Vec::new(),
            name_ids: FxHashMap::default(),
        };
        names.expanded(StringId::EMPTY, StringId::EMPTY);
        names.string("");
        names
    }
}

impl Names {
    /// The number of a string.
    pub fn string(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.string_ids.get(text) {
            return id;
        }
        let id = StringId(self.strings.len() as u32);
        let text: Rc<str> = text.into();
        self.strings.push(text.clone());
        self.string_ids.insert(text, id);
        id
    }

    /// The number of a string in UTF-8.
    pub fn bytes(&mut self, text: &[u8]) -> StringId {
        self.string(&String::from_utf8_lossy(text))
    }

    /// The number of an expanded name.
    pub fn expanded(&mut self, uri: StringId, local: StringId) -> NameId {
        let next = NameId(self.names.len() as u32);
        let id = *self.name_ids.entry((uri, local)).or_insert(next);
        if id == next {
            self.names.push((uri, local));
        }
        id
    }

    /// The number of an expanded name in UTF-8. A listener keeps the answer with its symbol for the
    /// name.
    pub fn name(&mut self, uri: &[u8], local: &[u8]) -> NameId {
        let (uri, local) = (self.bytes(uri), self.bytes(local));
        self.expanded(uri, local)
    }

    /// A name with its prefix.
    pub fn qname(&mut self, prefix: &[u8], uri: &[u8], local: &[u8]) -> QName {
        QName {
            name: self.name(uri, local),
            prefix: self.bytes(prefix),
        }
    }

    /// The string with a number.
    pub fn text(&self, id: StringId) -> &Rc<str> {
        &self.strings[id.0 as usize]
    }

    /// The namespace name.
    pub fn uri(&self, name: NameId) -> StringId {
        self.names[name.0 as usize].0
    }

    /// The local name.
    pub fn local(&self, name: NameId) -> StringId {
        self.names[name.0 as usize].1
    }

    /// The name as `{uri}local`, or `local` where it has no namespace.
    pub fn clark(&self, name: NameId) -> String {
        let (uri, local) = (self.text(self.uri(name)), self.text(self.local(name)));
        if uri.is_empty() {
            local.to_string()
        } else {
            format!("{{{uri}}}{local}")
        }
    }

    /// The name as `prefix:local`.
    pub fn lexical(&self, name: QName) -> String {
        let (prefix, local) = (self.text(name.prefix), self.text(self.local(name.name)));
        if prefix.is_empty() {
            local.to_string()
        } else {
            format!("{prefix}:{local}")
        }
    }

    /// A mark to come back to.
    pub fn mark(&self) -> NamesMark {
        NamesMark {
            strings: self.strings.len(),
            names: self.names.len(),
        }
    }

    /// Forgets the names that came after a mark: those of a document that has ended. No code that
    /// was read after the mark may be used any more.
    pub fn truncate(&mut self, mark: NamesMark) {
        for pair in self.names.drain(mark.names..) {
            self.name_ids.remove(&pair);
        }
        for text in self.strings.drain(mark.strings..) {
            self.string_ids.remove(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_numbers() {
        let mut names = Names::default();
        let first = names.qname(b"p", b"urn:a", b"x");
        let second = names.qname(b"q", b"urn:a", b"x");
        assert_eq!(first.name, second.name);
        assert_ne!(first.prefix, second.prefix);
        assert_ne!(first.name, names.name(b"", b"x"));
        assert_eq!(names.clark(first.name), "{urn:a}x");
        assert_eq!(names.lexical(second), "q:x");
    }

    #[test]
    fn truncating_forgets_later_names_only() {
        let mut names = Names::default();
        let kept = names.name(b"", b"a");
        let mark = names.mark();
        names.name(b"urn:b", b"b");
        names.truncate(mark);
        assert_eq!(names.mark(), mark);
        assert_eq!(names.name(b"", b"a"), kept);
        assert_eq!(names.name(b"urn:b", b"b"), NameId(kept.0 + 1));
    }
}
