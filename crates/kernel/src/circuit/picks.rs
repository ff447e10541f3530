//! Positions along an order axis, found without a list for each context.
//!
//! What is still to come is counted by a line of contexts (`lines`), what is there already lies on
//! a trail that contexts walk back along (`trails`).

use super::Circuit;
use super::cells::{Atom, Wire};
use super::chains::is_beside;
use super::evaluation::Focus;
use super::frames::{ArmTarget, Behind, Spot, Target};
use super::ids::RouteId;
use super::lines::{Line, Station};
use super::ranks::Pick;
use crate::plan::{Axis, PartId};
use crate::small::SmallMap;
use smallvec::SmallVec;

/// The contexts that count the later nodes of one step.
#[derive(Debug, Default)]
pub struct Picks {
    /// Those that came since the last node, by span.
    fresh: Vec<Station>,
    line: Line,
}

/// Lines that the opening node passes, by route.
pub type Lines = SmallVec<[(RouteId, Line); 1]>;

impl Circuit {
    /// Sends the nodes at the positions that a step asks for, from the opening node, to a target.
    pub(super) fn spread_picked(&mut self, id: RouteId, pick: &Pick, target: Target, when: Wire) {
        let depth = self.frames.len() - 1;
        let is_beside = is_beside(self.frames[depth].kind);
        match self.table[id].axis {
            Axis::FollowingSibling if depth > 0 && !is_beside => {
                let mut picks = std::mem::take(&mut self.extras[depth - 1].picks);
                self.wait(&mut picks, id, target, when);
                self.extra_of(depth - 1).picks = picks;
            }
            // The content of its element follows an attribute too.
            Axis::Following if is_beside => self.wait_for_all(id, target, when),
            Axis::Following if depth > 0 => {
                self.arm_later(id, depth, ArmTarget::Plain(target), when);
            }
            Axis::PrecedingSibling if depth == 0 || is_beside => {}
            axis @ (Axis::PrecedingSibling | Axis::Preceding) => {
                let mut behind = std::mem::take(self.behind_of(axis, depth));
                if let Some(Behind::Trail(trail)) = behind.get_mut(id) {
                    self.walk(id, trail, target, Circuit::wants_of(pick, &when));
                }
                *self.behind_of(axis, depth) = behind;
            }
            Axis::AncestorOrSelf if self.passes(depth, self.table[id].test) => {
                let wants = self.walk_self(id, pick, target, &when);
                self.walk_up(id, pick, target, wants);
            }
            Axis::Ancestor | Axis::AncestorOrSelf => {
                self.walk_up(id, pick, target, Circuit::wants_of(pick, &when));
            }
            _ => {}
        }
    }

    /// A node at one of the positions goes on, under what is asked behind the position.
    pub(super) fn deliver_picked(&mut self, id: RouteId, spot: Spot, target: Target, when: &Wire) {
        let route = &self.table[id];
        if let Some(pick) = route.pick.clone().or_else(|| route.end.clone()) {
            let passed = self.pass_rest(&pick, spot, when.clone());
            self.arrive(id, spot, target, passed);
        }
    }

    /// The predicates behind the position, under a condition.
    pub(super) fn pass_rest(&mut self, pick: &Pick, spot: Spot, when: Wire) -> Wire {
        let alone = Some(Wire::Known(Atom::Number(1.0)));
        let focus = Focus {
            position: alone.clone(),
            last: alone,
        };
        self.pass_all(&pick.rest, spot, &focus, when)
    }

    /// The predicates before the position, under a condition.
    pub(super) fn pass_guards(&mut self, pick: &Pick, spot: Spot, when: Wire) -> Wire {
        self.pass_all(&pick.guards, spot, &Focus::default(), when)
    }

    fn pass_all(&mut self, predicates: &[PartId], spot: Spot, focus: &Focus, when: Wire) -> Wire {
        let mut passed = self.cells.resolve(&when);
        for &predicate in predicates {
            if passed.is_false() {
                break;
            }
            let truth = self.evaluate(predicate, spot, focus);
            passed = self.and(passed, truth);
        }
        passed
    }

    fn wait_for_all(&mut self, route: RouteId, target: Target, when: Wire) {
        let mut picks = std::mem::take(&mut self.picks);
        self.wait(&mut picks, route, target, when);
        self.picks = picks;
    }

    /// A context counts the nodes that come from now on.
    fn wait(
        &mut self,
        all: &mut SmallMap<RouteId, Picks>,
        route: RouteId,
        target: Target,
        when: Wire,
    ) {
        let fresh = &mut all.get_or_insert_with(route, Picks::default).fresh;
        if fresh.is_empty()
            && let Some(pick) = &self.table[route].pick
        {
            fresh.extend(pick.spans.iter().map(|&span| Station::new(span)));
        }
        for station in fresh {
            self.enter(station, target, when.clone());
        }
    }

    /// A node that asked for nodes after it closes.
    pub(super) fn pick_after(&mut self, route: RouteId, to: ArmTarget, when: Wire) {
        if let ArmTarget::Plain(target) = to {
            self.wait_for_all(route, target, when.clone());
        }
        self.cells.unpin(&when);
        self.source_close(to);
    }

    /// The opening node comes along picked steps. All contexts so far line up before the node is
    /// asked anything: whoever asks at this node asks for what comes after it.
    pub(super) fn line_up_picks(&mut self, picked: &[RouteId], depth: usize) -> Lines {
        let mut lines = Lines::new();
        for &route in picked {
            let Some(picks) = self.picks_of(route, depth) else {
                continue;
            };
            let mut line = std::mem::take(&mut picks.line);
            let fresh = std::mem::take(&mut picks.fresh);
            self.line_up(&mut line, fresh);
            lines.push((route, line));
        }
        lines
    }

    /// The opening node passes the contexts that lined up.
    pub(super) fn advance_picks(&mut self, lines: Lines, depth: usize) {
        for (route, mut line) in lines {
            if !line.is_empty() {
                self.advance_line(route, &mut line);
            }
            if let Some(picks) = self.picks_of(route, depth) {
                picks.line = line;
            }
        }
    }

    fn advance_line(&mut self, route: RouteId, line: &mut Line) {
        let Some(pick) = self.table[route].pick.clone() else {
            return;
        };
        let truth = self.pass_guards(&pick, Spot::Opening, Wire::TRUE);
        let reached = self.pass(line, &truth);
        for (to, when) in &reached.heard {
            if let ArmTarget::Plain(target) = *to {
                self.deliver_picked(route, Spot::Opening, target, when);
            }
        }
        self.finish_pass(reached);
    }

    fn picks_of(&mut self, route: RouteId, depth: usize) -> Option<&mut Picks> {
        let is_beside = self.table[route].axis == Axis::FollowingSibling;
        let all = if is_beside {
            &mut self.extras[depth - 1].picks
        } else {
            &mut self.picks
        };
        all.get_mut(route)
    }

    /// The sets that contexts count are complete.
    pub(super) fn close_picks(&mut self, all: SmallMap<RouteId, Picks>) {
        for (_, picks) in all {
            picks
                .fresh
                .into_iter()
                .for_each(|station| self.leave(station));
            self.close_line(picks.line);
        }
    }
}
