//! The tuples of one row in its records, in order, without all of them at once.
//!
//! If there are few tuples, they are sorted. If there are more, the first kept slot is fixed to one
//! node after the other, in order, and the tuples of each node are asked for in the same way.

use crate::absence::{Absent, Partnered};
use crate::bindings::{Fixed, Search};
use crate::record::{Node, Record};
use crate::shape::Shape;

/// Where nodes lie: that is what events are ordered by.
pub type Spans = Vec<(u32, (u32, u32))>;

/// What tuples are asked of.
pub enum Source<'a> {
    /// A row in two records, or in one alone.
    Pair(Search<'a>, Option<Record<'a>>),
    /// A row of absence.
    Absent(Absent<'a>),
}

impl<'a> Source<'a> {
    /// The row's shape.
    pub fn shape(&self) -> &'a Shape {
        match self {
            Source::Pair(search, _) => search.shape,
            Source::Absent(absent) => absent.shape,
        }
    }

    /// The records.
    pub fn records(&self) -> (Record<'a>, Option<Record<'a>>) {
        match self {
            Source::Pair(search, right) => (search.left, *right),
            Source::Absent(absent) => (absent.left, None),
        }
    }

    /// A node of a slot, and the part of the event that it is in.
    pub fn node(&self, slot: u32, node: u32) -> (u32, Node<'a>) {
        let (left, right) = self.records();
        match right {
            Some(right) if slot >= self.shape().left_count => {
                let node = right.node(node);
                (left.parts_count() as u32 + node.part, node)
            }
            _ => {
                let node = left.node(node);
                (node.part, node)
            }
        }
    }

    /// Where the nodes of a tuple lie.
    pub fn spans(&self, tuple: &[u32]) -> Spans {
        let kept = self.shape().kept.iter().zip(tuple);
        kept.map(|(&slot, &node)| self.span(slot, node)).collect()
    }

    fn span(&self, slot: u32, node: u32) -> (u32, (u32, u32)) {
        let (part, node) = self.node(slot, node);
        (part, node.span)
    }

    /// The bindings that found a partner, of a row of absence.
    fn partnered(&self, since: u32) -> Partnered {
        match self {
            Source::Pair(..) => Partnered::default(),
            Source::Absent(absent) => absent.partnered(since),
        }
    }

    /// The nodes that a slot may have, in the order of events.
    fn candidates(&self, slot: u32) -> Vec<u32> {
        let left = match self {
            Source::Pair(search, _) => *search,
            Source::Absent(absent) => absent.search(absent.left),
        };
        let mut nodes: Vec<u32> = left.nodes_of(slot).iter().collect();
        left.meter.spend(nodes.len() as u64);
        nodes.sort_by_key(|&node| self.span(slot, node));
        nodes
    }

    /// Appends distinct tuples; returns whether there is any.
    fn fill(
        &self,
        met: &Partnered,
        fixed: &Fixed,
        tuples: &mut Vec<u32>,
        tuples_max: usize,
    ) -> bool {
        match self {
            Source::Pair(search, _) => search.kept_fixed(fixed, tuples, tuples_max),
            Source::Absent(absent) => absent.survivors(met, Some(fixed), tuples, tuples_max),
        }
    }
}

/// A slot that is fixed to one node after the other.
struct Level {
    slot: u32,
    nodes: Vec<u32>,
    next: usize,
    /// What it was fixed to before: a slot may be kept twice.
    before: Vec<u32>,
}

/// The tuples that are still to come.
pub struct Tuples {
    tuples_max: usize,
    met: Partnered,
    /// In order; those before `at` were taken.
    ready: Vec<u32>,
    at: usize,
    levels: Vec<Level>,
    fixed: Fixed,
    /// Whether an empty tuple is to come: nothing is kept, and the row holds.
    is_bare: bool,
}

impl Tuples {
    /// The tuples of a source, so many of them at once if that can be.
    pub fn new(source: &Source<'_>, since: u32, tuples_max: usize) -> Self {
        let shape = source.shape();
        let mut tuples = Tuples {
            tuples_max,
            met: source.partnered(since),
            ready: Vec::new(),
            at: 0,
            levels: Vec::new(),
            fixed: vec![Vec::new(); shape.parents.len()],
            is_bare: false,
        };
        tuples.is_bare = !tuples.load(source) && shape.kept.is_empty();
        tuples
    }

    /// Moves to the next tuple if the last one was taken; returns it with where its nodes lie.
    pub fn peek(&mut self, source: &Source<'_>) -> Option<Spans> {
        if self.is_bare {
            return Some(Spans::new());
        }
        while self.at >= self.ready.len() {
            if !self.advance(source) {
                return None;
            }
        }
        Some(source.spans(self.tuple(source)))
    }

    /// The tuple at hand.
    pub fn tuple(&self, source: &Source<'_>) -> &[u32] {
        let width = source.shape().kept.len();
        &self.ready[self.at..self.at + width]
    }

    /// Takes the tuple at hand.
    pub fn take(&mut self, source: &Source<'_>) {
        self.is_bare = false;
        self.at += source.shape().kept.len();
    }

    /// Fixes the next node of the innermost slot; returns whether there was any.
    fn advance(&mut self, source: &Source<'_>) -> bool {
        while let Some(level) = self.levels.last_mut() {
            let slot = level.slot;
            let Some(&node) = level.nodes.get(level.next) else {
                self.fixed[slot as usize] = std::mem::take(&mut level.before);
                self.levels.pop();
                continue;
            };
            // Nodes of one entity may lie at one place; they have no order among themselves.
            let span = source.span(slot, node);
            let rest = &level.nodes[level.next..];
            let is_same = |node: &&u32| source.span(slot, **node) == span;
            let mut nodes: Vec<u32> = rest.iter().take_while(is_same).copied().collect();
            level.next += nodes.len();
            nodes.sort_unstable();
            self.fixed[slot as usize] = nodes;
            self.load(source);
            return true;
        }
        false
    }

    /// Loads the tuples of what is fixed, or fixes one slot more; returns whether tuples have none
    /// of the row's nodes.
    fn load(&mut self, source: &Source<'_>) -> bool {
        let kept = &source.shape().kept;
        self.ready.clear();
        self.at = 0;
        let depth = self.levels.len();
        let is_last = depth == kept.len();
        let tuples_max = if is_last { usize::MAX } else { self.tuples_max };
        let holds = source.fill(&self.met, &self.fixed, &mut self.ready, tuples_max);
        if kept.is_empty() {
            return !holds;
        }
        if self.ready.len() / kept.len() > tuples_max {
            self.ready = Vec::new();
            let slot = kept[depth];
            let before = self.fixed[slot as usize].clone();
            let nodes = if before.is_empty() {
                source.candidates(slot)
            } else {
                before.clone()
            };
            self.levels.push(Level {
                slot,
                nodes,
                next: 0,
                before,
            });
        } else {
            self.sort(source);
        }
        false
    }

    fn sort(&mut self, source: &Source<'_>) {
        let width = source.shape().kept.len();
        let tuples = self.ready.chunks_exact(width);
        let mut keyed: Vec<(Spans, &[u32])> =
            tuples.map(|tuple| (source.spans(tuple), tuple)).collect();
        keyed.sort_by(|one, two| one.0.cmp(&two.0));
        self.ready = keyed
            .into_iter()
            .flat_map(|one| one.1.iter().copied())
            .collect();
    }
}
