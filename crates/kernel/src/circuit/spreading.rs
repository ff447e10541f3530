//! Routes spread from a node: over what is there, and by arms over what is to come.

use super::Circuit;
use super::cells::Wire;
use super::chains::is_beside;
use super::evaluation::Focus;
use super::frames::{ArmTarget, Behind, Spot, Target, Wired};
use super::ids::{InfoId, RouteId};
use super::routes::{Leaf, Need, Source};
use super::sinks::SinkKind;
use crate::plan::{Axis, NodeKind, Part, PartId, TestId};
use crate::small::SmallMap;
use smallvec::SmallVec;

impl Circuit {
    /// Sends the nodes of a set to a target, each once. Ends the target's first source.
    pub(super) fn collect_merged(&mut self, set: PartId, spot: Spot, target: Target, when: Wire) {
        if let Some(window) = self.routes.planned(set).window {
            let merge = Target::Sink(self.add_relay(SinkKind::Merge { target, window }));
            self.collect(set, spot, merge, when);
            self.source_close(ArmTarget::Plain(merge));
        } else {
            self.collect(set, spot, target, when);
        }
        self.source_close(ArmTarget::Plain(target));
    }

    /// Sends the nodes of a set to a target.
    pub(super) fn collect(&mut self, set: PartId, spot: Spot, target: Target, when: Wire) {
        if self.routes.nature(set).is_absolute() && !self.is_document(spot) {
            if let Some(Wired::Store(store)) = self.root.get(&Need::Set(set)) {
                self.link(*store, target, when);
            }
            return;
        }
        if let Spot::Late(info) = spot {
            if self.routes.planned(set).is_here() {
                return self.add(target, spot, when);
            }
            return self.link_wired(info, Need::Set(set), target, when);
        }
        match self.routes.planned(set).nodes {
            (Source::Set(part), RouteId::NONE) => self.collect_source(part, target, when),
            (Source::Set(part), route) => {
                let steps = Target::Sink(self.add_relay(SinkKind::Steps { route, target }));
                self.collect_merged(part, spot, steps, when);
            }
            (_, RouteId::NONE) => self.add(target, spot, when),
            (_, route) => self.spread(route, target, when),
        }
    }

    /// Sends a filter, a union or the identified elements to a target, at the opening node.
    fn collect_source(&mut self, part: PartId, target: Target, when: Wire) {
        let plan = self.plan.clone();
        match plan.part(part) {
            Part::Union(sets) => {
                for &set in sets {
                    self.collect(set, Spot::Opening, target, when.clone());
                }
            }
            Part::Filter { base, predicates } => {
                let is_late = self.routes.planned(base).is_late;
                let list = self.add_filter(part, predicates, target, is_late);
                let sink = Target::Sink(self.add_relay(SinkKind::Filter { list }));
                self.collect_merged(base, Spot::Opening, sink, when);
            }
            Part::Identified(words) => {
                let words = self.evaluate(words, Spot::Opening, &Focus::default());
                self.collect_identified(words, target, when);
            }
            _ => {}
        }
    }

    /// Sends what a route reaches from the opening node to a target.
    pub(super) fn spread(&mut self, id: RouteId, target: Target, when: Wire) {
        if self.cells.resolve(&when).is_false() {
            return;
        }
        let routes = self.table.clone();
        let route = &routes[id];
        if let Some(pick) = &route.pick {
            return self.spread_picked(id, pick, target, when);
        }
        match route.axis {
            Axis::Preceding if route.end.is_some() => {
                return self.spread_farthest(id, target, when);
            }
            _ if route.end.is_some() => return self.spread_below(id, target, when),
            _ => {}
        }
        let depth = self.frames.len() - 1;
        let kind = self.frames[depth].kind;
        let is_parent = matches!(kind, NodeKind::Element | NodeKind::Document);
        let to = match route.axis {
            _ if !route.is_positional => ArmTarget::Plain(target),
            // Most nodes have no such child, and a list costs more than an arm.
            Axis::Child | Axis::Descendant if is_parent => ArmTarget::Fresh(target),
            Axis::Child | Axis::Descendant => return,
            _ => ArmTarget::List(self.add_list(id, target, when.clone())),
        };
        self.spread_along(id, to, when);
        if let ArmTarget::List(_) = to {
            self.source_close(to);
        }
    }

