//! Rows that are kept to be written later, when the nodes that they come from are gone.

use super::item::{Item, Sequence};
use super::write::Row;
use crate::atomic::Atomic;
use crate::tree::{Forest, NodeId, NodeRef, Tree};

/// Items that were written before. They can be written again, and counted; there is nothing to
/// navigate in them.
pub struct Collected {
    tree: Tree,
    items: Vec<Kept>,
}

enum Kept {
    Node(NodeId),
    Atomic(Atomic),
}

impl Default for Collected {
    fn default() -> Self {
        Collected {
            tree: Tree::without_root(),
            items: Vec::new(),
        }
    }
}

impl Collected {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many bytes their values have.
    pub fn value_bytes(&self) -> usize {
        self.tree.value_bytes()
    }

    /// Adds the item of a row.
    pub fn push(&mut self, row: &Row<'_>) {
        let span = row.span.unwrap_or_default();
        let tree = &mut self.tree;
        let node = match row.kind {
            "attribute" => tree.attribute(row.qname, row.value, span),
            "comment" => tree.comment(row.value, span),
            "processing-instruction" => tree.instruction(row.qname, row.value, span),
            "text" => {
                tree.end_text();
                tree.text(row.value, span);
                NodeId(tree.len() as u32 - 1)
            }
            // A document is written as its source is: its children are what counts.
            "element" | "document" | "message" => {
                let node = tree.start(row.qname, row.scope, span.0);
                tree.set_raw(node, row.value);
                tree.end(span.1);
                node
            }
            _ => {
                let atomic = row.atomic.cloned();
                self.items.extend(atomic.map(Kept::Atomic));
                return;
            }
        };
        self.items.push(Kept::Node(node));
    }

    /// The items, whose nodes become a tree of the forest.
    pub fn finish(self, forest: &mut Forest) -> Sequence {
        let tree = forest.push(self.tree).tree;
        let items = self.items.into_iter().map(|item| match item {
            Kept::Node(node) => Item::Node(NodeRef { tree, node }),
            Kept::Atomic(value) => Item::Atomic(value),
        });
        items.collect::<Vec<Item>>().into()
    }
}
