//! Positions among nodes that are there already: earlier siblings, what precedes, ancestors.
//!
//! The members of a step lie on a *trail*, the nearest last. A context walks back along it as a
//! token that says which positions it wants, splits at undecided members as in a line (`lines`),
//! and ends where nothing it wants is left. Where a token of the same set with the same wants came
//! by before, both go on as one: the arrival there is an `Or` that later contexts join. A truth is
//! asked of the nearest member, which asks the one before it; what it wants is kept there, so no
//! member is asked twice for the same.

use super::Circuit;
use super::cells::{Handle, Wire};
use super::frames::{Spot, Target};
use super::ids::{InfoId, RouteId, SinkId};
use super::ranks::{END, Pick, Span};
use crate::small::SmallMap;
use smallvec::{SmallVec, smallvec};

/// Members of one step behind or around the nodes that ask, in document order.
#[derive(Debug, Default)]
pub struct Trail {
    members: Vec<Member>,
    /// So many members are looked through for those that nobody can reach any more.
    trim_at: usize,
}

#[derive(Debug)]
struct Member {
    info: InfoId,
    /// Whether it counts.
    counts: Wire,
    /// Tokens that came by, by what they wanted and for which set.
    arrivals: SmallMap<(Span, SetSerial), Arrival>,
    /// By wanted positions: whether a member from here on satisfies the rest of the route.
    truths: SmallVec<[(Span, Wire); 1]>,
}

/// The number of a set's sink, which tells it from others that had its id.
type SetSerial = u64;

/// Tokens of one sink that came by with the same wants.
#[derive(Debug)]
struct Arrival {
    sink: SinkId,
    /// Whether one of them did.
    when: Wire,
}

/// What tokens want from a member on, under which conditions.
type Wants = SmallVec<[(Span, Wire); 2]>;

/// Members, or arrivals of a sink, before all of them are looked through.
const TRIM_MIN: usize = 32;

/// Arrivals at a member before they are looked through for those that are over.
const NEAR: usize = 8;

impl Circuit {
    /// A member joins a trail, at its place in document order.
    fn extend_trail(&mut self, trail: &mut Trail, pick: &Pick, info: InfoId) {
        let counts = self.pass_guards(pick, Spot::Late(info), Wire::TRUE);
        if counts.is_false() {
            return;
        }
        self.cells.pin(&counts);
        self.infos[info].references += 1;
        let order = self.infos[info].order;
        let mut at = trail.members.len();
        // Members inside it came before it did. Who asks from now on meets it behind them.
        while at > 0 && self.infos[trail.members[at - 1].info].order > order {
            at -= 1;
            self.cells.account.spend(1);
            self.forget_visits(&mut trail.members[at]);
        }
        self.held_bytes += size_of::<Member>();
        let (arrivals, truths) = (SmallMap::default(), SmallVec::new());
        trail.members.insert(
            at,
            Member {
                info,
                counts,
                arrivals,
                truths,
            },
        );
    }

    /// A closed node joins a trail; those that nobody can reach any more go.
    pub(super) fn lengthen_trail(&mut self, trail: &mut Trail, pick: &Pick, info: InfoId) {
        self.extend_trail(trail, pick, info);
        match pick.spans.last() {
            Some(&(_, END)) => {}
            last => self.trim(trail, last.map_or(0, |span| span.1)),
        }
    }

    /// Drops the members that so many sure ones are nearer than that nobody can reach them.
    fn trim(&mut self, trail: &mut Trail, most: u64) {
        let is_long = trail.members.len() >= trail.trim_at.max(TRIM_MIN);
        if trail.members.len() as u64 <= most || !is_long && most > TRIM_MIN as u64 {
            return;
        }
        let mut sure = 0;
        let mut at = trail.members.len();
        while at > 0 && sure < most {
            let counts = self.cells.resolve(&trail.members[at - 1].counts);
            if !(is_long || counts.is_true()) {
                return;
            }
            self.cells.account.spend(1);
            sure += u64::from(counts.is_true());
            at -= 1;
        }
        for member in trail.members.drain(..at) {
            self.drop_member(member);
        }
        if is_long {
            trail.trim_at = 2 * trail.members.len();
        }
    }

