//! Walking along an axis.

use super::node::{Kind, NodeId, Tree};

/// An axis. The namespace axis is not part of XQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The node itself.
    SelfNode,
    /// Its children.
    Child,
    /// What is below it.
    Descendant,
    /// It, and what is below it.
    DescendantOrSelf,
    /// Its attributes.
    Attribute,
    /// Its parent.
    Parent,
    /// What is above it.
    Ancestor,
    /// It, and what is above it.
    AncestorOrSelf,
    /// The children of its parent behind it.
    FollowingSibling,
    /// The children of its parent before it.
    PrecedingSibling,
    /// What begins behind its end.
    Following,
    /// What ends before its beginning.
    Preceding,
}

impl Axis {
    /// Whether nodes come in the reverse of document order.
    pub fn is_reverse(self) -> bool {
        use Axis::{Ancestor, AncestorOrSelf, Parent, Preceding, PrecedingSibling};
        matches!(
            self,
            Parent | Ancestor | AncestorOrSelf | PrecedingSibling | Preceding
        )
    }
}

/// A walk along an axis from one node. It does not borrow the tree, which must not be truncated
/// before the place that it has reached.
#[derive(Clone, Debug)]
pub struct Walk {
    axis: Axis,
    /// The next candidate; `NodeId::NONE` behind the last one.
    at: NodeId,
    /// The last candidate of a walk forward, the parent of a walk to siblings before, or the next
    /// ancestor to leave out.
    bound: NodeId,
}

impl Walk {
    /// A walk that begins at a node.
    pub fn new(axis: Axis, tree: &Tree, node: NodeId) -> Walk {
        let none = NodeId::NONE;
        let parent = tree.parent(node).unwrap_or(none);
        let (at, bound) = match axis {
            Axis::SelfNode | Axis::AncestorOrSelf => (node, none),
            Axis::Child | Axis::Descendant | Axis::Attribute => {
                (NodeId(node.0 + 1), tree.last(node))
            }
            Axis::DescendantOrSelf => (node, tree.last(node)),
            Axis::Parent | Axis::Ancestor => (parent, none),
            Axis::FollowingSibling | Axis::PrecedingSibling
                if parent == none || tree.kind(node) == Kind::Attribute =>
            {
                (none, none)
            }
            Axis::FollowingSibling => (NodeId(tree.last(node).0 + 1), tree.last(parent)),
            Axis::PrecedingSibling => (before(node), parent),
            Axis::Following => (NodeId(tree.last(node).0 + 1), tree.last(tree.root(node))),
            Axis::Preceding if parent == none => (none, none),
            Axis::Preceding => (before(node), parent),
        };
        let mut walk = Walk { axis, at, bound };
        if axis == Axis::Child {
            while walk.is_within() && tree.is_attribute_of(walk.at, node) {
                walk.at.0 += 1;
            }
        }
        walk
    }

