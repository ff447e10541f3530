//! Sets of label paths: where the ways of questions lead, as long as no condition is met.
//!
//! A row tells for each column what is to be seen from the set: of a document that is alone the
//! first path that answers the move, which says when; of several which of them answer it. So one
//! lookup says whether a move leads anywhere. Where it leads is worked out when somebody goes
//! there: sets are bits by place, and a move is a conjunction of the paths that answer it with
//! those that lie below the set.

use super::columns::Columns;
use super::names::Names;
use super::sets::Sets;
use crate::document::{Bundle, Docs, Path};
use crate::plan::questions::MARK;

/// Bundles with more paths or wider tables are not read this way.
const PATHS_MAX: usize = 1 << 12;
const CELLS_MAX: usize = 1 << 21;
/// So many cells of sets are kept at once, with up to eight bytes for each.
const KEPT_CELLS_MAX: usize = 1 << 23;
/// The set of no paths; no path answers anything from there.
const EMPTY: u32 = 0;
/// The set of the document node's path.
pub const START: u32 = 1;
const UNKNOWN: u32 = u32::MAX;

/// What is to be seen of some paths.
pub trait Sight: Copy + Default + PartialEq {
    /// No path.
    const NOTHING: Self;

    /// One path.
    fn of(number: usize, path: &Path) -> Self;

    /// The paths of both.
    fn and(self, other: Self) -> Self;
}

/// Of several documents: those that have some of the paths.
impl Sight for Docs {
    const NOTHING: Docs = 0;

    fn of(_: usize, path: &Path) -> Docs {
        path.documents
    }

    #[inline(always)]
    fn and(self, other: Docs) -> Docs {
        self | other
    }
}

/// Of one document: the number of the first of the paths; they are numbered in order of their
/// first nodes. Signed, since minima of those are cheaper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct First(i16);

impl First {
    /// The number of the path.
    #[inline(always)]
    pub fn path(self) -> usize {
        self.0 as usize
    }
}

impl Sight for First {
    const NOTHING: First = First(i16::MAX);

    fn of(number: usize, _: &Path) -> First {
        First(number as i16)
    }

    #[inline(always)]
    fn and(self, other: First) -> First {
        First(self.0.min(other.0))
    }
}

/// The paths of a bundle and the sets of them that were met.
#[derive(Default)]
pub struct Paths<S> {
    width: usize,
    deep_from: usize,
    /// Words of a set of places.
    words: usize,
    /// By column: the places that answer it.
    answers: Vec<u64>,
    /// Number by place in preorder, place by number.
    number: Vec<u32>,
    place: Vec<u32>,
    /// By place: the place above, the last place below.
    parent: Vec<u32>,
    last: Vec<u32>,
    /// The places that have others below them.
    is_above: Vec<u64>,
    /// By place: the places right below it, and where they end.
    children: Vec<u32>,
    child_ends: Vec<u32>,
    /// By place: what is seen right below it, column by column, and where that ends.
    beneath: Vec<(u16, S)>,
    beneath_ends: Vec<u32>,
    /// By place: what is seen anywhere below it, for each move to descendants.
    below: Vec<S>,
    sets: Sets<u64>,
    /// Sets that only answer: nobody goes on from there. Those of one place are found by it.
    ends: Sets<u64>,
    single_ends: Vec<u32>,
    /// By set, if somebody went on from there: where the places below it lie in `reach`, those
    /// right below it and then all.
    reach_of: Vec<u32>,
    reach: Vec<u64>,
    /// By set: what is seen of it.
    seen: Vec<S>,
    /// By set, for each column: what is seen of the answers, and the set of them.
    rows: Vec<S>,
    next: Vec<u32>,
    found: Vec<u64>,
}

impl<S: Sight> Paths<S> {
    /// Takes in a bundle; false if it has too many paths for this.
    pub fn take(&mut self, bundle: &Bundle, names: &Names, columns: &mut Columns) -> bool {
        let count = bundle.paths.len();
        if count > PATHS_MAX {
            return false;
        }
        columns.assign(bundle, names);
        if count * columns.width > CELLS_MAX {
            return false;
        }
        (self.width, self.deep_from) = (columns.width, columns.deep_from);
        self.words = count.div_ceil(u64::BITS as usize);
        self.order(bundle);
        self.fill_answers(bundle, names, columns);
        self.fill_below(bundle, names, columns);
        self.sets.clear();
        self.ends.clear();
        self.single_ends.clear();
        self.single_ends.resize(count, UNKNOWN);
        self.reach_of.clear();
        self.reach.clear();
        self.seen.clear();
        self.rows.clear();
        self.next.clear();
        self.found.clear();
        self.found.resize(self.words, 0);
        self.describe(S::NOTHING);
        put(&mut self.found, 0);
        let start = self.intern_found(S::of(0, &bundle.paths[0]));
        debug_assert_eq!(start, START);
        true
    }

