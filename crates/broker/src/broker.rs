//! The queries of a tier, asked of one document after the other.

use crate::answers::Answers;
use crate::facts::Lists;
use crate::index::Index;
use crate::keyed::{Keyed, Task};
use crate::store::Store;

/// Words of the largest set of nodes that is kept as bits.
const WORDS_MAX: usize = 64;

/// Working memory by the width of sets: most documents have narrow ones.
#[derive(Debug, Default)]
struct Memory {
    one: Keyed<1>,
    two: Keyed<2>,
    four: Keyed<4>,
    eight: Keyed<8>,
    many: Keyed<WORDS_MAX>,
}

/// Queries, and what they found in the last document.
#[derive(Debug, Default)]
pub struct Broker {
    index: Index,
    memory: Memory,
    lists: Lists,
    /// What was found.
    pub answers: Answers,
}

impl Broker {
    /// A broker of queries.
    pub fn new(index: Index) -> Broker {
        Broker {
            index,
            ..Broker::default()
        }
    }

    /// The queries.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Asks a document; false if it has too many nodes of one kind, and nothing was found out.
    pub fn ask(&mut self, store: &mut Store) -> bool {
        let bound = self.index.bindings.iter();
        let predicates = self.index.formulas.predicates.iter();
        let tests = bound.copied().chain(predicates.map(|one| one.test));
        let most = tests.map(|test| store.list(test).len()).max().unwrap_or(0);
        let words = most.div_ceil(64);
        if words > WORDS_MAX {
            return false;
        }
        self.lists.clear(self.index.formulas.paths.len());
        let width = match words {
            0 | 1 => 1,
            2 => 2,
            3 | 4 => 4,
            5..=8 => 8,
            _ => WORDS_MAX,
        };
        self.answers.clear(width);
        let mut task = Task {
            store,
            index: &self.index,
            lists: &mut self.lists,
            answers: &mut self.answers,
        };
        match width {
            1 => self.memory.one.run(&mut task),
            2 => self.memory.two.run(&mut task),
            4 => self.memory.four.run(&mut task),
            8 => self.memory.eight.run(&mut task),
            _ => self.memory.many.run(&mut task),
        }
        self.answers.settle(&self.index);
        true
    }
}
