//! What a document costs, whoever spends it: steps of work and bytes of memory.
//!
//! An engine counts its steps in an `Account`. Every so many of them the account looks into the
//! `Ledger`, which all engines of a session share. Where a bound is passed, or somebody asked to
//! stop, the work ends there and then: it unwinds to the owner of the ledger (`Ledger::guard`),
//! who drops what the engines hold of the document. So no loop needs a way out of its own.

mod account;
mod allocator;

pub use account::{Account, Actor, steps_of_copy, steps_of_row};
pub use allocator::{Counting, thread_bytes};
pub use penstock_sequences::stack::{is_on_piece, with_stack};

use crate::limits::Limits;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Steps that every byte of input may take: what stays below is no growth.
const STEPS_PER_BYTE: u64 = 24;
/// For every byte of input, work may take one step more for so many subscriptions, and one for so
/// many parts of expressions.
const SUBSCRIPTIONS_PER_STEP: u64 = 100;
const PARTS_PER_STEP: u64 = 2;
/// What one that works may take alone is not enough for many. For every byte of input, all together
/// may take so many steps more for each part of an expression, and for each query over sequences.
const STEPS_PER_PART: u64 = 8;
const STEPS_PER_MEMBER: u64 = STEPS_PER_BYTE;
/// Steps that every byte of input may take for rows, and one more for so many subscriptions.
const ROW_STEPS_PER_BYTE: u64 = 64;
const SUBSCRIPTIONS_PER_ROW_STEP: u64 = 16;
/// What a row that waits costs whoever takes it, as memory of the document: an object with texts.
const ROW_BYTES: u64 = 512;
/// Rows that wait without such a cost: somebody takes them soon.
const ROWS_FREE: u64 = 1 << 16;
/// How long a signal may wait to be seen.
const PATIENCE: Duration = Duration::from_millis(20);

/// Why work ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody asked for it.
    Interrupted,
    /// A document passed a limit; the name of the field in `Limits`.
    Limit(&'static str),
}

/// Tells whether the caller has a reason to stop, such as a signal.
pub type Watch = Box<dyn Fn() -> bool + Send + Sync>;

/// What the document under way costs, and whether work on it should go on.
///
/// One thread works at a time, and others may ask it to stop: numbers are atomic for that reason
/// only.
pub struct Ledger {
    memory_bytes_max: u64,
    steps_max: u64,
    duration_max: Option<Duration>,
    watch: Option<Watch>,
    is_interrupted: AtomicBool,
    steps: AtomicU64,
    /// Steps of rows, which have an allowance of their own.
    row_steps: AtomicU64,
    rows_waiting: AtomicU64,
    /// What all work may take for every byte of input, and what is done for one of many.
    steps_per_byte: AtomicU64,
    steps_per_byte_alone: AtomicU64,
    /// What rows may take for every byte of input: many subscriptions may select the same.
    row_steps_per_byte: AtomicU64,
    /// How often the document has been read before: each time halves what is allowed.
    readings: AtomicU32,
    /// How much of the document has been read, as far as that allows steps.
    position: AtomicU64,
    /// Bytes that earlier calls left allocated for the document.
    kept: AtomicI64,
    /// What the thread had allocated when this call began.
    before: AtomicI64,
    origin: Instant,
    /// When the document began, and when signals were looked for last: microseconds since `origin`.
    began: AtomicU64,
    watched: AtomicU64,
}

impl Ledger {
    /// A ledger for one document after the other.
    pub fn new(limits: &Limits, duration_max: Option<Duration>, watch: Option<Watch>) -> Self {
        Ledger {
            memory_bytes_max: limits.memory_bytes_max,
            steps_max: limits.steps_max,
            duration_max,
            watch,
            is_interrupted: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            row_steps: AtomicU64::new(0),
            rows_waiting: AtomicU64::new(0),
            steps_per_byte: AtomicU64::new(STEPS_PER_BYTE),
            steps_per_byte_alone: AtomicU64::new(STEPS_PER_BYTE),
            row_steps_per_byte: AtomicU64::new(ROW_STEPS_PER_BYTE),
            readings: AtomicU32::new(0),
            position: AtomicU64::new(0),
            kept: AtomicI64::new(0),
            before: AtomicI64::new(0),
            origin: Instant::now(),
            began: AtomicU64::new(0),
            watched: AtomicU64::new(0),
        }
    }

    /// The next document is one that was read so many times before. All readings together may take
    /// no more than twice what one may.
    pub fn count_readings(&self, readings: u32) {
        self.readings.store(readings, Relaxed);
    }

    /// A document begins: nothing is spent yet.
    pub fn begin(&self) {
        self.steps.store(0, Relaxed);
        self.row_steps.store(0, Relaxed);
        self.rows_waiting.store(0, Relaxed);
        self.position.store(0, Relaxed);
        self.kept.store(0, Relaxed);
        self.before.store(thread_bytes(), Relaxed);
        if self.duration_max.is_some() {
            self.began.store(self.now(), Relaxed);
        }
    }

