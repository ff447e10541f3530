//! The join: bindings in, tuples out, pages to the caller and back.

use super::binding::Binding;
use super::clean_up::{CleanUp, Tools};
use super::density::Density;
use super::graph::{JoinGraph, StreamId};
use super::options::{Options, Statistics, StreamStatistics};
use super::pages::{Page, PageFault, PageWriter, Pages, read_tuples};
use super::policies::{Flush, Hit, Probe};
use super::probing::Matches;
use super::search::{Around, Members, Search};
use super::table::{Slot, Table};
use crate::meter::Meter;
use penstock_kernel::ledger::{Ledger, Stop};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// The indexes of a binding take less than so many times its own bytes.
const GROWTH_MAX: usize = 128;

/// A result: one binding of each stream, in the order of streams.
pub type Joined = Members;

/// Why the join cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Somebody asked to stop, or a limit was passed: the binding under way is not joined.
    Stopped(Stop),
    /// A page could not be written or read. Results would be missing, so nothing goes on.
    Pages(PageFault),
    /// Results are to be taken before.
    StillTaking,
    /// The stream has ended.
    Ended(StreamId),
    /// The binding has no value list for each attribute, or is larger than 4 GiB.
    NoBinding,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Stopped(Stop::Interrupted) => f.write_str("the join was interrupted"),
            Fault::Stopped(Stop::Limit(name)) => write!(f, "joining a binding passed {name}"),
            Fault::Pages(fault) => write!(f, "{fault}"),
            Fault::StillTaking => f.write_str("results are to be taken before"),
            Fault::Ended(stream) => write!(f, "stream {} has ended", stream.0),
            Fault::NoBinding => f.write_str("a binding has a list of values for each attribute"),
        }
    }
}

impl std::error::Error for Fault {}

/// A symmetric hash join of several streams within a memory budget.
///
/// `push` a binding, then `take` what it completes until `has_results` is false. `settle` finds
/// what memory missed while the inputs stand still; `finish` does so when they have ended. Whatever
/// the budget and the order of work, the results of all calls together are those of a join with
/// all bindings in memory, each once.
pub struct Progressive {
    pub(super) graph: JoinGraph,
    options: Options,
    ledger: Arc<Ledger>,
    meter: Meter,
    pub(super) tables: Vec<Table>,
    probing: Box<dyn Probe>,
    flushing: Box<dyn Flush>,
    search: Option<Search>,
    clean_up: Option<CleanUp>,
    /// Tuples that clean-up found and nobody took yet.
    found: VecDeque<Members>,
    /// What was flushed, by stream.
    pages: Vec<Vec<Page>>,
    /// What was in memory when clean-up began, by stream; it comes back.
    parked: Vec<Vec<Page>>,
    arrivals: u64,
    /// Tuples up to this arrival are complete.
    complete: u64,
    is_ended: Vec<bool>,
    counters: Statistics,
    probes: Vec<u64>,
    failed: Option<Fault>,
    /// Room for the body of a binding.
    body: Vec<u8>,
}

impl Progressive {
    /// A join with limits of its own ledger.
    pub fn new(graph: JoinGraph, options: Options, ledger: Arc<Ledger>) -> Self {
        let count = graph.stream_count();
        let tables = graph.streams();
        let partitions = options.partitions(count);
        let tables = tables.map(|stream| Table::new(&graph, stream, partitions));
        Progressive {
            tables: tables.collect(),
            probing: Box::new(Matches::new(count, options.seed)),
            flushing: Box::new(Density::new(count, options.seed)),
            meter: Meter::new(ledger.clone()),
            search: None,
            clean_up: None,
            found: VecDeque::new(),
            pages: vec![Vec::new(); count],
            parked: vec![Vec::new(); count],
            arrivals: 0,
            complete: 0,
            is_ended: vec![false; count],
            counters: Statistics {
                streams: vec![StreamStatistics::default(); count],
                ..Statistics::default()
            },
            probes: vec![0; count],
            failed: None,
            body: Vec::new(),
            graph,
            options,
            ledger,
        }
    }

    /// The same join with other policies. No binding has come yet.
    pub fn with_policies(mut self, flushing: Box<dyn Flush>, probing: Box<dyn Probe>) -> Self {
        (self.flushing, self.probing) = (flushing, probing);
        self
    }