    fn order(&mut self, bundle: &Bundle) {
        let count = bundle.paths.len();
        self.number.clear();
        self.place.clear();
        self.place.resize(count, 0);
        self.parent.clear();
        let mut todo = vec![0];
        while let Some(path) = todo.pop() {
            self.place[path as usize] = self.number.len() as u32;
            self.number.push(path);
            let above = bundle.paths[path as usize].parent;
            self.parent.push(self.place[above as usize]);
            todo.extend(bundle.children(path));
        }
        self.last.clear();
        self.last.extend(0..count as u32);
        for place in (1..count).rev() {
            let above = self.parent[place] as usize;
            self.last[above] = self.last[above].max(self.last[place]);
        }
        self.is_above.clear();
        self.is_above.resize(self.words, 0);
        for &above in &self.parent[1..] {
            put(&mut self.is_above, above);
        }
    }

    fn fill_answers(&mut self, bundle: &Bundle, names: &Names, columns: &Columns) {
        self.answers.clear();
        self.answers.resize(self.width * self.words, 0);
        self.children.clear();
        self.child_ends.clear();
        self.beneath.clear();
        self.beneath_ends.clear();
        for (place, &number) in self.number.iter().enumerate() {
            for code in names.codes(bundle.paths[number as usize].symbol).all() {
                let column = columns.of(code) as usize;
                put(&mut self.answers[column * self.words..], place as u32);
            }
            let from = self.beneath.len();
            for child in bundle.children(number) {
                let path = &bundle.paths[child as usize];
                self.children.push(self.place[child as usize]);
                for &code in &names.codes(path.symbol).near {
                    let (column, sight) = (columns.of(code), S::of(child as usize, path));
                    // Siblings mostly share the columns that do not name them.
                    match self.beneath[from..].iter_mut().find(|one| one.0 == column) {
                        Some(known) => known.1 = known.1.and(sight),
                        None => self.beneath.push((column, sight)),
                    }
                }
            }
            self.child_ends.push(self.children.len() as u32);
            self.beneath_ends.push(self.beneath.len() as u32);
        }
    }

    fn fill_below(&mut self, bundle: &Bundle, names: &Names, columns: &Columns) {
        let width = self.width - self.deep_from;
        self.below.clear();
        self.below.resize(self.number.len() * width, S::NOTHING);
        // From the last place up, what lies below a path is complete before it is passed on.
        for place in (1..self.number.len()).rev() {
            let above = self.parent[place] as usize;
            let number = self.number[place] as usize;
            let path = &bundle.paths[number];
            let (upper, lower) = self.below.split_at_mut(place * width);
            let to = &mut upper[above * width..][..width];
            for &code in &names.codes(path.symbol).deep {
                let cell = &mut to[columns.of(code) as usize - self.deep_from];
                *cell = cell.and(S::of(number, path));
            }
            if self.last[place] as usize > place {
                for (cell, &below) in to.iter_mut().zip(&lower[..width]) {
                    *cell = cell.and(below);
                }
            }
        }
    }

    /// Describes the newest set by its row.
    fn describe(&mut self, seen: S) {
        self.seen.push(seen);
        self.reach_of.push(UNKNOWN);
        let row_start = self.rows.len();
        self.rows.resize(row_start + self.width, S::NOTHING);
        self.next.resize(row_start + self.width, UNKNOWN);
        let (near_row, deep_row) = self.rows[row_start..].split_at_mut(self.deep_from);
        let width = deep_row.len();
        let mut covered = 0;
        // Places with nothing below them are left out at once: they are half of all.
        let set = self.sets.get((self.sets.len() - 1) as u32);
        each_in(set, &self.is_above, |place| {
            for &(column, sight) in part(&self.beneath, &self.beneath_ends, place) {
                let cell = &mut near_row[column as usize];
                *cell = cell.and(sight);
            }
            // What is below a path that is below another is there already.
            if place >= covered {
                covered = self.last[place] as usize + 1;
                let below = &self.below[place * width..][..width];
                for (cell, &sight) in deep_row.iter_mut().zip(below) {
                    *cell = cell.and(sight);
                }
            }
        });
    }

    /// Works out what lies below a set; returns where.
    #[inline(never)]
    fn find_reach(&mut self, set: usize) -> usize {
        let start = self.reach.len();
        self.reach.resize(start + 2 * self.words, 0);
        let (near, deep) = self.reach[start..].split_at_mut(self.words);
        let mut covered = 0;
        each_in(self.sets.get(set as u32), &self.is_above, |place| {
            for &child in part(&self.children, &self.child_ends, place) {
                put(near, child);
            }
            if place >= covered {
                covered = self.last[place] as usize + 1;
                put_range(deep, place as u32 + 1, covered as u32);
            }
        });
        self.reach_of[set] = start as u32;
        start
    }

    fn intern_found(&mut self, seen: S) -> u32 {
        let (set, is_new) = self.sets.intern(&self.found);
        if is_new {
            self.describe(seen);
        }
        set
    }

