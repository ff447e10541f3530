//! Nodes open and close.

use super::arms::take_covered;
use super::cells::{Atom, Kind, Wire};
use super::evaluation::Focus;
use super::frames::{Arm, ArmTarget, Extra, Frame, Info, Opening, Spot, Target, Wired};
use super::gates::INPUT;
use super::ids::InfoId;
use super::routes::Need;
use super::sinks::SinkKind;
use super::{Action, Circuit};
use crate::events::Symbol;
use crate::plan::{Aggregate, NodeKind, Output, Symbols, TargetId};
use crate::tables::append;
use std::rc::Rc;

impl Circuit {
    /// A node opens: everything that is asked of it is wired.
    #[inline]
    pub fn open(&mut self, node: &Opening<'_>, symbols: &Symbols) {
        self.push_frame(node.symbol, node.kind);
        if node.is_silent {
            self.heard_from = self.next_order;
        }
        let is_asked = node.kind == NodeKind::Document || !node.ids.is_empty();
        if self.concerns(node.symbol, symbols) || is_asked {
            self.open_concerned(node, symbols);
        }
    }

    /// An element opens that no expression has to do with; whether it is one.
    #[inline]
    pub fn open_idle(&mut self, symbol: Symbol, symbols: &Symbols) -> bool {
        if self.routes.uses_ids || self.concerns(symbol, symbols) {
            return false;
        }
        self.push_frame(symbol, NodeKind::Element);
        true
    }

    /// The innermost node closes, if no expression has to do with that; whether it is so.
    #[inline]
    pub fn close_idle(&mut self, symbols: &Symbols) -> bool {
        let depth = self.frames.len() - 1;
        let (frame, extra) = (self.frames[depth], &self.extras[depth]);
        let is_quiet =
            depth > 0 && frame.info.is_none() && !extra.is_used && extra.behind.is_empty();
        if !is_quiet || self.concerns(frame.symbol, symbols) {
            return false;
        }
        self.frames.pop();
        true
    }

    #[inline]
    fn push_frame(&mut self, symbol: Symbol, kind: NodeKind) {
        let frame = Frame {
            symbol,
            kind,
            order: self.next_order,
            info: InfoId::NONE,
        };
        self.next_order += 1;
        append(&mut self.frames, frame);
        if self.extras.len() < self.frames.len() {
            append(&mut self.extras, Extra::default());
        }
    }

    fn open_concerned(&mut self, node: &Opening<'_>, symbols: &Symbols) {
        let symbol = self.symbol(node.symbol, symbols);
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
        if !symbol.indexed.is_empty() {
            self.index_member(&symbol.indexed, self.frames.len() - 1);
        }
        if !symbol.folded.is_empty() {
            self.fold_member(&symbol.folded, self.frames.len() - 1);
        }
        if !symbol.counted.is_empty() {
            self.count_member(&symbol.counted, self.frames.len() - 1);
        }
    }

