//! How many members of a group are before a node or behind it.
//!
//! A group is what one step reaches among the children of one parent, or in the whole document.
//! Its members are counted once, as they open; a node that asks takes a number from the group and
//! never looks at the members. While members are undecided the number is a range, and all ranges
//! of a group move together (`slack`). Members may also be the ends of ways down from the nodes of
//! the step, `count(preceding-sibling::a/b)`: each end is one, before or behind as its node is.

use super::Circuit;
use super::cells::{Atom, Cells, Handle, Kind, Wire};
use super::chains::is_beside;
use super::frames::{Spot, Target};
use super::ranges::Range;
use super::routes::{Counted, Scope};
use super::sinks::SinkKind;
use super::slack::Slack;
use crate::plan::{Axis, NONE, Op};
use crate::tables::append;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// On which side of the node the counted members are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    Behind,
    /// Around it: the group is a step (`around`).
    Around,
    /// Below it: the group is a step (`below`).
    Below,
}

/// The members of a step under one parent, or in the document.
#[derive(Debug, Default)]
pub struct Group {
    sure: f64,
    unknown: u32,
    /// Hears of undecided members; a member's tag is its number.
    cell: Option<Handle>,
    /// By number of an undecided member, from `first_member` on: how many nodes had asked for each
    /// side when it came, or nothing once it is decided.
    members: VecDeque<Option<[u32; 2]>>,
    first_member: u32,
    before: Slack<Handle>,
    behind: Slack<Handle>,
    is_closed: bool,
    /// The bytes that are in the account.
    charged: usize,
}

/// The number of an entry that is still to come.
const LATER: u32 = u32::MAX;

impl Group {
    /// Bytes that it takes outside its own record.
    fn bytes(&self) -> usize {
        let members = self.members.capacity() * size_of::<Option<[u32; 2]>>();
        members + self.before.bytes() + self.behind.bytes()
    }

    /// A member is decided.
    fn settle(&mut self, member: u32, holds: bool) {
        let at = (member - self.first_member) as usize;
        let Some([before, behind]) = self.members[at].take() else {
            return;
        };
        while self.members.front().is_some_and(|first| first.is_none()) {
            self.members.pop_front();
            self.first_member += 1;
        }
        self.unknown -= 1;
        let (low, high) = if holds { (1.0, 0.0) } else { (0.0, -1.0) };
        self.sure += low;
        self.before.add_from(before, low, high);
        self.behind.add_before(behind, low, high);
    }

    /// No member comes any more: the numbers of those behind a node have a high end.
    fn close(&mut self) {
        self.is_closed = true;
        let mut asked: Vec<u32> = self
            .members
            .iter()
            .flatten()
            .map(|asked| asked[1])
            .collect();
        // The ends of ways from nested nodes come in any order.
        asked.sort_unstable();
        let mut undecided = asked.into_iter().rev();
        let mut next = undecided.next();
        let mut count = 0.0;
        for entry in self.behind.entries().rev() {
            while next.is_some_and(|asked| asked > entry) {
                count += 1.0;
                next = undecided.next();
            }
            let (low, _) = self.behind.ends(entry);
            self.behind.set_high(entry, low + count);
        }
    }
}

