//! Records in, joined events out.

use crate::absence::{Absences, Absent};
use crate::bindings::Search;
use crate::plan::{Plan, absent_pair};
use crate::program::ProgramError;
use crate::record::Record;
use crate::results::{Results, parts_of};
use crate::retention::{Delay, retention};
use crate::slice::Wait;
use crate::store::Store;
use crate::strategies::{Finder, Strategy};
use crate::watermark::Watermark;
use crate::writer::Writer;
use rustc_hash::FxHashMap;
use std::any::Any;

/// How joins run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How much later than a younger document one may come, in microseconds; None: any time.
    pub lateness: Option<i64>,
    /// Bytes of records and their index in memory; more are to be sealed.
    pub memory_bytes_max: usize,
    /// How rows are found.
    pub strategy: Strategy,
    /// Slices that the view cache of `Strategy::Views` holds.
    pub views_max: usize,
    /// Only count results.
    pub is_counting: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            lateness: None,
            memory_bytes_max: 1 << 30,
            strategy: Strategy::Shared,
            views_max: 1 << 16,
            is_counting: false,
        }
    }
}

/// The joins of all subscriptions and the records that they may still need.
pub struct Joins {
    pub(crate) plan: Plan,
    pub(crate) store: Store,
    finder: Finder,
    absences: Absences,
    watermark: Watermark,
    options: Options,
    stream_delays: FxHashMap<u32, Delay>,
    /// How long a record that binds a variable is needed.
    kept: Vec<i64>,
    /// How much later than their event time the results of a stage may come.
    pub(crate) delays: FxHashMap<u32, Delay>,
    pub(crate) results: Results,
    /// Partial matches that are still to be joined.
    pub(crate) partials: Vec<Vec<u32>>,
    /// What waits of the records in memory, where state is divided into buckets.
    pub(crate) waits: Vec<Wait>,
    dropped_slices: Vec<u32>,
    documents: u64,
}

impl Joins {
    /// No subscriptions yet.
    pub fn new(options: Options) -> Self {
        let results = Results::new(options.is_counting);
        Joins {
            plan: Plan::default(),
            store: Store::default(),
            finder: Finder::new(options.strategy, options.views_max),
            absences: Absences::default(),
            watermark: Watermark::new(options.lateness),
            options,
            stream_delays: FxHashMap::default(),
            kept: Vec::new(),
            delays: FxHashMap::default(),
            results,
            partials: Vec::new(),
            waits: Vec::new(),
            dropped_slices: Vec::new(),
            documents: 0,
        }
    }

    /// Admits a variable of a stream; returns its number.
    pub fn variable(&mut self, stream: u32) -> u32 {
        self.plan.variable(stream)
    }

    /// Says how much later than its event time something that is published on a stream may come.
    pub fn delay(&mut self, stream: u32, delay: Delay) {
        self.stream_delays.insert(stream, delay);
        self.plan.touch();
    }

    /// Adds a row of a subscription, which sees documents from `version` on.
    pub fn add(
        &mut self,
        subscription: u32,
        version: u32,
        words: &[u32],
    ) -> Result<(), ProgramError> {
        self.plan.add(subscription, version, words)
    }

    /// Removes a subscription.
    pub fn remove(&mut self, subscription: u32) {
        self.plan.remove(subscription);
    }

    /// How much later than their event time the results of a subscription may come.
    pub fn delay_of(&mut self, subscription: u32) -> Delay {
        self.refresh();
        let stages = self.plan.stages();
        let own =
            stages.filter(|(_, stage)| stage.subscriptions.iter().any(|one| one.0 == subscription));
        own.filter_map(|(number, _)| self.delays.get(&number).copied())
            .fold(Delay::default(), Delay::and)
    }

    pub(crate) fn refresh(&mut self) {
        if self.plan.refresh() {
            (self.kept, self.delays) = retention(&self.plan, &self.stream_delays);
            self.finder.refresh(&self.plan);
            if self.plan.is_pinned() {
                self.store.keys.accessed = Some(self.plan.indexes().accessed.as_slice().into());
            }
        }
    }

    /// Event time goes on: a document or a heartbeat of this time was seen, whether it joins
    /// anything or not. Call `release` afterwards, until it returns false.
    pub fn advance(&mut self, time: i64) {
        // What was published since the last document has met everything by now.
        let before = self.store.len();
        self.dropped_slices
            .extend(self.store.evict(self.watermark.now()));
        if self.store.len() < before {
            self.finder.forget();
        }
        self.watermark.advance(time);
    }

    /// Whether a document of this time is in time; if so, event time goes on with it.
    pub fn admit(&mut self, time: i64) -> bool {
        let is_in_time = time >= self.watermark.now();
        if is_in_time {
            self.advance(time);
            self.documents += 1;
        }
        is_in_time
    }

