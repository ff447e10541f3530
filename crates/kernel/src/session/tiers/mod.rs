//! Several plans, one pass: a large one that stays, small ones for what came later.
//!
//! Each *tier* is a plan with an automaton of its own; all listen to one tokenizer. Their rows are
//! put together event by event, so that neither the cutting of the input nor the number of tiers
//! changes what a subscription gets, or when.

mod listening;
mod opened;
mod symbols;

use crate::automaton::{Automaton, Statistics, TraceEntry};
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::{Plan, Tier};
use crate::rows::Rows;
use opened::OpenTags;
use std::sync::Arc;
use symbols::SymbolTable;

/// A tier at work.
struct Runner {
    tier: Tier,
    automaton: Automaton,
    /// Rows that are part of a run already.
    noted: usize,
    /// It came in the middle of a document and waits for the next start tag.
    is_waiting: bool,
}

/// The tiers of a session.
pub(crate) struct Tiers {
    runners: Vec<Runner>,
    symbols: SymbolTable,
    /// Whose rows come next, and how many.
    runs: Vec<(u32, usize)>,
    /// Rows put together, ready to be taken.
    rows: Rows,
    limits: Limits,
    options: Options,
    /// Number of the document; the caller's to set.
    document: u32,
    open: OpenTags,
}

impl Tiers {
    pub fn new(tiers: Vec<Tier>, limits: Limits, options: Options) -> Self {
        let mut made = Tiers {
            runners: Vec::new(),
            symbols: SymbolTable::default(),
            runs: Vec::new(),
            rows: Rows::default(),
            limits,
            options,
            document: 0,
            open: OpenTags::default(),
        };
        made.adopt(tiers);
        made
    }

    /// Goes on with other tiers; what a tier has learnt is kept where its plan stays. Whether
    /// symbols changed.
    pub fn adopt(&mut self, tiers: Vec<Tier>) -> bool {
        self.collect();
        let was = self.symbol_spaces();
        let mut before = std::mem::take(&mut self.runners);
        for tier in tiers {
            let known = |runner: &Runner| Arc::ptr_eq(&runner.tier.plan, &tier.plan);
            let runner = match before.iter().position(known) {
                Some(index) => Runner {
                    tier,
                    ..before.swap_remove(index)
                },
                None => self.start_runner(tier),
            };
            self.runners.push(runner);
        }
        let is_changed = was != self.symbol_spaces();
        if is_changed {
            self.symbols.clear();
        }
        is_changed
    }

    /// What gives symbols their meaning: the plans, and whether the only one speaks for itself.
    fn symbol_spaces(&self) -> (bool, Vec<*const Plan>) {
        let plans = self.runners.iter();
        let plans = plans.map(|runner| Arc::as_ptr(&runner.tier.plan));
        (self.is_plain(), plans.collect())
    }

    /// Whether one automaton's rows are the rows, without a change.
    pub fn is_plain(&self) -> bool {
        !self.options.is_live && self.runners.len() == 1 && self.runners[0].tier.is_plain()
    }