    /// The numbers of the paths of a set.
    pub fn numbers(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        self.numbers_in(self.sets.get(set))
    }

    /// The numbers of the paths of an end.
    pub fn end_numbers(&self, end: u32) -> impl Iterator<Item = u32> + '_ {
        self.numbers_in(self.ends.get(end))
    }

    fn numbers_in<'a>(&'a self, set: &'a [u64]) -> impl Iterator<Item = u32> + 'a {
        set.iter().enumerate().flat_map(move |(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(self.number[index * u64::BITS as usize + bit])
            })
        })
    }

    /// Finds the paths of an answer: of a set if it is marked, otherwise of a cell.
    fn find(&mut self, answer: u32) {
        if answer & MARK == 0 {
            self.find_answers(answer as usize);
        } else {
            self.found.copy_from_slice(self.sets.get(answer & !MARK));
        }
    }

    /// The numbers of the paths of an answer.
    pub fn numbers_of(&mut self, answer: u32) -> impl Iterator<Item = u32> + '_ {
        self.find(answer);
        self.numbers_in(&self.found)
    }

    /// The end of an answer.
    pub fn end(&mut self, answer: u32) -> u32 {
        self.find(answer);
        let Some(place) = only(&self.found) else {
            return self.ends.intern(&self.found).0;
        };
        if self.single_ends[place] == UNKNOWN {
            self.single_ends[place] = self.ends.intern(&self.found).0;
        }
        self.single_ends[place]
    }

    /// Whether sets have more cells than may be kept.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rows.len() > KEPT_CELLS_MAX
    }

    /// What is seen of a set.
    #[inline]
    pub fn seen(&self, set: u32) -> S {
        self.seen[set as usize]
    }

    /// The cells of a set: where they start, and what is seen in each column.
    #[inline(always)]
    pub fn row(&self, set: u32) -> (u32, &[S]) {
        let start = set as usize * self.width;
        (start as u32, &self.rows[start..][..self.width])
    }

    /// The set to which a cell leads.
    #[inline(always)]
    pub fn follow(&mut self, cell: u32) -> u32 {
        let known = self.next[cell as usize];
        if known != UNKNOWN {
            return known;
        }
        let to = self.step(cell as usize);
        self.next[cell as usize] = to;
        to
    }

    #[inline(never)]
    fn step(&mut self, cell: usize) -> u32 {
        if self.rows[cell] == S::NOTHING {
            return EMPTY;
        }
        self.find_answers(cell);
        self.intern_found(self.rows[cell])
    }

    /// Finds the places in reach of a cell's set that answer its move.
    fn find_answers(&mut self, cell: usize) {
        let (cell, width) = (cell as u32, self.width as u32);
        let (set, column) = ((cell / width) as usize, (cell % width) as usize);
        let mut from = self.reach_of[set] as usize;
        if from == UNKNOWN as usize {
            from = self.find_reach(set);
        }
        if column >= self.deep_from {
            from += self.words;
        }
        let reach = &self.reach[from..][..self.words];
        let answers = &self.answers[column * self.words..][..self.words];
        for ((word, &below), &answer) in self.found.iter_mut().zip(reach).zip(answers) {
            *word = below & answer;
        }
    }
}

/// Visits the places of a set that are in another, too.
#[inline(always)]
fn each_in(set: &[u64], other: &[u64], mut visit: impl FnMut(usize)) {
    for (index, (&word, &mask)) in set.iter().zip(other).enumerate() {
        let mut rest = word & mask;
        while rest != 0 {
            visit(index * u64::BITS as usize + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// The place of a set that has only one.
fn only(set: &[u64]) -> Option<usize> {
    let mut found = None;
    for (index, &word) in set.iter().enumerate() {
        if word != 0 {
            if found.is_some() || !word.is_power_of_two() {
                return None;
            }
            found = Some(index * u64::BITS as usize + word.trailing_zeros() as usize);
        }
    }
    found
}

/// What belongs to a place, of lists that lie behind each other.
#[inline(always)]
fn part<'a, T>(items: &'a [T], ends: &[u32], place: usize) -> &'a [T] {
    let from = if place == 0 { 0 } else { ends[place - 1] };
    &items[from as usize..ends[place] as usize]
}

/// Puts places into a set, from one up to before another.
fn put_range(words: &mut [u64], from: u32, to: u32) {
    let mut at = from;
    while at < to {
        let end = to.min((at / u64::BITS + 1) * u64::BITS);
        let ones = u64::MAX >> (u64::BITS - (end - at));
        words[(at / u64::BITS) as usize] |= ones << (at % u64::BITS);
        at = end;
    }
}

/// Puts a place into a set.
#[inline(always)]
fn put(words: &mut [u64], place: u32) {
    words[(place / u64::BITS) as usize] |= 1 << (place % u64::BITS);
}