impl Circuit {
    /// How many nodes a counted step reaches from the opening node.
    pub(super) fn count_along(&mut self, spec: u32, axis: Axis) -> Wire {
        let depth = self.frames.len() - 1;
        let is_beside = is_beside(self.frames[depth].kind);
        match axis {
            Axis::Descendant | Axis::DescendantOrSelf => self.count_below(spec, axis),
            Axis::Ancestor => self.count_around(spec),
            Axis::AncestorOrSelf => {
                let test = self.routes.counts[spec as usize].test;
                let wire = if self.passes(depth, test) {
                    self.truth_of_counted(spec)
                } else {
                    Wire::FALSE
                };
                let above = self.count_around(spec);
                let own = self.number_of(wire);
                self.apply(Op::Add, &[above, own])
            }
            _ if depth == 0 => ZERO,
            Axis::PrecedingSibling | Axis::FollowingSibling if is_beside => ZERO,
            Axis::PrecedingSibling => {
                let group = self.group_beside(spec, depth);
                self.count_before(group)
            }
            Axis::FollowingSibling => {
                let group = self.group_beside(spec, depth);
                self.count_behind(group)
            }
            Axis::Preceding => {
                let group = self.group_of_document(spec);
                self.count_before(group)
            }
            Axis::Following => {
                let group = self.group_of_document(spec);
                if is_beside {
                    return self.count_behind(group);
                }
                let cell = self.add_rank(group, LATER, Side::Behind);
                self.cells.pin(&Wire::Cell(cell));
                self.extras[depth].counted_after.push((group, cell));
                self.extras[depth].is_used = true;
                Wire::Cell(cell)
            }
            _ => ZERO,
        }
    }

    /// 1 where a truth holds, else 0.
    fn number_of(&mut self, wire: Wire) -> Wire {
        match self.cells.resolve(&wire) {
            Wire::Known(atom) => Wire::Known(Atom::Number(f64::from(u8::from(atom.holds())))),
            Wire::Cell(handle) => Wire::Cell(self.count(0.0, &[handle], 0)),
        }
    }

    fn add_rank(&mut self, group: u32, entry: u32, side: Side) -> Handle {
        self.cells.add(Kind::Rank { group, entry, side })
    }

    fn count_before(&mut self, id: u32) -> Wire {
        let group = &self.counts[id as usize];
        let (sure, unknown) = (group.sure, f64::from(group.unknown));
        if unknown == 0.0 {
            return Wire::Known(Atom::Number(sure));
        }
        let entry = group.before.next();
        let cell = self.add_rank(id, entry, Side::Before);
        self.counts[id as usize]
            .before
            .push(cell, sure, sure + unknown);
        Wire::Cell(cell)
    }

    /// The node that asks may be a member itself: what is behind it begins with the next event.
    fn count_behind(&mut self, id: u32) -> Wire {
        let cell = self.add_rank(id, LATER, Side::Behind);
        self.cells.pin(&Wire::Cell(cell));
        self.asking.push((id, cell));
        Wire::Cell(cell)
    }

    /// What is counted behind a node begins.
    fn begin_rank(&mut self, id: u32, cell: Handle) {
        let slack = &mut self.counts[id as usize].behind;
        let number = slack.next();
        if let Some(open) = self.cells.open(cell)
            && let Kind::Rank { entry, .. } = &mut open.kind
        {
            *entry = number;
            let nearest = self.cells.nearest(cell);
            slack.push(cell, 0.0, f64::INFINITY);
            slack.wait(number, nearest.low, nearest.high);
        }
        self.cells.unpin(&Wire::Cell(cell));
    }

    fn slack_of(&mut self, group: u32, side: Side) -> &mut Slack<Handle> {
        let at = group as usize;
        match side {
            Side::Before => &mut self.counts[at].before,
            Side::Behind => &mut self.counts[at].behind,
            Side::Around => &mut self.around[at].asked,
            Side::Below => &mut self.below[at].asked,
        }
    }

    /// A number is told of when it reaches the nearest bounds that somebody waits for.
    pub(super) fn wait_for_rank(&mut self, group: u32, entry: u32, side: Side, nearest: Range) {
        if entry != LATER {
            let slack = self.slack_of(group, side);
            slack.wait(entry, nearest.low, nearest.high);
        }
    }

    pub(super) fn range_of_rank(&mut self, group: u32, entry: u32, side: Side) -> Range {
        if entry == LATER {
            return Range::from(0.0);
        }
        let (low, high) = self.slack_of(group, side).ends(entry);
        Range { low, high }
    }

