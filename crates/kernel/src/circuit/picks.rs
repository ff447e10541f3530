//! `[k]` along an order axis: the node of a rank, found without a list.
//!
//! `following-sibling::a[2]` from a node is the second `a` to come. A node that asks notes how many
//! have come; two later its turn is up. So every node waits once, in order, and nobody counts for
//! it. Behind a node, the k nearest are all that is remembered.

use super::Circuit;
use super::cells::{Atom, Wire};
use super::chains::is_beside;
use super::evaluation::Focus;
use super::frames::{ArmTarget, Behind, Spot, Target};
use crate::plan::{Axis, NONE};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The nodes that wait for the k-th to come of one step, in order.
#[derive(Debug)]
pub struct Picks {
    route: u32,
    /// How many have come since somebody asked first.
    rank: u64,
    waiting: VecDeque<Pick>,
}

#[derive(Debug)]
struct Pick {
    /// The rank at which its turn is up.
    due: u64,
    target: Target,
    when: Wire,
}

impl Circuit {
    /// Sends the k-th node that a step reaches from the opening node to a target.
    pub(super) fn spread_picked(&mut self, id: u32, k: u32, target: Target, when: Wire) {
        let depth = self.frames.len() - 1;
        let is_beside = is_beside(self.frames[depth].kind);
        match self.table[id as usize].axis {
            Axis::FollowingSibling if depth > 0 && !is_beside => {
                self.source_open(ArmTarget::Plain(target));
                self.cells.pin(&when);
                let mut picks = std::mem::take(&mut self.extras[depth - 1].picks);
                wait(&mut picks, id, k, target, when);
                self.extras[depth - 1].picks = picks;
                self.extras[depth - 1].is_used = true;
            }
            // The content of its element follows an attribute too.
            Axis::Following if is_beside => {
                self.source_open(ArmTarget::Plain(target));
                self.cells.pin(&when);
                wait(&mut self.picks, id, k, target, when);
            }
            Axis::Following if depth > 0 => {
                self.arm_later(id, depth, ArmTarget::Plain(target), when);
            }
            Axis::PrecedingSibling if depth > 0 && !is_beside => {
                let node = nearest(&self.extras[depth - 1].behind, id, k);
                self.deliver_late(id, node, target, &when);
            }
            Axis::Preceding => {
                let node = nearest(&self.behind, id, k);
                self.deliver_late(id, node, target, &when);
            }
            Axis::Ancestor => {
                let node = self.open_node(id, depth, k);
                self.deliver_late(id, node, target, &when);
            }
            Axis::AncestorOrSelf => {
                let is_self = self.passes(depth, self.table[id as usize].test);
                if is_self && k == 1 {
                    self.deliver_picked(id, Spot::Opening, target, &when);
                } else {
                    let node = self.open_node(id, depth, k - u32::from(is_self));
                    self.deliver_late(id, node, target, &when);
                }
            }
            _ => {}
        }
    }

    /// The k-th open node above a depth that a step reaches.
    fn open_node(&mut self, id: u32, depth: usize, k: u32) -> Option<u32> {
        let test = self.table[id as usize].test;
        let mut left = k;
        for at in (0..depth).rev() {
            self.cells.work += 1;
            if self.passes(at, test) {
                left -= 1;
                if left == 0 {
                    return Some(self.frames[at].info).filter(|&info| info != NONE);
                }
            }
        }
        None
    }

    fn deliver_late(&mut self, id: u32, node: Option<u32>, target: Target, when: &Wire) {
        if let Some(info) = node {
            self.deliver_picked(id, Spot::Late(info), target, when);
        }
    }

    /// The one node that a position left goes on, under the predicates behind the position.
    pub(super) fn deliver_picked(&mut self, id: u32, spot: Spot, target: Target, when: &Wire) {
        let routes = self.table.clone();
        let one = Some(Wire::Known(Atom::Number(1.0)));
        let focus = Focus {
            position: one.clone(),
            last: one,
        };
        let mut passed = self.cells.resolve(when);
        for &predicate in routes[id as usize].behind_position() {
            if passed.is_false() {
                return;
            }
            let truth = self.evaluate(predicate, spot, &focus);
            passed = self.and(passed, truth);
        }
        self.arrive(id, spot, target, passed);
    }

    /// A node that asked for the k-th node after it closes.
    pub(super) fn pick_after(&mut self, route: u32, k: u32, to: ArmTarget, when: Wire) {
        if let ArmTarget::Plain(target) = to {
            wait(&mut self.picks, route, k, target, when);
        }
    }

    /// The opening node comes along picked steps: whose turn is up gets it. All ranks move before
    /// the node is asked anything: whoever asks at this node asks for what comes after it.
    pub(super) fn advance_picks(&mut self, picked: &[u32], depth: usize) {
        let mut due: SmallVec<[(u32, Pick); 2]> = SmallVec::new();
        for &route in picked {
            let is_beside = self.table[route as usize].axis == Axis::FollowingSibling;
            let all = if is_beside {
                &mut self.extras[depth - 1].picks
            } else {
                &mut self.picks
            };
            let Some(picks) = all.iter_mut().find(|picks| picks.route == route) else {
                continue;
            };
            picks.rank += 1;
            let rank = picks.rank;
            let count = picks.waiting.partition_point(|pick| pick.due <= rank);
            due.extend(picks.waiting.drain(..count).map(|pick| (route, pick)));
        }
        for (route, pick) in due {
            self.cells.work += 1;
            let to = ArmTarget::Plain(pick.target);
            if self.is_heard(to) {
                self.deliver_picked(route, Spot::Opening, pick.target, &pick.when);
            }
            self.cells.unpin(&pick.when);
            self.source_close(to);
        }
    }

    /// Nothing comes any more for those who wait.
    pub(super) fn close_picks(&mut self, all: Vec<Picks>) {
        for pick in all.into_iter().flat_map(|picks| picks.waiting) {
            self.cells.unpin(&pick.when);
            self.source_close(ArmTarget::Plain(pick.target));
        }
    }
}

fn wait(all: &mut Vec<Picks>, route: u32, k: u32, target: Target, when: Wire) {
    let at = all.iter().position(|picks| picks.route == route);
    let at = at.unwrap_or_else(|| {
        all.push(Picks {
            route,
            rank: 0,
            waiting: VecDeque::new(),
        });
        all.len() - 1
    });
    let due = all[at].rank + u64::from(k);
    all[at].waiting.push_back(Pick { due, target, when });
}

/// The k-th of the remembered nodes behind, from the last one on.
fn nearest(behind: &[(u32, Behind)], id: u32, k: u32) -> Option<u32> {
    match behind.iter().find(|(route, _)| *route == id) {
        Some((_, Behind::Nodes(nodes))) => {
            let at = nodes.len().checked_sub(k as usize)?;
            nodes.get(at).copied()
        }
        _ => None,
    }
}
