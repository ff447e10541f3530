//! Where the nodes of a set go: counts, values, results, or on along a route.

use super::Circuit;
use super::cells::{Atom, Handle, Kind, Wire};
use super::evaluation::comparison;
use super::frames::{ArmTarget, Spot, Target};
use super::ids::{CountedId, EntryId, FoldedId, IndexId, InfoId, ListId, PairId, RouteId, SinkId};
use super::indexes::{Ask, Joining};
use super::routes::Need;
use crate::plan::{Comparison, NamePart, PartId, TargetId};

/// Which part of the first node is the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstPart {
    /// Its string value; empty where there is no node.
    Text,
    /// A part of its name.
    Name(NamePart),
    /// Its string value, or nothing where there is no node.
    Optional,
}

/// Until when a node may be reached again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// All come up while the node opens.
    Event,
    /// Until the node ends.
    Node,
    /// Until its parent ends.
    Parent,
    /// Until the set is complete.
    End,
}

#[derive(Debug)]
pub enum SinkKind {
    Count,
    Sum,
    Strings,
    /// String values as an array of JSON.
    List,
    /// Some node compares with a value.
    Compare {
        op: Comparison,
        value: Wire,
    },
    First {
        part: FirstPart,
        is_ordered: bool,
    },
    /// One side of a comparison of two sets.
    Pair {
        pair: PairId,
        side: usize,
    },
    /// The results of a target.
    Output {
        target: TargetId,
    },
    /// What a target adds up.
    Tally {
        target: TargetId,
        needs_value: bool,
    },
    /// The values beside a result.
    Bind {
        target: TargetId,
        info: InfoId,
    },
    /// Each node once, whatever ways lead to it.
    Merge {
        target: Target,
        window: Window,
    },
    /// On along a route.
    Steps {
        route: RouteId,
        target: Target,
    },
    Filter {
        list: ListId,
    },
    /// Members of a set that is put together when the node ends that leads to them.
    Folded {
        part: FirstPart,
    },
    /// Members that the sink's cell waits for, below the node at a depth.
    Next {
        spec: FoldedId,
        depth: usize,
    },
    /// Members of a counted step, below the node at a depth.
    Counted {
        spec: CountedId,
        depth: usize,
        since: EntryId,
    },
    /// Members of a shared set.
    Indexed {
        index: IndexId,
        joining: Joining,
    },
    /// Members of a shared set that are not settled.
    Unsettled {
        index: IndexId,
    },
    /// Nodes whose values are compared with a part of a shared set.
    Ask(Ask),
    /// Nodes kept for later targets.
    Store {
        entries: Vec<(InfoId, Wire)>,
        links: Vec<(Target, Wire)>,
        /// Whether no further target may link to it; linked ones still get nodes.
        is_dropped: bool,
    },
}

/// A node of a set that a sink has to look at again.
#[derive(Debug)]
pub struct Entry {
    pub order: u64,
    pub when: Wire,
    pub value: Wire,
}

impl Entry {
    pub(super) fn is_settled(&self) -> bool {
        self.when.is_false() || (self.when.is_true() && matches!(self.value, Wire::Known(_)))
    }
}

#[derive(Debug)]
pub struct Sink {
    pub kind: SinkKind,
    /// Sources that may still send nodes.
    pub open: u32,
    /// The cell that it decides.
    pub cell: Option<Handle>,
    pub entries: Vec<Entry>,
    /// Entries that are not settled.
    pub pending: u32,
    /// Messages about entries that are still to come.
    pub(super) awaited: u32,
    /// Entries before this one are out.
    pub(super) head: usize,
    /// Tells it from others that had its id.
    pub(super) serial: u64,
}

impl Circuit {
    pub(super) fn add_sink(&mut self, kind: SinkKind, cell: Handle) -> SinkId {
        let id = self.add_relay(kind);
        self.sinks[id].cell = Some(cell);
        id
    }

    /// A sink without a cell of its own; its caller closes its first source.
    pub(super) fn add_relay(&mut self, kind: SinkKind) -> SinkId {
        if let SinkKind::Merge { target, .. } | SinkKind::Steps { target, .. } = kind {
            self.source_open(ArmTarget::Plain(target));
        }
        if let SinkKind::Compare { value, .. } = &kind {
            self.cells.pin(value);
        }
        self.next_serial += 1;
        let sink = Sink {
            kind,
            open: 1,
            cell: None,
            entries: Vec::new(),
            pending: 0,
            awaited: 0,
            head: 0,
            serial: self.next_serial,
        };
        self.sinks.add(sink)
    }

    /// A value computed from all nodes of a set.
    pub(super) fn gather(&mut self, kind: SinkKind, set: PartId, spot: Spot) -> Wire {
        let (id, cell) = self.add_gathering(kind);
        self.collect_merged(set, spot, Target::Sink(id), Wire::TRUE);
        self.cells.resolve(&Wire::Cell(cell))
    }