    /// The next node along the axis.
    #[inline]
    pub fn next(&mut self, tree: &Tree) -> Option<NodeId> {
        match self.axis {
            Axis::Child | Axis::FollowingSibling => {
                let node = self.is_within().then_some(self.at)?;
                self.at = NodeId(tree.last(node).0 + 1);
                Some(node)
            }
            Axis::Descendant | Axis::Following => self.next_below(tree),
            Axis::DescendantOrSelf => {
                let node = self.is_within().then_some(self.at)?;
                self.axis = Axis::Descendant;
                self.at.0 += 1;
                Some(node)
            }
            Axis::Attribute => {
                let node = self.is_within().then_some(self.at)?;
                self.at.0 += 1;
                (tree.kind(node) == Kind::Attribute).then_some(node)
            }
            Axis::SelfNode | Axis::Parent => self.take(NodeId::NONE),
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let next = self.taken()?;
                self.take(tree.parent(next).unwrap_or(NodeId::NONE))
            }
            Axis::PrecedingSibling => self.next_sibling_before(tree),
            Axis::Preceding => self.next_before(tree),
        }
    }

    #[inline]
    fn is_within(&self) -> bool {
        self.at <= self.bound && self.at != NodeId::NONE
    }

    #[inline]
    fn next_below(&mut self, tree: &Tree) -> Option<NodeId> {
        while self.is_within() {
            let node = self.at;
            self.at.0 += 1;
            if tree.kind(node) != Kind::Attribute {
                return Some(node);
            }
        }
        None
    }

    fn next_sibling_before(&mut self, tree: &Tree) -> Option<NodeId> {
        let mut node = self.taken()?;
        if node == self.bound || tree.kind(node) == Kind::Attribute && self.is_parent(tree, node) {
            return None;
        }
        while !self.is_parent(tree, node) {
            node = tree.parent(node)?;
        }
        self.at = before(node);
        Some(node)
    }

    fn is_parent(&self, tree: &Tree, node: NodeId) -> bool {
        tree.parent(node) == Some(self.bound)
    }

    fn next_before(&mut self, tree: &Tree) -> Option<NodeId> {
        loop {
            let node = self.taken()?;
            self.at = before(node);
            if node == self.bound {
                // Nothing before a root belongs to its tree.
                self.bound = tree.parent(node)?;
            } else if tree.kind(node) != Kind::Attribute {
                return Some(node);
            }
        }
    }

    fn taken(&self) -> Option<NodeId> {
        (self.at != NodeId::NONE).then_some(self.at)
    }

    fn take(&mut self, next: NodeId) -> Option<NodeId> {
        let node = self.taken()?;
        self.at = next;
        Some(node)
    }
}

