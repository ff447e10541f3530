//! Arms: what steps wait for at open nodes, and who hears of a node that opens.

use super::Circuit;
use super::cells::Wire;
use super::chains::is_beside;
use super::frames::{Arm, ArmTarget, Spot, Target};
use super::ids::{RouteId, SinkId};
use super::routes::Leaf;
use super::symbols::SymbolUses;
use crate::plan::{Axis, NodeKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;

impl Circuit {
    /// The arms that wait for the opening node hear of it.
    pub(super) fn fire(&mut self, symbol: &SymbolUses) {
        let routes = self.table.clone();
        let depth = self.frames.len() - 1;
        let (kind, order) = (self.frames[depth].kind, self.frames[depth].order);
        if depth > 0 && !is_beside(kind) {
            let lines = self.line_up_picks(&symbol.picked, depth);
            if !symbol.chained.is_empty() {
                self.extend_ahead(&symbol.chained, depth);
            }
            self.advance_picks(lines, depth);
            if !symbol.reached.is_empty() {
                self.reach_nexts(&symbol.reached, depth);
            }
        }
        for &id in symbol.awaited.iter() {
            self.act_for(id);
            let route = &routes[id];
            if route.end.is_some() {
                if !is_beside(kind) {
                    self.advance_lasts(id);
                }
                continue;
            }
            let is_near = match route.axis {
                Axis::Attribute => kind == NodeKind::Attribute,
                Axis::Namespace => kind == NodeKind::Namespace,
                _ => !is_beside(kind),
            };
            let waiting = &self.arms[id];
            if !is_near || (waiting.is_empty() && self.follow[id].is_empty()) {
                continue;
            }
            let is_deep = is_deep(route.axis);
            if route.is_positional {
                self.begin_lists(id, depth, is_deep);
            }
            let mut heard: SmallVec<[(ArmTarget, Wire); 4]> = SmallVec::new();
            let mut looks = 0;
            for arms in [&self.arms[id], &self.follow[id]] {
                for arm in arms.iter().rev() {
                    if !is_deep && (arm.depth as usize) + 1 < depth {
                        break;
                    }
                    looks += 1;
                    // Its own arms, put up a moment ago, are for others.
                    if arm.since >= order {
                        continue;
                    }
                    if self.is_heard(arm.to) {
                        heard.push((arm.to, self.cells.resolve(&arm.when)));
                    }
                    if arm.is_all {
                        break;
                    }
                }
            }
            self.cells.account.spend(looks);
            self.pairs += looks;
            self.deliver_all(id, heard);
        }
    }

    /// The lists that the opening node is the first of begin.
    fn begin_lists(&mut self, id: RouteId, depth: usize, is_deep: bool) {
        let order = self.frames[depth].order;
        let mut fresh: SmallVec<[usize; 2]> = SmallVec::new();
        for (place, arm) in self.arms[id].iter().enumerate().rev() {
            if !is_deep && (arm.depth as usize) + 1 < depth {
                break;
            }
            self.cells.account.spend(1);
            if matches!(arm.to, ArmTarget::Fresh(_)) && arm.since < order {
                fresh.push(place);
            }
        }
        for place in fresh {
            self.begin_list(id, place);
        }
    }

    /// The list of a step that counts positions begins with the first node.
    fn begin_list(&mut self, route: RouteId, place: usize) {
        let arm = &self.arms[route][place];
        let (ArmTarget::Fresh(target), when) = (arm.to, arm.when.clone()) else {
            return;
        };
        let list = self.add_list(route, target, when);
        self.arms[route][place].to = ArmTarget::List(list);
        self.source_close(ArmTarget::Fresh(target));
    }

    /// One node reaches a sink once by each route, however many nodes it is below.
    fn deliver_all(&mut self, id: RouteId, heard: SmallVec<[(ArmTarget, Wire); 4]>) {
        for (to, when) in self.merge_heard(heard).into_iter().rev() {
            self.deliver(id, to, Spot::Opening, &when);
        }
    }

    /// The targets of a node, each sink once.
    pub(super) fn merge_heard(
        &mut self,
        heard: SmallVec<[(ArmTarget, Wire); 4]>,
    ) -> SmallVec<[(ArmTarget, Wire); 4]> {
        let mut sinks: FxHashMap<SinkId, usize> = FxHashMap::default();
        let mut merged: SmallVec<[(ArmTarget, Wire); 4]> = SmallVec::new();
        for (to, when) in heard {
            if let ArmTarget::Plain(Target::Sink(sink)) = to
                && let Some(at) = place_of(&mut sinks, &merged, sink)
            {
                merged[at].1 = self.any(&[merged[at].1.clone(), when]);
            } else {
                merged.push((to, when));
            }
        }
        merged
    }

    /// Waits at an open node for what a route's step reaches.
    pub(super) fn arm(&mut self, route: RouteId, depth: usize, to: ArmTarget, when: Wire) {
        let axis = self.table[route].axis;
        let is_deep = is_deep(axis);
        let is_around = |arm: &&Arm| is_deep || arm.depth as usize == depth;
        let outer = self.arms[route].last().filter(is_around).cloned();
        let Some((when, is_all)) = self.cover(route, outer, to, when) else {
            return;
        };
        self.source_open(to);
        self.cells.pin(&when);
        let since = self.frames[self.frames.len() - 1].order;
        if let Some(old) = take_covered(&mut self.arms[route], since) {
            self.drop_arm(old);
        }
        self.held_bytes += size_of::<Arm>();
        self.arms[route].push(Arm {
            depth: depth as u32,
            since,
            to,
            when,
            is_all,
        });
        let extra = self.extra_of(depth);
        if matches!(axis, Axis::Attribute | Axis::Namespace) {
            extra.armed_near.push(route);
        } else if extra.armed.last() != Some(&route) {
            extra.armed.push(route);
        }
    }

    /// An arm covers the arm before it, whose nodes include its own: the condition under which
    /// it is heard, and whether it covers all before it. Nothing where it adds nothing.
    pub(super) fn cover(
        &mut self,
        route: RouteId,
        outer: Option<Arm>,
        to: ArmTarget,
        when: Wire,
    ) -> Option<(Wire, bool)> {
        let when = self.cells.resolve(&when);
        let Some(outer) = outer else {
            return Some((when, true));
        };
        let around = self.cells.resolve(&outer.when);
        match (to, outer.to) {
            (ArmTarget::Plain(inner), ArmTarget::Plain(target)) if inner == target => {
                if around.is_true() {
                    return None;
                }
                Some((self.any(&[when, around]), outer.is_all))
            }
            // A truth that other routes add to does not stand for what this one finds.
            (ArmTarget::Plain(Target::Any(or)), ArmTarget::Plain(Target::Any(target)))
                if when.is_true()
                    && around.is_true()
                    && self.table[route].leaf != Leaf::Collect =>
            {
                self.or_add(target, &Wire::Cell(or));
                Some((when, outer.is_all))
            }
            _ => Some((when, false)),
        }
    }

    pub(super) fn arm_later(&mut self, route: RouteId, depth: usize, to: ArmTarget, when: Wire) {
        self.source_open(to);
        self.cells.pin(&when);
        self.extra_of(depth).later.push((route, to, when));
    }

    /// Takes the arms of a route at a node down.
    pub(super) fn disarm(&mut self, route: RouteId, depth: usize) {
        if self.table[route].end.is_some() {
            return self.close_lasts(route, depth);
        }
        let is_here = |arm: &mut Arm| arm.depth as usize == depth;
        while let Some(arm) = self.arms[route].pop_if(is_here) {
            self.drop_arm(arm);
        }
    }

    /// An arm that was put up is gone.
    pub(super) fn drop_arm(&mut self, arm: Arm) {
        self.held_bytes -= size_of::<Arm>();
        self.cells.unpin(&arm.when);
        self.source_close(arm.to);
    }
}

/// Where a sink is among those that hear of a node; if it is not there, it will be the next. A few
/// are looked through, many are hashed.
fn place_of(
    sinks: &mut FxHashMap<SinkId, usize>,
    merged: &[(ArmTarget, Wire)],
    sink: SinkId,
) -> Option<usize> {
    const FEW: usize = 8;
    if merged.len() < FEW {
        let own = ArmTarget::Plain(Target::Sink(sink));
        return merged.iter().position(|(to, _)| *to == own);
    }
    if sinks.is_empty() {
        let listed = merged.iter().enumerate();
        sinks.extend(listed.filter_map(|(at, (to, _))| match to {
            ArmTarget::Plain(Target::Sink(sink)) => Some((*sink, at)),
            _ => None,
        }));
    }
    match sinks.entry(sink) {
        Entry::Occupied(known) => Some(*known.get()),
        Entry::Vacant(free) => {
            free.insert(merged.len());
            None
        }
    }
}

/// The last arm but one, where the last is heard for both and goes at the same event. The node
/// that put the last one up has to be past: it may still hear the one before.
pub(super) fn take_covered(arms: &mut Vec<Arm>, now: u64) -> Option<Arm> {
    let [.., old, last] = arms.as_slice() else {
        return None;
    };
    let is_plain = matches!(last.to, ArmTarget::Plain(_));
    let is_covered = is_plain && old.to == last.to && old.depth == last.depth && last.since < now;
    is_covered.then(|| arms.remove(arms.len() - 2))
}

/// Whether an arm at an open node hears of all nodes below it. What follows an attribute begins
/// with the content of its element.
fn is_deep(axis: Axis) -> bool {
    matches!(
        axis,
        Axis::Descendant | Axis::DescendantOrSelf | Axis::Following
    )
}
