//! Built-in functions of nodes.

use super::item::{Item, Sequence};
use super::run::{Flow, Focus, Run, fail};
use super::stream::sort_nodes;
use crate::atomic::{Atomic, QName};
use crate::code::{ExprId, NodeFunction as F};
use crate::names::{NameId, StringId};
use crate::tree::{Kind, NodeRef};
use std::rc::Rc;

impl<'a> Run<'a> {
    /// A call of a function that the evaluator knows itself.
    pub fn node_call(
        &mut self,
        function: F,
        arguments: &[ExprId],
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let first = arguments[0];
        Ok(match function {
            F::Count => {
                let count = self.count(first, focus)?;
                Sequence::atomic(Atomic::Integer(count as i64))
            }
            F::Boolean => Sequence::boolean(self.truth(first, focus)?),
            F::Not => Sequence::boolean(!self.truth(first, focus)?),
            F::Exists => Sequence::boolean(self.exists(first, focus)?),
            F::Empty => Sequence::boolean(!self.exists(first, focus)?),
            F::Data => self.atoms(first, focus)?.into_iter().collect(),
            F::String => Sequence::atomic(Atomic::String(self.string(first, focus)?)),
            F::Name | F::LocalName | F::NamespaceUri => {
                let node = self.optional_node(first, focus)?;
                Sequence::atomic(self.name_part(function, node))
            }
            F::NodeName => match self.optional_node(first, focus)? {
                Some(node) => self.node_name(node),
                None => Sequence::Empty,
            },
            F::Root => match self.optional_node(first, focus)? {
                Some(node) => Sequence::node(NodeRef {
                    tree: node.tree,
                    node: self.forest.tree(node).root(node.node),
                }),
                None => Sequence::Empty,
            },
            F::Nilled => match self.optional_node(first, focus)? {
                Some(node) if self.forest.kind(node) == Kind::Element => Sequence::boolean(false),
                _ => Sequence::Empty,
            },
            F::BaseUri | F::DocumentUri => {
                self.optional_node(first, focus)?;
                Sequence::Empty
            }
            F::Lang => Sequence::boolean(self.is_lang(first, arguments[1], focus)?),
            F::Id => self.elements_with_ids(first, arguments[1], focus)?,
            F::InScopePrefixes => self.in_scope_prefixes(first, focus)?,
            F::NamespaceUriForPrefix => self.uri_for_prefix(first, arguments[1], focus)?,
            F::ResolveQName => self.resolve_qname(first, arguments[1], focus)?,
            F::DeepEqual => {
                let (left, right) = (self.value(first, focus)?, self.value(arguments[1], focus)?);
                Sequence::boolean(self.deep_equal(&left, &right)?)
            }
            _ => self.sequence_call(function, arguments, focus)?,
        })
    }

