//! Items and sequences.

use crate::atomic::Atomic;
use crate::tree::NodeRef;
use std::rc::Rc;

/// A node or an atomic value.
#[derive(Clone, Debug)]
pub enum Item {
    /// A node of the forest.
    Node(NodeRef),
    /// An atomic value.
    Atomic(Atomic),
}

/// A sequence of items. No item and one item need no memory of their own; a clone copies no items.
#[derive(Clone, Debug, Default)]
pub enum Sequence {
    /// No item.
    #[default]
    Empty,
    /// One item.
    One(Item),
    /// Several items, or any number.
    Many(Rc<Vec<Item>>),
}

impl Sequence {
    /// A sequence of one atomic value.
    pub fn atomic(value: Atomic) -> Sequence {
        Sequence::One(Item::Atomic(value))
    }

    /// A sequence of one truth value.
    pub fn boolean(value: bool) -> Sequence {
        Sequence::atomic(Atomic::Boolean(value))
    }

    /// A sequence of one node.
    pub fn node(node: NodeRef) -> Sequence {
        Sequence::One(Item::Node(node))
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// The items.
    pub fn as_slice(&self) -> &[Item] {
        match self {
            Sequence::Empty => &[],
            Sequence::One(item) => std::slice::from_ref(item),
            Sequence::Many(items) => items,
        }
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: Item) {
        match self {
            Sequence::Empty => *self = Sequence::One(item),
            Sequence::One(_) => {
                if let Sequence::One(first) = std::mem::take(self) {
                    *self = Sequence::Many(Rc::new(vec![first, item]));
                }
            }
            Sequence::Many(items) => Rc::make_mut(items).push(item),
        }
    }

    /// Adds all items of another sequence.
    pub fn append(&mut self, other: Sequence) {
        match (&*self, other) {
            (_, Sequence::Empty) => {}
            (Sequence::Empty, other) => *self = other,
            (_, Sequence::One(item)) => self.push(item),
            (_, Sequence::Many(items)) => items.iter().for_each(|item| self.push(item.clone())),
        }
    }
}

impl From<Vec<Item>> for Sequence {
    fn from(mut items: Vec<Item>) -> Self {
        match items.len() {
            0 => Sequence::Empty,
            1 => items.pop().map_or(Sequence::Empty, Sequence::One),
            _ => Sequence::Many(Rc::new(items)),
        }
    }
}

impl FromIterator<Atomic> for Sequence {
    fn from_iter<I: IntoIterator<Item = Atomic>>(values: I) -> Self {
        let mut sequence = Sequence::Empty;
        values
            .into_iter()
            .for_each(|value| sequence.push(Item::Atomic(value)));
        sequence
    }
}

impl FromIterator<NodeRef> for Sequence {
    fn from_iter<I: IntoIterator<Item = NodeRef>>(nodes: I) -> Self {
        let mut sequence = Sequence::Empty;
        nodes
            .into_iter()
            .for_each(|node| sequence.push(Item::Node(node)));
        sequence
    }
}