/// The node before a node, whatever it is.
fn before(node: NodeId) -> NodeId {
    node.0.checked_sub(1).map_or(NodeId::NONE, NodeId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    /// `<a x="" y=""><b>t<c z=""/>u</b><!--v--><d><e/></d></a>` behind a document node:
    /// 0 document, 1 a, 2 @x, 3 @y, 4 b, 5 t, 6 c, 7 @z, 8 u, 9 comment, 10 d, 11 e.
    fn tree() -> Tree {
        let (mut names, mut tree) = (Names::default(), Tree::default());
        let mut name = |local: &str| names.qname(b"", b"", local.as_bytes());
        tree.start(name("a"), None, 0);
        tree.attribute(name("x"), b"1", (0, 0));
        tree.attribute(name("y"), b"2", (0, 0));
        tree.start(name("b"), None, 0);
        tree.text(b"t", (0, 0));
        tree.start(name("c"), None, 0);
        tree.attribute(name("z"), b"3", (0, 0));
        tree.end(0);
        tree.text(b"u", (0, 0));
        tree.end(0);
        tree.comment(b"v", (0, 0));
        tree.start(name("d"), None, 0);
        tree.start(name("e"), None, 0);
        for _ in 0..4 {
            tree.end(0);
        }
        tree
    }

    fn walked(axis: Axis, from: u32) -> Vec<u32> {
        let tree = tree();
        let mut walk = Walk::new(axis, &tree, NodeId(from));
        std::iter::from_fn(|| walk.next(&tree).map(|node| node.0)).collect()
    }

    #[test]
    fn every_axis_reaches_its_nodes_in_its_order() {
        for (axis, from, expected) in [
            (Axis::SelfNode, 4, vec![4]),
            (Axis::Child, 0, vec![1]),
            (Axis::Child, 1, vec![4, 9, 10]),
            (Axis::Child, 6, vec![]),
            (Axis::Child, 2, vec![]),
            (Axis::Descendant, 1, vec![4, 5, 6, 8, 9, 10, 11]),
            (Axis::DescendantOrSelf, 4, vec![4, 5, 6, 8]),
            (Axis::DescendantOrSelf, 2, vec![2]),
            (Axis::Attribute, 1, vec![2, 3]),
            (Axis::Attribute, 4, vec![]),
            (Axis::Attribute, 2, vec![]),
            (Axis::Parent, 3, vec![1]),
            (Axis::Parent, 0, vec![]),
            (Axis::Ancestor, 7, vec![6, 4, 1, 0]),
            (Axis::AncestorOrSelf, 11, vec![11, 10, 1, 0]),
            (Axis::FollowingSibling, 4, vec![9, 10]),
            (Axis::FollowingSibling, 2, vec![]),
            (Axis::FollowingSibling, 0, vec![]),
            (Axis::PrecedingSibling, 10, vec![9, 4]),
            (Axis::PrecedingSibling, 8, vec![6, 5]),
            (Axis::PrecedingSibling, 4, vec![]),
            (Axis::PrecedingSibling, 3, vec![]),
            (Axis::Following, 6, vec![8, 9, 10, 11]),
            (Axis::Following, 2, vec![4, 5, 6, 8, 9, 10, 11]),
            (Axis::Following, 11, vec![]),
            (Axis::Preceding, 11, vec![9, 8, 6, 5, 4]),
            (Axis::Preceding, 7, vec![5]),
            (Axis::Preceding, 0, vec![]),
        ] {
            assert_eq!(walked(axis, from), expected, "{axis:?} from {from}");
        }
    }

    #[test]
    fn a_walk_stays_below_its_root() {
        let (mut names, mut tree) = (Names::default(), Tree::without_root());
        for _ in 0..3 {
            tree.start(names.qname(b"", b"", b"a"), None, 0);
            tree.start(names.qname(b"", b"", b"b"), None, 0);
            tree.end(0);
            tree.end(0);
        }
        for (axis, from) in [
            (Axis::Following, 3),
            (Axis::Preceding, 3),
            (Axis::Preceding, 2),
        ] {
            assert_eq!(Walk::new(axis, &tree, NodeId(from)).next(&tree), None);
        }
    }

    #[test]
    fn an_open_element_reaches_to_the_last_node() {
        let (mut names, mut tree) = (Names::default(), Tree::default());
        let root = tree.start(names.qname(b"", b"", b"a"), None, 0);
        tree.text(b"x", (0, 0));
        let mut walk = Walk::new(Axis::Child, &tree, root);
        assert_eq!(walk.next(&tree), Some(NodeId(2)));
        assert_eq!(walk.next(&tree), None);
        assert_eq!(tree.value(root), b"x");
    }

    #[test]
    fn truncating_drops_nodes_and_values_and_closes_elements() {
        let (mut names, mut tree) = (Names::default(), Tree::default());
        let root = tree.start(names.qname(b"", b"", b"a"), None, 0);
        let mark = tree.mark();
        let inner = tree.start(names.qname(b"", b"", b"b"), None, 3);
        tree.text(b"x", (0, 0));
        tree.set_raw(inner, b"<b>x</b>");
        assert_eq!(tree.raw(inner), Some(&b"<b>x</b>"[..]));
        tree.truncate(mark);
        assert_eq!((tree.len(), tree.value_bytes()), (2, 0));
        assert_eq!(tree.innermost(), Some(root));
        tree.add_value(b"yz");
        tree.end(9);
        assert_eq!(tree.value(root), b"yz");
        assert_eq!(tree.span(root), (0, 9));
    }

    #[test]
    fn pieces_of_text_are_one_node_until_something_is_left_out() {
        let mut tree = Tree::default();
        tree.text(b"a", (0, 1));
        tree.text(b"b", (1, 2));
        tree.end_text();
        tree.text(b"c", (9, 10));
        assert_eq!(tree.len(), 3);
        assert_eq!(tree.value(NodeId(1)), b"ab");
        assert_eq!(tree.span(NodeId(1)), (0, 2));
        assert_eq!(tree.value(NodeId(0)), b"abc");
    }
}
