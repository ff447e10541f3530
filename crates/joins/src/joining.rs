//! One record after the other: what it gives is found first, and only then is anything kept.
//!
//! Work may be stopped anywhere (see `Ledger::guard`). Then the record is not joined: nothing that
//! was found with it is left, and nothing of it is in the store.

use crate::absence::Waiting;
use crate::cursor::{Cursor, Ground};
use crate::findings::Own;
use crate::joins::Joins;
use crate::plan::StageId;
use crate::record::Record;
use crate::results::Results;
use crate::segment::Wait;
use crate::sink::Sink;
use crate::store::Place;
use penstock_kernel::ledger::Stop;

/// Bytes that something which waited stands for: each byte allows some steps.
pub(crate) const WAITED_BYTES: usize = 256;

/// From so many results on nobody counts them.
const UNLIMITED: u64 = 1 << 40;

/// A record that was joined and is still to be kept.
pub(crate) struct Joined {
    words: Box<[u32]>,
    /// Until when it is needed; None: not at all.
    expires: Option<i64>,
    /// Until when it waits for partners, and at which stages.
    waits: Vec<(i64, StageId)>,
    /// Its number among the records of findings, if it has any.
    own: Option<u32>,
}

/// Where joins put what they find. It borrows some of their fields, which a function could not.
macro_rules! sink_of {
    ($joins:expr, $own:expr) => {
        Sink {
            plan: &$joins.plan,
            meter: &$joins.meter,
            results: &mut $joins.results,
            findings: &mut $joins.findings,
            partials: &mut $joins.partials,
            own: $own,
            tuples: Vec::new(),
        }
    };
}

impl Joins {
    /// Joins a record with all before it: a document that was admitted, or one that was published,
    /// which is never late, since its event time is that of documents which were not. Returns
    /// whether the words are a record. If work was stopped, the record is not joined.
    ///
    /// Call `release` afterwards, until it returns false.
    pub fn push(&mut self, words: impl Into<Box<[u32]>>) -> Result<bool, Stop> {
        assert!(
            self.cursor.is_none(),
            "results are taken before others come"
        );
        let words = words.into();
        let Some(record) = self.read(&words) else {
            return Ok(false);
        };
        let bytes = record.text_bytes();
        self.refresh();
        self.begin(bytes);
        self.gather(|joins| vec![joins.join_record(words)])?;
        Ok(true)
    }

    /// Lets go what waited in vain and is due first; returns whether there was any. If work was
    /// stopped, what was due is gone.
    ///
    /// What it published has to be pushed before the next call: whoever is due later may depend
    /// on it.
    pub fn release(&mut self) -> Result<bool, Stop> {
        assert!(
            self.cursor.is_none(),
            "results are taken before others come"
        );
        self.refresh();
        // A row that nobody asks for any more has no depth.
        let retention = &self.plan.retention;
        let depth_of = |stage: StageId| retention.delay_of(stage).map_or(0, |delay| delay.depth);
        let now = self.now();
        let due = self.absences.take_due(now, &self.store, depth_of);
        if due.is_empty() {
            return Ok(false);
        }
        self.begin(due.len() * WAITED_BYTES);
        self.gather(|joins| {
            for waiting in &due {
                joins.let_go(waiting.stage, waiting.place);
            }
            Vec::new()
        })?;
        Ok(true)
    }

    /// A document of so many bytes begins: nothing is spent on it yet.
    pub(crate) fn begin(&mut self, bytes: usize) {
        self.ledger.begin();
        self.meter.begin(bytes);
    }

    /// Does work that finds results and partial matches, joins these as well, and then keeps all
    /// records that were joined.
    pub(crate) fn gather(
        &mut self,
        work: impl FnOnce(&mut Self) -> Vec<Joined>,
    ) -> Result<(), Stop> {
        let (mark, partials) = (self.findings.mark(), self.partials.len());
        let ledger = self.ledger.clone();
        let gathered = ledger.guard(|| {
            // Whoever interrupts stops the next document, however small it is.
            ledger.check();
            let mut joined = work(self);
            if !self.plan.pairs().is_pinned() {
                while let Some(words) = self.partials.pop() {
                    joined.push(self.join_record(words));
                }
            }
            joined
        });
        match gathered {
            Ok(joined) => {
                for one in joined {
                    self.keep(one);
                }
                Ok(())
            }
            Err(stop) => {
                self.findings.truncate(mark);
                self.partials.truncate(partials);
                // Some of the rows may be those of the record.
                self.results.overflow();
                if self.findings.list.is_empty() {
                    self.forget_results();
                }
                Err(stop)
            }
        }
    }

    fn join_record(&mut self, words: Box<[u32]>) -> Joined {
        let record = Record::new(&words);
        let is_pinned = self.plan.pairs().is_pinned();
        self.meter.spend(u64::from(record.node_count()));
        if !is_pinned {
            self.finder.learn(&mut self.plan, &self.store, &record);
            self.refresh();
        }
        let own = self.findings.owns.len() as u32;
        let mut sink = sink_of!(self, own);
        let before = sink.findings.list.len();
        self.finder.find(
            &self.plan,
            &self.store,
            &record,
            &self.meter,
            &mut |row, left, right, other| sink.emit_pair(row, left, right, other),
        );
        if !is_pinned {
            sink.emit_alone(&record);
        }
        let has_findings = sink.findings.list.len() > before;
        let needed = record
            .variables()
            .map(|variable| self.plan.retention.needed(variable))
            .max()
            .unwrap_or(-1);
        let (mut expires, mut waits) = (None, Vec::new());
        if needed >= 0 {
            waits = self.waits_of(&record);
            let last = waits.iter().map(|one| one.0).max();
            let until = record.time().saturating_add(needed);
            // Whoever waits is not dropped before.
            expires = Some(until.max(last.unwrap_or(until)));
        }
        if has_findings {
            self.findings.owns.push(Own::Words(Box::default()));
        }
        Joined {
            words,
            expires,
            waits,
            own: has_findings.then_some(own),
        }
    }

