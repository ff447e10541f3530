//! Shared path matching: streams of path-tuples (section 2.3).
//!
//! ```text
//! //section/figure      (section, figure) (section, figure) …     one tuple for each way to match
//!        └──── //title  (section, title) …                        prefixes of paths are shared
//! ```
//!
//! A tuple has the element of each step. Tuples come in the order of their last elements.

use penstock_broker::{Axis, Step, Store, TestId};
use rustc_hash::FxHashMap;

/// More fields of tuples than this are not kept for one document.
pub(super) const FIELDS_MAX: usize = 1 << 21;

/// A path, up to one of its steps.
#[derive(Debug)]
struct State {
    before: Option<u32>,
    axis: Axis,
    test: TestId,
    width: usize,
    /// Whether a plan reads it, and not only longer paths.
    is_read: bool,
}

/// A stream of path-tuples: the number of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StreamId(pub u32);

/// The paths of all queries, and their tuples in one document.
#[derive(Debug, Default)]
pub(super) struct Streams {
    states: Vec<State>,
    known: FxHashMap<(Option<u32>, Axis, TestId), u32>,
    /// By path: its tuples, one behind the other.
    tuples: Vec<Vec<u32>>,
    order: Vec<(u32, u32)>,
    spare: Vec<u32>,
}

/// The tuples of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuples<'a> {
    fields: &'a [u32],
    pub width: usize,
}

impl<'a> Tuples<'a> {
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The element of a step of a tuple.
    #[inline]
    pub fn field(&self, tuple: u32, at: u32) -> u32 {
        self.fields[tuple as usize * self.width + at as usize]
    }

    /// The tuples, in order.
    #[inline]
    pub fn iter(self) -> std::slice::ChunksExact<'a, u32> {
        self.fields.chunks_exact(self.width)
    }
}

impl Streams {
    /// The stream of a path, which has steps.
    pub fn of(&mut self, path: impl IntoIterator<Item = Step>) -> StreamId {
        let mut at: Option<u32> = None;
        for (axis, test) in path {
            let next = self.states.len() as u32;
            let id = *self.known.entry((at, axis, test)).or_insert(next);
            if id == next {
                let width = at.map_or(0, |at| self.states[at as usize].width) + 1;
                let before = at;
                self.states.push(State {
                    before,
                    axis,
                    test,
                    width,
                    is_read: false,
                });
                self.tuples.push(Vec::new());
            }
            at = Some(id);
        }
        let id = at.unwrap_or_default();
        if let Some(state) = self.states.get_mut(id as usize) {
            state.is_read = true;
        }
        StreamId(id)
    }

    /// How many streams plans read.
    pub fn len(&self) -> usize {
        self.states.iter().filter(|state| state.is_read).count()
    }

    /// The tuples of a path.
    #[inline]
    pub fn get(&self, stream: StreamId) -> Tuples<'_> {
        Tuples {
            fields: &self.tuples[stream.0 as usize],
            width: self.states[stream.0 as usize].width,
        }
    }

    /// Matches all paths; returns how many fields tuples have, or None if they are too many.
    pub fn read(&mut self, store: &Store) -> Option<usize> {
        let mut total = 0;
        for at in 0..self.states.len() {
            let mut own = std::mem::take(&mut self.tuples[at]);
            own.clear();
            self.fill(at, store, &mut own, total);
            let width = self.states[at].width;
            // Only elements inside each other can lead out of order.
            if !own
                .chunks_exact(width)
                .is_sorted_by_key(|tuple| tuple[width - 1])
            {
                self.sort(&mut own, width);
            }
            total += own.len();
            self.tuples[at] = own;
            if total > FIELDS_MAX {
                return None;
            }
        }
        Some(total)
    }

    fn fill(&self, at: usize, store: &Store, own: &mut Vec<u32>, total: usize) {
        let State {
            before,
            axis,
            test,
            width,
            ..
        } = self.states[at];
        let list = store.list(test);
        let Some(before) = before else {
            match axis {
                Axis::Descendant => own.extend_from_slice(list),
                Axis::Child => own.extend(list.first().filter(|&&first| first == 0)),
            }
            return;
        };
        if list.is_empty() {
            return;
        }
        for tuple in self.tuples[before as usize].chunks_exact(width - 1) {
            let last = tuple[width - 2];
            for &element in store.below(last, test) {
                if axis == Axis::Descendant || store.element(element).parent == last {
                    own.extend_from_slice(tuple);
                    own.push(element);
                }
            }
            if total + own.len() > FIELDS_MAX {
                return;
            }
        }
    }

    fn sort(&mut self, own: &mut Vec<u32>, width: usize) {
        self.order.clear();
        let last = own.chunks_exact(width).map(|tuple| tuple[width - 1]);
        self.order.extend(last.zip(0..));
        self.order.sort_unstable();
        self.spare.clear();
        for &(_, tuple) in &self.order {
            let from = tuple as usize * width;
            self.spare.extend_from_slice(&own[from..from + width]);
        }
        std::mem::swap(own, &mut self.spare);
    }
}
