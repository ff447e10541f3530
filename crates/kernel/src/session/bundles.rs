//! Documents that are at hand as a whole: several small ones are read as a bundle, for tries.

use super::Session;
use super::listeners::{Asker, Way};
use super::strategy::BUNDLE_BYTES_MAX;
use crate::document::DOCUMENTS_MAX;
use crate::error::DocumentError;
use crate::rows::Rows;
use crate::trie::Wanted;
use crate::witness::Witness;

/// A document that is at hand as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its rows carry this number.
    pub number: u32,
    /// All its bytes.
    pub bytes: &'a [u8],
    /// Overrides what it says of itself.
    pub encoding: Option<&'a str>,
    /// The stream that it belongs to, for joins.
    pub stream: &'a str,
}

/// What one document of a bundle gave before the tries are asked.
struct Heard {
    /// Its place in the bundle, unless it could not begin.
    place: Option<usize>,
    /// What automata found.
    rows: Rows,
    verdict: Result<Option<Witness>, DocumentError>,
}

impl Session {
    /// Reads whole documents, several small ones at once where that pays. Without times some
    /// matches have no `decided_at`, which is faster. `now`, in seconds, is when rows are counted,
    /// if they are counted here. The verdicts are in the order of the documents.
    pub fn read(
        &mut self,
        documents: &[Document<'_>],
        with_times: bool,
        now: u32,
    ) -> Vec<Result<(), DocumentError>> {
        self.with_times = with_times;
        self.adopt_next();
        let mut verdicts = Vec::with_capacity(documents.len());
        while verdicts.len() < documents.len() {
            let rest = &documents[verdicts.len()..];
            let bundle = &rest[..self.bundle_len(rest).max(1)];
            if self.read_bundle(bundle, now, &mut verdicts) {
                continue;
            }
            for document in bundle {
                let is_alone = bundle.len() == 1;
                let alone = std::slice::from_ref(document);
                if is_alone || !self.read_bundle(alone, now, &mut verdicts) {
                    verdicts.push(self.match_whole(document));
                }
            }
        }
        verdicts
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

    /// Reads small documents together, and adds their verdicts. False, and nothing of them, if they
    /// have to be read otherwise: one by one, or matched after all.
    fn read_bundle(
        &mut self,
        documents: &[Document<'_>],
        now: u32,
        verdicts: &mut Vec<Result<(), DocumentError>>,
    ) -> bool {
        if !documents
            .iter()
            .all(|one| self.reading.listeners.asks(one.bytes))
        {
            return false;
        }
        let heard = self.hear(documents);
        let has_begun = self.reading.listeners.begun() > 0;
        let listeners = &mut self.reading.listeners;
        let ask = |asker: &mut Asker| asker.trie.ask(self.with_times);
        let is_asked = !has_begun || listeners.askers().all(ask);
        // What makes a bundle too diverse is likely to come again, but not for ever.
        if !is_asked {
            self.together_max = (documents.len() / 2).max(1);
            return false;
        } else if documents.len() == self.together_max {
            self.together_max = (2 * self.together_max).min(DOCUMENTS_MAX);
        }
        self.report(documents, heard, now, verdicts);
        true
    }

    /// Lets everybody listen to the documents.
    fn hear(&mut self, documents: &[Document<'_>]) -> Vec<Heard> {
        // Rows stay in the order of their documents.
        self.reading.listeners.gather();
        self.reading.listeners.begin_bundle();
        let mut heard = Vec::with_capacity(documents.len());
        for document in documents {
            let next = self.reading.listeners.begun();
            let verdict = self.read_through(Way::Asked, document);
            let listeners = &mut self.reading.listeners;
            heard.push(Heard {
                place: (listeners.begun() > next).then_some(next),
                rows: listeners.take_fresh(),
                verdict,
            });
        }
        heard
    }

    fn read_through(
        &mut self,
        way: Way,
        document: &Document<'_>,
    ) -> Result<Option<Witness>, DocumentError> {
        let Document {
            number,
            bytes,
            encoding,
            stream,
        } = *document;
        self.reading.begin(way, encoding, stream, number)?;
        self.reading.feed(bytes)?;
        self.reading.finish()
    }

    /// Adds the rows, the witnesses and the verdicts of a bundle whose tries have been asked.
    fn report(
        &mut self,
        documents: &[Document<'_>],
        heard: Vec<Heard>,
        now: u32,
        verdicts: &mut Vec<Result<(), DocumentError>>,
    ) {
        let listeners = &mut self.reading.listeners;
        let in_document_order = listeners.in_document_order();
        let mut rows = std::mem::take(&mut listeners.rows);
        if listeners.begun() > 0 {
            let askers = listeners.askers();
            askers.for_each(|asker| asker.trie.tell(&asker.tier, now));
        }
        for (document, heard) in documents.iter().zip(heard) {
            rows.append(heard.rows);
            for asker in listeners.askers() {
                let wanted = Wanted {
                    tier: &asker.tier,
                    in_document_order,
                    now,
                };
                if let Some(place) = heard.place {
                    asker.trie.report(place, document.number, wanted, &mut rows);
                }
            }
            let witness = heard.verdict.map(|witness| {
                let numbered = witness.map(|witness| (document.number, witness));
                self.witnesses.extend(numbered);
            });
            verdicts.push(witness);
        }
        listeners.rows = rows;
    }

    /// Reads a document event by event, though it is at hand.
    fn match_whole(&mut self, document: &Document<'_>) -> Result<(), DocumentError> {
        let read = self.read_through(Way::Events, document);
        self.reading.listeners.collect();
        let witness = read?;
        self.witnesses
            .extend(witness.map(|witness| (document.number, witness)));
        Ok(())
    }
}
