//! Existence along an axis, shared by all contexts of a group.
//!
//! Whether a later sibling will do, an earlier one, or an ancestor, is the same question for many
//! nodes. So the answer is a chain: one truth for each member that is undecided, each an `Or` of
//! that member and of the truth behind it. A node takes the end of the chain; it never looks at
//! the members. A sure member ends the chain.
//!
//! ```text
//! following-sibling, members q1 q2 …       S1 = q1 or S2,  S2 = q2 or S3,  S3 stays open
//! preceding-sibling                        P1 = q1,        P2 = P1 or q2,  …
//! ancestor, nodes d0 d1 … from the root    A0 = q0,        A1 = A0 or q1,  …
//! ```

use super::Circuit;
use super::cells::{Handle, Wire};
use super::frames::{ArmTarget, Behind, Spot, Target};
use super::ids::RouteId;
use super::routes::Leaf;
use crate::plan::{Axis, NodeKind};
use crate::small::SmallMap;
use smallvec::SmallVec;

/// The open end of a chain of truths about what is still to come.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    or: Handle,
    /// Whether undecided members are in it: then the next node that asks begins a new end.
    has_members: bool,
}

impl Circuit {
    /// Whether a route's truth is taken from a chain of what is to come.
    pub(super) fn is_chained_ahead(&self, id: RouteId) -> bool {
        let route = &self.table[id];
        route.leaf != Leaf::Collect
            && !route.is_positional
            && matches!(route.axis, Axis::FollowingSibling | Axis::Following)
    }

    /// Whether a later sibling of the opening node satisfies a route.
    pub(super) fn truth_beside(&mut self, route: RouteId) -> Wire {
        let depth = self.frames.len() - 1;
        if depth == 0 || is_beside(self.frames[depth].kind) {
            return Wire::FALSE;
        }
        let parent = depth - 1;
        self.extras[parent].is_used = true;
        let mut ends = std::mem::take(&mut self.extras[parent].ahead);
        let wire = self.take_end(&mut ends, route);
        self.extras[parent].ahead = ends;
        wire
    }

    /// Whether some node after this event satisfies the route.
    fn truth_after(&mut self, route: RouteId) -> Wire {
        let mut ends = std::mem::take(&mut self.ahead);
        let wire = self.take_end(&mut ends, route);
        self.ahead = ends;
        wire
    }

    fn take_end(&mut self, ends: &mut SmallMap<RouteId, Ahead>, route: RouteId) -> Wire {
        if let Some(end) = ends.get(route)
            && !end.has_members
        {
            return Wire::Cell(end.or);
        }
        let or = self.open_or(1);
        self.cells.pin(&Wire::Cell(or));
        if let Some(end) = ends.remove(route) {
            self.link_end(end.or, or);
        }
        let has_members = false;
        ends.insert(route, Ahead { or, has_members });
        Wire::Cell(or)
    }

    /// An end becomes a link of its chain: the rest is another.
    pub(super) fn link_end(&mut self, end: Handle, rest: Handle) {
        self.or_add(end, &Wire::Cell(rest));
        self.or_close(end);
        self.cells.unpin(&Wire::Cell(end));
    }

    /// A truth about what follows the opening node. What follows an attribute begins at once,
    /// with the content of its element; what follows another node begins at its end.
    pub(super) fn truth_following(&mut self, route: RouteId) -> Wire {
        let depth = self.frames.len() - 1;
        if is_beside(self.frames[depth].kind) {
            return self.truth_after(route);
        }
        if depth == 0 {
            return Wire::FALSE;
        }
        let or = self.open_or(1);
        self.cells.pin(&Wire::Cell(or));
        self.extra_of(depth).after.push((route, or));
        Wire::Cell(or)
    }

    /// A node closes: what it asked of the nodes after it begins to count.
    pub(super) fn begin_after(&mut self, depth: usize) {
        for (route, or) in std::mem::take(&mut self.extras[depth].after) {
            if self.cells.is_open(or) {
                let wire = self.truth_after(route);
                self.or_add(or, &wire);
                self.or_close(or);
            }
            self.cells.unpin(&Wire::Cell(or));
        }
    }

