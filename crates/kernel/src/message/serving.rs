//! The programs that a listener serves, and what it hands out.

use super::listener::Messages;
use super::member::{Member, Task};
use super::names::Names;
use super::program::Program;
use super::states::{MemberId, States};
use crate::error::{DocumentError, ErrorKind};
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::Account;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::{Request, Tier, requests};
use crate::rows::Rows;
use crate::tables::Table;
use crate::tokenizer::codes;
use crate::vocabulary::NodeKind;
use penstock_sequences::error::Error;
use penstock_sequences::eval::RECURSION;
use rustc_hash::FxHashMap;

/// The code of a failure that is no error of the query: more results than `results_max`.
pub(super) const TOO_MANY: &str = "results_max";

/// Other names of streams, with the streams.
pub type Aliases = [(Box<str>, Box<str>)];

/// A subscription that failed at a document.
pub type Failed = (DocumentId, SubscriptionId, DocumentError);

/// Whom a listener serves.
pub struct Serving {
    tier: Tier,
    /// What each subscription asks.
    asking: FxHashMap<SubscriptionId, MemberId>,
    /// Those who get nothing.
    silent: Box<[SubscriptionId]>,
}

impl Messages {
    /// A listener for those programs of a tier that request messages and are to be served; None if
    /// there are none. Equal programs are evaluated once. `streams` are other names of streams, with
    /// the streams.
    pub fn of(
        tier: &Tier,
        is_served: impl Fn(&[u8]) -> bool,
        limits: &Limits,
        options: &Options,
        streams: &Aliases,
        account: Account,
    ) -> Option<Messages> {
        let mut names = Names::default();
        let mut states = States::default();
        let mut members: Table<MemberId, Member> = Table::default();
        let mut known: FxHashMap<&[u8], MemberId> = FxHashMap::default();
        let mut asking = FxHashMap::default();
        let asked = requests(std::slice::from_ref(tier), Request::Messages);
        for request in asked.filter(|request| is_served(request.program)) {
            let next = MemberId(members.len() as u32);
            let id = *known.entry(request.program).or_insert(next);
            if id == next {
                let mut own = penstock_sequences::names::Names::default();
                let mut program = Program::read(request.program, &mut own);
                if let Ok(Program { stream, .. }) = &mut program {
                    *stream = stream.take().map(|name| original(name, streams));
                }
                let mut roots = Vec::new();
                if let Ok(Program { reads, gathers, .. }) = &program {
                    let places = reads.iter().map(|reads| &reads.places);
                    roots.extend(places.map(|places| states.add(id, places, gathers, &mut names)));
                }
                members.push(Member::of(program, own, roots, (limits, options)));
            }
            members[id].add(request.subscription);
            asking.insert(request.subscription, id);
        }
        if members.is_empty() {
            return None;
        }
        states.seal(&mut names);
        let serving = Serving {
            tier: tier.clone(),
            asking,
            silent: Box::default(),
        };
        Some(Messages::with(
            names,
            states,
            members,
            serving,
            account,
            limits.text_bytes_max,
        ))
    }

    /// Whether it serves a tier, from which nothing but more subscriptions were removed.
    pub fn reads(&self, tier: &Tier) -> bool {
        let own = &self.serving.tier;
        own.is_same_plan(tier) && tier.left_out_by(own).next().is_none()
    }

    /// Goes on with the tier that it serves, without those that were removed since. They alone cost
    /// something.
    pub fn adopt(&mut self, tier: &Tier) {
        for own in self.serving.tier.left_out_by(tier) {
            let gone = tier.shift(own);
            if let Some(id) = self.serving.asking.remove(&gone) {
                self.members[id].remove(gone);
            }
        }
        self.serving.tier = tier.clone();
    }

    /// What each distinct program makes, and for how many subscriptions.
    pub fn described(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.members.iter().map(Member::described)
    }

    /// Gives subscriptions nothing, and all others their rows.
    pub fn silence(&mut self, silent: &[SubscriptionId]) {
        if *self.serving.silent == *silent {
            return;
        }
        self.serving.silent = silent.into();
        for member in self.members.iter_mut() {
            member.silence(silent);
        }
    }

    /// Sees to it that names and states stay bounded; returns whether symbols are forgotten.
    pub fn forget_too_many(&mut self) -> bool {
        if self.states.is_full() {
            self.states.forget(&self.names);
        }
        let is_crowded = self.names.forget_too_many();
        if is_crowded {
            self.members.iter_mut().for_each(Member::forget_names);
        }
        is_crowded
    }