    /// Joins a binding: the values of each attribute of its stream, and its fragment. Returns its
    /// arrival number.
    ///
    /// # Errors
    /// See `Fault`. After a stop the binding is not joined, as if it had never come.
    pub fn push<'v>(
        &mut self,
        stream: StreamId,
        time: i64,
        values: &[impl AsRef<[&'v [u8]]>],
        fragment: &[u8],
        pages: &mut dyn Pages,
    ) -> Result<u64, Fault> {
        self.check()?;
        if self.is_ended.get(stream.index()).copied().unwrap_or(true) {
            return Err(Fault::Ended(stream));
        }
        if values.len() != self.graph.attribute_count(stream) as usize {
            return Err(Fault::NoBinding);
        }
        let arrival = self.arrivals + 1;
        let binding = Binding::new(stream, arrival, time, values, fragment, &mut self.body);
        let binding = binding.ok_or(Fault::NoBinding)?;
        self.ledger.begin();
        self.meter.begin(binding.page_bytes());
        let can_join = self.tables[stream.index()].can_join(&binding);
        let counters = &mut self.counters.streams[stream.index()];
        counters.arrived += 1;
        self.arrivals = arrival;
        if !can_join {
            counters.valueless += 1;
            return Ok(arrival);
        }
        let around = Around {
            graph: &self.graph,
            tables: &self.tables,
            meter: &self.meter,
        };
        let (probing, probes) = (&mut *self.probing, &mut self.probes);
        let search = self
            .ledger
            .guard(|| Search::new(binding, &around, probing, probes))
            .map_err(Fault::Stopped)?;
        let partition = self.tables[stream.index()].partition_of(&search.start);
        self.flushing.arrived(stream.index(), partition);
        let is_over = search.is_over();
        self.search = Some(search);
        if is_over {
            self.keep(pages)?;
        }
        Ok(arrival)
    }

    /// How many bindings came.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Whether there is something to take.
    pub fn has_results(&self) -> bool {
        self.search.is_some() || self.clean_up.is_some() || !self.found.is_empty()
    }

    /// Takes up to so many results of what was pushed, or of the clean-up under way.
    ///
    /// # Errors
    /// See `Fault`. A stop ends the search of the binding that was pushed; a clean-up may go on.
    pub fn take(&mut self, rows_max: usize, pages: &mut dyn Pages) -> Result<Vec<Joined>, Fault> {
        if let Some(fault) = &self.failed {
            return Err(fault.clone());
        }
        if self.search.is_none() {
            return self.take_cleaned(rows_max, pages);
        }
        let mut results = Vec::new();
        let ledger = self.ledger.clone();
        let searched = ledger.guard(|| self.continue_search(rows_max, &mut results));
        if let Err(stop) = searched {
            self.search = None;
            return Err(Fault::Stopped(stop));
        }
        self.counters.results += results.len() as u64;
        self.meter.earn(results.len());
        if self.search.as_ref().is_some_and(Search::is_over) {
            let kept = self.keep(pages);
            if results.is_empty() {
                kept?;
            }
        }
        Ok(results)
    }

    /// No more bindings of a stream come. Bindings that nothing can probe any more leave memory
    /// first.
    pub fn end(&mut self, stream: StreamId) {
        self.is_ended[stream.index()] = true;
    }

    /// Begins to find what memory missed so far; the inputs stand still. `take` does the work.
    ///
    /// # Errors
    /// A page cannot be written, or results are to be taken before.
    pub fn settle(&mut self, pages: &mut dyn Pages) -> Result<(), Fault> {
        self.check()?;
        let is_missing = self.pages.iter().any(|pages| !pages.is_empty());
        if !is_missing || self.arrivals == self.complete {
            return self.restore(pages).map_err(|fault| self.fail(fault));
        }
        self.park(pages)?;
        self.ledger.begin();
        let sources = [&self.pages[..], &self.parked[..]];
        let clean_up = CleanUp::new(&self.graph, &self.options, sources, self.complete);
        self.meter.begin(clean_up.pages_bytes());
        self.clean_up = Some(clean_up);
        Ok(())
    }

    /// All streams have ended: likewise, and nothing is kept after it.
    ///
    /// # Errors
    /// As for `settle`.
    pub fn finish(&mut self, pages: &mut dyn Pages) -> Result<(), Fault> {
        self.check()?;
        self.is_ended.fill(true);
        self.settle(pages)
    }

    /// Drops bindings with an event time before this one: no partner within reach can come.
    ///
    /// # Errors
    /// Results are to be taken before.
    pub fn expire(&mut self, before: i64, pages: &mut dyn Pages) -> Result<(), Fault> {
        self.check()?;
        // What is on pages may have partners there that clean-up has yet to find.
        let is_complete = self.pages.iter().all(Vec::is_empty) || self.complete == self.arrivals;
        if !is_complete {
            return Ok(());
        }
        for (table, kept) in self.tables.iter_mut().zip(&mut self.pages) {
            let slots = table.slots().filter(|(_, slot)| slot.binding.time < before);
            let slots: Vec<u32> = slots.map(|(at, _)| at).collect();
            table.remove(&slots);
            kept.retain(|page| {
                if page.time_max < before {
                    pages.remove(page.id);
                }
                page.time_max >= before
            });
        }
        Ok(())
    }

    /// What the join has done.
    pub fn statistics(&self) -> Statistics {
        let mut all = self.counters.clone();
        all.memory_bytes = self.memory_bytes() as u64;
        for (at, stream) in all.streams.iter_mut().enumerate() {
            stream.resident = self.tables[at].len() as u64;
            stream.memory_bytes = self.tables[at].memory_bytes() as u64;
            let waiting = self.pages[at].iter().chain(&self.parked[at]);
            stream.page_bytes = waiting.map(|page| page.bytes as u64).sum();
            stream.probes = self.probes[at];
        }
        all
    }

    fn check(&self) -> Result<(), Fault> {
        match &self.failed {
            Some(fault) => Err(fault.clone()),
            None if self.has_results() => Err(Fault::StillTaking),
            None => Ok(()),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.tables.iter().map(Table::memory_bytes).sum()
    }

    fn continue_search(&mut self, rows_max: usize, results: &mut Vec<Joined>) {
        let Some(search) = &mut self.search else {
            return;
        };
        while results.len() < rows_max {
            let around = Around {
                graph: &self.graph,
                tables: &self.tables,
                meter: &self.meter,
            };
            if !search.advance(&around, &mut *self.probing, &mut self.probes) {
                return;
            }
            results.push(search.members(&self.tables));
            for (stream, slot) in search.chosen() {
                let table = &mut self.tables[stream.index()];
                let hits_before = table.credit(slot);
                let Slot {
                    binding, partition, ..
                } = table.slot(slot);
                self.flushing.note(Hit {
                    stream: stream.index(),
                    partition: *partition,
                    hits_before,
                    age: search.start.arrival - binding.arrival,
                });
            }
        }
    }

    /// The binding that was pushed has met all others: it goes into memory, or to a page.
    fn keep(&mut self, pages: &mut dyn Pages) -> Result<(), Fault> {
        let Some(search) = self.search.take() else {
            return Ok(());
        };
        let (binding, hits) = (search.start, search.hits);
        let at = binding.stream.index();
        // A page that is being written lies beside what it is written from.
        let budget = self.options.state_bytes_max;
        let budget = budget.saturating_sub(self.options.page_bytes());
        let is_room = |join: &Self| {
            let held = join.memory_bytes();
            // What grows is copied into twice its size: far from the budget nobody has to look.
            let most = GROWTH_MAX * binding.memory_bytes() + 3 * held;
            most <= budget || held + join.tables[at].growth_bytes(&binding) <= budget
        };
        while !is_room(self) && self.tables.iter().any(|table| table.len() > 0) {
            self.flush(binding.memory_bytes(), pages)?;
        }
        if is_room(self) {
            self.tables[at].insert(binding, hits);
            return Ok(());
        }
        // One binding larger than the budget.
        let mut writer = PageWriter::new(pages, self.options.page_bytes());
        let added = writer.add(&binding, binding.arrival);
        let written = writer.finish(added.is_ok());
        let written = added.and(written).map_err(|fault| self.fail(fault))?;
        self.note_pages(at, 1, written);
        Ok(())
    }

    /// Writes some bindings to pages, at least of so many bytes.
    fn flush(&mut self, bytes: usize, pages: &mut dyn Pages) -> Result<(), Fault> {
        let share = self.options.flush_fraction * self.options.state_bytes_max as f64;
        let bytes = bytes.max(share as usize);
        let is_useless: Vec<bool> = self
            .graph
            .streams()
            .map(|stream| {
                self.graph
                    .streams()
                    .all(|to| to == stream || self.is_ended[to.index()])
            })
            .collect();
        // Bounded by what is in memory, and not interrupted: a binding that gave results is kept.
        let mut victims = self
            .flushing
            .choose(&self.tables, bytes, self.arrivals, &is_useless);
        if victims.iter().all(Vec::is_empty) {
            // Chance took none.
            let first =
                |table: &Table| table.slots().next().map(|(at, _)| at).into_iter().collect();
            victims = self.tables.iter().map(first).collect();
        }
        self.counters.flushes += 1;
        for (at, slots) in victims.into_iter().enumerate() {
            self.write_out(at, &slots, pages)?;
        }
        Ok(())
    }

    /// Writes the bindings at some slots of a stream, then removes them from memory.
    fn write_out(&mut self, at: usize, slots: &[u32], pages: &mut dyn Pages) -> Result<(), Fault> {
        let mut writer = PageWriter::new(pages, self.options.page_bytes());
        let mut slots_left = slots.iter();
        let table = &self.tables[at];
        let added =
            slots_left.try_for_each(|&slot| writer.add(&table.slot(slot).binding, self.arrivals));
        let written = writer.finish(added.is_ok());
        let written = added.and(written).map_err(|fault| self.fail(fault))?;
        self.note_pages(at, slots.len() as u64, written);
        self.tables[at].remove(slots);
        Ok(())
    }

    fn note_pages(&mut self, at: usize, bindings: u64, written: Vec<Page>) {
        self.counters.streams[at].flushed += bindings;
        self.counters.pages_written += written.len() as u64;
        self.pages[at].extend(written);
    }

    fn fail(&mut self, fault: PageFault) -> Fault {
        self.failed = Some(Fault::Pages(fault.clone()));
        Fault::Pages(fault)
    }

    /// Writes out what is in memory, which clean-up needs for itself.
    fn park(&mut self, pages: &mut dyn Pages) -> Result<(), Fault> {
        for at in 0..self.tables.len() {
            let mut writer = PageWriter::new(pages, self.options.page_bytes());
            let mut slots = self.tables[at].slots();
            let added = slots.try_for_each(|(_, slot)| writer.add(&slot.binding, u64::MAX));
            drop(slots);
            let written = writer.finish(added.is_ok());
            let written = added.and(written).map_err(|fault| self.fail(fault))?;
            self.counters.pages_written += written.len() as u64;
            self.parked[at] = written;
            self.tables[at].clear();
        }
        Ok(())
    }

    fn take_cleaned(
        &mut self,
        rows_max: usize,
        pages: &mut dyn Pages,
    ) -> Result<Vec<Joined>, Fault> {
        let ledger = self.ledger.clone();
        let cleaned = ledger.guard(|| {
            while self.found.len() < rows_max {
                let Some(clean_up) = &mut self.clean_up else {
                    break;
                };
                let pages = &mut *pages;
                let mut tools = Tools {
                    graph: &self.graph,
                    meter: &self.meter,
                    pages,
                };
                if !clean_up.advance(&mut tools, &mut self.found)? {
                    self.counters.pages_written += clean_up.pages_written;
                    self.clean_up = None;
                    self.restore(pages)?;
                }
            }
            Ok(())
        });
        match cleaned {
            Err(stop) => return Err(Fault::Stopped(stop)),
            Ok(Err(fault)) => return Err(self.fail(fault)),
            Ok(Ok(())) => {}
        }
        let count = self.found.len().min(rows_max);
        self.counters.cleaned += count as u64;
        self.meter.earn(count);
        Ok(self.found.drain(..count).collect())
    }

    /// All tuples so far are found. What was in memory comes back; nothing is kept if all streams
    /// have ended.
    fn restore(&mut self, pages: &mut dyn Pages) -> Result<(), PageFault> {
        self.complete = self.arrivals;
        let is_over = self.is_ended.iter().all(|&is_ended| is_ended);
        for stream in self.graph.streams() {
            let at = stream.index();
            for page in std::mem::take(&mut self.parked[at]) {
                if !is_over {
                    for mut tuple in read_tuples(&pages.read(page.id)?, &[stream])? {
                        self.tables[at].insert(tuple.remove(0), 0);
                    }
                }
                pages.remove(page.id);
            }
            if is_over {
                self.tables[at].clear();
                for page in self.pages[at].drain(..) {
                    pages.remove(page.id);
                }
            }
        }
        Ok(())
    }
}