    fn forget_visits(&mut self, member: &mut Member) {
        for (_, arrival) in std::mem::take(&mut member.arrivals) {
            if let Wire::Cell(or) = arrival.when {
                self.or_end(or);
            }
            self.cells.unpin(&arrival.when);
        }
        for (_, wire) in std::mem::take(&mut member.truths) {
            self.cells.unpin(&wire);
        }
    }

    fn drop_member(&mut self, mut member: Member) {
        self.held_bytes -= size_of::<Member>();
        self.forget_visits(&mut member);
        self.cells.unpin(&member.counts);
        self.release(member.info);
    }

    pub(super) fn close_trail(&mut self, trail: Trail) {
        for member in trail.members {
            self.drop_member(member);
        }
    }

    /// The nodes that a context wants along a trail go to a target.
    pub(super) fn walk(&mut self, id: RouteId, trail: &mut Trail, target: Target, wants: Wants) {
        self.skip_false(trail);
        match target {
            Target::Sink(sink) => self.walk_back(id, trail, sink, wants),
            Target::Any(or) => {
                for (span, when) in wants {
                    let truth = self.truth_back(id, trail, span);
                    let wire = self.and(when, truth);
                    self.or_add(or, &wire);
                }
            }
        }
    }

    /// What a context wants at first.
    pub(super) fn wants_of(pick: &Pick, when: &Wire) -> Wants {
        let spans = pick.spans.iter();
        spans.map(|&span| (span, when.clone())).collect()
    }

    /// Drops members at the end of a trail that turned out not to count.
    fn skip_false(&mut self, trail: &mut Trail) {
        while let Some(member) = trail.members.last()
            && self.cells.resolve(&member.counts).is_false()
        {
            if let Some(member) = trail.members.pop() {
                self.drop_member(member);
            }
        }
    }

    fn walk_back(&mut self, id: RouteId, trail: &mut Trail, sink: SinkId, mut wants: Wants) {
        let mut at = trail.members.len();
        let mut dropped: SmallVec<[usize; 4]> = SmallVec::new();
        while at > 0 && !wants.is_empty() {
            at -= 1;
            self.count_pairs(1);
            let member = &mut trail.members[at];
            let counts = self.cells.resolve(&member.counts);
            if counts.is_false() {
                dropped.push(at);
                continue;
            }
            let info = member.info;
            let mut reached = Wire::FALSE;
            let mut left = Wants::new();
            for (span, when) in wants {
                let Some(when) = self.come_by(&mut trail.members[at], span, sink, when) else {
                    continue;
                };
                if span.0 <= 1 {
                    reached = self.any(&[reached, when.clone()]);
                }
                self.split(&mut left, span, &when, &counts);
            }
            let wire = self.and(reached, counts);
            if !wire.is_false() {
                self.deliver_picked(id, Spot::Late(info), Target::Sink(sink), &wire);
            }
            wants = left;
        }
        self.drop_members(trail, &dropped);
    }

    /// Drops members by place, the last first.
    fn drop_members(&mut self, trail: &mut Trail, places: &[usize]) {
        let Some(&first) = places.last() else { return };
        let mut places = places.iter().rev().peekable();
        let tail: Vec<Member> = trail.members.drain(first..).collect();
        for (offset, member) in tail.into_iter().enumerate() {
            if places.next_if_eq(&&(first + offset)).is_some() {
                self.drop_member(member);
            } else {
                trail.members.push(member);
            }
        }
    }

