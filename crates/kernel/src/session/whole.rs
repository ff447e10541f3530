//! Documents that are at hand as a whole: which are asked the questions, and what goes with it.

use super::strategy::{BUNDLE_BYTES_MAX, Strategy, together_max};
use super::tiers::Tiers;
use crate::document::DOCUMENTS_MAX;
use crate::error::DocumentError;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::{Plan, Tier};
use crate::rows::Rows;
use crate::tokenizer::Tokenizer;
use crate::trie::{Trie, Wanted};
use crate::usage::Used;
use std::sync::Arc;

/// A document that is at hand as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its rows carry this number.
    pub number: u32,
    /// All its bytes.
    pub bytes: &'a [u8],
    /// Overrides what it says of itself.
    pub encoding: Option<&'a str>,
}

/// A tier whose questions are asked.
struct Asked {
    tier: Tier,
    tokenizer: Tokenizer,
    trie: Trie,
    /// What of its plan cannot be asked.
    rest: Option<Arc<Plan>>,
    /// How many documents its questions are best put to at once.
    together_max: usize,
}

/// Reads whole documents: where a tier has many questions they are asked, and automata see to the
/// rest of it and to small tiers.
pub(crate) struct Whole {
    strategy: Strategy,
    asked: Vec<Asked>,
    tokenizer: Tokenizer,
    matched: Tiers,
    limits: Limits,
    options: Options,
    /// How many documents are read together.
    together_max: usize,
}

impl Whole {
    pub fn new(tiers: &[Tier], limits: Limits, options: Options) -> Whole {
        let mut whole = Whole {
            strategy: Strategy::new(&limits, &options),
            asked: Vec::new(),
            tokenizer: Tokenizer::new(limits),
            matched: Tiers::new(Vec::new(), limits, options),
            limits,
            options,
            together_max: DOCUMENTS_MAX,
        };
        whole.adopt(tiers);
        whole
    }

    /// Goes on with other tiers; what was learnt is kept where a plan stays.
    pub fn adopt(&mut self, tiers: &[Tier]) {
        let mut before = std::mem::take(&mut self.asked);
        let mut matched = Vec::new();
        for tier in tiers {
            let known = |asked: &Asked| Arc::ptr_eq(&asked.tier.plan, &tier.plan);
            let asked = match before.iter().position(known) {
                Some(index) => Some(before.swap_remove(index)),
                None => self.ask(tier),
            };
            let Some(mut asked) = asked else {
                matched.push(tier.clone());
                continue;
            };
            asked.tier = tier.clone();
            if let Some(rest) = &asked.rest {
                let plan = rest.clone();
                matched.push(Tier {
                    plan,
                    ..tier.clone()
                });
            }
            self.asked.push(asked);
        }
        if self.asked.is_empty() {
            matched.clear();
        }
        if self.matched.adopt(matched) {
            self.tokenizer.forget_symbols();
        }
    }

    fn ask(&self, tier: &Tier) -> Option<Asked> {
        if !self.strategy.asks(&tier.plan) {
            return None;
        }
        let trie = Trie::new(tier.plan.clone(), self.limits.candidates_max)?;
        Some(Asked {
            tier: tier.clone(),
            tokenizer: Tokenizer::new(self.limits),
            together_max: together_max(&tier.plan),
            trie,
            rest: tier.plan.rest(),
        })
    }

    /// How small documents at hand are read: how many questions of a tier are asked, and how
    /// many of its targets are matched.
    pub fn structures(&self, tiers: &[Tier]) -> Vec<(u32, u32)> {
        let of_tier = |tier: &Tier| {
            let known = |asked: &&Asked| Arc::ptr_eq(&asked.tier.plan, &tier.plan);
            match self.asked.iter().find(known) {
                Some(asked) => {
                    let rest = asked.rest.as_ref().map_or(0, |rest| rest.target_count());
                    (tier.plan.question_count(), rest)
                }
                None => (0, tier.plan.target_count()),
            }
        };
        tiers.iter().map(of_tier).collect()
    }

    /// Whether a document is read this way.
    pub fn suits(&self, document: &[u8]) -> bool {
        !self.asked.is_empty() && self.strategy.is_small(document)
    }

