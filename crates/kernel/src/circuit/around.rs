//! How many ancestors of a node are counted, while some of them are undecided.
//!
//! The nodes that ask are numbered as they come. An ancestor is counted by those that ask between
//! its start and its end, so deciding it moves one stretch of their ranges (`slack`).

use super::Circuit;
use super::cells::{Atom, Cells, Handle, Kind, Wire};
use super::counts::{Ranked, ZERO, tell_reached};
use super::ids::{CountedId, EntryId, MemberId, Tag};
use super::slack::Slack;
use super::undecided::Undecided;

/// The ancestors that one step counts.
#[derive(Debug, Default)]
pub struct Around {
    /// Open nodes that pass the step or may pass it, innermost last.
    open: Vec<Member>,
    sure: f64,
    unknown: u32,
    undecided: Undecided<Stretch>,
    /// Receives the decisions about undecided nodes.
    cell: Option<Handle>,
    pub numbers: Slack<Handle>,
    /// The bytes that are in the account.
    charged: usize,
}

#[derive(Clone, Copy, Debug)]
enum Member {
    Sure,
    Out,
    Undecided(MemberId),
}

/// The nodes that ask below an undecided one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: EntryId,
    /// Where the stretch ends; nothing while the node is open.
    until: Option<EntryId>,
    /// The place of the node among the open ones.
    place: usize,
}

impl Around {
    /// A node opens that passes the step or may pass it.
    fn open(&mut self, cells: &mut Cells, spec: CountedId, wire: &Wire) {
        let Wire::Cell(input) = *wire else {
            self.sure += 1.0;
            return self.open.push(Member::Sure);
        };
        let cell = *self.cell.get_or_insert_with(|| {
            let cell = cells.add(Kind::Around(spec));
            cells.pin(&Wire::Cell(cell));
            cell
        });
        let number = self.undecided.push(Stretch {
            from: self.numbers.next(),
            until: None,
            place: self.open.len(),
        });
        cells.depend(cell, input, Tag(number.0));
        self.unknown += 1;
        self.open.push(Member::Undecided(number));
    }

    /// The innermost of the open nodes closes.
    fn close(&mut self) {
        match self.open.pop() {
            Some(Member::Sure) => self.sure -= 1.0,
            Some(Member::Undecided(number)) => {
                self.unknown -= 1;
                let until = self.numbers.next();
                if let Some(stretch) = self.undecided.get_mut(number) {
                    stretch.until = Some(until);
                }
            }
            _ => {}
        }
    }

    /// An undecided node is decided.
    fn settle(&mut self, number: MemberId, holds: bool) {
        let Some(stretch) = self.undecided.take(number) else {
            return;
        };
        let (low, high) = if holds { (1.0, 0.0) } else { (0.0, -1.0) };
        let until = stretch.until.unwrap_or_else(|| {
            self.unknown -= 1;
            self.sure += low;
            self.open[stretch.place] = if holds { Member::Sure } else { Member::Out };
            self.numbers.next()
        });
        self.numbers.add_between(stretch.from, until, low, high);
    }

    fn bytes(&self) -> usize {
        self.numbers.bytes() + self.undecided.bytes()
    }
}

impl Circuit {
    /// How many ancestors of the opening node are counted.
    pub(super) fn count_around(&mut self, spec: CountedId) -> Wire {
        let around = &mut self.around[spec];
        let (sure, unknown) = (around.sure, f64::from(around.unknown));
        if around.open.is_empty() {
            return ZERO;
        }
        if unknown == 0.0 {
            return Wire::Known(Atom::Number(sure));
        }
        let entry = around.numbers.next();
        let among = Ranked::Around(spec);
        let cell = self.cells.add(Kind::Rank { among, entry });
        self.around[spec].numbers.push(cell, sure, sure + unknown);
        self.charge_around(spec);
        Wire::Cell(cell)
    }

    /// The opening node is an ancestor of the nodes inside it.
    pub(super) fn open_around(&mut self, spec: CountedId, wire: &Wire, depth: usize) {
        self.around[spec].open(&mut self.cells, spec, wire);
        self.extra_of(depth).around.push(spec);
    }

    /// A node closes: it is no longer an ancestor.
    pub(super) fn close_around(&mut self, depth: usize) {
        for spec in std::mem::take(&mut self.extras[depth].around) {
            self.around[spec].close();
        }
    }

    /// A node that was undecided when it opened is decided.
    pub(super) fn tell_around(&mut self, spec: CountedId, number: MemberId, holds: bool) {
        let around = &mut self.around[spec];
        around.settle(number, holds);
        tell_reached(&mut around.numbers, &mut self.cells);
        self.charge_around(spec);
    }

    fn charge_around(&mut self, spec: CountedId) {
        let around = &mut self.around[spec];
        let bytes = around.bytes();
        self.held_bytes = self.held_bytes + bytes - std::mem::replace(&mut around.charged, bytes);
    }
}
