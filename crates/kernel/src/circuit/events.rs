//! Nodes open and close.

use super::cells::{Atom, Kind, Wire};
use super::evaluation::Focus;
use super::frames::{Arm, ArmTarget, Extra, Frame, Info, Opening, Seen, Spot, Target, Wired};
use super::routes::{Leaf, Need};
use super::sinks::SinkKind;
use super::{Action, Circuit, Symbol, Tests};
use crate::plan::{Axis, NONE, NodeKind, Output};
use smallvec::SmallVec;
use std::rc::Rc;

impl Circuit {
    /// A node opens: everything that is asked of it is wired.
    #[inline]
    pub fn open(&mut self, node: &Opening<'_>, tests: &dyn Tests) {
        let order = self.next_order;
        self.next_order += 1;
        if node.is_silent {
            self.heard_from = self.next_order;
        }
        self.frames.push(Frame {
            symbol: node.symbol,
            kind: node.kind,
            order,
            info: NONE,
        });
        if self.extras.len() < self.frames.len() {
            self.extras.push(Extra::default());
        }
        let is_asked = node.kind == NodeKind::Document || !node.ids.is_empty();
        if self.concerns(node.symbol, tests) || is_asked {
            self.open_concerned(node, tests);
        }
    }

    fn open_concerned(&mut self, node: &Opening<'_>, tests: &dyn Tests) {
        let symbol = self.symbol(node.symbol, tests);
        self.is_opening = true;
        self.memo.clear();
        let text = node
            .value
            .map(|value| std::str::from_utf8(value).unwrap_or(""));
        self.opening_value = text.map(Rc::from);
        if self.routes.uses_names {
            self.opening_name = (node.name.into(), node.uri.into());
        }
        if node.kind == NodeKind::Document {
            self.open_document();
        }
        self.fire(&symbol);
        for &need in symbol.needs.iter() {
            self.prepare(need);
        }
        if !node.ids.is_empty() {
            self.identify(node.ids, &symbol.needs);
        }
    }

    /// All that expressions ask of the document node.
    fn open_document(&mut self) {
        for need in self.routes.root_needs.clone() {
            let wired = self.wire(need);
            self.root.insert(need, wired);
        }
        let plan = self.plan.clone();
        for target in self.routes.targets.clone() {
            let (kind, set) = match plan.target(target).0 {
                Output::Select { set, .. } => (SinkKind::Output { target }, set),
                Output::SelectAggregate { set, function, .. } => {
                    let needs_value = function != 0;
                    (
                        SinkKind::Tally {
                            target,
                            needs_value,
                        },
                        set,
                    )
                }
                Output::SelectValue { atom, .. } | Output::SelectFilter { atom } => {
                    let wire = self.evaluate(atom, Spot::Opening, &Focus::default());
                    self.answer(target, wire);
                    continue;
                }
                _ => continue,
            };
            let sink = self.add_relay(kind);
            if let SinkKind::Tally { .. } = self.sinks[sink as usize].kind {
                let cell = self.cells.add(Kind::Sink(sink));
                self.cells.pin(&Wire::Cell(cell));
                self.sinks[sink as usize].cell = Some(cell);
            }
            self.collect_merged(set, Spot::Opening, Target::Sink(sink), Wire::TRUE);
        }
    }

    fn answer(&mut self, target: u32, wire: Wire) {
        match wire {
            Wire::Known(atom) => self.actions.push(Action::Answer { target, atom }),
            Wire::Cell(input) => {
                let cell = self.cells.add(Kind::Answer { target });
                self.cells.pin(&Wire::Cell(cell));
                self.cells.depend(cell, input, 0);
            }
        }
    }

    /// The arms that wait for the opening node hear of it.
    fn fire(&mut self, symbol: &Symbol) {
        let routes = self.table.clone();
        let depth = self.frames.len() - 1;
        let (kind, order) = (self.frames[depth].kind, self.frames[depth].order);
        for &id in symbol.awaited.iter() {
            let route = &routes[id as usize];
            let is_near = match route.axis {
                Axis::Attribute => kind == NodeKind::Attribute,
                Axis::Namespace => kind == NodeKind::Namespace,
                _ => !matches!(kind, NodeKind::Attribute | NodeKind::Namespace),
            };
            let waiting = &self.arms[id as usize];
            if !is_near || (waiting.is_empty() && self.follow[id as usize].is_empty()) {
                continue;
            }
            let is_deep = matches!(
                route.axis,
                Axis::Descendant | Axis::DescendantOrSelf | Axis::Following
            );
            let mut heard: SmallVec<[(ArmTarget, Wire); 4]> = SmallVec::new();
            let mut fresh: SmallVec<[usize; 2]> = SmallVec::new();
            for (place, arm) in waiting.iter().enumerate().rev() {
                if !is_deep && (arm.depth as usize) + 1 < depth {
                    break;
                }
                if matches!(arm.to, ArmTarget::Fresh(_)) && arm.since < order {
                    fresh.push(place);
                }
            }
            for place in fresh {
                self.begin_list(id, place);
            }
            let waiting = &self.arms[id as usize];
            let follow = self.follow[id as usize].iter();
            for arm in waiting.iter().rev().chain(follow) {
                // Its own arms, put up a moment ago, are for others.
                if !is_deep && (arm.depth as usize) + 1 < depth {
                    break;
                }
                if arm.since < order && self.is_heard(arm.to) {
                    heard.push((arm.to, self.cells.resolve(&arm.when)));
                }
            }
            self.deliver_all(id, heard);
        }
    }

