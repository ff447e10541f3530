//! Sums, and first nodes, of what is before a node or around it: one running value.
//!
//! The sum up to a node is the sum up to the member before it and that member's number, so a node
//! takes a running value and never looks at the members. While a member is undecided, the values
//! from there on are a chain of cells:
//!
//! ```text
//! sum(preceding-sibling::a)        S1 = n1 if q1,   S2 = S1 + (n2 if q2),   …
//! string(preceding-sibling::a)     F1 = s1 if q1,   F2 = F1, or else s2 if q2,   …
//! ```
//!
//! What precedes a node joins when it ends, and an outer node ends after those inside although it
//! is before them in document order. Whole numbers are added in any order; otherwise the value is
//! made anew from the start of the outer node on, once somebody asks for it.

use super::Circuit;
use super::cells::{Atom, Handle, Kind, Wire};
use super::chains::is_beside;
use super::frames::{Spot, Target};
use super::ids::{FoldedId, SinkId, SuffixId, Tag};
use super::routes::{Fold, Folded};
use super::sinks::{Entry, FirstPart, SinkKind};
use super::suffixes::Suffix;
use crate::plan::{Axis, Op};
use crate::small::SmallMap;
use crate::tables::{Arena, Table};
use crate::values;
use smallvec::SmallVec;

/// How a cell makes one value of three arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A sum, and a number to add if a truth holds.
    Sum,
    /// A value, or if that is nothing, another if a truth holds.
    First,
    /// A value if a truth holds, or else what comes later.
    Next,
}

/// What is put together at one node: of its children, or in the whole document, and of the node.
#[derive(Debug, Default)]
pub struct Folds {
    pub runnings: SmallMap<FoldedId, Running>,
    pub suffixes: SmallMap<FoldedId, SuffixId>,
    /// Cells that wait for the next member of a set.
    pub nexts: SmallMap<FoldedId, Handle>,
    /// Sets that the node leads to members of, with their sinks.
    pub members: Vec<(FoldedId, SinkId)>,
    /// Values that begin with what follows the node.
    pub later: Vec<(FoldedId, Handle)>,
    /// Sets that have the node as an ancestor.
    pub around: SmallVec<[FoldedId; 1]>,
}

/// Sums and first nodes in the document under way.
#[derive(Debug)]
pub struct Folding {
    /// Those of the whole document.
    pub document: Folds,
    /// The values of open nodes, with their depths.
    around: Table<FoldedId, Vec<(usize, Wire)>>,
    pub suffixes: Arena<SuffixId, Suffix>,
}

impl Folding {
    pub fn new(sets: usize) -> Self {
        Folding {
            document: Folds::default(),
            around: Table::of_defaults(sets),
            suffixes: Arena::default(),
        }
    }

    pub fn clear(&mut self) {
        *self = Folding::new(self.around.len());
    }

    pub fn bytes(&self) -> usize {
        self.suffixes.bytes()
    }
}

/// The value of all members so far; nothing where there is none.
#[derive(Debug)]
pub struct Running {
    whole: Wire,
    /// Open nodes that lead to members.
    open: Vec<Level>,
    /// Where the value has to be made anew, in document order.
    stale: Option<Level>,
    /// Members that joined since the outermost of the open nodes began.
    recent: Vec<Entry>,
    /// Whether the order in which the numbers are added matters.
    is_rough: bool,
    magnitude: f64,
}

/// The start of a node: the value there, and how many of the recent members had joined.
#[derive(Debug)]
struct Level {
    before: Wire,
    joined: usize,
}

impl Default for Running {
    fn default() -> Self {
        Running {
            whole: NOTHING,
            open: Vec::new(),
            stale: None,
            recent: Vec::new(),
            is_rough: false,
            magnitude: 0.0,
        }
    }
}

const NOTHING: Wire = Wire::Known(Atom::Nothing);

/// Whole numbers up to this size are added without rounding.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether one more number can be added in any order; `magnitude` is the size of all of them.
pub(super) fn stays_exact(magnitude: &mut f64, number: f64) -> bool {
    if number.is_nan() {
        return true;
    }
    *magnitude += number.abs();
    number.fract() == 0.0 && *magnitude < EXACT_MAX
}

