//! `[last()]` below a node: one pointer to the latest member instead of a list for every context.
//!
//! The last node below a context is the latest that opened before the context closes, if it opened
//! inside. So all contexts of a step share the latest member. When a context closes, that member is
//! its last one; when the next member opens, no context that is still open has the one before as
//! its last.
//!
//! ```text
//! <a> <b/> <a> <b/> </a> <b/> </a>      //a/descendant::b[last()]
//!     b1       b2    ^   b3   ^
//!              b2 is the last of the inner a, b3 of the outer; b1 is out when b2 opens
//! ```
//!
//! Where contexts send to one target, a member goes there as it opens, under a truth that the ends
//! of contexts decide. Where each context asks for a truth of its own, it takes that of its last
//! member at its end.

use super::Circuit;
use super::cells::{Handle, Wire};
use super::frames::{ArmTarget, Spot, Target};
use super::ids::RouteId;
use super::routes::Leaf;
use crate::plan::{Axis, NodeKind};

/// Open contexts of a step that share the latest member.
#[derive(Debug)]
pub struct Lasts {
    /// Where members go; nothing where every context has a truth of its own.
    target: Option<Target>,
    /// Innermost last.
    contexts: Vec<Context>,
    latest: Option<Latest>,
}

#[derive(Debug)]
struct Context {
    depth: u32,
    order: u64,
    to: Target,
    when: Wire,
    /// Whether it or a context around it counts.
    around: Wire,
}

#[derive(Debug)]
struct Latest {
    order: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Whether it is the last one of some context.
    Sent(Handle),
    /// Whether it satisfies the rest of the route.
    Asked(Wire),
}

impl Circuit {
    /// The opening node waits for the last node that a step reaches below it.
    pub(super) fn spread_below(&mut self, id: RouteId, to: Target, when: Wire) {
        let depth = self.frames.len() - 1;
        let (kind, order) = (self.frames[depth].kind, self.frames[depth].order);
        let (axis, leaf, test) = {
            let route = &self.table[id];
            (route.axis, route.leaf, route.test)
        };
        let is_self = axis == Axis::DescendantOrSelf && self.passes(depth, test);
        if !matches!(kind, NodeKind::Element | NodeKind::Document) {
            if is_self {
                self.deliver_picked(id, Spot::Opening, to, &when);
            }
            return;
        }
        let at = self.lasts_of(id, (leaf == Leaf::Collect).then_some(to));
        let outer = self.lasts[id][at].contexts.last();
        let outer = outer.map_or(Wire::FALSE, |outer| outer.around.clone());
        let around = self.any(&[when.clone(), outer]);
        self.cells.pin(&when);
        self.cells.pin(&around);
        self.source_open(ArmTarget::Plain(to));
        self.held_bytes += size_of::<Context>();
        self.lasts[id][at].contexts.push(Context {
            depth: depth as u32,
            order,
            to,
            when: when.clone(),
            around: around.clone(),
        });
        self.extra_of(depth).armed.push(id);
        if is_self {
            self.join_itself(id, at, when, around);
        }
    }

    /// The opening node is a member of the contexts that it has just joined.
    fn join_itself(&mut self, id: RouteId, at: usize, when: Wire, around: Wire) {
        let order = self.frames[self.frames.len() - 1].order;
        let lasts = &self.lasts[id][at];
        let Some(latest) = lasts.latest.as_ref().filter(|l| l.order == order) else {
            return self.begin_latest(id, at, around);
        };
        // It went there for the contexts around; this one may count where those do not.
        if let (State::Sent(is_last), Some(to)) = (&latest.state, lasts.target) {
            let own = self.and(Wire::Cell(*is_last), when);
            self.deliver_picked(id, Spot::Opening, to, &own);
        }
    }

