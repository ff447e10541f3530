//! The trees that an evaluation sees.

use super::node::{Kind, NodeId, Tree};
use crate::names::Names;

/// A node of a forest. Nodes compare by document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRef {
    /// The tree.
    pub tree: u32,
    /// The node in it.
    pub node: NodeId,
}

impl NodeRef {
    /// A node of the first tree: the document.
    pub fn of_document(node: NodeId) -> NodeRef {
        NodeRef { tree: 0, node }
    }
}

/// How many trees to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForestMark(usize);

/// The trees of documents, those that constructors built, and the names of all.
///
/// The first tree is that of the current document; it is there from the beginning.
#[derive(Debug)]
pub struct Forest {
    /// The names of queries and documents.
    pub names: Names,
    pub(crate) trees: Vec<Tree>,
    /// How many of the trees are documents.
    pub(crate) documents: usize,
}

impl Default for Forest {
    fn default() -> Self {
        Forest::new(Names::default())
    }
}

impl Forest {
    /// A forest with an empty document.
    pub fn new(names: Names) -> Forest {
        Forest {
            names,
            trees: vec![Tree::default()],
            documents: 1,
        }
    }

    /// The tree of the current document.
    pub fn document(&mut self) -> &mut Tree {
        &mut self.trees[0]
    }

    /// Adds a document that is given with the query, and returns its number. All trees that are no
    /// documents are dropped.
    pub fn add_document(&mut self, document: Tree) -> usize {
        self.trees.truncate(self.documents);
        self.trees.push(document);
        self.documents += 1;
        self.documents - 1
    }

    /// Empties the current document and drops the trees that are no documents; names stay.
    pub fn clear(&mut self) {
        self.trees.truncate(self.documents);
        self.trees[0].clear();
    }

    /// The tree of a node.
    #[inline]
    pub fn tree(&self, node: NodeRef) -> &Tree {
        &self.trees[node.tree as usize]
    }

    /// What a node is.
    #[inline]
    pub fn kind(&self, node: NodeRef) -> Kind {
        self.tree(node).kind(node.node)
    }

    /// The string value of a node.
    #[inline]
    pub fn value(&self, node: NodeRef) -> &[u8] {
        self.tree(node).value(node.node)
    }

    /// Adds a tree that is complete.
    pub fn push(&mut self, tree: Tree) -> NodeRef {
        self.trees.push(tree);
        NodeRef {
            tree: self.trees.len() as u32 - 1,
            node: NodeId::ROOT,
        }
    }

    /// A mark to come back to.
    pub fn mark(&self) -> ForestMark {
        ForestMark(self.trees.len())
    }

    /// Drops the trees that were built after a mark. No node of theirs may be used any more.
    pub fn truncate(&mut self, mark: ForestMark) {
        self.trees.truncate(mark.0.max(self.documents));
    }
}