impl Circuit {
    /// The value of a set along an axis from the opening node.
    pub(super) fn fold_along(&mut self, spec: FoldedId) -> Wire {
        let Folded { step, fold } = self.routes.folds[spec];
        let axis = self.table[step].axis;
        let depth = self.frames.len() - 1;
        let is_beside = is_beside(self.frames[depth].kind);
        let wire = match axis {
            Axis::Ancestor | Axis::AncestorOrSelf => self.fold_around(spec, depth),
            _ if depth == 0 => NOTHING,
            Axis::PrecedingSibling | Axis::FollowingSibling if is_beside => NOTHING,
            Axis::PrecedingSibling | Axis::Preceding => self.fold_before(spec, depth),
            _ if fold == Fold::Sum => self.sum_behind(spec, depth),
            _ => self.first_behind(spec, depth),
        };
        match (fold, wire) {
            (Fold::Sum, Wire::Known(Atom::Nothing)) => Wire::Known(Atom::Number(0.0)),
            (Fold::Sum, wire) => wire,
            (Fold::First(_), wire) => self.apply(Op::ToString, &[wire]),
        }
    }

    /// Where a set along an axis is put together that the node of a depth belongs to.
    pub(super) fn folds_of(&mut self, spec: FoldedId, depth: usize) -> &mut Folds {
        let step = self.routes.folds[spec].step;
        match self.table[step].axis {
            Axis::PrecedingSibling | Axis::FollowingSibling => &mut self.extra_of(depth - 1).folds,
            _ => &mut self.folding.document,
        }
    }

    /// The opening node leads to members of sets that are put together when it ends.
    pub(super) fn fold_member(&mut self, specs: &[FoldedId], depth: usize) {
        for &spec in specs {
            let Folded { step, fold } = self.routes.folds[spec];
            self.act_for(step);
            let axis = self.table[step].axis;
            let is_heard = match axis {
                Axis::Ancestor | Axis::AncestorOrSelf => {
                    self.open_fold_around(spec, depth);
                    false
                }
                Axis::PrecedingSibling | Axis::Preceding => self.open_running(spec, depth),
                // Nobody is told of members before the first who asks.
                _ => fold == Fold::Sum && self.has_suffix(spec, depth),
            };
            if is_heard {
                self.gather_member(spec, depth);
            }
        }
    }

    fn gather_member(&mut self, spec: FoldedId, depth: usize) {
        let Folded { step, fold } = self.routes.folds[spec];
        let way = self.table[step].next;
        let part = part_of(fold);
        let sink = self.add_relay(SinkKind::Folded { part });
        let when = self.predicates(step, Spot::Opening);
        if way.is_none() {
            self.add(Target::Sink(sink), Spot::Opening, when);
        } else {
            self.spread(way, Target::Sink(sink), when);
        }
        self.extra_of(depth).folds.members.push((spec, sink));
    }

    /// A node closes: what it leads to joins its sets, and sets of its children are complete.
    pub(super) fn close_folds(&mut self, depth: usize) {
        let folds = std::mem::take(&mut self.extras[depth].folds);
        for &(spec, sink) in &folds.members {
            let entries = std::mem::take(&mut self.sinks[sink].entries);
            self.held_bytes -= entries.len() * size_of::<Entry>();
            self.close_sink(sink);
            let step = self.routes.folds[spec].step;
            match self.table[step].axis {
                Axis::PrecedingSibling | Axis::Preceding => self.join_running(spec, depth, entries),
                _ => self.join_suffix(spec, depth, entries),
            }
        }
        for &spec in &folds.around {
            if let Some((_, wire)) = self.folding.around[spec].pop() {
                self.cells.unpin(&wire);
            }
        }
        for &(spec, cell) in &folds.later {
            self.begin_fold(spec, depth, cell);
        }
        self.end_folds(folds);
    }

    /// The sets are complete.
    pub(super) fn end_folds(&mut self, folds: Folds) {
        for (_, running) in folds.runnings {
            self.cells.unpin(&running.whole);
        }
        for (_, suffix) in folds.suffixes {
            self.close_suffix(suffix);
        }
        for (_, cell) in folds.nexts {
            self.close_next(cell);
        }
    }

