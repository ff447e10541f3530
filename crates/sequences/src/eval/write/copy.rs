//! Copying nodes to the output.

use super::{Target, Writer, markup};
use crate::eval::construct::STEPS_OF_NODE;
use crate::eval::item::Item;
use crate::eval::run::{Flow, steps_of_bytes};
use crate::names::StringId;
use crate::scope::Scope;
use crate::tree::{Forest, Kind, NodeId, NodeRef, Tree};
use std::rc::Rc;

/// The markup of a node that stands alone: declarations in force at it are its own. An attribute is
/// its value as content.
pub fn serialize(node: NodeRef, forest: &mut Forest, meter: &mut dyn FnMut(u64)) -> Vec<u8> {
    let mut writer = Writer::new(Target::Bytes(Vec::new()));
    if forest.kind(node) == Kind::Attribute {
        meter(steps_of_bytes(forest.value(node).len()));
        writer.text(forest.value(node));
    } else {
        // A node that was parsed has no content that cannot be written.
        let _ = writer.copy(node, forest, meter);
    }
    match writer.finish() {
        Target::Bytes(bytes) => bytes,
        _ => Vec::new(),
    }
}

impl Writer<'_> {
    /// Writes an item; the meter hears of the work before it is done.
    pub fn item(&mut self, item: &Item, forest: &mut Forest, meter: &mut dyn FnMut(u64)) -> Flow {
        match item {
            Item::Atomic(value) => {
                let bytes = value.as_text().map_or(0, |text| text.len());
                meter(1 + steps_of_bytes(bytes));
                self.atomic(value);
                Ok(())
            }
            Item::Node(node) => self.copy(*node, forest, meter),
        }
    }

    /// Writes a copy of a node and of what is below it.
    pub fn copy(&mut self, node: NodeRef, forest: &mut Forest, meter: &mut dyn FnMut(u64)) -> Flow {
        if self.is_row() {
            let source = forest.tree(node).raw(node.node);
            meter(steps_of_bytes(source.map_or(0, <[u8]>::len)));
            self.origin = Some(node);
            if self.source_row(node, forest) {
                return Ok(());
            }
        }
        self.is_after_atomic = false;
        if forest.kind(node) == Kind::Document {
            self.start_document();
        }
        // The last nodes of the elements that are open.
        let mut ends: Vec<NodeId> = Vec::new();
        let mut scope: Option<Rc<Scope>> = None;
        let end = forest.tree(node).last(node.node);
        let mut at = node.node;
        while at <= end {
            while ends.last().is_some_and(|last| at > *last) {
                ends.pop();
                self.end(&forest.names);
            }
            meter(self.steps_of(forest.tree(node), at));
            at = self.copy_one(NodeRef { node: at, ..node }, forest, &mut ends, &mut scope)?;
        }
        for _ in ends {
            self.end(&forest.names);
        }
        if forest.kind(node) == Kind::Document {
            self.end(&forest.names);
        }
        Ok(())
    }

    /// Steps of work that it takes to write one node.
    fn steps_of(&self, tree: &Tree, node: NodeId) -> u64 {
        let bytes = match tree.kind(node) {
            Kind::Document => 0,
            Kind::Element => tree.raw(node).map_or(0, <[u8]>::len),
            _ => tree.value(node).len(),
        };
        let search = match tree.kind(node) {
            Kind::Attribute => self.steps_of_attributes(),
            _ => self.steps_of_scope(),
        };
        STEPS_OF_NODE + search + steps_of_bytes(bytes)
    }

    /// Writes one node, and returns the next one.
    fn copy_one(
        &mut self,
        node: NodeRef,
        forest: &mut Forest,
        ends: &mut Vec<NodeId>,
        scope: &mut Option<Rc<Scope>>,
    ) -> Flow<NodeId> {
        let Forest { names, trees, .. } = forest;
        let tree = &trees[node.tree as usize];
        let at = node.node;
        let value = tree.value(at);
        match tree.kind(at) {
            Kind::Document => {}
            Kind::Element => {
                let own = tree.scope(at);
                if let Some(source) = tree.raw(at)
                    && self.raw(source, own, names)
                {
                    return Ok(NodeId(tree.last(at).0 + 1));
                }
                self.start(tree.name(at), names);
                if let Some(own) = own
                    && !scope.as_ref().is_some_and(|known| Rc::ptr_eq(known, own))
                {
                    self.declare_scope(own, names);
                    *scope = Some(own.clone());
                }
                if let (Target::Tree(new), Some(source)) = (&mut self.target, tree.raw(at))
                    && let Some(element) = new.innermost()
                {
                    new.set_raw(element, source);
                }
                ends.push(tree.last(at));
            }
            Kind::Attribute => self.attribute(tree.name(at), value, names)?,
            Kind::Text => self.text_node(value, names),
            Kind::Comment => self.comment(value, names)?,
            Kind::Instruction => self.instruction(tree.name(at), value, names)?,
        }
        Ok(NodeId(at.0 + 1))
    }

    /// Writes the source of an element, with the declarations of its scope that the output does not
    /// have. False if a tree is built, which needs nodes.
    fn raw(
        &mut self,
        source: &[u8],
        scope: Option<&Rc<Scope>>,
        names: &mut crate::names::Names,
    ) -> bool {
        if matches!(self.target, Target::Tree(_)) {
            return false;
        }
        self.items += 1;
        self.begin_content();
        let declared = scope.map(|scope| self.scope_declarations(scope, names));
        let declared = declared.unwrap_or_default();
        let is_default = |(prefix, _): &&(StringId, StringId)| prefix.is_empty();
        let undeclared = (StringId::EMPTY, StringId::EMPTY);
        let default = declared
            .iter()
            .find(is_default)
            .is_none()
            .then_some(undeclared);
        let needed = declared.iter().chain(default.iter());
        let needed: Vec<_> = needed
            .filter(|(prefix, uri)| self.lookup(*prefix) != *uri && !super::is_xml(*prefix, names))
            .collect();
        let Some(bytes) = self.bytes() else {
            return false;
        };
        if needed.is_empty() {
            bytes.extend_from_slice(source);
            return true;
        }
        let (name_end, own) = markup::start_tag(source);
        bytes.extend_from_slice(&source[..name_end]);
        for (prefix, uri) in needed {
            let prefix = names.text(*prefix);
            if !own.contains(&prefix.as_bytes()) {
                markup::declaration(prefix, names.text(*uri), bytes);
            }
        }
        bytes.extend_from_slice(&source[name_end..]);
        true
    }
}