    /// `string()` of one item or none.
    fn string(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Rc<str>> {
        Ok(match self.optional_item(id, focus)? {
            None => "".into(),
            Some(Item::Node(node)) => self.text(node),
            Some(Item::Atomic(value)) => value.shared_text(),
        })
    }

    fn name_part(&self, function: F, node: Option<NodeRef>) -> Atomic {
        let names = &self.forest.names;
        let name = node.map(|node| self.forest.tree(node).name(node.node));
        let name = name.unwrap_or_default();
        match function {
            F::LocalName => Atomic::String(names.text(names.local(name.name)).clone()),
            F::NamespaceUri => Atomic::AnyUri(names.text(names.uri(name.name)).clone()),
            _ if name.prefix.is_empty() => {
                Atomic::String(names.text(names.local(name.name)).clone())
            }
            _ => Atomic::string(names.lexical(name)),
        }
    }

    fn node_name(&self, node: NodeRef) -> Sequence {
        let (names, name) = (&self.forest.names, self.forest.tree(node).name(node.node));
        if name.name == NameId::NONE {
            return Sequence::Empty;
        }
        let text = |id: StringId| names.text(id).as_ref().into();
        Sequence::atomic(Atomic::QName(Rc::new(QName {
            prefix: text(name.prefix),
            uri: text(names.uri(name.name)),
            local: text(names.local(name.name)),
        })))
    }

    /// The elements whose id is a word of some strings, in the tree of a node.
    fn elements_with_ids(
        &mut self,
        words: ExprId,
        node: ExprId,
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let words = self.atoms(words, focus)?;
        let Some(node) = self.optional_node(node, focus)? else {
            return fail("XPTY0004", "`id` needs a node");
        };
        let tree = self.forest.tree(node);
        if tree.kind(tree.root(node.node)) != Kind::Document {
            return fail("FODC0001", "`id` needs a node of a document");
        }
        let mut nodes = Vec::new();
        for text in words.iter().filter_map(Atomic::as_text) {
            let found = text.split_ascii_whitespace();
            let found = found.filter_map(|word| tree.element_with_id(word.as_bytes()));
            let tree = node.tree;
            nodes.extend(found.map(|node| NodeRef { tree, node }));
        }
        sort_nodes(&mut nodes);
        Ok(nodes.into_iter().collect())
    }

    fn is_lang(&mut self, wanted: ExprId, node: ExprId, focus: Focus<'_>) -> Flow<bool> {
        let wanted = self.optional_text(wanted, focus)?.to_ascii_lowercase();
        let Some(node) = self.optional_node(node, focus)? else {
            return fail("XPTY0004", "`lang` needs a node");
        };
        let xml = self.forest.names.name(XML.as_bytes(), b"lang");
        let tree = self.forest.tree(node);
        let mut at = Some(node.node);
        while let Some(element) = at {
            let mut attributes = tree.attributes(element);
            if let Some(found) = attributes.find(|&attribute| tree.name(attribute).name == xml) {
                let value = String::from_utf8_lossy(tree.value(found)).to_ascii_lowercase();
                let rest = value.strip_prefix(&*wanted);
                return Ok(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')));
            }
            at = tree.parent(element);
        }
        Ok(false)
    }

    /// The text of a string argument, empty for none.
    pub fn optional_text(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Rc<str>> {
        match self.atom(id, focus)? {
            None => Ok("".into()),
            Some(value) => match value.as_text() {
                Some(text) => Ok(text.clone()),
                None => {
                    let type_ = value.type_of();
                    fail(
                        "XPTY0004",
                        format!("a string is expected here, not {type_}"),
                    )
                }
            },
        }
    }

    /// The element that a function asks about.
    fn element(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<NodeRef> {
        match self.optional_node(id, focus)? {
            Some(node) if self.forest.kind(node) == Kind::Element => Ok(node),
            _ => fail("XPTY0004", "an element is expected here"),
        }
    }

    fn in_scope_prefixes(&mut self, id: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        let element = self.element(id, focus)?;
        let declared = self.declarations(element);
        let prefixes = declared.into_iter().map(|(prefix, _)| prefix);
        let texts = prefixes.map(|prefix| Atomic::String(self.forest.names.text(prefix).clone()));
        Ok(texts.chain([Atomic::string("xml")]).collect())
    }

    fn uri_for_prefix(
        &mut self,
        prefix: ExprId,
        element: ExprId,
        focus: Focus<'_>,
    ) -> Flow<Sequence> {
        let prefix = self.optional_text(prefix, focus)?;
        let element = self.element(element, focus)?;
        let uri = self.uri_of_prefix(element, &prefix);
        Ok(uri.map_or(Sequence::Empty, |uri| Sequence::atomic(Atomic::AnyUri(uri))))
    }

    fn uri_of_prefix(&mut self, element: NodeRef, prefix: &str) -> Option<Rc<str>> {
        if prefix == "xml" {
            return Some(XML.into());
        }
        let declared = self.declarations(element);
        let names = &self.forest.names;
        let mut found = declared.into_iter();
        let (_, uri) = found.find(|(known, _)| **names.text(*known) == *prefix)?;
        Some(names.text(uri).clone())
    }

    fn resolve_qname(&mut self, name: ExprId, element: ExprId, focus: Focus<'_>) -> Flow<Sequence> {
        let Some(name) = self.atom(name, focus)? else {
            return Ok(Sequence::Empty);
        };
        let element = self.element(element, focus)?;
        let text = name.shared_text();
        let Some((prefix, local)) = super::qnames::split(&text) else {
            return fail("FOCA0002", format!("{text:?} is not a name"));
        };
        let uri = match self.uri_of_prefix(element, prefix) {
            Some(uri) => uri,
            None if prefix.is_empty() => "".into(),
            None => {
                let reason = format!("the prefix {prefix:?} is not declared at the element");
                return fail("FONS0004", reason);
            }
        };
        Ok(Sequence::atomic(Atomic::QName(Rc::new(QName {
            prefix: prefix.into(),
            uri: uri.as_ref().into(),
            local: local.into(),
        }))))
    }
}

/// The namespace that the prefix `xml` stands for.
pub(super) const XML: &str = "http://www.w3.org/XML/1998/namespace";