    /// Joins a record with all before it: a document that was admitted, or one that was published,
    /// which is never late, since its event time is that of documents which were not. Returns
    /// whether the words are a record.
    ///
    /// Call `release` afterwards, until it returns false.
    pub fn push(&mut self, words: &[u32]) -> bool {
        let is_record = self.read(words).is_some();
        if is_record {
            self.refresh();
            self.join(words);
        }
        is_record
    }

    /// A record of known variables; None if the words are none.
    pub(crate) fn read<'w>(&self, words: &'w [u32]) -> Option<Record<'w>> {
        let record = Record::check(words)?;
        let count = self.plan.variable_count();
        let entries = record.entries().map(|entry| entry.variable);
        let is_known = record
            .variables()
            .chain(entries)
            .all(|variable| (variable as usize) < count);
        is_known.then_some(record)
    }

    /// Nothing comes any more: whatever waits for a partner has none.
    pub fn finish(&mut self) {
        self.absences.finish();
    }

    /// Lets go what waited in vain and is due first; returns whether there was any.
    ///
    /// What it published has to be pushed before the next call: whoever is due later may depend
    /// on it.
    pub fn release(&mut self) -> bool {
        self.refresh();
        // A row that nobody asks for any more has no depth.
        let depth_of = |stage: u32| self.delays.get(&stage).map_or(0, |delay| delay.depth);
        let due = self.absences.take_due(self.watermark.now(), depth_of);
        for waiting in &due {
            self.let_go(waiting.stage, Record::new(&waiting.record));
        }
        self.join_partials();
        !due.is_empty()
    }

    /// Reports what of a record found no partner at a stage.
    fn let_go(&mut self, number: u32, left: Record<'_>) {
        let mut sink = Sink {
            plan: &self.plan,
            results: &mut self.results,
            partials: &mut self.partials,
        };
        sink.let_go(&self.store, number, left);
    }

    fn join(&mut self, words: &[u32]) {
        self.join_record(words);
        if !self.plan.is_pinned() {
            self.join_partials();
        }
    }

    fn join_partials(&mut self) {
        while let Some(words) = self.partials.pop() {
            self.join_record(&words);
        }
    }

    fn join_record(&mut self, words: &[u32]) {
        let record = Record::new(words);
        if !self.plan.is_pinned() {
            self.finder.learn(&mut self.plan, &self.store, &record);
            self.refresh();
        }
        let mut sink = Sink {
            plan: &self.plan,
            results: &mut self.results,
            partials: &mut self.partials,
        };
        let mut tuples = Vec::new();
        self.finder.find(
            &self.plan,
            &self.store,
            &record,
            &mut |number, left, right| {
                let stage = sink.plan.stage(number);
                let search = Search {
                    shape: sink.plan.shape(stage),
                    variables: &stage.variables,
                    left,
                    right,
                };
                tuples.clear();
                if search.kept(&mut tuples) {
                    sink.emit(number, &search, Some(right), &tuples, &|_| true);
                }
            },
        );
        if !self.plan.is_pinned() {
            sink.emit_alone(&record);
        }
        let needed = record
            .variables()
            .map(|variable| self.kept[variable as usize])
            .max()
            .unwrap_or(-1);
        if needed >= 0 {
            let place = self
                .store
                .insert(words, record.time().saturating_add(needed));
            self.finder.inserted(&self.store, place);
            self.await_partners(&record, place);
        }
    }

    /// Lets a record that was kept wait for every row of absence that it may be the left side of.
    fn await_partners(&mut self, record: &Record<'_>, place: u32) {
        let bucket = self.store.keys.bucket;
        for number in self.plan.woken_by(record) {
            let stage = self.plan.stage(number);
            let Some((left, right)) = absent_pair(self.plan.shape(stage), stage) else {
                continue;
            };
            let mut nodes = record.nodes_of(left).iter();
            if !nodes.any(|node| bucket.holds(record.node(node).hash)) {
                continue;
            }
            let delay = self.stream_delays.get(&self.plan.stream_of(right));
            let until = record
                .time()
                .saturating_add(stage.window)
                .saturating_add(delay.map_or(0, |delay| delay.time));
            if self.plan.is_pinned() {
                self.waits.push(Wait {
                    until,
                    stage: number,
                    record: place,
                });
            } else {
                self.absences.wait(until, number, record.words());
            }
        }
    }

    /// Whether memory holds more than it should.
    pub fn is_over_memory(&self) -> bool {
        self.store.head.bytes() > self.options.memory_bytes_max
    }

    /// Turns what is in memory into an image for the caller to write somewhere and to `attach`.
    pub fn seal(&mut self) -> Option<(u32, Vec<u32>)> {
        self.finder.forget();
        self.store.seal()
    }

    /// Forgets all records, results and what waits; rows stay.
    pub fn clear(&mut self) {
        self.finder.forget();
        self.store = Store::new(self.store.keys.clone());
        self.absences = Absences::default();
        self.watermark = Watermark::new(self.options.lateness);
        self.results = Results::new(self.options.is_counting);
        self.partials.clear();
        self.waits.clear();
        self.dropped_slices.clear();
    }

    /// Whether an image turned out to be damaged: then results may be missing.
    pub fn is_damaged(&self) -> bool {
        self.store.is_damaged()
    }

    /// Searches a sealed image where the caller put it; returns whether it is one.
    ///
    /// # Safety
    /// `words` points to `length` words that stay where they are, unchanged, as long as `owner`
    /// is alive.
    pub unsafe fn attach(
        &mut self,
        number: u32,
        words: *const u32,
        length: usize,
        owner: Box<dyn Any + Send>,
    ) -> bool {
        // SAFETY: passed on.
        unsafe { self.store.attach(number, words, length, owner) }
    }

    /// Numbers of sealed images that are needed no more.
    pub fn take_dropped(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.dropped_slices)
    }

    /// The results since the last call, in an order that does not depend on the strategy.
    pub fn take_results(&mut self) -> Results {
        let fresh = Results::new(self.options.is_counting);
        let mut results = std::mem::replace(&mut self.results, fresh);
        results.sort();
        results
    }

    /// How many results wait.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// Documents joined, records kept, bytes in memory, distinct rows, shapes, waiting.
    pub fn statistics(&self) -> [u64; 6] {
        let (rows, shapes) = self.plan.sizes();
        [
            self.documents,
            self.store.len() as u64,
            self.store.head.bytes() as u64,
            rows as u64,
            shapes as u64,
            self.absences.len() as u64,
        ]
    }
}