    /// A value computed from all nodes that a route reaches from the opening node.
    pub(super) fn gather_along(&mut self, kind: SinkKind, route: RouteId) -> Wire {
        let (id, cell) = self.add_gathering(kind);
        self.spread(route, Target::Sink(id), Wire::TRUE);
        self.close_sink(id);
        self.cells.resolve(&Wire::Cell(cell))
    }

    fn add_gathering(&mut self, kind: SinkKind) -> (SinkId, Handle) {
        let id = self.add_relay(kind);
        let cell = self.cells.add(Kind::Sink(id));
        self.sinks[id].cell = Some(cell);
        (id, cell)
    }

    /// A sink with a cell that stays until the sink goes, and hears of its entries.
    pub(super) fn add_listening(&mut self, kind: SinkKind) -> (SinkId, Handle) {
        let (id, cell) = self.add_gathering(kind);
        self.cells.pin(&Wire::Cell(cell));
        (id, cell)
    }

    /// A part of the first node of a set.
    pub(super) fn first(&mut self, set: PartId, spot: Spot, part: FirstPart) -> Wire {
        let planned = self.routes.planned(set);
        if planned.is_here() {
            return self.part_of(part, spot);
        }
        let is_ordered = !planned.is_late;
        self.gather(SinkKind::First { part, is_ordered }, set, spot)
    }

    pub(super) fn part_of(&mut self, part: FirstPart, spot: Spot) -> Wire {
        match part {
            FirstPart::Name(part) => Wire::Known(Atom::Text(self.name_of(part, spot))),
            _ => self.value_of(spot),
        }
    }

    pub(super) fn is_sink_heard(&self, id: SinkId) -> bool {
        let sink = &self.sinks[id];
        match sink.kind {
            SinkKind::Merge { target, .. } | SinkKind::Steps { target, .. } => {
                self.is_heard(ArmTarget::Plain(target))
            }
            SinkKind::Filter { list } => self.is_heard(ArmTarget::List(list)),
            SinkKind::Ask(ask) => self.cells.is_open(ask.or),
            SinkKind::Next { .. } => sink.cell.is_some_and(|cell| self.cells.is_open(cell)),
            SinkKind::Store {
                is_dropped,
                ref links,
                ..
            } => !(is_dropped && links.is_empty()),
            _ => sink.cell.is_none_or(|cell| self.cells.is_open(cell)),
        }
    }

    /// Frees the sinks that are closed and whose cell is decided or gone. Looking at all of them
    /// only when their number has doubled keeps this cheap.
    pub(super) fn reap(&mut self) {
        if self.lingering.len() < self.linger_max {
            return;
        }
        let mut lingering = std::mem::take(&mut self.lingering);
        lingering.retain(|&id| {
            let sink = &mut self.sinks[id];
            if sink.cell.is_some_and(|cell| self.cells.is_open(cell)) {
                return true;
            }
            self.held_bytes -= sink.entries.len() * size_of::<Entry>();
            sink.entries = Vec::new();
            if let SinkKind::Pair { pair, .. } = sink.kind {
                let pair_state = &mut self.set_pairs[pair];
                pair_state.sides_left -= 1;
                if pair_state.sides_left == 0 {
                    self.set_pairs.free(pair);
                }
            }
            self.sinks.free(id);
            false
        });
        self.linger_max = (2 * lingering.len()).max(LINGER_MIN);
        self.lingering = lingering;
    }

    /// A node joins a set, under a condition.
    pub(super) fn add(&mut self, target: Target, spot: Spot, when: Wire) {
        let when = self.cells.resolve(&when);
        if when.is_false() {
            return;
        }
        let id = match target {
            Target::Any(or) => return self.or_add(or, &when),
            Target::Sink(id) => id,
        };
        if !self.is_sink_heard(id) {
            return;
        }
        let sink = &self.sinks[id];
        match sink.kind {
            SinkKind::Count => {
                if let Some(cell) = sink.cell {
                    self.count_add(cell, &when);
                }
            }
            SinkKind::Tally { .. } | SinkKind::Output { .. }
                if self.order_of(spot) < self.heard_from => {}
            SinkKind::Output { target } => self.add_output(target, spot, when),
            SinkKind::Merge { target, window } => self.merge(id, target, window, spot, when),
            SinkKind::Steps { route, target } => match spot {
                Spot::Opening => self.spread(route, target, when),
                Spot::Late(info) => self.link_wired(info, Need::Nodes(route), target, when),
            },
            SinkKind::Filter { list } => self.filter_add(list, spot, when),
            SinkKind::Next { spec, .. } => self.reach_next(id, spec, spot, when),
            SinkKind::Counted { spec, depth, since } => self.count_end(spec, depth, since, when),
            SinkKind::Indexed { index, joining } => self.add_indexed(index, joining, spot, when),
            SinkKind::Store { .. } => self.store(id, spot, when),
            SinkKind::Bind { .. } | SinkKind::Unsettled { .. } => {}
            _ => self.add_value(id, spot, when),
        }
    }

