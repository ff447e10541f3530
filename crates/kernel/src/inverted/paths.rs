//! Sets of label paths: where the ways of questions lead, as long as no condition is met.
//!
//! Only the moves that some path of the document can answer matter; each has a *column*. A row
//! tells for each column which path is the first to answer it, and rows of sets are the minima of
//! the rows of their paths. So one lookup says whether a move leads anywhere, and since paths are
//! numbered in order of their first nodes, it says when. Where it leads is worked out when somebody
//! goes there: sets are bits by place, and a move is a conjunction of the paths that answer it with
//! those that lie below the set.

use super::document::Document;
use super::names::Names;
use super::question::Code;
use super::sets::Sets;
use crate::plan::NodeKind;

/// The number of a path, signed, since minima of those are cheaper.
pub type First = i16;
/// In a row: no path answers the move.
pub const DEAD: First = First::MAX;
/// Documents with more paths or wider tables are not read this way.
const PATHS_MAX: usize = 1 << 12;
const CELLS_MAX: usize = 1 << 21;
/// The set of no paths; no path answers anything from there.
pub const EMPTY: u32 = 0;
const UNKNOWN: u32 = u32::MAX;

/// The paths of one document and the sets of them that were met.
pub struct Paths {
    /// Column by code; 0 is the column that nothing answers.
    columns: Vec<u16>,
    used: Vec<Code>,
    pub width: usize,
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
    /// By place: the first number to answer each column.
    firsts: Vec<First>,
    sets: Sets<u64>,
    /// By set: its places one by one, and where they end.
    places: Vec<u32>,
    ends: Vec<u32>,
    /// By set: the places right below it, and all below it.
    near: Vec<u64>,
    deep: Vec<u64>,
    /// By set.
    rows: Vec<First>,
    next: Vec<u32>,
    earliest: Vec<First>,
    found: Vec<u64>,
}