    /// The group of a counted step among the siblings of a node.
    fn group_beside(&mut self, spec: u32, depth: usize) -> u32 {
        let groups = &self.extras[depth - 1].counts;
        if let Some((_, group)) = groups.iter().find(|(own, _)| *own == spec) {
            return *group;
        }
        let group = self.add_group();
        let extra = &mut self.extras[depth - 1];
        extra.counts.push((spec, group));
        extra.is_used = true;
        group
    }

    fn group_of_document(&mut self, spec: u32) -> u32 {
        if let Some((_, group)) = self.document_counts.iter().find(|(own, _)| *own == spec) {
            return *group;
        }
        let group = self.add_group();
        self.document_counts.push((spec, group));
        group
    }

    fn add_group(&mut self) -> u32 {
        if let Some(id) = self.free_counts.pop() {
            self.counts[id as usize] = Group::default();
            return id;
        }
        append(&mut self.counts, Group::default());
        self.counts.len() as u32 - 1
    }

    /// Whether the opening node passes the predicates of a counted step.
    fn truth_of_counted(&mut self, spec: u32) -> Wire {
        let predicates = self.routes.counts[spec as usize].predicates.clone();
        let mut wires = Vec::with_capacity(predicates.len());
        for &predicate in predicates.iter() {
            let wire = self.evaluate(predicate, Spot::Opening, &Default::default());
            if wire.is_false() {
                return wire;
            }
            wires.push(wire);
        }
        self.all(&wires)
    }

    /// The opening node is a member of counted steps, for the nodes after it.
    pub(super) fn count_member(&mut self, counted: &[u32], depth: usize) {
        // What its predicates count must not be the node itself.
        let wires: SmallVec<[Wire; 2]> = counted
            .iter()
            .map(|&spec| self.truth_of_counted(spec))
            .collect();
        for (&spec, wire) in counted.iter().zip(wires) {
            if wire.is_false() {
                continue;
            }
            let Counted { scope, way, .. } = self.routes.counts[spec as usize];
            match scope {
                Scope::Around => self.open_around(spec, &wire, depth),
                Scope::Below => self.grow_below(spec, depth),
                _ if way != NONE => self.count_ends(spec, way, wire, depth),
                _ => self.count_end(spec, depth, LATER, wire),
            }
        }
    }

    /// The ends of ways down from the opening node are members of a counted step.
    fn count_ends(&mut self, spec: u32, way: u32, wire: Wire, depth: usize) {
        let group = self.group_of(spec, depth);
        let sink = self.add_relay(SinkKind::Counted {
            spec,
            depth,
            asked: self.counts[group as usize].behind.next(),
        });
        self.spread(way, Target::Sink(sink), wire);
        self.close_sink(sink);
    }

    /// One member of a counted step, below the node of a depth or that node; `asked` nodes asked
    /// for what is behind them before that node opened.
    pub(super) fn count_end(&mut self, spec: u32, depth: usize, asked: u32, wire: Wire) {
        self.cells.pin(&wire);
        if self.routes.counts[spec as usize].scope == Scope::Closed {
            self.extras[depth].counted.push((spec, wire));
            self.extras[depth].is_used = true;
            self.held_bytes += size_of::<(u32, Wire)>();
        } else {
            let group = self.group_of(spec, depth);
            self.joining.push((group, asked, wire));
        }
    }

    /// The group that a node of a depth is a member of.
    fn group_of(&mut self, spec: u32, depth: usize) -> u32 {
        match self.routes.counts[spec as usize].scope {
            Scope::Siblings => self.group_beside(spec, depth),
            _ => self.group_of_document(spec),
        }
    }

    /// A node closes: it counts for what comes after it, which it may count from now on, and no
    /// longer as an ancestor.
    pub(super) fn close_counted(&mut self, depth: usize) {
        let after = std::mem::take(&mut self.extras[depth].counted_after);
        self.asking.extend(after);
        for (spec, wire) in std::mem::take(&mut self.extras[depth].counted) {
            let group = self.group_of_document(spec);
            self.joining.push((group, LATER, wire));
            self.held_bytes -= size_of::<(u32, Wire)>();
        }
        self.close_around(depth);
        self.close_below(depth);
        for (_, group) in std::mem::take(&mut self.extras[depth].counts) {
            self.closing.push(group);
        }
    }

