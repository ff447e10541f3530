//! Which engine reads which part of a plan, for which kind of document, and why.
//!
//! | document | part of a plan | engine |
//! | --- | --- | --- |
//! | fed in pieces | twigs | automaton |
//! | fed in pieces | expressions | circuit, which the automaton drives |
//! | at hand as a whole, small | questions of a tier that has many | trie |
//! | at hand as a whole, small | everything else | automaton and circuit |
//! | at hand as a whole, large | everything | automaton and circuit |
//! | at hand as a whole, small | queries for the broker, if they are many | broker |
//! | any other | queries in XQuery | message |
//!
//! *The automaton* needs one lookup for a start tag that nobody waits for, keeps its states for the
//! next document, and decides at the earliest event. It can read every document.
//!
//! *The circuit* evaluates what no twig can say: axes that look back, positions, sets compared with
//! sets. It pays for each node that an expression is concerned with, so twigs are kept out of it.
//!
//! *The trie* goes over the questions instead of the document. Questions that lead nowhere in the
//! document cost nothing, and several documents share one walk; but the document has to be in
//! memory, and nothing is decided before its end. Which targets are questions is known when a plan
//! is frozen (`plan::questions`): filters and queries of forward steps and simple conditions.
//!
//! *The broker* asks a document all queries of its form at once, through the document's values, and
//! makes each distinct message once. *Message* evaluates a query by itself, binding by binding.

use crate::document::DOCUMENTS_MAX;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::Plan;
use crate::plan::questions::Part;

/// With fewer questions the automaton is as fast, and decides earlier.
const QUESTIONS_MIN: u32 = 64;

/// With fewer queries for the broker, each is evaluated by itself.
const BROKERED_MIN: usize = 16;

/// Larger documents are none for the broker: they have so many nodes that sets of them are large.
pub const BROKERED_BYTES_MAX: usize = 256 << 10;

/// Larger documents are not read as a whole: they have so many nodes that the automaton is as good,
/// and what they decide early comes early.
pub const WHOLE_BYTES_MAX: usize = 1 << 20;

/// Documents are read together up to this size; more of them would crowd each other out of the
/// cache.
pub const BUNDLE_BYTES_MAX: usize = 512 << 10;

/// A bundle has at most so many documents.
pub const BUNDLE_DOCUMENTS_MAX: usize = DOCUMENTS_MAX;

/// The choices of a session.
pub struct Strategy {
    questions_min: u32,
    brokered_min: usize,
    document_bytes_max: usize,
    has_trie: bool,
}

impl Strategy {
    pub fn new(limits: &Limits, options: &Options) -> Strategy {
        // Nothing of a document that is smaller than these limits can pass them in the automaton,
        // so the trie need not check them.
        let held = limits.candidates_max.min(limits.buffer_bytes_max);
        let text = limits.text_bytes_max;
        let bounds = held.min(text.saturating_sub(limits.entity_bytes_max));
        Strategy {
            questions_min: options.questions_min.unwrap_or(QUESTIONS_MIN),
            brokered_min: options
                .questions_min
                .map_or(BROKERED_MIN, |least| least as usize),
            document_bytes_max: WHOLE_BYTES_MAX.min(usize::try_from(bounds).unwrap_or(usize::MAX)),
            // Events, parts of results and plans in the middle of a document are of no use after
            // its end, when the trie is asked.
            has_trie: !(options.is_traced || options.in_parts || options.is_live),
        }
    }

    /// Whether small documents are asked the questions of a plan.
    pub fn asks(&self, plan: &Plan) -> bool {
        self.has_trie && plan.question_count() >= self.questions_min
    }

    /// Whether there may be a broker.
    pub fn may_broker(&self) -> bool {
        self.has_trie
    }

    /// Whether so many queries have a broker.
    pub fn brokers(&self, count: usize) -> bool {
        self.has_trie && count >= self.brokered_min.max(1)
    }

    /// Whether a document at hand is small enough to be asked.
    pub fn is_small(&self, document: &[u8]) -> bool {
        document.len() <= self.document_bytes_max
    }
}

/// How many documents are best asked the questions of a plan together. Filters that paths decide
/// gain most. Values differ from document to document, and so do the lists of nodes that queries
/// share. Times of filters that conditions decide cost more than a bundle of them gains.
pub fn together_max(plan: &Plan, with_times: bool) -> usize {
    let Some(questions) = plan.questions() else {
        return 1;
    };
    let length = |part: Part| questions.part(part).len();
    if length(Part::Queries) > length(Part::Filters) {
        1
    } else if length(Part::Blocks) > length(Part::Filters) {
        if with_times { 1 } else { DOCUMENTS_MAX / 4 }
    } else {
        DOCUMENTS_MAX
    }
}
