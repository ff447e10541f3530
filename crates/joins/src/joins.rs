//! Records in, joined events out.

use crate::absence::Absences;
use crate::bindings::Search;
use crate::plan::{Plan, StageId, StreamId};
use crate::program::Row;
use crate::record::Record;
use crate::results::Results;
use crate::retention::Delay;
use crate::segment::Wait;
use crate::sink::Sink;
use crate::store::Store;
use crate::strategies::{Finder, Strategy};
use crate::watermark::Watermark;
use penstock_kernel::plan::SubscriptionId;
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

/// Records are kept in memory up to this size, unless the caller says otherwise.
pub const MEMORY_BYTES_MAX: usize = 1 << 30;

/// So many views are kept, likewise.
pub const VIEWS_MAX: usize = 1 << 16;

impl Default for Options {
    fn default() -> Self {
        Options {
            lateness: None,
            memory_bytes_max: MEMORY_BYTES_MAX,
            strategy: Strategy::Shared,
            views_max: VIEWS_MAX,
            is_counting: false,
        }
    }
}

/// Records are looked through after so much of them was read anew, if subscriptions are gone.
const SWEEP_PART: usize = 16;

/// How much there is, for whoever watches that nothing is left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Documents joined.
    pub documents: u64,
    /// Records kept.
    pub records: usize,
    /// Bytes of records in memory and of their index.
    pub memory_bytes: usize,
    /// Distinct rows.
    pub rows: usize,
    /// Distinct shapes of rows.
    pub shapes: usize,
    /// Left sides that wait for their window to pass.
    pub waiting: usize,
    /// Pairs of variables that rows join.
    pub pairs: usize,
    /// Nodes of the trie of rows.
    pub nodes: usize,
}

