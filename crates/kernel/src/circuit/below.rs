//! How many nodes are below a node: each that opens is one more for all open nodes that ask.
//!
//! The nodes that ask form a stack. Their numbers grow together (`slack`), and a number that has
//! reached a bound is found without looking at the others.

use super::Circuit;
use super::cells::{Atom, Handle, Kind, Wire};
use super::counts::{Ranked, tell_reached};
use super::ids::{CountedId, EntryId};
use super::slack::Slack;
use crate::plan::{Axis, Op};

/// The open nodes that ask how many nodes of one step are below them.
#[derive(Debug, Default)]
pub struct Below {
    pub numbers: Slack<Handle>,
    /// Their depths.
    depths: Vec<usize>,
    /// The bytes that are in the account.
    charged: usize,
}

impl Circuit {
    /// How many nodes of a counted step are below the opening node.
    pub(super) fn count_below(&mut self, spec: CountedId, axis: Axis) -> Wire {
        let depth = self.frames.len() - 1;
        let below = &mut self.below[spec];
        let entry = below.numbers.next();
        let among = Ranked::Below(spec);
        let cell = self.cells.add(Kind::Rank { among, entry });
        below.numbers.push(cell, 0.0, f64::INFINITY);
        below.depths.push(depth);
        let bytes = below.numbers.bytes() + below.depths.capacity() * size_of::<usize>();
        self.held_bytes = self.held_bytes + bytes - std::mem::replace(&mut below.charged, bytes);
        self.extra_of(depth).below.push(spec);
        let test = self.routes.counts[spec].test;
        if axis == Axis::DescendantOrSelf && self.passes(depth, test) {
            return self.apply(Op::Add, &[Wire::Cell(cell), Wire::Known(Atom::Number(1.0))]);
        }
        Wire::Cell(cell)
    }

    /// The opening node is one more below all that are open.
    pub(super) fn grow_below(&mut self, spec: CountedId, depth: usize) {
        let below = &mut self.below[spec];
        let around = below.depths.partition_point(|&own| own < depth);
        below.numbers.add_before(EntryId(around as u32), 1.0, 0.0);
        tell_reached(&mut below.numbers, &mut self.cells);
    }

    /// A node closes: no more are below it.
    pub(super) fn close_below(&mut self, depth: usize) {
        for spec in std::mem::take(&mut self.extras[depth].below) {
            let below = &mut self.below[spec];
            below.depths.pop();
            if let Some((cell, low)) = below.numbers.pop() {
                self.cells.decide(cell, Atom::Number(low));
            }
        }
    }
}