    pub fn tiers(&self) -> Vec<Tier> {
        let runners = self.runners.iter();
        runners.map(|runner| runner.tier.clone()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.runners.is_empty()
    }

    pub fn is_live(&self) -> bool {
        self.options.is_live
    }

    /// The only automaton of a plain session.
    pub fn only(&mut self) -> &mut Automaton {
        &mut self.runners[0].automaton
    }

    pub fn number_documents(&mut self, document: u32) {
        self.document = document;
        for runner in &mut self.runners {
            runner.automaton.number_documents(document);
        }
    }

    pub fn begin(&mut self) -> Result<(), DocumentError> {
        self.open.clear();
        for runner in &mut self.runners {
            runner.is_waiting = false;
            runner.automaton.begin()?;
        }
        self.note();
        Ok(())
    }

    pub fn finish(&mut self, length: u64) -> Result<(), DocumentError> {
        for runner in &mut self.runners {
            runner.automaton.finish(length)?;
        }
        self.note();
        Ok(())
    }

    pub fn abandon(&mut self) {
        for runner in &mut self.runners {
            runner.automaton.abandon();
        }
    }

    /// Puts the rows together that the automata have finished.
    pub fn collect(&mut self) {
        if self.runners.is_empty() || self.is_plain() {
            return;
        }
        self.note();
        let mut taken: Vec<Rows> = self
            .runners
            .iter_mut()
            .map(|runner| {
                runner.noted = 0;
                runner.automaton.take_rows()
            })
            .collect();
        let scopes: Vec<i32> = taken
            .iter()
            .map(|rows| self.rows.add_scopes(rows))
            .collect();
        let mut beside: Vec<_> = taken
            .iter_mut()
            .map(|rows| std::mem::take(&mut rows.bindings).into_iter().peekable())
            .collect();
        let mut next = vec![0; taken.len()];
        for (index, count) in self.runs.drain(..) {
            let (index, tier) = (index as usize, &self.runners[index as usize].tier);
            for row in next[index]..next[index] + count {
                let own = taken[index].subscription[row];
                let values = beside[index].next_if(|one| one.row as usize == row);
                if !tier.is_removed(own) {
                    let number = tier.first.saturating_add(own);
                    self.rows
                        .append_row(&taken[index], row, number, scopes[index]);
                    self.rows.append_beside(values);
                }
            }
            next[index] += count;
        }
    }

    /// Whether nothing that may follow in the document would add a row.
    pub fn is_decided(&self) -> bool {
        let mut runners = self.runners.iter();
        runners.all(|runner| !runner.is_waiting && runner.automaton.is_decided())
    }

    pub fn take_rows(&mut self) -> Rows {
        if self.rows.is_empty() && self.is_plain() {
            return self.only().take_rows();
        }
        self.collect();
        std::mem::take(&mut self.rows)
    }

    pub fn row_count(&self) -> usize {
        let waiting = self.rows.len();
        if self.is_plain() {
            return waiting + self.runners[0].automaton.row_count();
        }
        waiting
    }

    pub fn value_bytes(&self) -> usize {
        let waiting = self.rows.value.bytes.len();
        if self.is_plain() {
            return waiting + self.runners[0].automaton.value_bytes();
        }
        waiting
    }

    /// The events of the first tier.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        let first = self.runners.first_mut();
        first.map_or_else(Vec::new, |runner| runner.automaton.take_trace())
    }

    pub fn statistics(&self) -> Statistics {
        let mut sum = Statistics::default();
        for runner in &self.runners {
            let one = runner.automaton.statistics();
            sum.states_built += one.states_built;
            sum.cache_clears += one.cache_clears;
            sum.steps += one.steps;
            sum.held += one.held;
            sum.kept_bytes += one.kept_bytes;
        }
        sum
    }

    /// Sampled steps by the subscription they were done for, since the last call.
    pub fn take_charges(&mut self) -> Vec<(u32, f64)> {
        let numbered = self.runners.iter_mut().flat_map(|runner| {
            let first = runner.tier.first;
            let charges = runner.automaton.take_charges().into_iter();
            charges.map(move |(own, cost)| (first.saturating_add(own.0), cost))
        });
        numbered.collect()
    }

    /// Bytes held now by the subscription that waits for them.
    pub fn held_by_subscription(&self) -> Vec<(u32, u64)> {
        let numbered = self.runners.iter().flat_map(|runner| {
            let first = runner.tier.first;
            let held = runner.automaton.held_by_subscription().into_iter();
            held.map(move |(own, bytes)| (first.saturating_add(own.0), bytes))
        });
        numbered.collect()
    }

    /// Ends an event: what each automaton has finished in it comes before the next event's.
    fn note(&mut self) {
        if self.is_plain() {
            return;
        }
        for (index, runner) in self.runners.iter_mut().enumerate() {
            let count = runner.automaton.row_count();
            if count != runner.noted {
                self.runs.push((index as u32, count - runner.noted));
                runner.noted = count;
            }
        }
    }

    fn start_runner(&self, tier: Tier) -> Runner {
        let mut automaton = Automaton::new(tier.plan.clone(), self.limits, self.options);
        automaton.number_documents(self.document);
        Runner {
            tier,
            automaton,
            noted: 0,
            is_waiting: false,
        }
    }
}
