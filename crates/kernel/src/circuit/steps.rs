//! One step of a route, and which way its axis looks.

use super::ids::RouteId;
use super::ranks::Pick;
use super::sinks::FirstPart;
use crate::plan::{Axis, Comparison, PartId, TestId};
use std::ops::Index;
use std::rc::Rc;

/// What is asked of the nodes at the end of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// That there is one.
    Exists,
    /// That one's string value compares with a constant part.
    Compare {
        op: Comparison,
        constant: PartId,
        as_number: bool,
    },
    /// The nodes.
    Collect,
}

/// A step and the rest of the path behind it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    pub axis: Axis,
    pub test: TestId,
    pub predicates: Box<[PartId]>,
    pub is_positional: bool,
    /// The positions that it asks for, along an axis that picks by rank.
    pub pick: Option<Rc<Pick>>,
    /// The same where it asks for the last node, along an axis that finds it.
    pub end: Option<Rc<Pick>>,
    /// The rest, or NONE.
    pub next: RouteId,
    pub leaf: Leaf,
}

impl Route {
    /// Whether every node that the step reaches satisfies the route.
    pub fn is_plain(&self) -> bool {
        self.predicates.is_empty() && self.next.is_none() && self.leaf == Leaf::Exists
    }

    pub fn is_late(&self) -> bool {
        is_late(self.axis)
    }

    /// Whether the nodes themselves are needed, not only whether there is one.
    pub fn is_listed(&self) -> bool {
        self.leaf == Leaf::Collect || self.is_positional
    }
}

/// The routes of a plan, shared so that they can be read while the circuit changes.
#[derive(Clone)]
pub struct RouteTable(Rc<[Route]>);

impl Index<RouteId> for RouteTable {
    type Output = Route;
    #[inline]
    fn index(&self, id: RouteId) -> &Route {
        &self.0[id.index()]
    }
}

impl RouteTable {
    pub fn of(routes: &[Route]) -> Self {
        RouteTable(routes.into())
    }

    /// All routes with their ids.
    pub fn pairs(&self) -> impl Iterator<Item = (RouteId, &Route)> {
        let routes = self.0.iter().enumerate();
        routes.map(|(index, route)| (RouteId(index as u32), route))
    }
}

/// Where the members of a counted step are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Under one parent.
    Siblings,
    /// In the document, from the event that opens them.
    Opened,
    /// In the document, from the event that closes them.
    Closed,
    /// On the way to the node.
    Around,
    /// Below the node.
    Below,
}

impl Scope {
    /// The scope of the members that an axis counts, where they are counted by groups.
    pub fn of(axis: Axis) -> Option<Scope> {
        match axis {
            Axis::PrecedingSibling | Axis::FollowingSibling => Some(Scope::Siblings),
            Axis::Preceding => Some(Scope::Closed),
            Axis::Following => Some(Scope::Opened),
            Axis::Ancestor | Axis::AncestorOrSelf => Some(Scope::Around),
            Axis::Descendant | Axis::DescendantOrSelf => Some(Scope::Below),
            _ => None,
        }
    }
}

/// A step whose nodes are counted by groups, or the ends of ways down from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub scope: Scope,
    pub test: TestId,
    pub predicates: Box<[PartId]>,
    /// The way down, or NONE.
    pub way: RouteId,
}

/// A set along an axis of which all members are put together, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folded {
    /// The route of the step along the axis; what is behind it is a way down.
    pub step: RouteId,
    pub fold: Fold,
}

/// What is made of the members of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fold {
    /// The sum of their numbers, added in document order.
    Sum,
    /// A part of the first one in document order.
    First(FirstPart),
}

pub fn is_late(axis: Axis) -> bool {
    matches!(
        axis,
        Axis::Parent
            | Axis::Ancestor
            | Axis::AncestorOrSelf
            | Axis::PrecedingSibling
            | Axis::Preceding
    )
}

/// Whether an axis goes along the order of siblings or of the document.
pub fn is_order(axis: Axis) -> bool {
    matches!(
        axis,
        Axis::FollowingSibling | Axis::Following | Axis::PrecedingSibling | Axis::Preceding
    )
}

/// Whether contexts share the nodes along an axis, so that positions are found by rank.
pub fn is_ranked(axis: Axis) -> bool {
    is_order(axis) || matches!(axis, Axis::Ancestor | Axis::AncestorOrSelf)
}

/// Whether a step leads to nodes inside, none of them by two ways.
pub fn is_down(axis: Axis) -> bool {
    matches!(axis, Axis::Child | Axis::Descendant | Axis::Attribute)
}

/// Whether a step looks back at nodes that are closed.
pub fn looks_behind(axis: Axis) -> bool {
    matches!(axis, Axis::PrecedingSibling | Axis::Preceding)
}

/// Whether a step leads to nodes that open later.
pub fn is_awaited(axis: Axis) -> bool {
    !is_late(axis) && axis != Axis::Itself
}