    /// A token comes by a member. Nothing where one with the same wants goes on for it.
    fn come_by(
        &mut self,
        member: &mut Member,
        span: Span,
        sink: SinkId,
        when: Wire,
    ) -> Option<Wire> {
        let serial = self.sinks[sink].serial;
        self.cells.account.spend(1);
        if let Some(arrival) = member.arrivals.get((span, serial)) {
            if let Wire::Cell(or) = arrival.when {
                self.or_add(or, &when);
            }
            return None;
        }
        let mut when = self.cells.resolve(&when);
        if let Wire::Cell(_) = when {
            let or = self.open_or(1);
            self.or_add(or, &when);
            self.cells.pin(&Wire::Cell(or));
            self.note_arrival(sink, or);
            when = Wire::Cell(or);
        }
        if member.arrivals.len() >= NEAR && member.arrivals.len().is_power_of_two() {
            self.forget_ended(member);
        }
        let arrival = Arrival {
            sink,
            when: when.clone(),
        };
        member.arrivals.insert((span, serial), arrival);
        Some(when)
    }

    fn note_arrival(&mut self, sink: SinkId, or: Handle) {
        let ors = self.arrivals.entry(sink).or_default();
        if ors.len() >= TRIM_MIN && ors.len().is_power_of_two() {
            self.cells.account.spend(ors.len() as u64);
            ors.retain(|&or| self.cells.is_open(or));
        }
        ors.push(or);
    }

    /// Drops arrivals for sets that are complete.
    fn forget_ended(&mut self, member: &mut Member) {
        let arrivals = std::mem::take(&mut member.arrivals);
        for (key, arrival) in arrivals {
            let sink = &self.sinks[arrival.sink];
            if sink.serial == key.1 && sink.open > 0 {
                member.arrivals.insert(key, arrival);
            } else {
                self.cells.unpin(&arrival.when);
            }
        }
    }

    /// What a token wants behind a member.
    fn split(&mut self, wants: &mut Wants, span: Span, when: &Wire, counts: &Wire) {
        let (from, until) = span;
        let before = if until == END { END } else { until - 1 };
        let nearer = from.saturating_sub(1).max(1);
        if counts.is_true() {
            return self.want(wants, (nearer, before), when.clone());
        }
        if counts.is_false() {
            return self.want(wants, span, when.clone());
        }
        if from > 1 {
            let wire = self.and(when.clone(), counts.clone());
            self.want(wants, (nearer, before), wire);
        }
        self.want(wants, (from, before), when.clone());
        if until != END {
            let wire = self.and_not(when, counts);
            self.want(wants, span, wire);
        }
    }

    fn want(&mut self, wants: &mut Wants, span: Span, when: Wire) {
        if span.0 > span.1 || when.is_false() {
            return;
        }
        match wants.iter_mut().find(|(known, _)| *known == span) {
            Some((_, known)) => *known = self.any(&[known.clone(), when]),
            None => wants.push((span, when)),
        }
    }

    /// The opening node is the first member of its own walk: what it wants behind itself.
    pub(super) fn walk_self(
        &mut self,
        id: RouteId,
        pick: &Pick,
        target: Target,
        when: &Wire,
    ) -> Wants {
        let counts = self.pass_guards(pick, Spot::Opening, Wire::TRUE);
        let wants = Circuit::wants_of(pick, when);
        if counts.is_false() {
            return wants;
        }
        let mut left = Wants::new();
        for (span, when) in wants {
            if span.0 <= 1 {
                let wire = self.and(when.clone(), counts.clone());
                self.deliver_picked(id, Spot::Opening, target, &wire);
            }
            self.split(&mut left, span, &when, &counts);
        }
        left
    }

