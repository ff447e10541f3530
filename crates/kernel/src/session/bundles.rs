//! Documents that are at hand as a whole: several small ones are read as a bundle, for tries.

use super::Session;
use super::listeners::{Asker, Failing, Way};
use super::strategy::BUNDLE_BYTES_MAX;
use crate::document::DOCUMENTS_MAX;
use crate::error::{DocumentError, ErrorKind};
use crate::ids::DocumentId;
use crate::ledger::steps_of_row;
use crate::rows::{Mark, Rows};
use crate::trie::Wanted;
use crate::witness::Witness;

/// A document that is at hand as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its rows carry this id.
    pub id: DocumentId,
    /// All its bytes.
    pub bytes: &'a [u8],
    /// Overrides what it says of itself.
    pub encoding: Option<&'a str>,
    /// The stream that it belongs to, for joins.
    pub stream: &'a str,
}

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was read.
    Read,
    /// It has so many rows that they have to be taken while it is fed. Nothing of it is here.
    Large,
}

/// How a document was read.
enum Heard {
    Whole(Option<Witness>),
    Large,
}

/// What became of a bundle.
enum Bundled {
    Read,
    /// Nothing of it is here: its documents have to be read otherwise, one by one or event by event.
    Apart,
    /// The same, because the document at a place was stopped; who is to blame, if somebody is.
    Stopped(usize, Option<Failing>),
}

/// What one document of a bundle gave before the tries are asked.
struct Member {
    /// Its place in the bundle, unless it could not begin.
    place: Option<usize>,
    /// What automata found.
    rows: Rows,
    verdict: Result<Option<Witness>, DocumentError>,
}

/// No further document is read while values of so many bytes wait to be taken.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// A document is read again without a subscription that took too much, so many times at most.
const AGAIN_MAX: usize = 4;