impl Paths {
    pub fn new(codes: usize) -> Self {
        Paths {
            columns: vec![0; codes],
            used: Vec::new(),
            width: 1,
            deep_from: 1,
            words: 1,
            answers: Vec::new(),
            number: Vec::new(),
            place: Vec::new(),
            parent: Vec::new(),
            last: Vec::new(),
            firsts: Vec::new(),
            sets: Sets::new(),
            places: Vec::new(),
            ends: Vec::new(),
            near: Vec::new(),
            deep: Vec::new(),
            rows: Vec::new(),
            next: Vec::new(),
            earliest: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Takes in a document; false if it has too many paths for this.
    pub fn take(&mut self, document: &Document, names: &Names) -> bool {
        for code in self.used.drain(..) {
            self.columns[code as usize] = 0;
        }
        self.assign_columns(document, names);
        let count = document.paths.len();
        if count > PATHS_MAX || count * self.width > CELLS_MAX {
            return false;
        }
        self.words = count.div_ceil(u64::BITS as usize);
        self.order(document);
        self.fill_answers(document, names);
        self.fill_firsts(document, names);
        self.sets.clear();
        self.places.clear();
        self.ends.clear();
        self.near.clear();
        self.deep.clear();
        self.rows.clear();
        self.next.clear();
        self.earliest.clear();
        self.found.clear();
        self.found.resize(self.words, 0);
        self.describe();
        true
    }

    /// Columns of moves to children and attributes come first, then those to descendants, which
    /// alone are passed on from path to path.
    fn assign_columns(&mut self, document: &Document, names: &Names) {
        self.width = 1;
        for is_deep in [false, true] {
            if is_deep {
                self.deep_from = self.width;
            }
            for path in &document.paths[1..] {
                let codes = names.codes(path.symbol);
                let codes = if is_deep { &codes.deep } else { &codes.near };
                for &code in codes {
                    if self.columns[code as usize] == 0 {
                        self.columns[code as usize] = self.width as u16;
                        self.used.push(code);
                        self.width += 1;
                    }
                }
            }
        }
    }

    fn order(&mut self, document: &Document) {
        let count = document.paths.len();
        self.number.clear();
        self.place.clear();
        self.place.resize(count, 0);
        self.parent.clear();
        let mut todo = vec![0];
        while let Some(path) = todo.pop() {
            self.place[path as usize] = self.number.len() as u32;
            self.number.push(path);
            let above = document.paths[path as usize].parent;
            self.parent.push(self.place[above as usize]);
            todo.extend(document.children(path));
        }
        self.last.clear();
        self.last.extend(0..count as u32);
        for place in (1..count).rev() {
            let above = self.parent[place] as usize;
            self.last[above] = self.last[above].max(self.last[place]);
        }
    }

    fn fill_answers(&mut self, document: &Document, names: &Names) {
        self.answers.clear();
        self.answers.resize(self.width * self.words, 0);
        for (place, &number) in self.number.iter().enumerate().skip(1) {
            let codes = names.codes(document.paths[number as usize].symbol);
            for &code in codes.near.iter().chain(&codes.deep) {
                let column = self.columns[code as usize] as usize;
                put(&mut self.answers[column * self.words..], place as u32);
            }
        }
    }

    fn fill_firsts(&mut self, document: &Document, names: &Names) {
        let width = self.width;
        self.firsts.clear();
        self.firsts.resize(self.number.len() * width, DEAD);
        // From the last place up, what lies below a path is complete before it is passed on.
        for place in (1..self.number.len()).rev() {
            let above = self.parent[place] as usize;
            let number = self.number[place] as First;
            let path = &document.paths[number as usize];
            let (upper, lower) = self.firsts.split_at_mut(place * width);
            let to = &mut upper[above * width..(above + 1) * width];
            let codes = names.codes(path.symbol);
            for &code in codes.near.iter().chain(&codes.deep) {
                let cell = &mut to[self.columns[code as usize] as usize];
                *cell = (*cell).min(number);
            }
            if path.kind == NodeKind::Element {
                let from = &lower[self.deep_from..width];
                for (cell, &below) in to[self.deep_from..].iter_mut().zip(from) {
                    *cell = (*cell).min(below);
                }
            }
        }
    }

    /// Describes the newest set: its places, what lies below them, and its row.
    fn describe(&mut self) {
        let from = self.places.len();
        for (index, &word) in self
            .sets
            .get((self.sets.len() - 1) as u32)
            .iter()
            .enumerate()
        {
            let mut rest = word;
            while rest != 0 {
                let place = index as u32 * u64::BITS + rest.trailing_zeros();
                self.places.push(place);
                rest &= rest - 1;
            }
        }
        self.ends.push(self.places.len() as u32);
        let start = self.near.len();
        self.near.resize(start + self.words, 0);
        self.deep.resize(start + self.words, 0);
        let row_start = self.rows.len();
        self.rows.resize(row_start + self.width, DEAD);
        let row = &mut self.rows[row_start..];
        let mut earliest = DEAD;
        let mut covered = 0;
        for &place in &self.places[from..] {
            let last = self.last[place as usize];
            let mut child = place + 1;
            while child <= last {
                put(&mut self.near[start..], child);
                child = self.last[child as usize] + 1;
            }
            // What lies below a path that lies below another is there already.
            put_range(&mut self.deep[start..], covered.max(place + 1), last + 1);
            covered = covered.max(last + 1);
            let firsts = &self.firsts[place as usize * self.width..][..self.width];
            for (cell, &first) in row.iter_mut().zip(firsts) {
                *cell = (*cell).min(first);
            }
            earliest = earliest.min(self.number[place as usize] as First);
        }
        self.earliest.push(earliest);
        let unknown = |&first: &First| if first == DEAD { EMPTY } else { UNKNOWN };
        self.next.extend(self.rows[row_start..].iter().map(unknown));
    }

    /// The set of paths at these places.
    pub fn set_of(&mut self, places: &[u32]) -> u32 {
        self.found.fill(0);
        for &place in places {
            put(&mut self.found, place);
        }
        self.intern_found()
    }

    fn intern_found(&mut self) -> u32 {
        let (set, is_new) = self.sets.intern(&self.found);
        if is_new {
            self.describe();
        }
        set
    }

    /// The paths of a set, by their places.
    pub fn places(&self, set: u32) -> &[u32] {
        let set = set as usize;
        let from = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.places[from as usize..self.ends[set] as usize]
    }

    /// The numbers of the paths of a set.
    pub fn numbers(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        let places = self.places(set).iter();
        places.map(|&place| self.number[place as usize])
    }

    /// The first of a set's paths.
    pub fn earliest(&self, set: u32) -> First {
        self.earliest[set as usize]
    }

    #[inline]
    pub fn columns(&self) -> &[u16] {
        &self.columns
    }

    /// The cells of a set: where they start, and which path is the first to answer each column.
    #[inline(always)]
    pub fn row(&self, set: u32) -> (u32, &[First]) {
        let start = set as usize * self.width;
        (start as u32, &self.rows[start..][..self.width])
    }

    /// The columns by code, for the time of a walk: what does not change needs no second look.
    pub fn lend_columns(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.columns)
    }

    /// Takes the columns back.
    pub fn take_columns(&mut self, columns: Vec<u16>) {
        self.columns = columns;
    }

    /// The first path to answer a column from a set.
    #[inline(always)]
    pub fn first(&self, set: u32, column: u16) -> First {
        self.rows[set as usize * self.width + column as usize]
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
        let (set, column) = (cell / self.width, cell % self.width);
        let reach = if column >= self.deep_from {
            &self.deep
        } else {
            &self.near
        };
        let reach = &reach[set * self.words..][..self.words];
        let answers = &self.answers[column * self.words..][..self.words];
        for ((word, &below), &answer) in self.found.iter_mut().zip(reach).zip(answers) {
            *word = below & answer;
        }
        self.intern_found()
    }
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
fn put(words: &mut [u64], place: u32) {
    words[(place / u64::BITS) as usize] |= 1 << (place % u64::BITS);
}
