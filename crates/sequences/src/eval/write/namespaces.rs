//! Namespace declarations of the output: as few as its names and scopes need.

use super::{Declared, Target, Writer, is_xml, markup};
use crate::names::{Names, QName, StringId};
use crate::scope::Scope;
use std::rc::Rc;

impl Writer<'_> {
    /// The namespace that a prefix stands for in the output; empty for none.
    pub(super) fn lookup(&self, prefix: StringId) -> StringId {
        let mut declared = self.namespaces.iter().rev();
        let found = declared.find(|(known, _)| *known == prefix);
        found.map_or(StringId::EMPTY, |(_, uri)| *uri)
    }

    /// Declares a prefix at the element that was started last, unless it stands for the namespace
    /// already, or names of this start tag use it for another one.
    pub fn declare(&mut self, prefix: StringId, uri: StringId, names: &Names) {
        if self.is_in_tag
            && self.lookup(prefix) != uri
            && !is_xml(prefix, names)
            && !self.is_taken(prefix)
            && (prefix.is_empty() || !uri.is_empty())
        {
            self.add_declaration(prefix, uri, names);
        }
    }

    /// Whether another meaning of a prefix would change names of this start tag, or there is a
    /// declaration of it already.
    fn is_taken(&self, prefix: StringId) -> bool {
        let outer = self.open.last().map_or(0, |open| open.declared);
        let mut own = self.namespaces[outer..].iter();
        self.used.contains(&prefix) || own.any(|(known, _)| *known == prefix)
    }

    pub(super) fn add_declaration(&mut self, prefix: StringId, uri: StringId, names: &Names) {
        self.namespaces.push((prefix, uri));
        let (prefix, uri) = (names.text(prefix), names.text(uri));
        match &mut self.target {
            Target::Bytes(bytes) | Target::Rows(bytes, _) => {
                markup::declaration(prefix, uri, bytes);
            }
            Target::Tree(tree) => {
                let (Some(open), Some(node)) = (self.open.last_mut(), tree.innermost()) else {
                    return;
                };
                let declared = (prefix.as_bytes().into(), uri.as_bytes().into());
                let scope = Rc::new(Scope {
                    outer: open.scope.take(),
                    declared: [declared].into(),
                });
                tree.set_scope(node, &scope);
                open.scope = Some(scope);
            }
        }
    }

    /// The name of an attribute with a prefix that stands for its namespace.
    pub(super) fn declare_attribute(&mut self, name: QName, names: &mut Names) -> QName {
        let uri = names.uri(name.name);
        if uri.is_empty() {
            let prefix = StringId::EMPTY;
            return QName { prefix, ..name };
        }
        if is_xml(name.prefix, names) || self.open.is_empty() {
            return name;
        }
        let is_free =
            |writer: &Self, prefix: StringId| !prefix.is_empty() && !writer.is_taken(prefix);
        if !name.prefix.is_empty() && self.lookup(name.prefix) == uri {
            return name;
        }
        if is_free(self, name.prefix) {
            self.add_declaration(name.prefix, uri, names);
            return name;
        }
        let known = self.namespaces.iter().map(|(prefix, _)| *prefix);
        let mut known = known.filter(|&prefix| !prefix.is_empty() && self.lookup(prefix) == uri);
        if let Some(prefix) = known.next() {
            return QName { prefix, ..name };
        }
        let mut number = 0;
        let prefix = loop {
            let prefix = names.string(&format!("ns{number}"));
            if is_free(self, prefix) {
                break prefix;
            }
            number += 1;
        };
        self.add_declaration(prefix, uri, names);
        QName { prefix, ..name }
    }

    /// Declares what is in force at an element that is copied.
    pub(super) fn declare_scope(&mut self, scope: &Rc<Scope>, names: &mut Names) {
        for (prefix, uri) in self.scope_declarations(scope, names).iter() {
            self.declare(*prefix, *uri, names);
        }
    }

    /// The declarations of a scope, interned; those of the last scope are remembered.
    pub(super) fn scope_declarations(&mut self, scope: &Rc<Scope>, names: &mut Names) -> Declared {
        if let Some((known, declared)) = &self.last_scope
            && Rc::ptr_eq(known, scope)
        {
            return declared.clone();
        }
        let declared = scope.declarations();
        let pairs = declared.iter();
        let pairs: Declared = pairs
            .map(|(prefix, uri)| (names.bytes(prefix), names.bytes(uri)))
            .collect();
        self.last_scope = Some((scope.clone(), pairs.clone()));
        pairs
    }
}