    /// All that expressions ask of the document node.
    fn open_document(&mut self) {
        self.open_root_indexes();
        for &need in self.routes.root_needs.clone().keys() {
            let wired = self.wire(need);
            self.root.insert(need, wired);
        }
        let plan = self.plan.clone();
        for target in self.routes.targets.clone() {
            let (kind, set) = match plan.target(target).0 {
                Output::Select { set, .. } => (SinkKind::Output { target }, set),
                Output::SelectAggregate { set, function, .. } => {
                    let needs_value = function != Aggregate::Count;
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
            let sink = match kind {
                SinkKind::Tally { .. } => self.add_listening(kind).0,
                _ => self.add_relay(kind),
            };
            self.collect_merged(set, Spot::Opening, Target::Sink(sink), Wire::TRUE);
        }
    }

    fn answer(&mut self, target: TargetId, wire: Wire) {
        match wire {
            Wire::Known(atom) => self.actions.push(Action::Answer { target, atom }),
            Wire::Cell(input) => {
                let cell = self.cells.add_pinned(Kind::Answer { target });
                self.cells.depend(cell, input, INPUT);
            }
        }
    }

    /// Evaluates what later nodes may need of the opening node, and keeps it.
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
                self.infos[info].wired.insert(need, wired);
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
    pub(super) fn info_of(&mut self, spot: Spot) -> InfoId {
        if let Spot::Late(info) = spot {
            return info;
        }
        let depth = self.frames.len() - 1;
        let frame = self.frames[depth];
        if frame.info.is_some() {
            return frame.info;
        }
        let (name, uri) = self.opening_name.clone();
        let info = self.infos.add(Info {
            order: frame.order,
            kind: frame.kind,
            name,
            uri,
            references: 1,
            depth: Some(depth as u32),
            ..Info::default()
        });
        self.frames[depth].info = info;
        info
    }

    /// Drops a reference to a remembered node, and with the last one the node.
    pub(super) fn release(&mut self, id: InfoId) {
        let info = &mut self.infos[id];
        info.references -= 1;
        if info.references > 0 {
            return;
        }
        if info.candidate.is_some() && !info.is_released {
            let candidate = info.candidate;
            self.actions.push(Action::Release { candidate });
        }
        let info = &mut self.infos[id];
        let (wired, value) = (std::mem::take(&mut info.wired), info.value.take());
        self.infos.free(id);
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

    /// Whether the string value of the innermost node is awaited.
    pub fn wants_value(&self) -> bool {
        let depth = self.frames.len() - 1;
        !self.extras[depth].on_value.is_empty()
    }

    /// The innermost node closes; `value` is its string value where that was awaited.
    pub fn close(&mut self, value: &[u8]) {
        (self.is_opening, self.is_touched) = (false, true);
        let depth = self.frames.len() - 1;
        let frame = self.frames[depth];
        if self.extras[depth].is_used {
            self.close_extra(depth, value);
        }
        // From here on nothing can wait for its end any more.
        if frame.info.is_some() {
            self.infos[frame.info].depth = None;
        }
        self.leave_behind(depth);
        if depth == 0 {
            self.close_document();
        }
        if !self.extras[depth].behind.is_empty() {
            for (_, behind) in std::mem::take(&mut self.extras[depth].behind) {
                self.forget(behind);
            }
        }
        if frame.info.is_some() {
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
            self.act_for(route);
            self.disarm(route, depth);
        }
        for (route, to, when) in std::mem::take(&mut self.extras[depth].later) {
            if self.table[route].pick.is_some() {
                self.pick_after(route, to, when);
                continue;
            }
            let since = self.next_order.saturating_sub(1);
            let outer = self.follow[route].last().cloned();
            let Some((all, is_all)) = self.cover(route, outer, to, when.clone()) else {
                self.cells.unpin(&when);
                self.source_close(to);
                continue;
            };
            self.cells.pin(&all);
            self.cells.unpin(&when);
            if let Some(old) = take_covered(&mut self.follow[route], since) {
                self.drop_arm(old);
            }
            self.held_bytes += size_of::<Arm>();
            self.follow[route].push(Arm {
                depth: 0,
                since,
                to,
                when: all,
                is_all,
            });
        }
        self.begin_after(depth);
        self.close_counted(depth);
        self.close_folds(depth);
        self.close_indexes(depth);
        let ends = std::mem::take(&mut self.extras[depth].ahead);
        self.close_ahead(ends);
        let picks = std::mem::take(&mut self.extras[depth].picks);
        self.close_picks(picks);
        self.leave_trails(depth);
        for (_, above) in std::mem::take(&mut self.extras[depth].above) {
            self.cells.unpin(&above);
        }
        // Closing one may be what brings up another.
        while let Some(or) = self.extras[depth].on_close.pop() {
            self.or_close(or);
        }
    }

    fn close_document(&mut self) {
        for route in self.follow.ids() {
            for arm in std::mem::take(&mut self.follow[route]) {
                self.drop_arm(arm);
            }
        }
        let ends = std::mem::take(&mut self.ahead);
        self.close_ahead(ends);
        let picks = std::mem::take(&mut self.picks);
        self.close_picks(picks);
        self.close_document_counts();
        self.close_document_indexes();
        let folds = std::mem::take(&mut self.folding.document);
        self.end_folds(folds);
        for (target, words, when) in std::mem::take(&mut self.id_arms) {
            self.cells.unpin(&words);
            self.cells.unpin(&when);
            self.source_close(ArmTarget::Plain(target));
        }
    }

    /// Ends an event: everything that follows from it is worked out.
    pub fn finish_event(&mut self) {
        let is_counting =
            !(self.joining.is_empty() && self.asking.is_empty() && self.closing.is_empty());
        if !is_counting && self.ways.is_empty() && self.cells.is_quiet() {
            return;
        }
        self.join_groups();
        for or in std::mem::take(&mut self.ways) {
            self.or_close(or);
        }
        self.drain();
        self.cells.sweep();
        self.reap();
    }
}
