//! Documents that are at hand as a whole: which are asked the questions, and what goes with it.

use crate::error::DocumentError;
use crate::inverted::{How, Inverted};
use crate::limits::Limits;
use crate::matcher::{Options, Rows};
use crate::plan::Plan;
use crate::tiers::{Tier, Tiers};
use crate::tokenizer::Tokenizer;
use crate::usage::Used;
use std::sync::Arc;

/// Larger documents have so many nodes that the matcher is as good.
const BYTES_MAX: usize = 1 << 20;

/// A tier whose questions are asked.
struct Asked {
    tier: Tier,
    tokenizer: Tokenizer,
    inverted: Inverted,
    /// What of its plan cannot be asked.
    rest: Option<Arc<Plan>>,
}

/// Reads whole documents: where a tier has many questions they are asked, and matchers see to the
/// rest of it and to small tiers.
pub(crate) struct Whole {
    asked: Vec<Asked>,
    tokenizer: Tokenizer,
    matched: Tiers,
    limits: Limits,
    options: Options,
    bytes_max: usize,
}

impl Whole {
    pub fn new(tiers: &[Tier], limits: Limits, options: Options) -> Whole {
        // Nothing of a document that is smaller than these limits can pass them in the matcher,
        // so they need no check here.
        let held = limits.candidates_max.min(limits.buffer_bytes_max);
        let bounds = held.min(
            limits
                .text_bytes_max
                .saturating_sub(limits.entity_bytes_max),
        );
        let mut whole = Whole {
            asked: Vec::new(),
            tokenizer: Tokenizer::new(limits),
            matched: Tiers::new(Vec::new(), limits, options),
            limits,
            options,
            bytes_max: BYTES_MAX.min(usize::try_from(bounds).unwrap_or(usize::MAX)),
        };
        whole.adopt(tiers);
        whole
    }

    /// Goes on with other tiers; what was learnt is kept where a plan stays.
    pub fn adopt(&mut self, tiers: &[Tier]) {
        let options = self.options;
        if options.is_traced || options.in_parts || options.is_live {
            return;
        }
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
        if tier.plan.question_count() < self.options.questions_min {
            return None;
        }
        Some(Asked {
            tier: tier.clone(),
            tokenizer: Tokenizer::new(self.limits),
            inverted: Inverted::new(tier.plan.clone(), self.limits.candidates_max)?,
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
        !self.asked.is_empty() && document.len() <= self.bytes_max
    }

    /// Reads a document and adds its rows. None, and no rows, if it has to be matched after all.
    pub fn read(
        &mut self,
        number: u32,
        document: &[u8],
        encoding: Option<&str>,
        now: u32,
        rows: &mut Rows,
    ) -> Option<Result<(), DocumentError>> {
        let mut verdict = Ok(());
        for asked in &mut self.asked {
            verdict = asked.take_in(document, encoding);
            if !asked.inverted.can_answer() {
                return None;
            }
        }
        if !self.matched.is_empty() {
            let matched = self.match_whole(number, document, encoding);
            let found = self.matched.take_rows();
            // A matcher can pass a limit that ends the document for everyone, at an event that
            // questions know nothing of.
            if matched != verdict {
                return None;
            }
            rows.append(found);
        }
        for asked in &mut self.asked {
            let how = How {
                in_document_order: self.options.in_document_order,
                now,
            };
            asked.inverted.answer(number, &asked.tier, how, rows);
        }
        Some(verdict)
    }

    fn match_whole(
        &mut self,
        number: u32,
        document: &[u8],
        encoding: Option<&str>,
    ) -> Result<(), DocumentError> {
        let (tokenizer, tiers) = (&mut self.tokenizer, &mut self.matched);
        tiers.number_documents(number);
        let mut read = || {
            tokenizer.begin(encoding)?;
            tiers.begin()?;
            if tiers.is_plain() {
                tokenizer.feed(document, tiers.only())?;
                tokenizer.finish(tiers.only())?;
            } else {
                tokenizer.feed(document, tiers)?;
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
            .flat_map(|asked| asked.inverted.take_usage(&asked.tier))
            .collect()
    }

    /// Sampled steps by the subscription they were done for, since the last call.
    pub fn take_charges(&mut self) -> Vec<(u32, f64)> {
        self.matched.take_charges()
    }
}

impl Asked {
    fn take_in(&mut self, document: &[u8], encoding: Option<&str>) -> Result<(), DocumentError> {
        self.inverted.begin();
        let read = self.tokenizer.begin(encoding);
        let read = read.and_then(|()| self.tokenizer.feed(document, &mut self.inverted));
        let read = read.and_then(|()| self.tokenizer.finish(&mut self.inverted));
        match read {
            Ok(()) => self.inverted.finish(self.tokenizer.position()),
            Err(_) => self.inverted.break_off(),
        }
        read
    }
}