    /// How many of these documents, from the first on, are read together.
    pub fn bundle_len(&self, documents: &[Document<'_>]) -> usize {
        let mut bytes = 0;
        let fits = |document: &&Document<'_>| {
            bytes += document.bytes.len();
            self.suits(document.bytes) && bytes <= BUNDLE_BYTES_MAX
        };
        let each = self.asked.iter().map(|asked| asked.together_max);
        let most = each.min().unwrap_or(1).min(self.together_max);
        let documents = documents[..documents.len().min(most)].iter();
        documents.take_while(fits).count()
    }

    /// Reads documents together and adds their rows; matches tell when they were decided if there
    /// is only one or `with_times` asks for it. `now`, in seconds, is when rows are counted. None, and no rows, if they have to
    /// be read otherwise: one by one, or matched after all.
    pub fn read(
        &mut self,
        documents: &[Document<'_>],
        with_times: bool,
        now: u32,
        rows: &mut Rows,
    ) -> Option<Vec<Result<(), DocumentError>>> {
        let read = self.try_read(documents, with_times, now, rows);
        // What makes a bundle too diverse is likely to come again, but not for ever.
        if read.is_none() {
            self.together_max = (documents.len() / 2).max(1);
        } else if documents.len() == self.together_max {
            self.together_max = (2 * self.together_max).min(DOCUMENTS_MAX);
        }
        read
    }

    fn try_read(
        &mut self,
        documents: &[Document<'_>],
        with_times: bool,
        now: u32,
        rows: &mut Rows,
    ) -> Option<Vec<Result<(), DocumentError>>> {
        let mut verdicts = Vec::new();
        for asked in &mut self.asked {
            asked.trie.begin_bundle();
            let taken = documents.iter().map(|document| asked.take_in(document));
            verdicts = taken.collect();
            if !asked.trie.ask(with_times) {
                return None;
            }
        }
        let mut matched = Vec::new();
        if !self.matched.is_empty() {
            for (document, verdict) in documents.iter().zip(&verdicts) {
                let read = self.match_whole(document);
                matched.push(self.matched.take_rows());
                // An automaton can pass a limit that ends the document for everyone, at an event
                // that questions know nothing of.
                if read != *verdict {
                    return None;
                }
            }
        }
        for asked in &mut self.asked {
            asked.trie.tell(&asked.tier, now);
        }
        let mut matched = matched.into_iter();
        for (index, document) in documents.iter().enumerate() {
            if let Some(found) = matched.next() {
                rows.append(found);
            }
            for asked in &mut self.asked {
                let wanted = Wanted {
                    tier: &asked.tier,
                    in_document_order: self.options.in_document_order,
                    now,
                };
                asked.trie.report(index, document.number, wanted, rows);
            }
        }
        Some(verdicts)
    }

    fn match_whole(&mut self, document: &Document<'_>) -> Result<(), DocumentError> {
        let (tokenizer, tiers) = (&mut self.tokenizer, &mut self.matched);
        tiers.number_documents(document.number);
        let mut read = || {
            tokenizer.begin(document.encoding)?;
            tiers.begin()?;
            if tiers.is_plain() {
                tokenizer.feed(document.bytes, tiers.only())?;
                tokenizer.finish(tiers.only())?;
            } else {
                tokenizer.feed(document.bytes, tiers)?;
                tokenizer.finish(tiers)?;
            }
            tiers.finish(tokenizer.position())
        };
        let read = read();
        self.matched.collect();
        read.inspect_err(|_| self.matched.abandon())
    }

    /// The internal general entities of the document read last.
    pub fn entities(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let first = self.asked.first();
        first.map_or_else(Vec::new, |asked| asked.tokenizer.entities())
    }

    /// What subscriptions did by questions since the last call.
    pub fn take_usage(&mut self) -> Vec<Used> {
        let asked = self.asked.iter_mut();
        asked
            .flat_map(|asked| asked.trie.take_usage(&asked.tier))
            .collect()
    }

    /// Sampled steps by the subscription they were done for, since the last call.
    pub fn take_charges(&mut self) -> Vec<(u32, f64)> {
        self.matched.take_charges()
    }
}

impl Asked {
    fn take_in(&mut self, document: &Document<'_>) -> Result<(), DocumentError> {
        self.trie.begin();
        let read = self.tokenizer.begin(document.encoding);
        let read = read.and_then(|()| self.tokenizer.feed(document.bytes, &mut self.trie));
        let read = read.and_then(|()| self.tokenizer.finish(&mut self.trie));
        match read {
            Ok(()) => self.trie.finish(self.tokenizer.position()),
            Err(_) => self.trie.break_off(),
        }
        read
    }
}
