//! `deep-equal`, without recursion over the depth of trees.

use super::item::{Item, Sequence};
use super::run::{Flow, Run};
use crate::atomic::key;
use crate::tree::{Kind, NodeId, NodeRef, Tree};

impl Run<'_> {
    /// Whether two sequences have equal items in the same order.
    pub fn deep_equal(&mut self, left: &Sequence, right: &Sequence) -> Flow<bool> {
        let (left, right) = (left.as_slice(), right.as_slice());
        if left.len() != right.len() {
            return Ok(false);
        }
        for pair in left.iter().zip(right) {
            self.charge(1);
            let is_equal = match pair {
                // Values are equal if their keys are; NaN equals itself.
                (Item::Atomic(left), Item::Atomic(right)) => key(left) == key(right),
                (Item::Node(left), Item::Node(right)) => self.equal_nodes(*left, *right),
                _ => false,
            };
            if !is_equal {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_nodes(&mut self, left: NodeRef, right: NodeRef) -> bool {
        let forest = &*self.forest;
        let (first, second) = (forest.tree(left), forest.tree(right));
        let (mut at, mut other) = (left.node, right.node);
        // The last nodes of the elements that are open on either side.
        let mut open: Vec<(NodeId, NodeId)> = Vec::new();
        let mut steps = 0;
        let is_equal = loop {
            steps += 1;
            if !is_same(first, at, second, other) {
                break false;
            }
            open.push((first.last(at), second.last(other)));
            at = next(first, at, open[0].0);
            other = next(second, other, open[0].1);
            while open
                .last()
                .is_some_and(|ends| at > ends.0 && other > ends.1)
            {
                open.pop();
            }
            match open.last() {
                None => break true,
                Some(ends) if at > ends.0 || other > ends.1 => break false,
                Some(_) => {}
            }
        };
        self.charge(steps);
        is_equal
    }
}

/// The next node in document order that counts; comments and instructions do not.
fn next(tree: &Tree, at: NodeId, end: NodeId) -> NodeId {
    let mut next = NodeId(at.0 + 1);
    while next <= end && !matches!(tree.kind(next), Kind::Element | Kind::Text) {
        next.0 += 1;
    }
    next
}

/// Whether two nodes are equal, apart from what is in them.
fn is_same(first: &Tree, left: NodeId, second: &Tree, right: NodeId) -> bool {
    let kind = first.kind(left);
    if kind != second.kind(right) || first.name(left).name != second.name(right).name {
        return false;
    }
    match kind {
        Kind::Document => true,
        Kind::Element => {
            let mut attributes = first.attributes(left);
            first.attributes(left).count() == second.attributes(right).count()
                && attributes.all(|attribute| {
                    let mut others = second.attributes(right);
                    others.any(|other| is_same(first, attribute, second, other))
                })
        }
        _ => first.value(left) == second.value(right),
    }
}