impl Session {
    /// Reads whole documents, several small ones at once where that pays. Without times some
    /// matches have no `decided_at`, which is faster. `now`, in seconds, is when rows are counted,
    /// if they are counted here. The verdicts are in the order of the documents, up to the first that
    /// is too large, or has to wait until rows are taken; there are none if somebody asked to stop.
    pub fn read(
        &mut self,
        documents: &[Document<'_>],
        with_times: bool,
        now: u32,
    ) -> Result<Vec<Result<Outcome, DocumentError>>, DocumentError> {
        self.with_times = with_times;
        for document in documents {
            self.check_number(document.id);
        }
        self.abandon();
        self.adopt_next();
        let mut verdicts = Vec::with_capacity(documents.len());
        while verdicts.len() < documents.len() {
            if self.reading.listeners.held_value_bytes() > WAITING_BYTES_MAX {
                break;
            }
            let rest = &documents[verdicts.len()..];
            let bundle = &rest[..self.bundle_len(rest).max(1)];
            self.read_next(bundle, now, &mut verdicts)?;
            if is_large(&verdicts) {
                break;
            }
        }
        Ok(verdicts)
    }

    /// Reads the documents of a bundle and adds their verdicts, up to the first that is too large.
    /// `Err` if somebody asked to stop.
    fn read_next(
        &mut self,
        bundle: &[Document<'_>],
        now: u32,
        verdicts: &mut Vec<Result<Outcome, DocumentError>>,
    ) -> Result<(), DocumentError> {
        let bundled = match self.read_bundle(bundle, now, verdicts) {
            Bundled::Read => return Ok(()),
            apart => {
                // They are read again, and fail again.
                for document in bundle {
                    self.reading.listeners.forget_failing(document.id);
                }
                apart
            }
        };
        let (place, failing) = match bundled {
            Bundled::Read => return Ok(()),
            Bundled::Apart if bundle.len() == 1 => (0, None),
            Bundled::Apart => {
                for document in bundle {
                    self.read_next(std::slice::from_ref(document), now, verdicts)?;
                    if is_large(verdicts) {
                        break;
                    }
                }
                return Ok(());
            }
            Bundled::Stopped(place, failing) => (place, failing),
        };
        if place > 0 {
            self.read_next(&bundle[..place], now, verdicts)?;
            if is_large(verdicts) {
                return Ok(());
            }
        }
        match self.match_whole(&bundle[place], failing) {
            Err(error) if error.kind == ErrorKind::Interrupted => Err(error),
            verdict => {
                verdicts.push(verdict);
                Ok(())
            }
        }
    }

    /// How many of these documents, from the first on, are read together.
    fn bundle_len(&self, documents: &[Document<'_>]) -> usize {
        let listeners = &self.reading.listeners;
        let mut bytes = 0;
        let fits = |document: &&Document<'_>| {
            bytes += document.bytes.len();
            listeners.asks(document.bytes) && bytes <= BUNDLE_BYTES_MAX
        };
        let most = listeners.together_max(self.with_times);
        let most = most.min(self.together_max);
        let documents = documents[..documents.len().min(most)].iter();
        documents.take_while(fits).count()
    }

    /// Reads small documents together, and adds their verdicts.
    fn read_bundle(
        &mut self,
        documents: &[Document<'_>],
        now: u32,
        verdicts: &mut Vec<Result<Outcome, DocumentError>>,
    ) -> Bundled {
        if !documents
            .iter()
            .all(|document| self.reading.listeners.asks(document.bytes))
        {
            return Bundled::Apart;
        }
        let heard = match self.hear(documents) {
            Ok(heard) => heard,
            Err((place, failing)) => return Bundled::Stopped(place, failing),
        };
        let has_begun = self.reading.listeners.begun() > 0;
        let with_times = self.with_times;
        let is_good = heard.iter().all(|member| member.verdict.is_ok());
        let rows = &self.reading.listeners.rows;
        let before = (rows.mark(), rows.count(), rows.value_bytes());
        let brokered_from = rows.selections.subscription.len();
        let asked = self.reading.guard(|reading| {
            let ask = |asker: &mut Asker| asker.trie.ask(with_times);
            if has_begun && !reading.listeners.askers().all(ask) {
                return Ok(false);
            }
            if has_begun {
                let askers = reading.listeners.askers();
                askers.for_each(|asker| asker.trie.tell(&asker.tier, now));
            }
            // Messages are those of a whole document.
            Ok(!(has_begun && is_good) || reading.listeners.ask_broker())
        });
        let Ok(is_asked) = asked else {
            self.reading.listeners.rows.rewind(before.0);
            return Bundled::Apart;
        };
        if !is_asked {
            self.reading.listeners.rows.rewind(before.0);
            self.together_max = (documents.len() / 2).max(1);
            return Bundled::Apart;
        }
        // What makes a bundle too diverse is likely to come again, but not for ever.
        if documents.len() == self.together_max {
            self.together_max = (2 * self.together_max).min(DOCUMENTS_MAX);
        }
        let entries = &self.reading.listeners.rows.selections.subscription;
        let brokered = entries.get(brokered_from..).unwrap_or_default().to_vec();
        match self.report(documents, heard, before, now, verdicts) {
            true => {
                self.usage.count(&brokered, now);
                Bundled::Read
            }
            false => Bundled::Apart,
        }
    }

    /// Lets everybody listen to the documents. `Err` if one of them costs too much to be read
    /// together with others: its place, and who is to blame.
    fn hear(
        &mut self,
        documents: &[Document<'_>],
    ) -> Result<Vec<Member>, (usize, Option<Failing>)> {
        // Rows stay in the order of their documents.
        self.reading.listeners.gather();
        self.reading.listeners.begin_bundle();
        let mut heard = Vec::with_capacity(documents.len());
        let mut held_bytes = 0;
        for (place, document) in documents.iter().enumerate() {
            // The ledger begins anew with each document, and the bundle holds them all.
            if place > 0 && held_bytes > self.reading.limits.memory_bytes_max / 2 {
                self.reading.listeners.take_fresh();
                return Err((place, None));
            }
            let next = self.reading.listeners.begun();
            let verdict = match self.read_through(Way::Asked, document) {
                Ok(Heard::Whole(witness)) => Ok(witness),
                Err(error) if !error.is_stop() => Err(error),
                stopped => {
                    self.reading.listeners.take_fresh();
                    let blamed = stopped.err().zip(self.reading.blamed);
                    let failing = blamed.map(|(error, subscription)| Failing {
                        document: document.id,
                        subscription,
                        error,
                    });
                    return Err((place, failing));
                }
            };
            held_bytes += u64::try_from(self.reading.ledger.bytes()).unwrap_or(0);
            let listeners = &mut self.reading.listeners;
            heard.push(Member {
                place: (listeners.begun() > next).then_some(next),
                rows: listeners.take_fresh(),
                verdict,
            });
        }
        Ok(heard)
    }

    fn read_through(&mut self, way: Way, document: &Document<'_>) -> Result<Heard, DocumentError> {
        let Document { id, stream, .. } = *document;
        self.reading.begin(way, document.encoding, stream, id)?;
        if self.reading.feed(document.bytes)? < document.bytes.len() {
            self.reading.abandon();
            return Ok(Heard::Large);
        }
        self.reading.finish().map(Heard::Whole)
    }

    /// Adds the rows, the witnesses and the verdicts of a bundle whose tries have been asked. False,
    /// and nothing of them, if a document has so many rows that nobody may have them at once.
    /// Nobody stops this: it goes through the lists that the tries were stopped from making longer.
    fn report(
        &mut self,
        documents: &[Document<'_>],
        heard: Vec<Member>,
        before: (Mark, usize, usize),
        now: u32,
        verdicts: &mut Vec<Result<Outcome, DocumentError>>,
    ) -> bool {
        let ledger = &self.reading.ledger;
        let listeners = &mut self.reading.listeners;
        let in_document_order = listeners.in_document_order();
        let mut rows = std::mem::take(&mut listeners.rows);
        let (mark, mut count, mut value_bytes) = before;
        let before = (mark, self.witnesses.len(), verdicts.len());
        for (document, heard) in documents.iter().zip(heard) {
            rows.append(heard.rows);
            for asker in listeners.askers() {
                let wanted = Wanted {
                    tier: &asker.tier,
                    in_document_order,
                    now,
                };
                if let Some(place) = heard.place {
                    asker.trie.report(place, document.id, wanted, &mut rows);
                }
            }
            let added = rows.count() - count;
            let steps =
                added as u64 * steps_of_row((rows.value_bytes() - value_bytes) / added.max(1));
            if !ledger.allows_rows(steps, document.bytes.len() as u64) {
                rows.rewind(before.0);
                listeners.rows = rows;
                self.witnesses.truncate(before.1);
                verdicts.truncate(before.2);
                return false;
            }
            (count, value_bytes) = (rows.count(), rows.value_bytes());
            let witness = heard.verdict.map(|witness| {
                let numbered = witness.map(|witness| (document.id, witness));
                self.witnesses.extend(numbered);
                Outcome::Read
            });
            verdicts.push(witness);
        }
        listeners.rows = rows;
        true
    }

    /// Reads a document event by event, though it is at hand. A subscription that most of its cost
    /// is due to, if it costs too much, fails alone: the document is read again without it.
    /// Somebody may have failed before.
    fn match_whole(
        &mut self,
        document: &Document<'_>,
        failing: Option<Failing>,
    ) -> Result<Outcome, DocumentError> {
        let before = self.reading.listeners.single_rows();
        let mut silent = self.suspended.clone();
        if let Some(failing) = failing {
            silent.push(failing.subscription);
            self.failing.push(failing);
            self.reading.listeners.silence(&silent);
        }
        let outcome = loop {
            let readings = silent.len() - self.suspended.len();
            self.reading.ledger.count_readings(readings as u32);
            let read = self.read_through(Way::Events, document);
            match read {
                Ok(Heard::Whole(witness)) => {
                    let numbered = witness.map(|witness| (document.id, witness));
                    self.witnesses.extend(numbered);
                    break Ok(Outcome::Read);
                }
                Ok(Heard::Large) => {
                    self.reading.listeners.drop_rows(before);
                    self.reading.listeners.forget_failing(document.id);
                    break Ok(Outcome::Large);
                }
                Err(error) => {
                    let is_last = readings == AGAIN_MAX;
                    let Some(subscription) = self.reading.blamed.filter(|_| !is_last) else {
                        break Err(error);
                    };
                    self.failing.push(Failing {
                        document: document.id,
                        subscription,
                        error,
                    });
                    silent.push(subscription);
                    self.reading.listeners.drop_rows(before);
                    self.reading.listeners.forget_failing(document.id);
                    self.reading.listeners.silence(&silent);
                }
            }
        };
        self.reading.ledger.count_readings(0);
        self.reading.listeners.collect();
        self.reading.listeners.silence(&self.suspended);
        outcome
    }
}

fn is_large(verdicts: &[Result<Outcome, DocumentError>]) -> bool {
    matches!(verdicts.last(), Some(Ok(Outcome::Large)))
}
