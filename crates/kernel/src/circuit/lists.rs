//! Positions: the nodes that a step reaches from one node, in order, under its predicates.

use super::Circuit;
use super::cells::{Atom, Handle, Wire};
use super::evaluation::Focus;
use super::frames::{ArmTarget, Spot, Target};
use super::ids::{InfoId, ListId, RouteId};
use super::lines::{Line, Station};
use super::ranks::{END, FilterPick};
use crate::plan::PartId;

/// How many nodes got as far as one predicate.
#[derive(Debug, Default)]
struct Level {
    sure: f64,
    unknown: Vec<Handle>,
    /// The count that `last()` stands for.
    last: Option<Handle>,
}

/// The nodes under a step or a filter that counts positions.
#[derive(Debug)]
pub struct List {
    /// The step, or NONE for a filter.
    route: RouteId,
    predicates: Box<[PartId]>,
    pub target: Target,
    when: Wire,
    levels: Vec<Level>,
    pub open: u32,
    /// Nodes that came out of order wait here for the end: order, node, condition.
    waiting: Option<Vec<(u64, InfoId, Wire)>>,
    /// Counts the nodes, where constants say which positions are asked for.
    line: Option<Box<(FilterPick, Line)>>,
}

impl List {
    /// Whether no further node is asked for.
    pub fn is_over(&self) -> bool {
        let line = self.line.as_ref();
        line.is_some_and(|line| line.0.behind.is_none() && line.1.is_empty())
    }
}

impl Circuit {
    /// A list under a step; its caller closes its first source.
    pub(super) fn add_list(&mut self, route: RouteId, target: Target, when: Wire) -> ListId {
        let predicates = self.table[route].predicates.clone();
        self.new_list(route, predicates, target, when, None)
    }

    /// A list under a filter, in document order.
    pub(super) fn add_filter(
        &mut self,
        filter: PartId,
        predicates: &[PartId],
        target: Target,
        is_late: bool,
    ) -> ListId {
        let waiting = (is_late && self.routes.counts_positions(predicates)).then(Vec::new);
        let Some(filter) = self.routes.filter_pick(filter) else {
            return self.new_list(
                RouteId::NONE,
                predicates.into(),
                target,
                Wire::TRUE,
                waiting,
            );
        };
        let list = self.new_list(RouteId::NONE, [].into(), target, Wire::TRUE, waiting);
        let mut line = Line::default();
        for &span in filter.pick.spans.iter() {
            let mut station = Station::new(span);
            self.enter(&mut station, target, Wire::TRUE);
            self.line_up(&mut line, vec![station]);
        }
        self.lists[list].line = Some(Box::new((filter, line)));
        list
    }

    fn new_list(
        &mut self,
        route: RouteId,
        predicates: Box<[PartId]>,
        target: Target,
        when: Wire,
        waiting: Option<Vec<(u64, InfoId, Wire)>>,
    ) -> ListId {
        self.source_open(ArmTarget::Plain(target));
        let mut levels = Vec::with_capacity(predicates.len());
        for &predicate in predicates.iter() {
            let last = self.routes.nature(predicate).uses_last.then(|| {
                let count = self.count(0.0, &[], 1);
                self.cells.pin(&Wire::Cell(count));
                count
            });
            levels.push(Level {
                last,
                ..Level::default()
            });
        }
        self.cells.pin(&when);
        self.lists.add(List {
            route,
            predicates,
            target,
            when,
            levels,
            open: 1,
            waiting,
            line: None,
        })
    }

    /// The next node of a list, along its axis.
    pub(super) fn list_add(&mut self, id: ListId, spot: Spot) {
        let when = self.lists[id].when.clone();
        self.list_try(id, spot, Wire::TRUE, when);
    }

    /// The next node of a filter, with its own condition.
    pub(super) fn filter_add(&mut self, id: ListId, spot: Spot, when: Wire) {
        if self.lists[id].waiting.is_none() {
            return self.list_try(id, spot, when, Wire::TRUE);
        }
        let info = self.info_of(spot);
        self.infos[info].references += 1;
        self.cells.pin(&when);
        let order = self.infos[info].order;
        if let Some(waiting) = &mut self.lists[id].waiting {
            waiting.push((order, info, when));
        }
    }