    /// Sends the nodes along the axis of a route's step, from the opening node.
    fn spread_along(&mut self, id: RouteId, to: ArmTarget, when: Wire) {
        let routes = self.table.clone();
        let route = &routes[id];
        let depth = self.frames.len() - 1;
        let kind = self.frames[depth].kind;
        let is_parent = matches!(kind, NodeKind::Element | NodeKind::Document);
        let is_beside = is_beside(kind);
        let is_self = |this: &Self| this.passes(depth, route.test);
        match route.axis {
            Axis::Itself if is_self(self) => self.deliver(id, to, Spot::Opening, &when),
            Axis::DescendantOrSelf => {
                if is_self(self) {
                    self.deliver(id, to, Spot::Opening, &when);
                }
                if is_parent {
                    self.arm(id, depth, to, when);
                }
            }
            Axis::Child | Axis::Descendant if is_parent => self.arm(id, depth, to, when),
            Axis::Attribute | Axis::Namespace if kind == NodeKind::Element => {
                self.arm(id, depth, to, when);
            }
            Axis::FollowingSibling if depth > 0 && !is_beside => {
                self.arm(id, depth - 1, to, when);
            }
            Axis::Following if is_beside => {
                // The content of its element follows an attribute too.
                self.arm(id, depth - 1, to, when.clone());
                self.arm_later(id, depth - 1, to, when);
            }
            Axis::Following if depth > 0 => self.arm_later(id, depth, to, when),
            Axis::Parent if depth > 0 => self.reach_back(id, depth - 1..depth, to, &when),
            Axis::Ancestor => self.reach_back(id, 0..depth, to, &when),
            Axis::AncestorOrSelf => {
                if is_self(self) {
                    self.deliver(id, to, Spot::Opening, &when);
                }
                self.reach_back(id, 0..depth, to, &when);
            }
            Axis::PrecedingSibling if depth > 0 && !is_beside => {
                let nodes = listed_behind(&self.extras[depth - 1].behind, id);
                self.reach_behind(id, nodes, to, &when);
            }
            Axis::Preceding => {
                let nodes = listed_behind(&self.behind, id);
                self.reach_behind(id, nodes, to, &when);
            }
            _ => {}
        }
    }

    /// Whether the open node at a depth passes a test.
    #[inline]
    pub(super) fn passes(&self, depth: usize, test: TestId) -> bool {
        let symbol = self.frames[depth].symbol;
        self.symbols[symbol]
            .as_ref()
            .is_some_and(|known| known.passes(test))
    }

    /// A route meets open nodes, the innermost first.
    fn reach_back(
        &mut self,
        id: RouteId,
        depths: std::ops::Range<usize>,
        to: ArmTarget,
        when: &Wire,
    ) {
        let routes = self.table.clone();
        let route = &routes[id];
        for depth in depths.rev() {
            self.cells.account.spend(1);
            if !self.passes(depth, route.test) {
                continue;
            }
            if let (true, ArmTarget::Plain(Target::Any(or))) = (route.is_plain(), to) {
                return self.or_add(or, when);
            }
            let info = self.frames[depth].info;
            debug_assert!(info.is_some(), "a node was not remembered in time");
            if info.is_some() {
                self.deliver(id, to, Spot::Late(info), when);
            }
        }
    }

    /// A route meets closed nodes, the last first.
    fn reach_behind(&mut self, id: RouteId, nodes: Vec<InfoId>, to: ArmTarget, when: &Wire) {
        self.count_pairs(nodes.len());
        for info in nodes.into_iter().rev() {
            self.deliver(id, to, Spot::Late(info), when);
        }
    }