    fn keep(&mut self, joined: Joined) {
        let Joined {
            words,
            expires,
            waits,
            own,
        } = joined;
        let kept = match expires {
            None => Own::Words(words),
            Some(expires) => {
                let place = self.store.insert(words, expires);
                self.finder.inserted(&self.store, Place::Head(place));
                for (until, stage) in waits {
                    self.await_partner(until, stage, place);
                }
                Own::Place(Place::Head(place))
            }
        };
        if let Some(own) = own {
            self.findings.owns[own as usize] = kept;
        }
    }

    /// Until when a record waits for a partner, for every row of absence that it may be the left
    /// side of.
    fn waits_of(&self, record: &Record<'_>) -> Vec<(i64, StageId)> {
        let bucket = self.store.keys.bucket;
        let mut waits = Vec::new();
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
            waits.push((until, number));
        }
        self.meter.spend(waits.len() as u64);
        waits
    }

    fn await_partner(&mut self, until: i64, stage: StageId, place: u32) {
        if self.plan.pairs().is_pinned() {
            self.waits.push(Wait {
                until,
                stage,
                record: place,
            });
        } else {
            let place = Place::Head(place);
            self.absences.wait(until, Waiting { stage, place });
        }
    }

    /// Reports what of a record found no partner at a stage.
    pub(crate) fn let_go(&mut self, stage: StageId, place: Place) {
        // A row that nobody asks for any more has no delay, and neither has one of a segment that is
        // damaged.
        let is_asked = self.plan.retention.delay_of(stage).is_some();
        let Some(left) = self.store.record(place).filter(|_| is_asked) else {
            return;
        };
        let own = self.findings.owns.len() as u32;
        let before = self.findings.list.len();
        let mut sink = sink_of!(self, own);
        sink.let_go(&self.store, stage, left);
        if self.findings.list.len() > before {
            self.findings.owns.push(Own::Place(place));
        }
    }

    /// Finds what a record gives by itself, and keeps nothing of it; returns whether it is one.
    pub(crate) fn join_alone(&mut self, words: Box<[u32]>) -> Result<bool, Stop> {
        assert!(
            self.cursor.is_none(),
            "results are taken before others come"
        );
        let Some(record) = self.read(&words) else {
            return Ok(false);
        };
        let bytes = record.text_bytes();
        self.begin(bytes);
        self.gather(|joins| {
            let own = joins.findings.owns.len() as u32;
            let before = joins.findings.list.len();
            let mut sink = Sink {
                plan: &joins.plan,
                meter: &joins.meter,
                results: &mut joins.results,
                findings: &mut joins.findings,
                partials: &mut joins.partials,
                own,
                tuples: Vec::new(),
            };
            sink.emit_alone(&Record::new(&words));
            if joins.findings.list.len() > before {
                joins.findings.owns.push(Own::Words(words));
            }
            Vec::new()
        })?;
        Ok(true)
    }

    /// Whether results wait.
    pub fn has_results(&self) -> bool {
        self.cursor.is_some() || !self.findings.list.is_empty()
    }

    /// Whether as many results wait as are handed out at once; then they should be taken. Where
    /// results are limited, these are the results of one record.
    pub fn is_batch_full(&self) -> bool {
        let is_limited = self.options.limits.results_max < UNLIMITED;
        self.results.is_ordered() || self.results.is_full() || (is_limited && self.has_results())
    }

    /// The results since the last call, or the next batch of them: `has_results` says whether there
    /// are more. They come in an order that depends neither on the strategy nor on the size of
    /// batches. If work was stopped, the rest of the results is gone.
    pub fn take_results(&mut self) -> Result<Results, Stop> {
        let results_max = self.options.limits.results_max;
        if self.cursor.is_none() && !self.results.is_ordered() {
            let fresh = self.results.fresh();
            let mut results = std::mem::replace(&mut self.results, fresh);
            self.findings.truncate((0, 0));
            results.sort();
            results.cut(results_max);
            return Ok(results);
        }
        let (ledger, held) = (self.ledger.clone(), self.ledger.bytes());
        let filled = ledger.guard(|| {
            let ground = Ground {
                plan: &self.plan,
                store: &self.store,
                meter: &self.meter,
            };
            let findings = &mut self.findings;
            let cursor = self
                .cursor
                .get_or_insert_with(|| Box::new(Cursor::new(std::mem::take(findings), ground)));
            let mut results = self.results.fresh();
            let is_done = cursor.fill(ground, results_max, &mut results);
            (results, is_done)
        });
        // Whoever takes the results has them from here on.
        let grown = self.ledger.bytes() - held;
        self.ledger.release(0, usize::try_from(grown).unwrap_or(0));
        if !matches!(filled, Ok((_, false))) {
            self.forget_results();
        }
        filled.map(|(results, _)| {
            self.meter.earn(results.rows.len());
            results
        })
    }

    /// Whether some of the results were taken and others wait: nothing is joined meanwhile.
    pub fn is_taking(&self) -> bool {
        self.cursor.is_some()
    }

    /// Forgets the results that wait.
    pub fn forget_results(&mut self) {
        self.cursor = None;
        self.findings.truncate((0, 0));
        self.results = self.results.fresh();
    }
}
