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
use super::ids::{CountedId, EntryId, GroupId, MemberId, RouteId, Tag};
use super::ranges::Range;
use super::routes::{Counted, Scope};
use super::sinks::SinkKind;
use super::slack::Slack;
use super::undecided::Undecided;
use crate::plan::{Axis, Op};
use smallvec::SmallVec;

/// The members that a node counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranked {
    /// Those of a group before it.
    Before(GroupId),
    /// Those of a group behind it.
    Behind(GroupId),
    /// Those of a step around it (`around`).
    Around(CountedId),
    /// Those of a step below it (`below`).
    Below(CountedId),
}

/// The members of a step under one parent, or in the document.
#[derive(Debug, Default)]
pub struct Group {
    sure: f64,
    unknown: u32,
    /// Receives the decisions about undecided members; a member's tag is its number.
    cell: Option<Handle>,
    members: Undecided<Since>,
    before: Slack<Handle>,
    behind: Slack<Handle>,
    is_closed: bool,
    /// The bytes that are in the account.
    charged: usize,
}

/// The first entries, before and behind, that came after a member.
#[derive(Clone, Copy, Debug)]
struct Since {
    before: EntryId,
    behind: EntryId,
}

/// The number of an entry that is still to come.
const LATER: EntryId = EntryId::NONE;

impl Group {
    /// Bytes that it takes outside its own record.
    fn bytes(&self) -> usize {
        self.members.bytes() + self.before.bytes() + self.behind.bytes()
    }

    /// A member is decided.
    fn settle(&mut self, member: MemberId, holds: bool) {
        let Some(Since { before, behind }) = self.members.take(member) else {
            return;
        };
        self.unknown -= 1;
        let (low, high) = if holds { (1.0, 0.0) } else { (0.0, -1.0) };
        self.sure += low;
        self.before.add_from(before, low, high);
        self.behind.add_before(behind, low, high);
    }