    /// The contexts of a step that share members; there may be none yet.
    fn lasts_of(&mut self, id: RouteId, target: Option<Target>) -> usize {
        let all = &mut self.lasts[id];
        let known = all.iter().rposition(|lasts| lasts.target == target);
        self.cells
            .account
            .spend((all.len() - known.unwrap_or(0)) as u64);
        known.unwrap_or_else(|| {
            all.push(Lasts {
                target,
                contexts: Vec::new(),
                latest: None,
            });
            all.len() - 1
        })
    }

    /// The opening node is below contexts of a step.
    pub(super) fn advance_lasts(&mut self, id: RouteId) {
        let order = self.frames[self.frames.len() - 1].order;
        for at in 0..self.lasts[id].len() {
            self.count_pairs(1);
            let lasts = &self.lasts[id][at];
            if lasts.latest.as_ref().is_some_and(|l| l.order == order) {
                continue;
            }
            // Its own context, put there a moment ago, is for others.
            let outer = lasts.contexts.iter().rev().find(|c| c.order < order);
            if let Some(around) = outer.map(|outer| outer.around.clone()) {
                self.begin_latest(id, at, around);
            }
        }
    }

    /// The opening node is the latest member of contexts, of which one counts if `around` does.
    fn begin_latest(&mut self, id: RouteId, at: usize, around: Wire) {
        self.end_latest(id, at);
        let order = self.frames[self.frames.len() - 1].order;
        let Some(to) = self.lasts[id][at].target else {
            let or = self.open_or(1);
            self.deliver_picked(id, Spot::Opening, Target::Any(or), &Wire::TRUE);
            self.or_close(or);
            let truth = self.cells.resolve(&Wire::Cell(or));
            self.cells.pin(&truth);
            let state = State::Asked(truth);
            self.lasts[id][at].latest = Some(Latest { order, state });
            return;
        };
        if !self.is_heard(ArmTarget::Plain(to)) {
            return;
        }
        let is_last = self.open_or(1);
        self.cells.pin(&Wire::Cell(is_last));
        let state = State::Sent(is_last);
        self.lasts[id][at].latest = Some(Latest { order, state });
        let counts = self.and(Wire::Cell(is_last), around);
        self.deliver_picked(id, Spot::Opening, to, &counts);
    }

    /// The latest member is the last one of no further context.
    fn end_latest(&mut self, id: RouteId, at: usize) {
        let latest = self.lasts[id][at].latest.take();
        match latest.map(|latest| latest.state) {
            Some(State::Sent(is_last)) => {
                self.or_close(is_last);
                self.cells.unpin(&Wire::Cell(is_last));
            }
            Some(State::Asked(truth)) => self.cells.unpin(&truth),
            None => {}
        }
    }

    /// The contexts of a step at a node close: the latest member inside is their last.
    pub(super) fn close_lasts(&mut self, id: RouteId, depth: usize) {
        for at in (0..self.lasts[id].len()).rev() {
            self.cells.account.spend(1);
            let is_here = |context: &mut Context| context.depth as usize == depth;
            while let Some(context) = self.lasts[id][at].contexts.pop_if(is_here) {
                self.close_context(id, at, &context);
            }
            if self.lasts[id][at].contexts.is_empty() {
                self.end_latest(id, at);
                self.lasts[id].remove(at);
            }
        }
    }

    fn close_context(&mut self, id: RouteId, at: usize, context: &Context) {
        let is_or_self = self.table[id].axis == Axis::DescendantOrSelf;
        let first = context.order + u64::from(!is_or_self);
        let latest = self.lasts[id][at].latest.as_ref();
        match latest.filter(|l| l.order >= first).map(|l| &l.state) {
            Some(&State::Sent(is_last)) => self.or_add(is_last, &context.when),
            Some(State::Asked(truth)) => {
                let truth = truth.clone();
                let own = self.and(context.when.clone(), truth);
                if let Target::Any(or) = context.to {
                    self.or_add(or, &own);
                }
            }
            None => {}
        }
        self.held_bytes -= size_of::<Context>();
        self.cells.unpin(&context.when);
        self.cells.unpin(&context.around);
        self.source_close(ArmTarget::Plain(context.to));
    }
}