    /// `own` is the condition under which the node is in the list; `when` that of the whole list.
    fn list_try(&mut self, id: ListId, spot: Spot, own: Wire, when: Wire) {
        if let Some(mut counter) = self.lists[id].line.take() {
            self.count_filtered(id, &mut counter, spot, own);
            self.lists[id].line = Some(counter);
            return;
        }
        self.count_pairs(1);
        let mut passed = self.cells.resolve(&own);
        for level in 0..self.lists[id].predicates.len() {
            if passed.is_false() {
                return;
            }
            let predicate = self.lists[id].predicates[level];
            let focus = if self.routes.nature(predicate).has_focus() {
                self.focus(id, level, &passed)
            } else {
                Focus::default()
            };
            let truth = self.evaluate(predicate, spot, &focus);
            passed = self.and(passed, truth);
        }
        let (route, target) = {
            let list = &self.lists[id];
            (list.route, list.target)
        };
        let wire = self.and(when, passed);
        if route.is_none() {
            self.add(target, spot, wire);
        } else {
            self.arrive(route, spot, target, wire);
        }
    }

    /// The next node of a filter whose positions are counted by a line.
    fn count_filtered(
        &mut self,
        id: ListId,
        counter: &mut (FilterPick, Line),
        spot: Spot,
        own: Wire,
    ) {
        let (filter, line) = counter;
        let truth = self.pass_guards(&filter.pick, spot, own);
        let reached = self.pass(line, &truth);
        for (to, when) in &reached.heard {
            let ArmTarget::Plain(target) = *to else {
                continue;
            };
            // Under `last()` nodes wait until members follow, whatever is asked of those behind.
            let wire = match filter.behind {
                Some(_) => when.clone(),
                None => self.pass_rest(&filter.pick, spot, when.clone()),
            };
            self.add(target, spot, wire);
        }
        self.finish_pass(reached);
        if let (Some(behind), false) = (filter.behind, truth.is_false()) {
            let more = self.is_followed(line, behind + 1);
            let mut wire = self.and_not(&truth, &more);
            if behind > 0 {
                let enough = self.is_followed(line, behind);
                wire = self.and(wire, enough);
            }
            let wire = self.pass_rest(&filter.pick, spot, wire);
            let target = self.lists[id].target;
            self.add(target, spot, wire);
        }
    }

    /// Whether so many members follow.
    fn is_followed(&mut self, line: &mut Line, count: u64) -> Wire {
        let or = self.open_or(1);
        let mut station = Station::new((count, END));
        self.enter(&mut station, Target::Any(or), Wire::TRUE);
        self.line_up(line, vec![station]);
        self.or_close(or);
        Wire::Cell(or)
    }

    /// Position and size for a node that got as far as a predicate; counts it.
    fn focus(&mut self, id: ListId, level: usize, passed: &Wire) -> Focus {
        let mut unknown = std::mem::take(&mut self.lists[id].levels[level].unknown);
        let mut sure = self.lists[id].levels[level].sure;
        self.cells.account.spend(unknown.len() as u64);
        unknown.retain(|&handle| match self.cells.resolve(&Wire::Cell(handle)) {
            Wire::Known(atom) => {
                sure += f64::from(u8::from(atom.holds()));
                self.cells.unpin(&Wire::Cell(handle));
                false
            }
            Wire::Cell(_) => true,
        });
        let position = if unknown.is_empty() {
            Wire::Known(Atom::Number(sure + 1.0))
        } else {
            Wire::Cell(self.count(sure + 1.0, &unknown, 0))
        };
        match passed {
            Wire::Cell(handle) => {
                self.cells.pin(passed);
                unknown.push(*handle);
            }
            Wire::Known(_) => sure += 1.0,
        }
        let state = &mut self.lists[id].levels[level];
        (state.sure, state.unknown) = (sure, unknown);
        let last = state.last;
        if let Some(last) = last {
            self.count_add(last, passed);
        }
        Focus {
            position: Some(position),
            last: last.map(|last| self.cells.resolve(&Wire::Cell(last))),
        }
    }

    /// A source of a list is at its end.
    pub(super) fn close_list(&mut self, id: ListId) {
        self.lists[id].open -= 1;
        if self.lists[id].open > 0 {
            return;
        }
        if let Some(mut waiting) = self.lists[id].waiting.take() {
            waiting.sort_by_key(|(order, ..)| *order);
            for (_, info, when) in waiting {
                let when_now = self.cells.resolve(&when);
                let spot = self.spot_of(info);
                self.list_try(id, spot, when_now, Wire::TRUE);
                self.cells.unpin(&when);
                self.release(info);
            }
        }
        if let Some(counter) = self.lists[id].line.take() {
            self.close_line(counter.1);
        }
        let levels = std::mem::take(&mut self.lists[id].levels);
        for level in levels {
            if let Some(last) = level.last {
                self.count_close(last);
                self.cells.unpin(&Wire::Cell(last));
            }
            for handle in level.unknown {
                self.cells.unpin(&Wire::Cell(handle));
            }
        }
        let when = self.lists[id].when.clone();
        self.cells.unpin(&when);
        let target = self.lists[id].target;
        self.lists.free(id);
        self.source_close(ArmTarget::Plain(target));
    }
}