    /// Members that came up in this event join their groups, after those who asked for what is
    /// before them and before those who ask for what is behind.
    pub(super) fn join_groups(&mut self) {
        for (id, asked, wire) in std::mem::take(&mut self.joining) {
            self.join_group(id, asked, &wire);
            self.cells.unpin(&wire);
        }
        for (id, cell) in std::mem::take(&mut self.asking) {
            self.begin_rank(id, cell);
        }
        for id in std::mem::take(&mut self.closing) {
            self.counts[id as usize].close();
            self.settle_group(id);
        }
    }

    fn join_group(&mut self, id: u32, asked: u32, wire: &Wire) {
        let group = &mut self.counts[id as usize];
        let asked = asked.min(group.behind.next());
        match self.cells.resolve(wire) {
            Wire::Known(atom) if atom.holds() => {
                group.sure += 1.0;
                group.behind.add_before(asked, 1.0, 0.0);
                self.settle_group(id);
            }
            Wire::Known(_) => {}
            Wire::Cell(input) => {
                group.unknown += 1;
                group.members.push_back(Some([group.before.next(), asked]));
                let tag = group.first_member + group.members.len() as u32 - 1;
                let cell = self.group_cell(id);
                self.cells.depend(cell, input, tag);
            }
        }
    }

    /// The cell that hears of a group's undecided members.
    fn group_cell(&mut self, id: u32) -> Handle {
        if let Some(cell) = self.counts[id as usize].cell {
            return cell;
        }
        let cell = self.cells.add(Kind::Group(id));
        self.cells.pin(&Wire::Cell(cell));
        self.counts[id as usize].cell = Some(cell);
        cell
    }

    /// A member of a group is decided.
    pub(super) fn tell_group(&mut self, id: u32, member: u32, holds: bool) {
        self.counts[id as usize].settle(member, holds);
        self.settle_group(id);
    }

    /// Tells the nodes whose numbers are known, or reached a bound that matters.
    fn settle_group(&mut self, id: u32) {
        let group = &mut self.counts[id as usize];
        tell_reached(&mut group.before, &mut self.cells);
        tell_reached(&mut group.behind, &mut self.cells);
        let bytes = group.bytes();
        self.held_bytes = self.held_bytes + bytes - std::mem::replace(&mut group.charged, bytes);
        if group.is_closed && group.unknown == 0 {
            self.held_bytes -= bytes;
            if let Some(cell) = group.cell.take() {
                self.cells.unpin(&Wire::Cell(cell));
            }
            *group = Group::default();
            self.free_counts.push(id);
        }
    }

    /// The document is over: no group gets another member.
    pub(super) fn close_document_counts(&mut self) {
        for (_, group) in std::mem::take(&mut self.document_counts) {
            self.closing.push(group);
        }
    }
}

/// Tells the nodes whose numbers are known, or reached a bound that matters.
pub(super) fn tell_reached(slack: &mut Slack<Handle>, cells: &mut Cells) {
    while let Some(entry) = slack.reached() {
        cells.work += 1;
        let (low, high) = slack.ends(entry);
        match slack.item(entry).filter(|&cell| cells.is_open(cell)) {
            Some(cell) if low < high => {
                cells.narrow(cell, Range { low, high });
                let nearest = cells.nearest(cell);
                slack.wait(entry, nearest.low, nearest.high);
            }
            Some(cell) => {
                slack.end(entry);
                cells.decide(cell, Atom::Number(low));
            }
            None => slack.end(entry),
        }
    }
}

pub(super) const ZERO: Wire = Wire::Known(Atom::Number(0.0));
