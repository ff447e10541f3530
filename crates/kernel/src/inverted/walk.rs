//! Down the tries: with sets of paths first, then with sets of nodes where conditions were met.

use super::Inverted;
use super::image::{HALF_MARK, Image, MARK, Part};
use super::paths::{DEAD, EMPTY, First, Paths};

/// What a walk with sets of paths found.
#[derive(Debug, Default)]
pub struct Walked {
    questions: Vec<u32>,
    firsts: Vec<First>,
    count: usize,
    /// Blocks of conditions met, and with which sets.
    pub blocks: Vec<(u32, u32)>,
    /// Answered queries, and the sets of paths that answer them.
    pub selected: Vec<(u32, u32)>,
    /// Records to visit, and the cells that lead to their sets.
    todo: Vec<(u32, u32)>,
}

impl Walked {
    /// Answered filters.
    pub fn questions(&self) -> &[u32] {
        &self.questions[..self.count]
    }

    /// The paths that answer them first.
    pub fn firsts(&self) -> &[First] {
        &self.firsts[..self.count]
    }

    /// Goes down the trie of filters.
    pub fn walk_filters(&mut self, stream: &[u16], paths: &mut Paths) {
        self.blocks.clear();
        let mut count = 0;
        self.walk(stream, paths, |walked, record, set, columns, paths| {
            let most = count + record.leaves.len() + record.pairs.len() / 2 + 1;
            if walked.questions.len() < most {
                walked.questions.resize(2 * most, 0);
                walked.firsts.resize(2 * most, 0);
            }
            let questions = &mut walked.questions[..most];
            let firsts = &mut walked.firsts[..most];
            let mut question = record.number;
            if record.has_own {
                (questions[count], firsts[count]) = (question, paths.earliest(set));
                count += 1;
                question += 1;
            }
            let (_, row) = paths.row(set);
            for &code in record.leaves {
                let first = row[columns[code as usize] as usize];
                // Written whether it counts or not: a branch here would be a coin toss.
                (questions[count], firsts[count]) = (question, first);
                count += usize::from(first != DEAD);
                question += 1;
            }
            let (start, _) = paths.row(set);
            for pair in record.pairs.chunks_exact(2) {
                let to = paths.follow(start + u32::from(columns[pair[0] as usize]));
                let first = paths.first(to, columns[pair[1] as usize]);
                (questions[count], firsts[count]) = (question, first);
                count += usize::from(first != DEAD);
                question += 1;
            }
        });
        self.count = count;
    }

    /// Goes down the trie of queries.
    pub fn walk_queries(&mut self, stream: &[u16], paths: &mut Paths) {
        self.blocks.clear();
        self.selected.clear();
        self.walk(stream, paths, |walked, record, set, columns, paths| {
            let mut question = record.number;
            if record.has_own {
                walked.selected.push((question, set));
                question += 1;
            }
            let (start, _) = paths.row(set);
            for &code in record.leaves {
                let to = paths.follow(start + u32::from(columns[code as usize]));
                if to != EMPTY {
                    walked.selected.push((question, to));
                }
                question += 1;
            }
            for pair in record.pairs.chunks_exact(2) {
                let to = paths.follow(start + u32::from(columns[pair[0] as usize]));
                let (start, _) = paths.row(to);
                let to = paths.follow(start + u32::from(columns[pair[1] as usize]));
                if to != EMPTY {
                    walked.selected.push((question, to));
                }
                question += 1;
            }
        });
    }

    /// Visits every record that some path leads to, in the order in which they lie.
    #[inline(always)]
    fn walk(
        &mut self,
        stream: &[u16],
        paths: &mut Paths,
        mut visit: impl FnMut(&mut Self, &Record<'_>, u32, &[u16], &mut Paths),
    ) {
        let columns = paths.lend_columns();
        let (mut at, mut set) = (0, paths.set_of(&[0]));
        let mut left = 0;
        loop {
            let record = Record::at(stream, at);
            visit(self, &record, set, &columns, paths);
            if let Some(block) = record.block {
                self.blocks.push((block, set));
            }
            // The first way on comes to lie on top.
            let most = left + record.inner.len() / 3;
            if self.todo.len() < most {
                self.todo.resize(2 * most, (0, 0));
            }
            let todo = &mut self.todo[..most];
            let (start, row) = paths.row(set);
            for jump in record.inner.chunks_exact(3).rev() {
                let column = columns[jump[0] as usize];
                todo[left] = (word(jump[1], jump[2]), start + u32::from(column));
                left += usize::from(row[column as usize] != DEAD);
            }
            if left == 0 {
                break;
            }
            left -= 1;
            let (next, cell) = self.todo[left];
            (at, set) = (next, paths.follow(cell));
        }
        paths.take_columns(columns);
    }
}

impl Inverted {
    /// Goes on from records that conditions led to, with sets of nodes.
    pub(super) fn walk_nodes(&mut self, image: Image<'_>, is_query: bool) {
        let part = if is_query {
            Part::Queries
        } else {
            Part::Filters
        };
        let stream = image.stream(part);
        while let Some((at, set)) = self.todo.pop() {
            if at & MARK != 0 {
                self.selected.push((at & !MARK, set));
                continue;
            }
            let record = Record::at(stream, at);
            let mut question = record.number;
            if record.has_own {
                self.answer_with(question, set, is_query);
                question += 1;
            }
            for &code in record.leaves {
                let to = self.follow_nodes(set, code);
                if to != 0 {
                    self.answer_with(question, to, is_query);
                }
                question += 1;
            }
            for pair in record.pairs.chunks_exact(2) {
                let between = self.follow_nodes(set, pair[0]);
                let to = self.follow_nodes(between, pair[1]);
                if to != 0 {
                    self.answer_with(question, to, is_query);
                }
                question += 1;
            }
            for jump in record.inner.chunks_exact(3) {
                let to = self.follow_nodes(set, jump[0]);
                if to != 0 {
                    self.todo.push((word(jump[1], jump[2]), to));
                }
            }
            if let Some(block) = record.block {
                self.try_block(block, set, is_query);
            }
        }
    }

    fn answer_with(&mut self, question: u32, set: u32, is_query: bool) {
        if is_query {
            self.selected.push((question, set));
        } else {
            let time = super::NodeSets::earliest(self.nodes.get(set));
            self.found.push((question, time));
        }
    }

    fn follow_nodes(&mut self, set: u32, code: u16) -> u32 {
        if set == 0 || self.paths.columns()[code as usize] == 0 {
            return 0;
        }
        let axis = self.axis(code);
        self.nodes
            .follow(&self.document, &self.names, set, code, axis)
    }
}

/// A record of a trie, taken apart.
struct Record<'a> {
    number: u32,
    has_own: bool,
    leaves: &'a [u16],
    pairs: &'a [u16],
    inner: &'a [u16],
    block: Option<u32>,
}

impl<'a> Record<'a> {
    #[inline(always)]
    fn at(stream: &'a [u16], at: u32) -> Self {
        let record = &stream[at as usize..];
        let pairs = 5 + (record[0] & !HALF_MARK) as usize;
        let inner = pairs + 2 * record[2] as usize;
        let block = inner + 3 * (record[1] & !HALF_MARK) as usize;
        Record {
            number: word(record[3], record[4]),
            has_own: record[0] & HALF_MARK != 0,
            leaves: &record[5..pairs],
            pairs: &record[pairs..inner],
            inner: &record[inner..block],
            block: (record[1] & HALF_MARK != 0).then(|| word(record[block], record[block + 1])),
        }
    }
}

#[inline(always)]
fn word(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}