    /// A node joins a set whose sink looks at the values of nodes.
    fn add_value(&mut self, id: SinkId, spot: Spot, when: Wire) {
        let sink = &self.sinks[id];
        let cell = sink.cell;
        match sink.kind {
            SinkKind::Compare { op, ref value } => {
                let (op, value) = (comparison(op), value.clone());
                let own = self.value_of(spot);
                let truth = self.apply(op, &[own, value]);
                let wire = self.and(when, truth);
                if let Some(cell) = cell {
                    self.or_add(cell, &wire);
                }
            }
            SinkKind::First { part, is_ordered } => {
                let has_sure = is_ordered && sink.pending == SURE;
                if !has_sure {
                    let value = self.part_of(part, spot);
                    self.add_entry(id, spot, when, value, 0);
                    self.settle_first(id);
                }
            }
            SinkKind::Pair { side, .. } => {
                let value = self.value_of(spot);
                let entry = self.add_entry(id, spot, when, value, side);
                self.settle_pair(id, entry);
            }
            SinkKind::Ask(_) => {
                let value = self.value_of(spot);
                let entry = self.add_entry(id, spot, when, value, 0);
                if self.sinks[id].entries[entry].is_settled() {
                    self.settle_ask(id, entry);
                }
            }
            SinkKind::Tally { needs_value, .. } => {
                let value = if needs_value {
                    self.value_of(spot)
                } else {
                    Wire::Known(Atom::Nothing)
                };
                let entry = self.add_entry(id, spot, when, value, 0);
                self.settle_tally(id, entry);
            }
            SinkKind::Folded { part } => {
                let value = self.part_of(part, spot);
                self.cells.pin(&when);
                self.cells.pin(&value);
                self.add_entry(id, spot, when, value, 0);
            }
            _ => {
                let value = self.value_of(spot);
                self.add_entry(id, spot, when, value, 0);
            }
        }
    }

    pub(super) fn order_of(&self, spot: Spot) -> u64 {
        match spot {
            Spot::Opening => self.frames[self.frames.len() - 1].order,
            Spot::Late(info) => self.infos[info].order,
        }
    }

    /// A source of a sink is at its end.
    pub(super) fn close_sink(&mut self, id: SinkId) {
        let sink = &mut self.sinks[id];
        sink.open -= 1;
        if sink.open > 0 {
            return;
        }
        if !self.arrivals.is_empty() {
            self.end_arrivals(id);
        }
        match self.sinks[id].kind {
            SinkKind::First { .. } => self.settle_first(id),
            SinkKind::Sum | SinkKind::Strings | SinkKind::List => self.settle_all(id),
            SinkKind::Pair { pair, .. } => self.settle_false(pair),
            SinkKind::Store { .. } => return self.close_store(id),
            SinkKind::Ask(_) => return self.finish_ask(id),
            SinkKind::Output { .. }
            | SinkKind::Tally { .. }
            | SinkKind::Bind { .. }
            | SinkKind::Unsettled { .. } => return,
            _ => return self.end_sink(id),
        }
        self.lingering.push(id);
    }

    /// A sink that has nothing more to do goes; where it sent nodes is told.
    fn end_sink(&mut self, id: SinkId) {
        self.sinks.free(id);
        let sink = &mut self.sinks[id];
        let cell = sink.cell;
        match sink.kind {
            SinkKind::Count => {
                if let Some(cell) = cell {
                    self.count_close(cell);
                }
            }
            SinkKind::Compare { ref value, .. } => {
                self.cells.unpin(value);
                if let Some(cell) = cell {
                    self.or_close(cell);
                }
            }
            SinkKind::Merge { target, .. } => {
                for entry in std::mem::take(&mut sink.entries) {
                    if let Wire::Cell(or) = entry.when {
                        self.or_close(or);
                    }
                    self.release(InfoId(entry.order as u32));
                }
                self.source_close(ArmTarget::Plain(target));
            }
            SinkKind::Steps { target, .. } => self.source_close(ArmTarget::Plain(target)),
            SinkKind::Filter { list } => self.close_list(list),
            SinkKind::Indexed { index, joining } => self.close_indexed(index, joining),
            SinkKind::Next { spec, depth } => {
                if let Some(cell) = cell {
                    self.leave_next(spec, depth, cell);
                }
            }
            _ => {}
        }
    }
}

/// Marks a first node that is sure, in the place of a number of entries.
pub(super) const SURE: u32 = u32::MAX;

/// Closed sinks before they are looked through.
pub(super) const LINGER_MIN: usize = 64;
