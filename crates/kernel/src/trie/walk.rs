//! Down the tries: with sets of paths first, then with sets of nodes where conditions were met.

use super::columns::Columns;
use super::paths::{Paths, START, Sight};
use super::{Met, Trie};
use crate::plan::questions::{HALF_MARK, Image, MARK, Part};

/// Answered questions, each with what a walk with sets of paths tells of it.
#[derive(Debug, Default)]
pub struct Answered<T> {
    questions: Vec<u32>,
    told: Vec<T>,
    count: usize,
}

impl<T: Copy> Answered<T> {
    pub fn questions(&self) -> &[u32] {
        &self.questions[..self.count]
    }

    pub fn told(&self) -> &[T] {
        &self.told[..self.count]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (u32, T)> + '_ {
        let told = self.told().iter().copied();
        self.questions().iter().copied().zip(told)
    }
}

/// A walk with sets of paths, down a trie.
#[derive(Debug, Default)]
pub struct Walk {
    /// Blocks of conditions met, and with which sets.
    pub blocks: Vec<(u32, u32)>,
    /// Records to visit, and the cells that lead to their sets.
    todo: Vec<(u32, u32)>,
}

impl Walk {
    /// Goes down tries and lists the questions that paths answer. `tell` is given what is seen of
    /// the answers, and their name as `Paths::numbers_of` takes it. False if there are too many sets
    /// for that.
    pub fn go<S: Sight, T: Copy>(
        &mut self,
        stream: &[u16],
        roots: &[u32],
        columns: &Columns,
        paths: &mut Paths<S>,
        answered: &mut Answered<T>,
        tell: impl Fn(S, u32) -> T,
    ) -> bool {
        let mut count = 0;
        let is_done = self.walk(stream, roots, columns, paths, |record, set, paths| {
            let most = count + record.leaves.len() + record.pairs.len() / 2 + 1;
            if answered.questions.len() < most {
                answered.questions.resize(2 * most, 0);
                answered.told.resize(2 * most, tell(S::NOTHING, 0));
            }
            let questions = &mut answered.questions[..most];
            let told = &mut answered.told[..most];
            let mut question = record.number;
            // Written whether it counts or not: a branch here would be a coin toss.
            let mut answer = |sight: S, name: u32| {
                (questions[count], told[count]) = (question, tell(sight, name));
                count += usize::from(sight != S::NOTHING);
                question += 1;
            };
            if record.has_own {
                answer(paths.seen(set), MARK | set);
            }
            let (start, row) = paths.row(set);
            for &code in record.leaves {
                let column = columns.of(code);
                answer(row[column as usize], start + u32::from(column));
            }
            for pair in record.pairs.chunks_exact(2) {
                let to = paths.follow(start + u32::from(columns.of(pair[0])));
                let (start, row) = paths.row(to);
                let column = columns.of(pair[1]);
                answer(row[column as usize], start + u32::from(column));
            }
        });
        answered.count = count;
        is_done
    }

    /// Visits every record that some path leads to, in the order in which they lie.
    #[inline(always)]
    fn walk<S: Sight>(
        &mut self,
        stream: &[u16],
        roots: &[u32],
        columns: &Columns,
        paths: &mut Paths<S>,
        mut visit: impl FnMut(&Record<'_>, u32, &mut Paths<S>),
    ) -> bool {
        self.blocks.clear();
        let mut roots = roots.iter().copied();
        let Some(mut at) = roots.next() else {
            return true;
        };
        let mut set = START;
        let mut left = 0;
        loop {
            let record = Record::at(stream, at);
            visit(&record, set, paths);
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
                let column = columns.of(jump[0]);
                todo[left] = (word(jump[1], jump[2]), start + u32::from(column));
                left += usize::from(row[column as usize] != S::NOTHING);
            }
            if left == 0 {
                match roots.next() {
                    Some(root) if !paths.is_full() => (at, set) = (root, START),
                    _ => break,
                }
                continue;
            }
            if paths.is_full() {
                break;
            }
            left -= 1;
            let (next, cell) = self.todo[left];
            (at, set) = (next, paths.follow(cell));
        }
        !paths.is_full()
    }
}

impl Trie {
    /// Goes on from records that conditions led to, with sets of nodes; false if these become too
    /// many.
    pub(super) fn walk_nodes(&mut self, image: Image<'_>, is_query: bool) -> bool {
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
            self.pay();
            if self.nodes.is_full() {
                return false;
            }
        }
        !self.nodes.is_full()
    }

    /// Counts the steps of lists that were gone through.
    #[inline]
    pub(super) fn pay(&mut self) {
        let items = std::mem::take(&mut self.nodes.unpaid);
        self.taken.account.go_through(items);
    }

    fn answer_with(&mut self, question: u32, set: u32, is_query: bool) {
        if is_query {
            self.selected.push((question, set));
        } else {
            let earliest = self.nodes.earliest(&self.taken.bundle, set);
            self.met.push(Met {
                question,
                earliest,
                set,
            });
        }
    }

    fn follow_nodes(&mut self, set: u32, code: u16) -> u32 {
        if set == 0 || self.columns.of(code) == 0 {
            return 0;
        }
        self.nodes
            .follow(&self.taken.bundle, &self.taken.alphabet, set, code)
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
