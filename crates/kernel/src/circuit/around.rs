//! How many ancestors of a node are counted, while some of them are undecided.
//!
//! The nodes that ask are numbered as they come. An ancestor is counted by those that ask between
//! its start and its end, so deciding it moves one stretch of their ranges (`slack`).

use super::Circuit;
use super::cells::{Atom, Cells, Handle, Kind, Wire};
use super::counts::{Side, ZERO, tell_reached};
use super::slack::Slack;
use std::collections::VecDeque;

/// The ancestors that one step counts.
#[derive(Debug, Default)]
pub struct Around {
    /// Open nodes that pass the step or may pass it, innermost last.
    open: Vec<Member>,
    sure: f64,
    unknown: u32,
    /// By number of an undecided node, from `first` on; nothing once it is decided.
    undecided: VecDeque<Option<Stretch>>,
    first: u32,
    /// Hears of undecided nodes.
    cell: Option<Handle>,
    pub asked: Slack<Handle>,
    /// The bytes that are in the account.
    charged: usize,
}

#[derive(Clone, Copy, Debug)]
enum Member {
    Sure,
    Out,
    Undecided(u32),
}

/// The nodes that ask below an undecided one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u32,
    /// Where the stretch ends; nothing while the node is open.
    until: Option<u32>,
    /// The place of the node among the open ones.
    place: usize,
}

impl Around {
    /// A node opens that passes the step or may pass it.
    fn open(&mut self, cells: &mut Cells, spec: u32, wire: &Wire) {
        let Wire::Cell(input) = *wire else {
            self.sure += 1.0;
            return self.open.push(Member::Sure);
        };
        let number = self.first + self.undecided.len() as u32;
        let cell = *self.cell.get_or_insert_with(|| {
            let cell = cells.add(Kind::Around(spec));
            cells.pin(&Wire::Cell(cell));
            cell
        });
        cells.depend(cell, input, number);
        self.undecided.push_back(Some(Stretch {
            from: self.asked.next(),
            until: None,
            place: self.open.len(),
        }));
        self.unknown += 1;
        self.open.push(Member::Undecided(number));
    }

    /// The innermost of the open nodes closes.
    fn close(&mut self) {
        match self.open.pop() {
            Some(Member::Sure) => self.sure -= 1.0,
            Some(Member::Undecided(number)) => {
                self.unknown -= 1;
                let until = self.asked.next();
                if let Some(stretch) = &mut self.undecided[(number - self.first) as usize] {
                    stretch.until = Some(until);
                }
            }
            _ => {}
        }
    }

    /// An undecided node is decided.
    fn settle(&mut self, number: u32, holds: bool) {
        let Some(stretch) = self.undecided[(number - self.first) as usize].take() else {
            return;
        };
        while self.undecided.front().is_some_and(Option::is_none) {
            self.undecided.pop_front();
            self.first += 1;
        }
        let (low, high) = if holds { (1.0, 0.0) } else { (0.0, -1.0) };
        let until = stretch.until.unwrap_or_else(|| {
            self.unknown -= 1;
            self.sure += low;
            self.open[stretch.place] = if holds { Member::Sure } else { Member::Out };
            self.asked.next()
        });
        self.asked.add_between(stretch.from, until, low, high);
    }

    fn bytes(&self) -> usize {
        self.asked.bytes() + self.undecided.capacity() * size_of::<Option<Stretch>>()
    }
}

impl Circuit {
    /// How many ancestors of the opening node are counted.
    pub(super) fn count_around(&mut self, spec: u32) -> Wire {
        let around = &mut self.around[spec as usize];
        let (sure, unknown) = (around.sure, f64::from(around.unknown));
        if around.open.is_empty() {
            return ZERO;
        }
        if unknown == 0.0 {
            return Wire::Known(Atom::Number(sure));
        }
        let entry = around.asked.next();
        let cell = self.cells.add(Kind::Rank {
            group: spec,
            entry,
            side: Side::Around,
        });
        self.around[spec as usize]
            .asked
            .push(cell, sure, sure + unknown);
        self.charge_around(spec);
        Wire::Cell(cell)
    }

    /// The opening node is an ancestor of what comes inside.
    pub(super) fn open_around(&mut self, spec: u32, wire: &Wire, depth: usize) {
        self.around[spec as usize].open(&mut self.cells, spec, wire);
        self.extras[depth].around.push(spec);
        self.extras[depth].is_used = true;
    }

    /// A node closes: it is no longer an ancestor.
    pub(super) fn close_around(&mut self, depth: usize) {
        for spec in std::mem::take(&mut self.extras[depth].around) {
            self.around[spec as usize].close();
        }
    }

    /// A node that was undecided when it opened is decided.
    pub(super) fn tell_around(&mut self, spec: u32, number: u32, holds: bool) {
        let around = &mut self.around[spec as usize];
        around.settle(number, holds);
        tell_reached(&mut around.asked, &mut self.cells);
        self.charge_around(spec);
    }

    fn charge_around(&mut self, spec: u32) {
        let around = &mut self.around[spec as usize];
        let bytes = around.bytes();
        self.held_bytes = self.held_bytes + bytes - std::mem::replace(&mut around.charged, bytes);
    }
}