    /// No member comes any more: the numbers of those behind a node have a high end.
    fn close(&mut self) {
        self.is_closed = true;
        let mut starts: Vec<EntryId> = self.members.iter().map(|since| since.behind).collect();
        // The ends of ways from nested nodes come in any order.
        starts.sort_unstable();
        let mut undecided = starts.into_iter().rev();
        let mut next = undecided.next();
        let mut count = 0.0;
        for entry in self.behind.entries().rev() {
            while next.is_some_and(|start| start > entry) {
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
    pub(super) fn count_along(&mut self, spec: CountedId, axis: Axis) -> Wire {
        let depth = self.frames.len() - 1;
        let is_beside = is_beside(self.frames[depth].kind);
        match axis {
            Axis::Descendant | Axis::DescendantOrSelf => self.count_below(spec, axis),
            Axis::Ancestor => self.count_around(spec),
            Axis::AncestorOrSelf => {
                let test = self.routes.counts[spec].test;
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
                let cell = self.add_rank(Ranked::Behind(group), LATER);
                self.cells.pin(&Wire::Cell(cell));
                self.extra_of(depth).counted_after.push((group, cell));
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

    fn add_rank(&mut self, among: Ranked, entry: EntryId) -> Handle {
        self.cells.add(Kind::Rank { among, entry })
    }

    fn count_before(&mut self, id: GroupId) -> Wire {
        let group = &self.groups[id];
        let (sure, unknown) = (group.sure, f64::from(group.unknown));
        if unknown == 0.0 {
            return Wire::Known(Atom::Number(sure));
        }
        let entry = group.before.next();
        let cell = self.add_rank(Ranked::Before(id), entry);
        self.groups[id].before.push(cell, sure, sure + unknown);
        Wire::Cell(cell)
    }

    /// The node may be a member itself, so counting starts with the next event.
    fn count_behind(&mut self, id: GroupId) -> Wire {
        let cell = self.add_rank(Ranked::Behind(id), LATER);
        self.cells.pin(&Wire::Cell(cell));
        self.asking.push((id, cell));
        Wire::Cell(cell)
    }

    /// What is counted behind a node begins.
    fn begin_rank(&mut self, id: GroupId, cell: Handle) {
        let slack = &mut self.groups[id].behind;
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

    fn slack_of(&mut self, among: Ranked) -> &mut Slack<Handle> {
        match among {
            Ranked::Before(group) => &mut self.groups[group].before,
            Ranked::Behind(group) => &mut self.groups[group].behind,
            Ranked::Around(step) => &mut self.around[step].numbers,
            Ranked::Below(step) => &mut self.below[step].numbers,
        }
    }

    /// A number is told of when it reaches the nearest bounds that somebody waits for.
    pub(super) fn wait_for_rank(&mut self, among: Ranked, entry: EntryId, nearest: Range) {
        if entry != LATER {
            let slack = self.slack_of(among);
            slack.wait(entry, nearest.low, nearest.high);
        }
    }

    pub(super) fn range_of_rank(&mut self, among: Ranked, entry: EntryId) -> Range {
        if entry == LATER {
            return Range::from(0.0);
        }
        let (low, high) = self.slack_of(among).ends(entry);
        Range { low, high }
    }

    /// The group of a counted step among the siblings of a node.
    fn group_beside(&mut self, spec: CountedId, depth: usize) -> GroupId {
        let groups = &self.extras[depth - 1].groups;
        if let Some(group) = groups.get(spec) {
            return *group;
        }
        let group = self.groups.add(Group::default());
        self.extra_of(depth - 1).groups.insert(spec, group);
        group
    }

    fn group_of_document(&mut self, spec: CountedId) -> GroupId {
        let groups = &mut self.groups;
        let make = || groups.add(Group::default());
        *self.document_groups.get_or_insert_with(spec, make)
    }

    /// Whether the opening node passes the predicates of a counted step.
    fn truth_of_counted(&mut self, spec: CountedId) -> Wire {
        let predicates = self.routes.counts[spec].predicates.clone();
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
    pub(super) fn count_member(&mut self, counted: &[CountedId], depth: usize) {
        // What its predicates count must not be the node itself.
        let wires: SmallVec<[Wire; 2]> = counted
            .iter()
            .map(|&spec| self.truth_of_counted(spec))
            .collect();
        for (&spec, wire) in counted.iter().zip(wires) {
            if wire.is_false() {
                continue;
            }
            let Counted { scope, way, .. } = self.routes.counts[spec];
            self.act_for(way);
            match scope {
                Scope::Around => self.open_around(spec, &wire, depth),
                Scope::Below => self.grow_below(spec, depth),
                _ if way.is_some() => self.count_ends(spec, way, wire, depth),
                _ => self.count_end(spec, depth, LATER, wire),
            }
        }
    }

    /// The ends of ways down from the opening node are members of a counted step.
    fn count_ends(&mut self, spec: CountedId, way: RouteId, wire: Wire, depth: usize) {
        let group = self.group_of(spec, depth);
        let sink = self.add_relay(SinkKind::Counted {
            spec,
            depth,
            since: self.groups[group].behind.next(),
        });
        self.spread(way, Target::Sink(sink), wire);
        self.close_sink(sink);
    }

    /// One member of a counted step, below the node of a depth or that node; `since` is
    /// the first number of what is behind a node that was asked for after that node opened.
    pub(super) fn count_end(&mut self, spec: CountedId, depth: usize, since: EntryId, wire: Wire) {
        self.cells.pin(&wire);
        if self.routes.counts[spec].scope == Scope::Closed {
            self.extra_of(depth).counted.push((spec, wire));
            self.held_bytes += size_of::<(CountedId, Wire)>();
        } else {
            let group = self.group_of(spec, depth);
            self.joining.push((group, since, wire));
        }
    }

    /// The group that a node of a depth is a member of.
    fn group_of(&mut self, spec: CountedId, depth: usize) -> GroupId {
        match self.routes.counts[spec].scope {
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
            self.held_bytes -= size_of::<(CountedId, Wire)>();
        }
        self.close_around(depth);
        self.close_below(depth);
        for (_, group) in std::mem::take(&mut self.extras[depth].groups) {
            self.closing.push(group);
        }
    }

    /// Members that came up in this event join their groups, after those who asked for what is
    /// before them and before those who ask for what is behind.
    pub(super) fn join_groups(&mut self) {
        for (id, since, wire) in std::mem::take(&mut self.joining) {
            self.join_group(id, since, &wire);
            self.cells.unpin(&wire);
        }
        for (id, cell) in std::mem::take(&mut self.asking) {
            self.begin_rank(id, cell);
        }
        for id in std::mem::take(&mut self.closing) {
            self.groups[id].close();
            self.settle_group(id);
        }
    }

    fn join_group(&mut self, id: GroupId, since: EntryId, wire: &Wire) {
        let group = &mut self.groups[id];
        let behind = since.min(group.behind.next());
        match self.cells.resolve(wire) {
            Wire::Known(atom) if atom.holds() => {
                group.sure += 1.0;
                group.behind.add_before(behind, 1.0, 0.0);
                self.settle_group(id);
            }
            Wire::Known(_) => {}
            Wire::Cell(input) => {
                group.unknown += 1;
                let before = group.before.next();
                let member = group.members.push(Since { before, behind });
                let cell = self.group_cell(id);
                self.cells.depend(cell, input, Tag(member.0));
            }
        }
    }

    /// The cell that hears of a group's undecided members.
    fn group_cell(&mut self, id: GroupId) -> Handle {
        if let Some(cell) = self.groups[id].cell {
            return cell;
        }
        let cell = self.cells.add_pinned(Kind::Group(id));
        self.groups[id].cell = Some(cell);
        cell
    }

    /// A member of a group is decided.
    pub(super) fn tell_group(&mut self, id: GroupId, member: MemberId, holds: bool) {
        self.groups[id].settle(member, holds);
        self.settle_group(id);
    }

    /// Decides the numbers that are known, and narrows those that reached a bound somebody waits
    /// for.
    fn settle_group(&mut self, id: GroupId) {
        let group = &mut self.groups[id];
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
            self.groups.free(id);
        }
    }

    /// The document is over: no group gets another member.
    pub(super) fn close_document_counts(&mut self) {
        for (_, group) in std::mem::take(&mut self.document_groups) {
            self.closing.push(group);
        }
    }
}

/// Decides the numbers that are known, and narrows those that reached a bound somebody waits for.
pub(super) fn tell_reached(slack: &mut Slack<Handle>, cells: &mut Cells) {
    while let Some(entry) = slack.reached() {
        cells.account.spend(1);
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