    /// A route's step reaches a node.
    pub(super) fn deliver(&mut self, route: RouteId, to: ArmTarget, spot: Spot, when: &Wire) {
        match to {
            ArmTarget::List(list) => self.list_add(list, spot),
            ArmTarget::Plain(target) | ArmTarget::Fresh(target) => {
                let passed = self.predicates(route, spot);
                if !passed.is_false() {
                    let when = self.and(when.clone(), passed);
                    self.arrive(route, spot, target, when);
                }
            }
        }
    }

    /// The predicates of a route's step, none of which counts positions, at a node.
    pub(super) fn predicates(&mut self, id: RouteId, spot: Spot) -> Wire {
        let routes = self.table.clone();
        let mut wires: SmallVec<[Wire; 2]> = SmallVec::new();
        for &predicate in routes[id].predicates.iter() {
            let wire = self.evaluate(predicate, spot, &Focus::default());
            if wire.is_false() {
                return wire;
            }
            wires.push(wire);
        }
        self.all(&wires)
    }

    /// A node passed a step: the rest of the route goes on from it.
    pub(super) fn arrive(&mut self, id: RouteId, spot: Spot, target: Target, when: Wire) {
        if self.cells.resolve(&when).is_false() {
            return;
        }
        let (next, leaf) = {
            let route = &self.table[id];
            (route.next, route.leaf)
        };
        match (target, next) {
            (Target::Any(or), RouteId::NONE) => {
                let rest = self.leaf(leaf, spot);
                let wire = self.and(when, rest);
                self.or_add(or, &wire);
            }
            (Target::Any(or), next) if leaf != Leaf::Collect => {
                let rest = self.truth(next, spot);
                let wire = self.and(when, rest);
                self.or_add(or, &wire);
            }
            (_, RouteId::NONE) => self.add(target, spot, when),
            (_, next) => match spot {
                Spot::Opening => self.spread(next, target, when),
                Spot::Late(info) => self.link_wired(info, Need::Nodes(next), target, when),
            },
        }
    }

    /// A target asks for nodes that were wired at a remembered node.
    pub(super) fn link_wired(&mut self, info: InfoId, need: Need, target: Target, when: Wire) {
        match self.infos[info].wired.get(need) {
            Some(Wired::Store(store)) => self.link(*store, target, when),
            _ => debug_assert!(false, "{need:?} was not wired in time"),
        }
    }

    pub(super) fn source_open(&mut self, to: ArmTarget) {
        match to {
            ArmTarget::Plain(Target::Any(or)) | ArmTarget::Fresh(Target::Any(or)) => {
                self.or_open(or);
            }
            ArmTarget::Plain(Target::Sink(sink)) | ArmTarget::Fresh(Target::Sink(sink)) => {
                self.sinks[sink].open += 1;
            }
            ArmTarget::List(list) => self.lists[list].open += 1,
        }
    }

    pub(super) fn source_close(&mut self, to: ArmTarget) {
        match to {
            ArmTarget::Plain(Target::Any(or)) | ArmTarget::Fresh(Target::Any(or)) => {
                self.or_close(or);
            }
            ArmTarget::Plain(Target::Sink(sink)) | ArmTarget::Fresh(Target::Sink(sink)) => {
                self.close_sink(sink);
            }
            ArmTarget::List(list) => self.close_list(list),
        }
    }

    /// Whether anybody still listens there.
    pub(super) fn is_heard(&self, to: ArmTarget) -> bool {
        match to {
            ArmTarget::Plain(Target::Any(or)) | ArmTarget::Fresh(Target::Any(or)) => {
                self.cells.is_open(or)
            }
            ArmTarget::Plain(Target::Sink(sink)) | ArmTarget::Fresh(Target::Sink(sink)) => {
                self.is_sink_heard(sink)
            }
            ArmTarget::List(list) => {
                let list = &self.lists[list];
                !list.is_over() && self.is_heard(ArmTarget::Plain(list.target))
            }
        }
    }
}

/// The remembered nodes that a route looks back at, in document order.
fn listed_behind(all: &SmallMap<RouteId, Behind>, id: RouteId) -> Vec<InfoId> {
    match all.get(id) {
        Some(Behind::Nodes(nodes)) => nodes.clone(),
        _ => Vec::new(),
    }
}