/// Where what was found goes.
pub(crate) struct Sink<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) results: &'a mut Results,
    pub(crate) partials: &'a mut Vec<Vec<u32>>,
}

impl Sink<'_> {
    /// Hands on what a record gives by itself.
    pub(crate) fn emit_alone(&mut self, record: &Record<'_>) {
        let mut tuples = Vec::new();
        for number in self.plan.woken_by(record) {
            let stage = self.plan.stage(number);
            let search = Search {
                shape: self.plan.shape(stage),
                variables: &stage.variables,
                left: *record,
                right: *record,
            };
            tuples.clear();
            if search.shape.kind.is_none() && search.kept(&mut tuples) {
                self.emit(number, &search, None, &tuples, &|_| true);
            }
        }
    }

    /// Hands on what of a record found no partner at a stage.
    pub(crate) fn let_go(&mut self, store: &Store, number: u32, left: Record<'_>) {
        let stage = self.plan.stage(number);
        let waiting = Absent {
            store,
            shape: self.plan.shape(stage),
            stage,
            left,
        };
        for since in waiting.versions() {
            if let Some(tuples) = waiting.survivors(since) {
                let search = waiting.search(left);
                self.emit(number, &search, None, &tuples, &|version| version == since);
            }
        }
    }

    /// Hands on the tuples of kept nodes of a stage: as results, or as partial matches.
    fn emit(
        &mut self,
        number: u32,
        search: &Search<'_>,
        right: Option<Record<'_>>,
        tuples: &[u32],
        admits: &dyn Fn(u32) -> bool,
    ) {
        let stage = self.plan.stage(number);
        let (left, kept) = (search.left, &search.shape.kept);
        let version = right.map_or(left.version(), |right| right.version().min(left.version()));
        let time = right.map_or(left.time(), |right| right.time().max(left.time()));
        let seen = || {
            let seen = stage
                .subscriptions
                .iter()
                .filter(|(_, since)| *since <= version && admits(*since));
            seen.map(|one| one.0)
        };
        if seen().next().is_none() {
            return;
        }
        let shift = left.parts_count() as u32;
        let node = |(&slot, &node): (&u32, &u32)| match right {
            Some(right) if slot >= search.shape.left_count => {
                let node = right.node(node);
                (shift + node.part, node)
            }
            _ => {
                let node = left.node(node);
                (node.part, node)
            }
        };
        let width = kept.len().max(1);
        let once = [0];
        let tuples = if kept.is_empty() { &once } else { tuples };
        for tuple in tuples.chunks_exact(width) {
            let nodes = kept.iter().zip(tuple).map(node);
            if stage.is_last() {
                let chained = left.is_partial().then_some(number);
                let parts = parts_of(left, right);
                self.results.add(chained, seen(), time, parts, nodes);
            } else {
                let mut writer = Writer::new(time, version);
                for part in parts_of(left, right) {
                    writer.part(&part);
                }
                let itself = writer.node(0, (0, 0), None, None);
                writer.bind(stage.output[0], itself);
                for ((part, node), &variable) in nodes.zip(&stage.output[1..]) {
                    let copy = writer.copy(part, &node);
                    writer.bind(variable, copy);
                }
                self.partials.push(writer.finish_partial());
            }
        }
    }
}