    /// A node closes that asked for what follows it.
    fn begin_fold(&mut self, spec: FoldedId, depth: usize, cell: Handle) {
        if !self.cells.is_open(cell) {
            return;
        }
        match self.routes.folds[spec].fold {
            Fold::Sum => self.begin_suffix(spec, depth, self.next_order, cell),
            Fold::First(_) => self.begin_next(spec, depth, cell),
        }
    }

    fn running_of(&mut self, spec: FoldedId, depth: usize) -> &mut Running {
        let runnings = &mut self.folds_of(spec, depth).runnings;
        runnings.get_or_insert_with(spec, Running::default)
    }

    /// The value of what is before the opening node.
    fn fold_before(&mut self, spec: FoldedId, depth: usize) -> Wire {
        let mut running = std::mem::take(self.running_of(spec, depth));
        self.refresh(spec, &mut running);
        let wire = self.cells.resolve(&running.whole);
        *self.running_of(spec, depth) = running;
        wire
    }

    /// A node opens that may lead to members; whether they matter.
    fn open_running(&mut self, spec: FoldedId, depth: usize) -> bool {
        let before = self.fold_before(spec, depth);
        // The first of all is the same for whoever comes later.
        if self.routes.folds[spec].fold != Fold::Sum && is_found(&before) {
            return false;
        }
        self.cells.pin(&before);
        self.held_bytes += size_of::<Level>();
        let running = self.running_of(spec, depth);
        let joined = running.recent.len();
        running.open.push(Level { before, joined });
        true
    }

    /// The members that the closing node led to join.
    fn join_running(&mut self, spec: FoldedId, depth: usize, entries: Vec<Entry>) {
        let mut running = std::mem::take(self.running_of(spec, depth));
        if let Some(level) = running.open.pop() {
            self.held_bytes -= size_of::<Level>();
            self.join_level(spec, &mut running, level, entries);
        }
        if running.open.is_empty() {
            self.refresh(spec, &mut running);
            self.held_bytes -= running.recent.len() * size_of::<Entry>();
            for entry in running.recent.drain(..) {
                self.cells.unpin(&entry.when);
                self.cells.unpin(&entry.value);
            }
        }
        *self.running_of(spec, depth) = running;
    }

    fn join_level(
        &mut self,
        spec: FoldedId,
        running: &mut Running,
        level: Level,
        entries: Vec<Entry>,
    ) {
        let fold = self.routes.folds[spec].fold;
        for entry in &entries {
            if let Wire::Known(atom) = self.cells.resolve(&entry.value) {
                let is_exact = stays_exact(&mut running.magnitude, number_of(&atom));
                running.is_rough |= !is_exact;
            }
        }
        let is_ordered = level.joined == running.recent.len();
        let is_stale = !is_ordered && (running.is_rough || fold != Fold::Sum);
        if is_stale && !entries.is_empty() {
            let inner = running.stale.replace(level);
            self.cells
                .unpin(&inner.map_or(NOTHING, |inner| inner.before));
        } else {
            for entry in &entries {
                self.link_member(fold, &mut running.whole, entry);
            }
            self.cells.unpin(&level.before);
        }
        self.held_bytes += entries.len() * size_of::<Entry>();
        running.recent.extend(entries);
    }

    /// Makes a value anew, in document order, from the start of the outer node that ended.
    fn refresh(&mut self, spec: FoldedId, running: &mut Running) {
        let Some(Level { before, joined }) = running.stale.take() else {
            return;
        };
        let fold = self.routes.folds[spec].fold;
        self.cells
            .unpin(&std::mem::replace(&mut running.whole, before));
        running.recent[joined..].sort_unstable_by_key(|entry| entry.order);
        for entry in &running.recent[joined..] {
            if fold != Fold::Sum && is_found(&running.whole) {
                break;
            }
            self.count_pairs(1);
            self.link_member(fold, &mut running.whole, entry);
        }
    }

    fn link_member(&mut self, fold: Fold, whole: &mut Wire, entry: &Entry) {
        let args = [whole.clone(), entry.when.clone(), entry.value.clone()];
        let wire = self.link_values(link_of(fold), args);
        self.cells.pin(&wire);
        self.cells.unpin(&std::mem::replace(whole, wire));
    }

