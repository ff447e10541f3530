//! When filters are decided, document by document of a bundle.
//!
//! A walk tells only which documents answer a filter. When each of them does is worked out
//! afterwards, once for all filters with the same answer, and not at all if nobody asks for it.

use super::paths::{Paths, Sight};
use crate::document::{Bundle, DOCUMENTS_MAX, NEVER, Timed};
use rustc_hash::FxHashMap;

/// By document: the place of a path among those of the document, in order of their first nodes.
/// Signed, since minima of those are cheaper.
type Places = [i16; DOCUMENTS_MAX];
/// The place of a path that a document does not have.
const NOWHERE: i16 = i16::MAX;

/// The times of a bundle, in rows that filters name.
#[derive(Debug, Default)]
pub struct Times {
    /// By path: its places.
    places: Vec<Places>,
    /// By document and place: the offset just past the event with the first node. The last one of
    /// a document stands for a path that it does not have.
    firsts: Vec<Vec<u32>>,
    /// Rows by answer as `Paths::numbers_of` takes it: the first place of its paths.
    rows: Vec<Places>,
    of_answers: FxHashMap<u32, u32>,
    /// Rows by set of nodes, behind the others: offsets by document.
    set_rows: Vec<[u32; DOCUMENTS_MAX]>,
    of_sets: FxHashMap<u32, u32>,
    /// All rows as offsets, one document behind the other.
    offsets: Vec<u32>,
}

impl Times {
    /// Forgets the bundle before and takes in the next.
    pub fn begin(&mut self, bundle: &Bundle) {
        self.rows.clear();
        self.of_answers.clear();
        self.set_rows.clear();
        self.of_sets.clear();
        self.places.clear();
        self.places
            .resize(bundle.paths.len(), [NOWHERE; DOCUMENTS_MAX]);
        self.firsts.iter_mut().for_each(Vec::clear);
        self.firsts
            .resize_with(bundle.document_count(), Vec::default);
        for node in &bundle.nodes {
            let place = &mut self.places[node.path as usize][node.document as usize];
            if *place == NOWHERE {
                let firsts = &mut self.firsts[node.document as usize];
                *place = firsts.len() as i16;
                firsts.push(bundle.offsets[node.born as usize] as u32);
            }
        }
        self.firsts.iter_mut().for_each(|firsts| firsts.push(0));
    }

    /// The row of an answer: its nodes are certain from their birth.
    #[inline]
    pub fn of_answer<S: Sight>(&mut self, paths: &mut Paths<S>, answer: u32) -> u32 {
        if let Some(&row) = self.of_answers.get(&answer) {
            return row;
        }
        self.add_answer(paths, answer)
    }

    #[inline(never)]
    fn add_answer<S: Sight>(&mut self, paths: &mut Paths<S>, answer: u32) -> u32 {
        let mut row = [NOWHERE; DOCUMENTS_MAX];
        for path in paths.numbers_of(answer) {
            for (first, &place) in row.iter_mut().zip(&self.places[path as usize]) {
                *first = place.min(*first);
            }
        }
        self.rows.push(row);
        let number = self.rows.len() as u32 - 1;
        self.of_answers.insert(answer, number);
        number
    }

    /// The row of a set of nodes; those of all answers are known.
    pub fn of_set(&mut self, bundle: &Bundle, set: u32, items: &[Timed]) -> u32 {
        let next = (self.rows.len() + self.set_rows.len()) as u32;
        let row = *self.of_sets.entry(set).or_insert(next);
        if row == next {
            let mut row = [NEVER; DOCUMENTS_MAX];
            for &(node, time) in items {
                let first = &mut row[bundle.nodes[node as usize].document as usize];
                *first = time.min(*first);
            }
            let offset = |time: u32| bundle.offsets.get(time as usize).copied();
            self.set_rows
                .push(row.map(|time| offset(time).unwrap_or(0) as u32));
        }
        row
    }

    /// Turns all rows into offsets.
    pub fn finish(&mut self) {
        let width = self.rows.len() + self.set_rows.len();
        self.offsets.clear();
        self.offsets.resize(width * self.firsts.len(), 0);
        // Some rows at a time, so that they stay in the cache for all documents.
        for (block, rows) in self.rows.chunks(DOCUMENTS_MAX).enumerate() {
            for (document, firsts) in self.firsts.iter().enumerate() {
                let from = document * width + block * DOCUMENTS_MAX;
                for (offset, row) in self.offsets[from..].iter_mut().zip(rows) {
                    *offset = firsts[(row[document] as usize).min(firsts.len() - 1)];
                }
            }
        }
        for (index, row) in self.set_rows.iter().enumerate() {
            let places = self.offsets[self.rows.len() + index..].iter_mut();
            for (offset, &first) in places.step_by(width).zip(row) {
                *offset = first;
            }
        }
    }

    /// By row: the offset just past the event that decides in a document. It means nothing if the
    /// document has no such answer.
    pub fn offsets(&self, document: usize) -> &[u32] {
        let width = self.rows.len() + self.set_rows.len();
        &self.offsets[document * width..][..width]
    }
}