    /// The list of a step that counts positions begins with the first node.
    fn begin_list(&mut self, route: u32, place: usize) {
        let arm = &self.arms[route as usize][place];
        let (ArmTarget::Fresh(target), when) = (arm.to, arm.when.clone()) else {
            return;
        };
        let list = self.add_list(route, target, when);
        self.arms[route as usize][place].to = ArmTarget::List(list);
        self.source_close(ArmTarget::Fresh(target));
    }

    fn deliver_all(&mut self, id: u32, mut heard: SmallVec<[(ArmTarget, Wire); 4]>) {
        while let Some((to, mut when)) = heard.pop() {
            if let ArmTarget::Plain(Target::Sink(_)) = to {
                // One node reaches a sink once by each route, however many nodes it is below.
                let mut at = 0;
                while at < heard.len() {
                    if heard[at].0 == to {
                        let (_, other) = heard.swap_remove(at);
                        when = self.any(&[when, other]);
                    } else {
                        at += 1;
                    }
                }
            }
            self.deliver(id, to, Spot::Opening, &when);
        }
    }

    /// Wires what may be asked of the opening node later, and remembers it.
    pub(super) fn prepare(&mut self, need: Need) {
        let info = self.info_of(Spot::Opening);
        match need {
            Need::Node => {}
            Need::Value => {
                if self.infos[info].value.is_none() {
                    let value = self.value_of(Spot::Opening);
                    self.cells.pin(&value);
                    self.infos[info].value = Some(value);
                }
            }
            Need::Result(_) => self.infos[info].outputs += 1,
            _ => {
                let wired = self.wire(need);
                self.infos[info].wired.push((need, wired));
            }
        }
    }

    fn wire(&mut self, need: Need) -> Wired {
        let wire = match need {
            Need::Atom(part) => self.evaluate(part, Spot::Opening, &Focus::default()),
            Need::Truth(route) => self.truth(route, Spot::Opening),
            _ => {
                let store = self.add_relay(SinkKind::Store {
                    entries: Vec::new(),
                    links: Vec::new(),
                    is_dropped: false,
                });
                let target = Target::Sink(store);
                match need {
                    Need::Set(set) => self.collect(set, Spot::Opening, target, Wire::TRUE),
                    Need::Nodes(route) => self.spread(route, target, Wire::TRUE),
                    _ => {}
                }
                self.close_sink(store);
                return Wired::Store(store);
            }
        };
        self.cells.pin(&wire);
        Wired::Wire(wire)
    }

    /// The remembered node of a spot.
    pub(super) fn info_of(&mut self, spot: Spot) -> u32 {
        if let Spot::Late(info) = spot {
            return info;
        }
        let depth = self.frames.len() - 1;
        let frame = self.frames[depth];
        if frame.info != NONE {
            return frame.info;
        }
        let (name, uri) = self.opening_name.clone();
        let info = self.infos.add(Info {
            order: frame.order,
            kind: frame.kind,
            name,
            uri,
            references: 1,
            depth: depth as u32,
            ..Info::default()
        });
        self.frames[depth].info = info;
        info
    }

    /// One less refers to a remembered node; the last one lets it go.
    pub(super) fn release(&mut self, id: u32) {
        let info = &mut self.infos[id];
        info.references -= 1;
        if info.references > 0 {
            return;
        }
        if info.candidate != NONE && !info.is_released {
            let candidate = info.candidate;
            self.actions.push(Action::Release { candidate });
        }
        let info = &mut self.infos[id];
        let (wired, value) = (std::mem::take(&mut info.wired), info.value.take());
        self.infos.remove(id);
        for (_, wired) in wired {
            match wired {
                Wired::Wire(wire) => self.cells.unpin(&wire),
                Wired::Store(store) => self.drop_store(store),
            }
        }
        if let Some(value) = value {
            self.cells.unpin(&value);
        }
    }

    /// All attributes and namespaces of the opening element are known.
    pub fn finish_attributes(&mut self) {
        let depth = self.frames.len() - 1;
        self.is_opening = false;
        if self.extras[depth].armed_near.is_empty() {
            return;
        }
        for route in std::mem::take(&mut self.extras[depth].armed_near) {
            self.disarm(route, depth);
        }
    }

    /// Takes the arms of a route at a node down.
    fn disarm(&mut self, route: u32, depth: usize) {
        let is_here = |arm: &mut Arm| arm.depth as usize == depth;
        while let Some(arm) = self.arms[route as usize].pop_if(is_here) {
            self.cells.unpin(&arm.when);
            self.source_close(arm.to);
        }
    }