    /// Starts a document of a stream.
    pub fn begin(&mut self, stream: &str, document: DocumentId) {
        self.begin_events();
        self.states.set_has_bytes(true, &self.names);
        self.document = document;
        let class = self.names.class(NodeKind::Document, b"", b"");
        let mut places = Vec::new();
        for member in self.members.iter_mut() {
            member.begin(stream);
            places.extend(member.root());
        }
        self.root = self.states.root(&places, class, &self.names);
    }

    /// The document declares entities, so that its source does not stand alone. Nothing of it was
    /// kept yet.
    pub(super) fn read_without_bytes(&mut self) {
        if self.states.set_has_bytes(false, &self.names) {
            let class = self.names.class(NodeKind::Document, b"", b"");
            let places: Vec<_> = self.members.iter().filter_map(Member::root).collect();
            self.root = self.states.root(&places, class, &self.names);
        }
    }

    /// Ends the document.
    pub fn finish(&mut self, length: u64) {
        for id in self.members.ids() {
            self.account.act_for(id.0);
            let task = Task {
                account: &mut self.account,
                rows: &mut self.rows,
                document: self.document,
                at: length,
            };
            self.members[id].finish(task);
        }
        self.end_document();
    }

    /// Drops the document, which turned out to be bad. Rows that are finished stay.
    pub fn abandon(&mut self) {
        self.members.iter_mut().for_each(Member::abandon);
        self.end_document();
    }

    /// Whether nothing is left of a document under way.
    pub fn is_clear(&self) -> bool {
        self.members.iter().all(Member::is_clear)
    }

    fn end_document(&mut self) {
        let document = self.document;
        for member in self.members.iter_mut() {
            let Some(error) = member.take_error() else {
                continue;
            };
            let error = error_of(&error.error, error.byte);
            let failed = member.audible().iter();
            let failed = failed.map(|&subscription| (document, subscription, error.clone()));
            self.failed.extend(failed);
        }
    }

    /// Subscriptions that failed since the last call.
    pub fn take_failed(&mut self) -> Vec<Failed> {
        std::mem::take(&mut self.failed)
    }

    /// The rows that wait to be taken.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many rows wait to be taken, and the bytes of their values.
    pub fn row_sizes(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.value_bytes())
    }

    /// Drops a row that was broken off.
    pub fn mend_rows(&mut self) {
        self.rows.truncate(self.rows.len());
    }

    /// The rows finished since the last call.
    pub fn take_rows(&mut self) -> Rows {
        std::mem::take(&mut self.rows)
    }

    /// Steps since the last call, by subscription; those who share a program share its steps.
    pub fn take_charges(&mut self) -> Vec<(SubscriptionId, f64)> {
        let samples: Vec<_> = self.account.take_samples().collect();
        self.share(samples)
    }

    /// The same for the document under way.
    pub fn charges(&self) -> Vec<(SubscriptionId, f64)> {
        self.share(self.account.samples().collect())
    }

    /// A subscription that takes more steps of the document under way than it may alone.
    pub fn dear(&self) -> Option<SubscriptionId> {
        let member = self.members.find(MemberId(self.account.dear()?))?;
        member.audible().first().copied()
    }

    /// How many different programs there are.
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    fn share(&self, samples: Vec<(u32, u64)>) -> Vec<(SubscriptionId, f64)> {
        let shares = samples.into_iter().flat_map(|(actor, steps)| {
            let member = self.members.find(MemberId(actor));
            let subscriptions = member.map_or(&[][..], |member| member.audible());
            let each = steps as f64 / subscriptions.len().max(1) as f64;
            subscriptions
                .iter()
                .map(move |&subscription| (subscription, each))
        });
        shares.collect()
    }
}

/// The stream that a name stands for.
pub fn original(name: Box<str>, streams: &Aliases) -> Box<str> {
    let named = streams.iter().find(|(alias, _)| *alias == name);
    named.map_or(name, |(_, stream)| stream.clone())
}

/// A failure as an error of a subscription.
pub fn error_of(error: &Error, byte: u64) -> DocumentError {
    let Error { code, reason } = error;
    let (kind, own, reason) = match *code {
        RECURSION => {
            let kind = ErrorKind::Limit("recursion_max");
            (
                kind,
                codes::RECURSION,
                format!("{reason} (`recursion_max`)"),
            )
        }
        TOO_MANY => (ErrorKind::Limit(TOO_MANY), codes::RESULTS, reason.clone()),
        code => (ErrorKind::Query(code), codes::QUERY, error.to_string()),
    };
    DocumentError::at(byte, kind, own, reason)
}