/// The joins of all subscriptions and the records that they may still need.
pub struct Joins {
    pub(crate) plan: Plan,
    pub(crate) store: Store,
    finder: Finder,
    absences: Absences,
    watermark: Watermark,
    options: Options,
    pub(crate) results: Results,
    /// Partial matches that are still to be joined.
    pub(crate) partials: Vec<Vec<u32>>,
    /// What waits of the records in memory, where state is divided into buckets.
    pub(crate) waits: Vec<Wait>,
    dropped_segments: Vec<u32>,
    documents: u64,
    /// Subscriptions that were removed since records were looked through last, and documents.
    removed: usize,
    since_sweep: usize,
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
            results,
            partials: Vec::new(),
            waits: Vec::new(),
            dropped_segments: Vec::new(),
            documents: 0,
            removed: 0,
            since_sweep: 0,
        }
    }

    /// Admits a variable of a stream. Its number may be one that was given up: records from before
    /// have earlier versions than whoever asks for it now.
    pub fn admit_variable(&mut self, variable: u32, stream: StreamId) {
        self.plan.admit(variable, stream);
    }

    /// Says how much later than its event time something that is published on a stream may come.
    pub fn delay(&mut self, stream: StreamId, delay: Delay) {
        self.plan.retention.delay_stream(stream, delay);
    }

    /// Adds a row of a subscription, which sees documents from `version` on. Its variables were
    /// admitted.
    pub fn add(&mut self, subscription: SubscriptionId, version: u32, row: Row) {
        self.plan.add(subscription, version, row);
    }

    /// Removes a subscription.
    pub fn remove(&mut self, subscription: SubscriptionId) {
        if self.plan.remove(subscription) {
            self.removed += 1;
        }
    }

    /// How much later than their event time the results of a subscription may come.
    pub fn delay_of(&mut self, subscription: SubscriptionId) -> Delay {
        self.refresh();
        let own = self.plan.stages_of(subscription).iter();
        own.filter_map(|&stage| self.plan.retention.delay_of(stage))
            .fold(Delay::default(), Delay::and)
    }

    pub(crate) fn refresh(&mut self) {
        if self.plan.refresh() {
            self.finder.refresh(&self.plan);
            if self.plan.pairs().is_pinned() {
                let variables = 0..self.plan.variable_count() as u32;
                let accessed = variables.map(|variable| self.plan.is_accessed(variable));
                self.store.keys.accessed = Some(accessed.collect());
            }
        }
    }

    /// Drops the records that only subscriptions needed which are gone, now and then: looking
    /// through all of them costs a part of what was read since the last time.
    fn sweep(&mut self) {
        self.since_sweep += 1;
        let due = (self.store.head.len() + self.plan.sizes()[0]) / SWEEP_PART;
        let is_due = self.removed > 0 && self.since_sweep + self.removed > due;
        if !is_due || self.plan.pairs().is_pinned() {
            return;
        }
        (self.removed, self.since_sweep) = (0, 0);
        let seen_from = self.plan.seen_from();
        let is_live =
            |record: &Record<'_>, variable: u32| seen_from[variable as usize] <= record.version();
        let retention = &self.plan.retention;
        let needed = |record: &Record<'_>| {
            let live = record
                .variables()
                .filter(|&variable| is_live(record, variable));
            let needed = live.map(|variable| retention.needed(variable));
            needed.max().unwrap_or(-1)
        };
        self.store.sweep(needed, is_live);
        self.finder.forget();
        let plan = &self.plan;
        self.absences.retain(|stage, record| {
            let mut subscriptions = plan.stage(stage).subscriptions.iter();
            subscriptions.any(|&(_, version)| version <= record.version())
        });
    }

    /// Event time goes on: a document or a heartbeat of this time was seen, whether it joins
    /// anything or not. Call `release` afterwards, until it returns false.
    pub fn advance(&mut self, time: i64) {
        // What was published since the last document has met everything by now.
        let before = self.store.len();
        self.dropped_segments
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
            self.refresh();
            self.advance(time);
            self.documents += 1;
            self.sweep();
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
        let retention = &self.plan.retention;
        let depth_of = |stage: StageId| retention.delay_of(stage).map_or(0, |delay| delay.depth);
        let due = self.absences.take_due(self.watermark.now(), depth_of);
        for waiting in &due {
            self.let_go(waiting.stage, Record::new(&waiting.record));
        }
        self.join_partials();
        !due.is_empty()
    }

    /// Reports what of a record found no partner at a stage.
    fn let_go(&mut self, number: StageId, left: Record<'_>) {
        let mut sink = Sink {
            plan: &self.plan,
            results: &mut self.results,
            partials: &mut self.partials,
        };
        sink.let_go(&self.store, number, left);
    }

    fn join(&mut self, words: &[u32]) {
        self.join_record(words);
        if !self.plan.pairs().is_pinned() {
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
        if !self.plan.pairs().is_pinned() {
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
                    shape: &stage.shape,
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
        if !self.plan.pairs().is_pinned() {
            sink.emit_alone(&record);
        }
        let needed = record
            .variables()
            .map(|variable| self.plan.retention.needed(variable))
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
            let Some((left, right)) = stage.absent_pair() else {
                continue;
            };
            let mut nodes = record.nodes_of(left).iter();
            if !nodes.any(|node| bucket.holds(record.node(node).hash)) {
                continue;
            }
            let delay = self.plan.retention.stream_delay(self.plan.stream_of(right));
            let until = record
                .time()
                .saturating_add(stage.window)
                .saturating_add(delay.time);
            if self.plan.pairs().is_pinned() {
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

    /// Turns what is in memory into a segment for the caller to write somewhere and to `attach`.
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
        self.dropped_segments.clear();
    }

    /// Whether a segment turned out to be damaged: then results may be missing.
    pub fn is_damaged(&self) -> bool {
        self.store.is_damaged()
    }

    /// Searches a segment where the caller put it; returns whether it is one.
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

    /// Numbers of segments that are needed no more.
    pub fn take_dropped(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.dropped_segments)
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

    /// How much there is.
    pub fn sizes(&mut self) -> Sizes {
        self.refresh();
        let [rows, shapes, pairs, nodes] = self.plan.sizes();
        Sizes {
            documents: self.documents,
            records: self.store.len(),
            memory_bytes: self.store.head.bytes(),
            rows,
            shapes,
            waiting: self.absences.len(),
            pairs,
            nodes,
        }
    }
}
