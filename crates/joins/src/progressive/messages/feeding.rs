//! Bindings that were gathered go into a join, one after the other; tuples come out.

use super::super::graph::StreamId;
use super::super::operator::{Fault, Joined, Progressive};
use super::super::pages::Pages;
use super::fragment::Fragment;
use super::selections::Selections;
use penstock_kernel::rows::Gathered;
use penstock_sequences::error::Error;
use smallvec::SmallVec;

/// The document that bindings come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Its id.
    pub document: Box<[u8]>,
    /// Its event time.
    pub time: i64,
    /// What tells it from all others, whatever their ids.
    pub number: [u8; 8],
}

/// How far feeding has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    binding: usize,
    route: usize,
}

/// So many bindings are looked at together before they are joined.
const AHEAD: usize = 16;

/// The values of a binding, by attribute.
type Lists<'a> = SmallVec<[SmallVec<[&'a [u8]; 2]>; 2]>;

/// Feeds a join: selects bindings, and makes fragments of what was gathered.
pub struct Feeder {
    /// How many attributes of each side join.
    key_counts: Vec<u32>,
    /// Which sides also join by their document; it is the value behind those of the keys.
    by_document: Vec<bool>,
    /// Pieces lose their wrappers.
    has_bare_pieces: bool,
    /// The subscriptions, and what they select.
    pub selections: Selections,
    selected: Vec<u32>,
    /// Who failed at bindings, to be taken.
    pub failing: Vec<Failing>,
    unfit: Vec<(u32, Error)>,
    fragment: Vec<u8>,
}

/// A subscription whose condition has no value for a binding.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The place of the binding.
    pub binding: usize,
    /// The subscription.
    pub subscription: u32,
    /// Why.
    pub error: Error,
}

impl Feeder {
    /// One for a join whose sides have so many keys, and may join by their document.
    pub fn new(key_counts: Vec<u32>, by_document: Vec<bool>, has_bare_pieces: bool) -> Feeder {
        Feeder {
            selections: Selections::new(key_counts.len()),
            key_counts,
            by_document,
            has_bare_pieces,
            selected: Vec::new(),
            failing: Vec::new(),
            unfit: Vec::new(),
            fragment: Vec::new(),
        }
    }

    /// Joins the bindings from a cursor on, until there are so many tuples, or so many bytes of
    /// their fragments. `routes` has the streams of the join that each side goes to, `origins` that
    /// of each group of bindings; those of a group without one are left out. Returns whether all
    /// are joined.
    ///
    /// # Errors
    /// As for `push` and `take`, with the number of the binding; feeding may go on behind it.
    pub fn feed(
        &mut self,
        join: &mut Progressive,
        (gathered, routes, origins): (&Gathered, &[Vec<StreamId>], &[Option<Origin>]),
        cursor: &mut Cursor,
        tuples: &mut Tuples,
        pages: &mut dyn Pages,
    ) -> Result<bool, (usize, Fault)> {
        loop {
            if join.has_results() {
                let taken = tuples.take(join, pages);
                taken.map_err(|fault| (cursor.binding, fault))?;
                if tuples.is_full() {
                    return Ok(false);
                }
                continue;
            }
            if cursor.binding == gathered.len() {
                return Ok(true);
            }
            if cursor.route == 0 && cursor.binding.is_multiple_of(AHEAD) {
                self.look_ahead(join, gathered, routes, cursor.binding);
            }
            let routes = routes.get(gathered.side(cursor.binding) as usize);
            let route = routes.and_then(|routes| routes.get(cursor.route));
            let origin = origins
                .get(gathered.group(cursor.binding))
                .and_then(Option::as_ref);
            let (Some(&stream), Some(origin)) = (route, origin) else {
                cursor.binding += 1;
                cursor.route = 0;
                continue;
            };
            let at = cursor.binding;
            cursor.route += 1;
            let pushed = self.push(join, (gathered, at), stream, origin, pages);
            pushed.map_err(|fault| (at, fault))?;
        }
    }

    /// Looks at what the next bindings will meet.
    fn look_ahead(
        &self,
        join: &Progressive,
        gathered: &Gathered,
        routes: &[Vec<StreamId>],
        first: usize,
    ) {
        if !join.is_large() {
            return;
        }
        let mut seen = 0u64;
        for at in first..gathered.len().min(first + AHEAD) {
            let routes = routes.get(gathered.side(at) as usize);
            for &stream in routes.into_iter().flatten() {
                let count = self.key_counts[stream.index()];
                let keys = gathered.values(at);
                for (key, value) in keys.filter(|(key, _)| u32::from(*key) < count) {
                    seen = seen.wrapping_add(join.look_ahead(stream, u32::from(key), value));
                }
            }
        }
        std::hint::black_box(seen);
    }

    fn push(
        &mut self,
        join: &mut Progressive,
        (gathered, at): (&Gathered, usize),
        stream: StreamId,
        origin: &Origin,
        pages: &mut dyn Pages,
    ) -> Result<(), Fault> {
        let mut lists = Lists::new();
        lists.resize(self.key_counts[stream.index()] as usize, SmallVec::new());
        let mut beside: SmallVec<[(u8, &[u8]); 4]> = SmallVec::new();
        for (attribute, value) in gathered.values(at) {
            match lists.get_mut(usize::from(attribute)) {
                Some(list) => list.push(value),
                None => beside.push((attribute, value)),
            }
        }
        if self.by_document[stream.index()] {
            lists.push(SmallVec::from_slice(&[&origin.number[..]]));
        }
        let beside = beside.iter().copied();
        let (selected, unfit) = (&mut self.selected, &mut self.unfit);
        let is_selected = self.selections.select(stream, beside, selected, unfit);
        let failing = unfit.drain(..).map(|(subscription, error)| Failing {
            binding: at,
            subscription,
            error,
        });
        self.failing.extend(failing);
        if !is_selected {
            return Ok(());
        }
        self.fragment.clear();
        let source = (&*origin.document, gathered.number(at));
        let pieces = gathered.pieces(at);
        let is_bare = self.has_bare_pieces;
        Fragment::write(source, &self.selected, pieces, is_bare, &mut self.fragment);
        join.push(stream, origin.time, &lists, &self.fragment, pages)?;
        Ok(())
    }
}

/// Tuples that wait to become rows.
#[derive(Default)]
pub struct Tuples {
    /// The tuples.
    pub all: Vec<Joined>,
    bytes: usize,
}

impl Tuples {
    /// So many tuples wait at most …
    pub const COUNT_MAX: usize = 4096;
    /// … and about so many bytes of fragments.
    pub const BYTES_MAX: usize = 4 << 20;

    /// Whether no more are to wait.
    pub fn is_full(&self) -> bool {
        self.all.len() >= Self::COUNT_MAX || self.bytes >= Self::BYTES_MAX
    }

    /// Takes results of a join that has some.
    ///
    /// # Errors
    /// As for `take` of the join.
    pub fn take(&mut self, join: &mut Progressive, pages: &mut dyn Pages) -> Result<(), Fault> {
        let left = Self::COUNT_MAX.saturating_sub(self.all.len()).max(1);
        // Many at once of large fragments would be too many bytes.
        let average = self.bytes / self.all.len().max(1);
        let room = Self::BYTES_MAX.saturating_sub(self.bytes) / average.max(1 << 10);
        let taken = join.take(left.min(room.max(1)), pages)?;
        let fragments = taken.iter().flatten();
        self.bytes += fragments.map(|part| part.fragment().len()).sum::<usize>();
        self.all.extend(taken);
        Ok(())
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.all.clear();
        self.bytes = 0;
    }
}