    /// Whether the string value of the innermost node is awaited.
    pub fn wants_value(&self) -> bool {
        let depth = self.frames.len() - 1;
        !self.extras[depth].on_value.is_empty()
    }

    /// The innermost node closes; `value` is its string value where that was awaited.
    pub fn close(&mut self, value: &[u8]) {
        self.is_opening = false;
        let depth = self.frames.len() - 1;
        let frame = self.frames[depth];
        if self.extras[depth].is_used {
            self.close_extra(depth, value);
        }
        // From here on nothing can wait for its end any more.
        if frame.info != NONE {
            self.infos[frame.info].depth = NONE;
        }
        self.leave_behind(depth);
        if depth == 0 {
            self.close_document();
        }
        if !self.extras[depth].seen.is_empty() {
            for (_, seen) in std::mem::take(&mut self.extras[depth].seen) {
                self.forget(seen);
            }
        }
        if frame.info != NONE {
            self.release(frame.info);
        }
        self.frames.pop();
    }

    fn close_extra(&mut self, depth: usize, value: &[u8]) {
        self.extras[depth].is_used = false;
        let on_value = std::mem::take(&mut self.extras[depth].on_value);
        if !on_value.is_empty() {
            let text: Rc<str> = std::str::from_utf8(value).unwrap_or("").into();
            for cell in on_value {
                self.cells.decide(cell, Atom::Text(text.clone()));
            }
        }
        for route in std::mem::take(&mut self.extras[depth].armed) {
            self.disarm(route, depth);
        }
        for (route, to, when) in std::mem::take(&mut self.extras[depth].later) {
            let since = self.next_order.saturating_sub(1);
            self.follow[route as usize].push(Arm {
                depth: 0,
                since,
                to,
                when,
            });
        }
        // Closing one may be what brings up another.
        while let Some(or) = self.extras[depth].on_close.pop() {
            self.or_close(or);
        }
    }

    /// Remembers a closed node for those that will look back at it.
    fn leave_behind(&mut self, depth: usize) {
        let frame = self.frames[depth];
        let symbol = match &self.symbols[frame.symbol as usize] {
            Some(symbol) if !symbol.behind.is_empty() => symbol.clone(),
            _ => return,
        };
        if depth == 0 || matches!(frame.kind, NodeKind::Attribute | NodeKind::Namespace) {
            return;
        }
        let routes = self.table.clone();
        for &id in symbol.behind.iter() {
            let route = &routes[id as usize];
            let is_truth = route.leaf != Leaf::Collect && !route.is_positional;
            let seen = if is_truth {
                let wire = if route.is_plain() {
                    Wire::TRUE
                } else {
                    let or = self.open_or(1);
                    let to = ArmTarget::Plain(Target::Any(or));
                    self.deliver(id, to, Spot::Late(frame.info), &Wire::TRUE);
                    self.or_close(or);
                    self.cells.resolve(&Wire::Cell(or))
                };
                if wire.is_false() {
                    continue;
                }
                self.cells.pin(&wire);
                Seen::Truth(wire)
            } else {
                self.infos[frame.info].references += 1;
                Seen::Node(frame.info)
            };
            self.add_seen(id, route.axis, depth, seen);
        }
    }

    fn add_seen(&mut self, id: u32, axis: Axis, depth: usize, seen: Seen) {
        let is_sure = |seen: &Seen| matches!(seen, Seen::Truth(wire) if wire.is_true());
        if axis == Axis::Preceding {
            let list = &mut self.behind[id as usize];
            // One that will do for sure is enough.
            if !(is_sure(&seen) && list.iter().any(is_sure)) {
                list.push(seen);
            }
            return;
        }
        let list = &mut self.extras[depth - 1].seen;
        if !(is_sure(&seen)
            && list
                .iter()
                .any(|(route, seen)| *route == id && is_sure(seen)))
        {
            list.push((id, seen));
        }
    }

    fn forget(&mut self, seen: Seen) {
        match seen {
            Seen::Truth(wire) => self.cells.unpin(&wire),
            Seen::Node(info) => self.release(info),
        }
    }

    fn close_document(&mut self) {
        for route in 0..self.follow.len() {
            for arm in std::mem::take(&mut self.follow[route]) {
                self.cells.unpin(&arm.when);
                self.source_close(arm.to);
            }
        }
        for (target, words, when) in std::mem::take(&mut self.id_arms) {
            self.cells.unpin(&words);
            self.cells.unpin(&when);
            self.source_close(ArmTarget::Plain(target));
        }
    }

    /// Ends an event: everything that follows from it is worked out.
    pub fn finish_event(&mut self) {
        if self.ways.is_empty() && self.cells.is_quiet() {
            return;
        }
        for or in std::mem::take(&mut self.ways) {
            self.or_close(or);
        }
        self.drain();
        self.cells.sweep();
        self.reap();
    }
}