    /// The value of the ancestors of the opening node and, where asked for, of the node.
    fn fold_around(&mut self, spec: FoldedId, depth: usize) -> Wire {
        let above = self.folding.around[spec].iter().rev();
        let nearest = above.take(2).find(|(own, _)| *own < depth);
        let above = nearest.map_or(NOTHING, |(_, wire)| self.cells.resolve(wire));
        let step = self.routes.folds[spec].step;
        let route = &self.table[step];
        if route.axis == Axis::AncestorOrSelf && self.passes(depth, route.test) {
            return self.link_own(spec, above);
        }
        above
    }

    /// A value with that of the opening node.
    fn link_own(&mut self, spec: FoldedId, above: Wire) -> Wire {
        let Folded { step, fold } = self.routes.folds[spec];
        let when = self.predicates(step, Spot::Opening);
        if when.is_false() {
            return above;
        }
        let way = self.table[step].next;
        let value = if way.is_none() {
            self.part_of(part_of(fold), Spot::Opening)
        } else {
            let part = FirstPart::Optional;
            let is_ordered = true;
            self.gather_along(SinkKind::First { part, is_ordered }, way)
        };
        self.link_values(link_of(fold), [above, when, value])
    }

    fn open_fold_around(&mut self, spec: FoldedId, depth: usize) {
        let last = self.folding.around[spec].last();
        let above = last.map_or(NOTHING, |(_, wire)| self.cells.resolve(wire));
        let wire = self.link_own(spec, above);
        self.cells.pin(&wire);
        self.folding.around[spec].push((depth, wire));
        self.extra_of(depth).folds.around.push(spec);
    }

    /// One value of three, or the cell that will have it.
    pub(super) fn link_values(&mut self, link: Link, args: [Wire; 3]) -> Wire {
        let args = args.map(|arg| self.cells.resolve(&arg));
        if let Some(atom) = linked(link, &args) {
            return Wire::Known(atom);
        }
        let cell = self.cells.add(Kind::Awaited);
        self.set_link(cell, link, args);
        Wire::Cell(cell)
    }

    /// Gives a cell that was waiting its arguments.
    pub(super) fn set_link(&mut self, cell: Handle, link: Link, args: [Wire; 3]) {
        for (index, arg) in args.iter().enumerate() {
            if let Wire::Cell(input) = arg {
                self.cells.depend(cell, *input, Tag(index as u32));
            }
        }
        if let Some(open) = self.cells.open(cell) {
            let args = Box::new(args);
            open.kind = Kind::Link { link, args };
        }
    }
}

/// The value of a link, where its arguments give it.
pub(super) fn linked(link: Link, args: &[Wire; 3]) -> Option<Atom> {
    let known = |wire: &Wire| match wire {
        Wire::Known(atom) => Some(atom.clone()),
        Wire::Cell(_) => None,
    };
    let chosen = |when: &Wire, value: &Wire, otherwise: &Wire| match when {
        Wire::Known(truth) if truth.holds() => known(value),
        Wire::Known(_) => known(otherwise),
        // An ancestor without the attribute is no member in any case.
        Wire::Cell(_) => known(value).filter(|atom| *atom == Atom::Nothing),
    };
    let [first, second, third] = args;
    match link {
        Link::Next => chosen(first, second, third),
        Link::First => match known(first)? {
            Atom::Nothing => chosen(second, third, &NOTHING),
            first => Some(first),
        },
        Link::Sum => {
            let (sum, own) = (known(first)?, chosen(second, third, &NOTHING)?);
            Some(Atom::Number(number_of(&sum) + number_of(&own)))
        }
    }
}

/// The number that a value adds to a sum. A sum is never -0, so 0 leaves it as it is.
pub(super) fn number_of(atom: &Atom) -> f64 {
    match atom {
        Atom::Nothing => 0.0,
        Atom::Number(number) => *number,
        Atom::Text(text) => values::parse_number(text.as_bytes()),
        Atom::Truth(_) => f64::NAN,
    }
}

fn is_found(wire: &Wire) -> bool {
    matches!(wire, Wire::Known(atom) if *atom != Atom::Nothing)
}

fn link_of(fold: Fold) -> Link {
    match fold {
        Fold::Sum => Link::Sum,
        Fold::First(_) => Link::First,
    }
}

/// The part of each member that is folded.
pub(super) fn part_of(fold: Fold) -> FirstPart {
    match fold {
        Fold::Sum => FirstPart::Text,
        Fold::First(part) => part,
    }
}
