//! What a document means to its queries: rows that name messages, and messages that are pairs of a
//! set of nodes and an output. Each pair exists once, whoever asked for it.

use crate::facts::Fault;
use crate::index::Index;
use crate::sets::Sets;
use rustc_hash::FxHashMap;

/// A message: a set of nodes, and what is said of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The set, by its number.
    pub set: u32,
    /// The output.
    pub output: u32,
}

/// Answers of one document; the memory serves the next one.
#[derive(Debug, Default)]
pub struct Answers {
    /// The sets of nodes.
    pub sets: Sets,
    /// Sets, and the entries that select them.
    met: Vec<(u32, u32, u32)>,
    /// By row: who gets a message.
    pub subscriptions: Vec<u32>,
    /// By row: the message.
    pub messages: Vec<u32>,
    /// The messages; those of one set lie together.
    pub pairs: Vec<Pair>,
    /// Subscriptions whose condition has no outcome, and why.
    pub faults: Vec<(u32, Fault)>,
    failed: FxHashMap<u32, Fault>,
    starts: Vec<u32>,
    order: Vec<u32>,
    /// By output: the set and the message that it was last asked for with.
    known: Vec<(u64, u32)>,
    /// Sets of earlier documents.
    before: u64,
}

impl Answers {
    /// Forgets the document; sets of the next one have so many words.
    pub fn clear(&mut self, width: usize) {
        self.before += self.sets.len() as u64;
        self.sets.clear(width);
        self.met.clear();
        self.subscriptions.clear();
        self.messages.clear();
        self.pairs.clear();
        self.faults.clear();
        self.failed.clear();
    }

    /// Entries select a set.
    #[inline]
    pub fn meet(&mut self, set: u32, from: u32, to: u32) {
        self.met.push((set, from, to));
    }

    /// A case has no outcome.
    pub fn fail(&mut self, case: u32, fault: Fault) {
        self.failed.insert(case, fault);
    }

    /// Makes rows and messages of what was met, set by set.
    pub fn settle(&mut self, index: &Index) {
        let count = self.sets.len();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        for &(set, ..) in &self.met {
            self.starts[set as usize + 1] += 1;
        }
        for at in 0..count {
            self.starts[at + 1] += self.starts[at];
        }
        self.order.clear();
        self.order.resize(self.met.len(), 0);
        for (at, &(set, ..)) in self.met.iter().enumerate() {
            let next = &mut self.starts[set as usize];
            self.order[*next as usize] = at as u32;
            *next += 1;
        }
        let rows: usize = self
            .met
            .iter()
            .map(|&(_, from, to)| (to - from) as usize)
            .sum();
        self.subscriptions.reserve(rows);
        self.messages.reserve(rows);
        self.known.resize(index.output_count, (u64::MAX, 0));
        let is_whole = self.failed.is_empty();
        for &at in &self.order {
            let (set, from, to) = self.met[at as usize];
            let stamp = self.before + u64::from(set);
            for entry in from..to {
                if !is_whole && self.failed.contains_key(&index.case_of[entry as usize]) {
                    continue;
                }
                let own = index.entries[entry as usize];
                let known = &mut self.known[own.output as usize];
                if known.0 != stamp {
                    *known = (stamp, self.pairs.len() as u32);
                    let output = own.output;
                    self.pairs.push(Pair { set, output });
                }
                self.subscriptions.push(own.subscription);
                self.messages.push(known.1);
            }
        }
        if !is_whole {
            for (entry, case) in index.entries.iter().zip(&index.case_of) {
                if let Some(&fault) = self.failed.get(case) {
                    self.faults.push((entry.subscription, fault));
                }
            }
        }
    }
}
