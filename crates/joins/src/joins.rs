//! Records in, joined events out.

use crate::absence::Absences;
use crate::cursor::Cursor;
use crate::finding::{Finder, Shared};
use crate::findings::Findings;
use crate::meter::Meter;
use crate::options::BATCH_BYTES_MAX;
pub use crate::options::{BATCH_ROWS_MAX, Options, STATE_BYTES_MAX, Sizes};
use crate::plan::{Plan, StreamId};
use crate::program::Row;
use crate::record::Record;
use crate::results::Results;
use crate::retention::Delay;
use crate::segment::Wait;
use crate::store::Store;
use crate::watermark::Watermark;
use penstock_kernel::ledger::Ledger;
use penstock_kernel::plan::SubscriptionId;
use std::any::Any;
use std::sync::Arc;

/// Records are looked through after so much of them was read anew, if subscriptions are gone.
const SWEEP_PART: usize = 16;

/// The joins of all subscriptions and the records that they may still need.
pub struct Joins {
    pub(crate) plan: Plan,
    pub(crate) store: Store,
    pub(crate) finder: Box<dyn Finder>,
    pub(crate) absences: Absences,
    watermark: Watermark,
    pub(crate) options: Options,
    /// What documents cost.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) meter: Meter,
    /// Results that wait, as long as they fit into a batch, and the rows that they come from.
    pub(crate) results: Results,
    pub(crate) findings: Findings,
    /// Results of which the first were taken; nothing is joined before all of them are.
    pub(crate) cursor: Option<Box<Cursor>>,
    /// Partial matches that are still to be joined.
    pub(crate) partials: Vec<Box<[u32]>>,
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
        let ledger = Ledger::new(&options.limits, None, None);
        Joins::with_ledger(options, Arc::new(ledger))
    }

    /// No subscriptions yet; what documents cost goes into a ledger.
    pub fn with_ledger(options: Options, ledger: Arc<Ledger>) -> Self {
        let rows_max = options.batch_rows_max;
        let results = Results::new(rows_max, BATCH_BYTES_MAX, options.is_counting);
        Joins {
            plan: Plan::default(),
            store: Store::default(),
            finder: Box::<Shared>::default(),
            absences: Absences::default(),
            watermark: Watermark::new(options.lateness),
            options,
            meter: Meter::new(ledger.clone()),
            ledger,
            results,
            findings: Findings::default(),
            cursor: None,
            partials: Vec::new(),
            waits: Vec::new(),
            dropped_segments: Vec::new(),
            documents: 0,
            removed: 0,
            since_sweep: 0,
        }
    }

    /// The same joins with another finder of rows. No record was joined yet.
    pub fn with_finder(mut self, finder: Box<dyn Finder>) -> Self {
        self.finder = finder;
        self
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
        let moved = self.store.sweep(&self.absences.places(), needed, is_live);
        self.finder.forget();
        let (plan, store) = (&self.plan, &self.store);
        self.absences.relocate(&moved, |waiting| {
            let record = store.record(waiting.place);
            let mut subscriptions = plan.stage(waiting.stage).subscriptions.iter();
            record.is_some_and(|record| subscriptions.any(|one| one.1 <= record.version()))
        });
    }

    /// Where event time is.
    pub(crate) fn now(&self) -> i64 {
        self.watermark.now()
    }

    /// Event time goes on: a document or a heartbeat of this time was seen, whether it joins
    /// anything or not. Call `release` afterwards, until it returns false.
    pub fn advance(&mut self, time: i64) {
        assert!(!self.has_results(), "results are taken before time goes on");
        // What was published since the last document has met everything by now.
        let before = self.store.len();
        self.absences
            .forget_before(self.watermark.now(), &self.store);
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

    /// Whether memory holds more than it should.
    pub fn is_over_memory(&self) -> bool {
        self.state_bytes() > self.options.state_bytes_max
    }

    /// Bytes of state in memory, roughly.
    fn state_bytes(&self) -> usize {
        self.store.head.bytes() + self.absences.bytes()
    }

    /// Turns what is in memory into a segment for the caller to write somewhere and to `attach`.
    pub fn seal(&mut self) -> Option<(u32, Vec<u32>)> {
        assert!(!self.has_results(), "results are taken before records move");
        self.finder.forget();
        let (number, words) = self.store.seal(&self.absences.seal())?;
        if let Some(segment) = self.store.segment(number) {
            self.absences.sealed(number, segment);
        }
        Some((number, words))
    }

    /// Forgets all records, results and what waits; rows stay.
    pub fn clear(&mut self) {
        self.finder.forget();
        self.store = Store::new(self.store.keys.clone());
        self.absences = Absences::default();
        self.watermark = Watermark::new(self.options.lateness);
        self.forget_results();
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

    /// How much there is.
    pub fn sizes(&mut self) -> Sizes {
        self.refresh();
        let [rows, shapes, pairs, nodes] = self.plan.sizes();
        Sizes {
            documents: self.documents,
            records: self.store.len(),
            memory_bytes: self.state_bytes(),
            rows,
            shapes,
            waiting: self.absences.len(),
            pairs,
            nodes,
        }
    }
}