    /// The opening node is a member of chains of what was to come. All ends are taken off before
    /// the node is asked anything: whoever asks at this node asks for what comes after it.
    pub(super) fn extend_ahead(&mut self, chained: &[RouteId], depth: usize) {
        let mut ends: SmallVec<[(RouteId, Ahead); 2]> = SmallVec::new();
        for &route in chained {
            let listed = self.ends_of(route, depth);
            ends.extend(listed.remove(route).map(|end| (route, end)));
        }
        for (route, end) in ends {
            if self.cells.is_open(end.or) {
                self.extend_end(route, end, depth);
            } else {
                self.cells.unpin(&Wire::Cell(end.or));
            }
        }
    }

    fn extend_end(&mut self, route: RouteId, mut end: Ahead, depth: usize) {
        let wire = self.truth_of_member(route, Spot::Opening);
        self.or_add(end.or, &wire);
        if wire.is_true() {
            return self.cells.unpin(&Wire::Cell(end.or));
        }
        end.has_members |= !wire.is_false();
        let listed = self.ends_of(route, depth);
        match listed.get(route).map(|fresh| fresh.or) {
            Some(rest) => self.link_end(end.or, rest),
            None => listed.insert(route, end),
        }
    }

    /// The ends that a node at a depth is a member of, by the axis of the route.
    fn ends_of(&mut self, route: RouteId, depth: usize) -> &mut SmallMap<RouteId, Ahead> {
        if self.table[route].axis == Axis::FollowingSibling {
            &mut self.extras[depth - 1].ahead
        } else {
            &mut self.ahead
        }
    }

    /// The line is complete: no further member follows.
    pub(super) fn close_ahead(&mut self, ends: SmallMap<RouteId, Ahead>) {
        for (_, end) in ends {
            self.or_close(end.or);
            self.cells.unpin(&Wire::Cell(end.or));
        }
    }

    /// Whether a node that a route's step reaches satisfies the route.
    pub(super) fn truth_of_member(&mut self, id: RouteId, spot: Spot) -> Wire {
        if self.table[id].is_plain() {
            return Wire::TRUE;
        }
        let or = self.open_or(1);
        let to = ArmTarget::Plain(Target::Any(or));
        self.deliver(id, to, spot, &Wire::TRUE);
        self.or_close(or);
        self.cells.resolve(&Wire::Cell(or))
    }

    /// Whether an earlier sibling of the opening node, or a preceding node, satisfies a route.
    pub(super) fn truth_behind(&self, id: RouteId) -> Wire {
        let depth = self.frames.len() - 1;
        let behind = match self.table[id].axis {
            Axis::Preceding => &self.behind,
            _ if depth == 0 || is_beside(self.frames[depth].kind) => return Wire::FALSE,
            _ => &self.extras[depth - 1].behind,
        };
        match behind.get(id) {
            Some(Behind::Truth(wire)) => self.cells.resolve(wire),
            _ => Wire::FALSE,
        }
    }

    /// Whether an ancestor of the opening node satisfies a route.
    pub(super) fn truth_above(&mut self, id: RouteId) -> Wire {
        let depth = self.frames.len() - 1;
        let mut above = Wire::FALSE;
        let mut from = 0;
        for at in (0..depth).rev() {
            self.cells.account.spend(1);
            if let Some(wire) = self.chained_above(id, at) {
                (above, from) = (wire, at + 1);
                break;
            }
        }
        for at in from..depth {
            let test = self.table[id].test;
            if !above.is_true() && self.passes(at, test) {
                let info = self.frames[at].info;
                let own = self.truth_of_member(id, Spot::Late(info));
                above = self.any(&[above, own]);
            }
            self.cells.pin(&above);
            self.extra_of(at).above.insert(id, above.clone());
        }
        above
    }

    fn chained_above(&self, id: RouteId, depth: usize) -> Option<Wire> {
        let wire = self.extras[depth].above.get(id);
        wire.map(|wire| self.cells.resolve(wire))
    }
}

/// Whether nodes of a kind stand beside the content of their element.
pub(super) fn is_beside(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Attribute | NodeKind::Namespace)
}