    /// Does work on the document under way. `Err` if it was stopped: then whatever it was working
    /// on is in no state to go on.
    pub fn guard<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stop> {
        self.before.store(thread_bytes(), Relaxed);
        let done = catch_unwind(AssertUnwindSafe(work));
        self.kept.store(self.kept_now(), Relaxed);
        self.before.store(thread_bytes(), Relaxed);
        done.map_err(|reason| match reason.downcast::<Stop>() {
            Ok(stop) => *stop,
            Err(panic) => resume_unwind(panic),
        })
    }

    /// So many subscriptions read the documents from now on, with so many parts of expressions and
    /// so many queries over sequences.
    pub fn expect(&self, subscriptions: usize, parts: usize, members: usize) {
        let [subscriptions, parts, members] = [subscriptions, parts, members].map(|n| n as u64);
        let work = subscriptions / SUBSCRIPTIONS_PER_STEP + parts / PARTS_PER_STEP;
        let alone = STEPS_PER_BYTE + work;
        let others = parts * STEPS_PER_PART + members * STEPS_PER_MEMBER;
        self.steps_per_byte_alone.store(alone, Relaxed);
        self.steps_per_byte.store(alone + others, Relaxed);
        let rows = subscriptions / SUBSCRIPTIONS_PER_ROW_STEP;
        self.row_steps_per_byte
            .store(ROW_STEPS_PER_BYTE + rows, Relaxed);
    }

    /// Takes down a row that waits.
    fn add_row(&self, value_bytes: usize) {
        add(&self.rows_waiting, 1);
        add(&self.row_steps, steps_of_row(value_bytes));
    }

    /// Whether rows of a document of some bytes may take so many steps.
    pub fn allows_rows(&self, steps: u64, document_bytes: u64) -> bool {
        self.allows(steps, document_bytes, &self.row_steps_per_byte)
    }

    /// Whether what is done for one of many may take so many steps. It is what the work of all may
    /// take, but for what grows with them: one that is dear is stopped as if it were alone.
    fn allows_alone(&self, steps: u64, document_bytes: u64) -> bool {
        self.allows(steps, document_bytes, &self.steps_per_byte_alone)
    }

    fn allows(&self, steps: u64, document_bytes: u64, steps_per_byte: &AtomicU64) -> bool {
        let most = document_bytes.saturating_mul(steps_per_byte.load(Relaxed));
        steps <= self.steps_max.saturating_add(most) >> self.readings.load(Relaxed)
    }

    /// The document's owner took rows away, which had so many bytes.
    pub fn release(&self, rows: usize, bytes: usize) {
        self.kept.fetch_sub(bytes as i64, Relaxed);
        let waiting = self.rows_waiting.load(Relaxed);
        self.rows_waiting
            .store(waiting.saturating_sub(rows as u64), Relaxed);
    }

    /// Asks to stop, from any thread: what is under way, and whatever comes until `resume`.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Relaxed);
    }

    /// Takes that back.
    pub fn resume(&self) {
        self.is_interrupted.store(false, Relaxed);
    }

    /// Bytes that the document costs now.
    pub fn bytes(&self) -> i64 {
        let rows = self.rows_waiting.load(Relaxed).saturating_sub(ROWS_FREE);
        self.kept_now() + (rows * ROW_BYTES) as i64
    }

    fn kept_now(&self) -> i64 {
        self.kept.load(Relaxed) + thread_bytes() - self.before.load(Relaxed)
    }

    /// Ends the work if there is a reason to.
    pub fn check(&self) {
        if let Some(stop) = self.reason() {
            Ledger::stop(stop);
        }
    }

    /// Ends the work. It is no panic: the guard alone catches it.
    fn stop(stop: Stop) -> ! {
        resume_unwind(Box::new(stop));
    }

    fn reason(&self) -> Option<Stop> {
        if self.is_interrupted.load(Relaxed) {
            return Some(Stop::Interrupted);
        }
        if self.bytes() > self.memory_bytes_max as i64 {
            return Some(Stop::Limit("memory_bytes_max"));
        }
        let position = self.position.load(Relaxed);
        if !self.allows(self.steps.load(Relaxed), position, &self.steps_per_byte)
            || !self.allows_rows(self.row_steps.load(Relaxed), position)
        {
            return Some(Stop::Limit("steps_max"));
        }
        if self.duration_max.is_none() && self.watch.is_none() {
            return None;
        }
        self.reason_in_time()
    }

    #[cold]
    fn reason_in_time(&self) -> Option<Stop> {
        let now = self.now();
        if let Some(most) = self.duration_max
            && now - self.began.load(Relaxed) > most.as_micros() as u64
        {
            return Some(Stop::Limit("seconds_max"));
        }
        if let Some(watch) = &self.watch
            && now - self.watched.load(Relaxed) > PATIENCE.as_micros() as u64
        {
            self.watched.store(now, Relaxed);
            if watch() {
                // Others on the way out are to stop as well.
                self.interrupt();
                return Some(Stop::Interrupted);
            }
        }
        None
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_micros() as u64
    }

    /// Takes down steps that were spent while so much of the document had been read.
    fn spend(&self, steps: u64, position: u64) {
        add(&self.steps, steps);
        self.position.fetch_max(position, Relaxed);
        self.check();
    }
}

/// Adds to a number that one thread at a time writes: a locked addition would cost as much as a row.
#[inline]
fn add(to: &AtomicU64, number: u64) {
    to.store(to.load(Relaxed) + number, Relaxed);
}
