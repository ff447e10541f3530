//! Sets of label paths: where the ways of questions lead, as long as no condition is met.
//!
//! Only the moves that some path of the document can answer matter; each has a *column*. A row
//! tells for each column which path is the first to answer it, and rows of sets are the minima of
//! the rows of their paths. So one lookup says whether a move leads anywhere, and since paths are
//! numbered in order of their first nodes, it says when.

use super::document::Document;
use super::names::Names;
use super::question::Code;
use super::sets::Sets;
use crate::plan::NodeKind;

/// In a row: no path answers the move.
pub const DEAD: u16 = u16::MAX;
/// Documents with more paths or wider tables are not read this way.
const PATHS_MAX: usize = 1 << 14;
const CELLS_MAX: usize = 1 << 21;
/// The set of no paths.
pub const EMPTY: u32 = 0;
const UNKNOWN: u32 = u32::MAX;

/// The paths of one document and the sets of them that were met.
pub struct Paths {
    /// Column by code; 0 is the column that nothing answers.
    columns: Vec<u16>,
    used: Vec<Code>,
    pub width: usize,
    deep_from: usize,
    /// Paths by column, in preorder.
    answers: Vec<Vec<u32>>,
    /// Number by place in preorder, place by number.
    number: Vec<u32>,
    place: Vec<u32>,
    /// By place: the place above, the last place below.
    parent: Vec<u32>,
    last: Vec<u32>,
    /// By place: the first number to answer each column.
    firsts: Vec<u16>,
    sets: Sets<u32>,
    /// By set.
    rows: Vec<u16>,
    next: Vec<u32>,
    earliest: Vec<u16>,
    members: Vec<bool>,
    found: Vec<u32>,
}

impl Paths {
    pub fn new(codes: usize) -> Self {
        Paths {
            columns: vec![0; codes],
            used: Vec::new(),
            width: 1,
            deep_from: 1,
            answers: Vec::new(),
            number: Vec::new(),
            place: Vec::new(),
            parent: Vec::new(),
            last: Vec::new(),
            firsts: Vec::new(),
            sets: Sets::new(),
            rows: Vec::new(),
            next: Vec::new(),
            earliest: Vec::new(),
            members: Vec::new(),
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
        self.order(document);
        self.fill_answers(document, names);
        self.fill_firsts(document, names);
        self.members.clear();
        self.members.resize(count, false);
        self.sets.clear();
        self.rows.clear();
        self.next.clear();
        self.earliest.clear();
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
        self.answers.iter_mut().for_each(Vec::clear);
        if self.answers.len() < self.width {
            self.answers.resize_with(self.width, Vec::new);
        }
        for (place, &number) in self.number.iter().enumerate().skip(1) {
            let codes = names.codes(document.paths[number as usize].symbol);
            for &code in codes.near.iter().chain(&codes.deep) {
                self.answers[self.columns[code as usize] as usize].push(place as u32);
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
            let number = self.number[place] as u16;
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

    /// Adds the row of the newest set.
    fn describe(&mut self) {
        let set = (self.sets.len() - 1) as u32;
        let start = self.rows.len();
        self.rows.resize(start + self.width, DEAD);
        let row = &mut self.rows[start..];
        let mut earliest = DEAD;
        for &place in self.sets.get(set) {
            let from = &self.firsts[place as usize * self.width..][..self.width];
            for (cell, &first) in row.iter_mut().zip(from) {
                *cell = (*cell).min(first);
            }
            earliest = earliest.min(self.number[place as usize] as u16);
        }
        self.earliest.push(earliest);
        let unknown = |&first: &u16| if first == DEAD { EMPTY } else { UNKNOWN };
        self.next.extend(self.rows[start..].iter().map(unknown));
    }

    /// The set of paths at these places.
    pub fn set_of(&mut self, places: &[u32]) -> u32 {
        let (set, is_new) = self.sets.intern(places);
        if is_new {
            self.describe();
        }
        set
    }

    /// The paths of a set, by their places.
    pub fn places(&self, set: u32) -> &[u32] {
        self.sets.get(set)
    }

    /// The numbers of the paths of a set.
    pub fn numbers(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        let places = self.sets.get(set).iter();
        places.map(|&place| self.number[place as usize])
    }

    /// The first of a set's paths.
    pub fn earliest(&self, set: u32) -> u16 {
        self.earliest[set as usize]
    }

    #[inline]
    pub fn columns(&self) -> &[u16] {
        &self.columns
    }

    #[inline]
    pub fn row(&self, set: u32) -> &[u16] {
        &self.rows[set as usize * self.width..][..self.width]
    }

    /// The columns by code, for the time of a walk: what does not change needs no second look.
    pub fn lend_columns(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.columns)
    }

    /// Takes the columns back.
    pub fn take_columns(&mut self, columns: Vec<u16>) {
        self.columns = columns;
    }

    /// Where a column leads from a set; `EMPTY` if nowhere.
    #[inline(always)]
    pub fn follow(&mut self, set: u32, column: u16) -> u32 {
        let column = column as usize;
        let cell = set as usize * self.width + column;
        let known = self.next[cell];
        if known != UNKNOWN {
            return known;
        }
        let to = self.step(set, column);
        self.next[cell] = to;
        to
    }

    #[inline(never)]
    fn step(&mut self, set: u32, column: usize) -> u32 {
        let answers = &self.answers[column];
        let places = self.sets.get(set);
        self.found.clear();
        if column >= self.deep_from {
            for range in ranges(places, &self.last) {
                let from = answers.partition_point(|&place| place <= range.0);
                let below = answers[from..].iter().take_while(|&&p| p <= range.1);
                self.found.extend(below);
            }
        } else {
            for &place in places {
                self.members[place as usize] = true;
            }
            let is_child = |&&p: &&u32| self.members[self.parent[p as usize] as usize];
            self.found.extend(answers.iter().filter(is_child));
            for &place in places {
                self.members[place as usize] = false;
            }
        }
        let found = std::mem::take(&mut self.found);
        let to = self.set_of(&found);
        self.found = found;
        to
    }
}

/// The outermost of nested ranges from each item to its last.
pub fn ranges<'a>(items: &'a [u32], last: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    let mut covered = None;
    items.iter().filter_map(move |&item| {
        if covered.is_some_and(|end| item <= end) {
            return None;
        }
        let end = last[item as usize];
        covered = Some(end);
        Some((item, end))
    })
}