    /// Whether a wanted node, from the nearest member on, satisfies the rest of the route.
    fn truth_back(&mut self, id: RouteId, trail: &mut Trail, span: Span) -> Wire {
        let mut visits: Vec<(usize, Vec<(Span, Wants)>)> = Vec::new();
        let mut spans: SmallVec<[Span; 2]> = smallvec![span];
        let mut at = trail.members.len();
        while at > 0 && !spans.is_empty() {
            at -= 1;
            self.cells.account.spend(1);
            let member = &trail.members[at];
            spans.retain(|span| !member.truths.iter().any(|(known, _)| known == span));
            let counts = self.cells.resolve(&member.counts);
            let mut steps = Vec::new();
            let mut behind: SmallVec<[Span; 2]> = SmallVec::new();
            for span in spans {
                let mut left = Wants::new();
                self.split(&mut left, span, &Wire::TRUE, &counts);
                behind.extend(left.iter().map(|(span, _)| *span));
                steps.push((span, left));
            }
            behind.sort_unstable();
            behind.dedup();
            spans = behind;
            visits.push((at, steps));
        }
        for (at, steps) in visits.into_iter().rev() {
            let (before, members) = trail.members.split_at_mut(at);
            for (span, left) in steps {
                let truth = self.truth_of_step(id, &members[0], before.last(), span, left);
                self.cells.pin(&truth);
                members[0].truths.push((span, truth));
            }
        }
        self.truth_from(trail.members.last(), span)
    }

    fn truth_of_step(
        &mut self,
        id: RouteId,
        member: &Member,
        before: Option<&Member>,
        span: Span,
        left: Wants,
    ) -> Wire {
        let mut ways: SmallVec<[Wire; 4]> = SmallVec::new();
        let counts = self.cells.resolve(&member.counts);
        if span.0 <= 1 && !counts.is_false() {
            let or = self.open_or(1);
            let spot = Spot::Late(member.info);
            self.deliver_picked(id, spot, Target::Any(or), &counts);
            self.or_close(or);
            ways.push(Wire::Cell(or));
        }
        for (span, when) in left {
            let truth = self.truth_from(before, span);
            ways.push(self.and(when, truth));
        }
        self.any(&ways)
    }

    fn truth_from(&self, member: Option<&Member>, span: Span) -> Wire {
        let mut known = member.into_iter().flat_map(|member| &member.truths);
        let truth = known.find(|(known, _)| *known == span);
        truth.map_or(Wire::FALSE, |(_, wire)| self.cells.resolve(wire))
    }

    /// The trail of open nodes above the opening one.
    fn trail_above(&mut self, id: RouteId, pick: &Pick) -> Trail {
        let depth = self.frames.len() - 1;
        let mut from = depth;
        while from > 0 && !self.extras[from - 1].trails.contains(id) {
            from -= 1;
            self.cells.account.spend(1);
        }
        let mut trail = std::mem::take(&mut self.trails[id]);
        let test = self.table[id].test;
        for at in from..depth {
            self.extra_of(at).trails.insert(id);
            let info = self.frames[at].info;
            if info.is_some() && self.passes(at, test) {
                self.extend_trail(&mut trail, pick, info);
            }
        }
        trail
    }

    /// Sends the nodes above the opening one that are at the positions asked for to a target.
    pub(super) fn walk_up(&mut self, id: RouteId, pick: &Pick, target: Target, wants: Wants) {
        let mut trail = self.trail_above(id, pick);
        self.walk(id, &mut trail, target, wants);
        self.trails[id] = trail;
    }

    /// An open node closes: nobody comes by it any more.
    pub(super) fn leave_trails(&mut self, depth: usize) {
        let info = self.frames[depth].info;
        let trails = std::mem::take(&mut self.extras[depth].trails);
        for &id in trails.keys() {
            let members = &mut self.trails[id].members;
            if let Some(member) = members.pop_if(|member| member.info == info) {
                self.drop_member(member);
            }
        }
    }

    /// A set gets no further nodes: nobody comes by for it any more.
    pub(super) fn end_arrivals(&mut self, sink: SinkId) {
        for or in self.arrivals.remove(&sink).unwrap_or_default() {
            self.or_end(or);
        }
    }
}
