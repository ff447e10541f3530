//! Events become results: one pass, all subscriptions of a plan together.

mod candidates;
mod circuits;
mod compute;
mod deliver;
mod drafts;
mod flow;
mod frames;
mod fresh;
mod gate;
mod handler;
mod nodes;
mod retention;
mod sampling;
mod segments;
mod silence;
mod states;
mod trace;
mod truth;

pub use trace::TraceEntry;

use crate::circuit::{CandidateId, Circuit};
use crate::error::{DocumentError, ErrorKind};
use crate::events::{Scope, Span, Symbol, local_name};
use crate::ledger::{Account, Ledger};
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::{
    FormulaId, GuardId, NodeKind, OperandKind, Output, Plan, SubscriptionId, Symbols, TargetId,
};
use crate::rows::{DocumentId, Rows};
use crate::source::Source;
use crate::tables::Table;
use crate::tokenizer::codes;
use crate::values::Value;
use candidates::Candidates;
use deliver::Tally;
use frames::Frames;
use gate::Gate;
use rustc_hash::FxHashSet;
use states::{State, States};
use std::rc::Rc;
use std::sync::Arc;
use trace::Trace;

/// What a node is, as far as results and name functions care.
#[derive(Clone, Copy)]
struct Node<'a> {
    kind: NodeKind,
    name: &'a [u8],
    uri: &'a [u8],
    start: u64,
    scope: Option<&'a Rc<Scope>>,
}

impl<'a> Node<'a> {
    fn local(&self) -> &'a [u8] {
        local_name(self.kind, self.name)
    }

    /// The part of its name that an operand is, if it is one.
    fn part(&self, kind: OperandKind) -> Option<&'a [u8]> {
        kind.name_part(self.kind, self.name, self.uri)
    }
}

/// Counters of one automaton, over all its documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Automaton states built.
    pub states_built: u64,
    /// Times the state cache was cleared.
    pub cache_clears: u64,
    /// Facts, climbs and passes: the work that is not constant per event.
    pub steps: u64,
    /// Candidates held now.
    pub held: u64,
    /// Bytes of input kept now.
    pub kept_bytes: u64,
}

/// Evaluates a plan over one document at a time.
pub struct Automaton {
    plan: Arc<Plan>,
    limits: Limits,
    options: Options,
    symbols: Symbols,
    states: States,
    frames: Frames,
    candidates: Candidates,
    source: Source,
    gate: Option<Gate>,
    /// Evaluates the expressions of the plan, if it has any.
    circuit: Option<Circuit>,
    /// Whether expressions may select text nodes.
    hears_text: bool,
    trace: Option<Trace>,
    rows: Rows,
    /// Facts that arrived and are not worked off, with the depths of their nodes.
    queue: Vec<(u32, FormulaId)>,
    /// Decisions of this event, by the order of their nodes.
    decided: Vec<(u64, CandidateId, TargetId)>,
    /// Atomic answers of this event.
    answers: Vec<(TargetId, Value<'static>)>,
    /// The document in which each target was answered last; nothing is reset between documents.
    answered: Table<TargetId, u64>,
    epoch: u64,
    /// How many targets the document at hand has answered, and how many answers are all there
    /// will be: one for each target, if all are questions of yes or no.
    answer_count: u32,
    answers_max: Option<u32>,
    /// Whether a program says that nothing more is found in the document.
    has_ended: bool,
    /// Targets that are aggregates.
    aggregates: Rc<[TargetId]>,
    /// By aggregate; those that were given nothing are missing.
    tallies: rustc_hash::FxHashMap<TargetId, Tally>,
    /// How many results each subscription has; those of a silent one are at their end.
    ordinals: Table<SubscriptionId, u64>,
    silent: FxHashSet<SubscriptionId>,
    /// Whether that is everybody.
    is_idle: bool,
    /// Documents, and subscriptions that have more results there than they may, from an offset on.
    exceeded: Vec<(DocumentId, SubscriptionId, u64)>,
    /// Closed candidates whose bytes are still only in the source, and the orders of their nodes.
    kept: Vec<(CandidateId, u64)>,
    /// Bytes of closed candidates that are held.
    closed_bytes: u64,
    /// Offset up to which the bytes held cannot pass their limit.
    unchecked_until: u64,
    /// Lowest depth at which something turned false in this event.
    dirty: usize,
    /// String values under construction, inner ones inside outer ones.
    values: Vec<u8>,
    value_frames: u32,
    /// The text node under construction.
    text: Vec<u8>,
    text_span: Option<Span>,
    /// Number of the document; the caller's to set.
    document: DocumentId,
    /// Nodes before this offset are no results: the automaton came in the middle of a document.
    silent_until: u64,
    next_node: u64,
    /// Runners are numbered apart, so that operands do not change the numbers of results.
    next_runner: u64,
    event_end: u64,
    account: Account,
    alive_memo: FxHashSet<(GuardId, u32)>,
    last_name: Rc<[u8]>,
}

impl Automaton {
    /// An automaton for a plan.
    pub fn new(plan: Arc<Plan>, limits: Limits, options: Options, ledger: &Arc<Ledger>) -> Self {
        let symbols = Symbols::new(&plan);
        let mut states = States::new(options.cache_bytes_max);
        states.admit_symbol(symbols.comment.max(symbols.text).max(symbols.document));
        let targets = plan.target_count();
        let is_aggregate = |&target: &TargetId| plan.target(target).0.aggregate().is_some();
        let aggregates = plan.targets().filter(is_aggregate).collect();
        let is_truth = |target| {
            let output = plan.target(target).0;
            matches!(
                output,
                Output::Filter { .. } | Output::Boolean { .. } | Output::End { .. }
            )
        };
        let mut circuit = Circuit::new(&plan, Account::new(ledger.clone()), &FxHashSet::default());
        let hears_text = circuit
            .as_mut()
            .is_some_and(|circuit| circuit.concerns(symbols.text, &symbols));
        Automaton {
            limits,
            options,
            symbols,
            states,
            frames: Frames::new(),
            candidates: Candidates::default(),
            source: Source::new(),
            gate: options
                .in_document_order
                .then(|| Gate::new(targets as usize)),
            circuit,
            hears_text,
            trace: options.is_traced.then(Trace::default),
            rows: Rows::default(),
            queue: Vec::new(),
            decided: Vec::new(),
            answers: Vec::new(),
            answered: Table::of_defaults(targets as usize),
            epoch: 0,
            answer_count: 0,
            answers_max: plan.targets().all(is_truth).then_some(targets),
            has_ended: false,
            aggregates,
            tallies: rustc_hash::FxHashMap::default(),
            ordinals: Table::default(),
            silent: FxHashSet::default(),
            is_idle: false,
            exceeded: Vec::new(),
            kept: Vec::new(),
            closed_bytes: 0,
            unchecked_until: 0,
            dirty: usize::MAX,
            values: Vec::new(),
            value_frames: 0,
            text: Vec::new(),
            text_span: None,
            document: DocumentId(0),
            silent_until: 0,
            next_node: 0,
            next_runner: 0,
            event_end: 0,
            account: Account::new(ledger.clone()),
            alive_memo: FxHashSet::default(),
            last_name: Rc::from(&b""[..]),
            plan,
        }
    }

    /// Starts a document; whatever was left of the one before is dropped.
    pub fn begin(&mut self) -> Result<(), DocumentError> {
        self.abandon();
        self.hush();
        self.open_document();
        // What needs no event at all is decided before the first one, at offset 0.
        self.settle()
    }

    /// Starts in the middle of a document: what was opened before `offset` is there and reported
    /// to the handler anew, but is no result. The next block begins at `offset`.
    pub fn begin_at(&mut self, offset: u64) -> Result<(), DocumentError> {
        self.abandon();
        self.silent_until = offset;
        self.source.begin_at(offset);
        self.hush();
        self.open_document();
        self.settle()
    }

    /// Sets the document of the rows of the next documents.
    pub fn number_documents(&mut self, document: DocumentId) {
        self.document = document;
    }

    /// Drops the document under way; finished rows stay.
    pub fn abandon(&mut self) {
        while self.frames.pop().is_some() {}
        self.candidates.clear();
        if let Some(circuit) = &mut self.circuit {
            circuit.clear();
        }
        self.source.clear();
        if let Some(gate) = &mut self.gate {
            gate.clear();
        }
        self.queue.clear();
        self.decided.clear();
        self.answers.clear();
        self.epoch += 1;
        self.answer_count = 0;
        self.has_ended = false;
        self.tallies.clear();
        self.ordinals.clear(usize::MAX);
        self.kept.clear();
        self.values.clear();
        self.text.clear();
        (self.value_frames, self.next_node, self.event_end) = (0, 0, 0);
        (self.closed_bytes, self.unchecked_until) = (0, 0);
        (self.dirty, self.text_span) = (usize::MAX, None);
        self.silent_until = 0;
        self.account.begin();
        if let Some(circuit) = &mut self.circuit {
            circuit.account().begin();
        }
    }

    /// Whether nothing is left of a document under way.
    pub fn is_clear(&self) -> bool {
        let is_at_start = self.frames.stack.is_empty() && self.candidates.is_empty();
        is_at_start && self.queue.is_empty()
    }

    /// Ends the document; everything undecided is decided now.
    pub fn finish(&mut self, length: u64) -> Result<(), DocumentError> {
        self.event_end = length;
        self.close_node(length)?;
        self.frames.pop();
        self.deliver_tallies();
        if let Some(gate) = &mut self.gate {
            gate.finish();
        }
        self.open_gate();
        if let Some(trace) = &mut self.trace {
            trace.finish_event(length, &self.candidates);
        }
        Ok(())
    }

    /// Whether nothing that may follow in the document would add a row.
    pub fn is_decided(&self) -> bool {
        self.answers_max == Some(self.answer_count)
    }

    /// Whether a program of this plan says that no program of the session finds anything more.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether nothing that was found waits for something that may follow in the document.
    pub fn is_at_rest(&self) -> bool {
        self.candidates.is_empty() && self.circuit.is_none()
    }

    /// The rows finished since the last call.
    pub fn take_rows(&mut self) -> Rows {
        let mut rows = std::mem::take(&mut self.rows);
        rows.forget_scope();
        rows
    }

    /// Drops what is there of a row that was broken off.
    pub fn mend_rows(&mut self) {
        self.rows.truncate(usize::MAX);
    }

    /// Drops the rows behind the first ones.
    pub fn drop_rows(&mut self, length: usize) {
        self.rows.truncate(length);
    }

    /// The rows that wait to be taken.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many rows wait to be taken.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of values that wait to be taken.
    pub fn value_bytes(&self) -> usize {
        self.rows.value.bytes.len()
    }

    /// The record of events since the last call.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.trace
            .as_mut()
            .map(|trace| std::mem::take(&mut trace.entries))
            .unwrap_or_default()
    }

    /// Counters so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            states_built: self.states.builds,
            cache_clears: self.states.clears,
            steps: self.account.steps - self.account.walked
                + self.circuit.as_ref().map_or(0, Circuit::steps),
            held: self.candidates.held,
            kept_bytes: self.source.kept() as u64
                + self.closed_bytes
                + self.circuit_bytes()
                + (self.candidates.bytes() + self.frames.bytes()) as u64,
        }
    }

    /// Whether a node was there before the automaton, and is no result.
    #[inline]
    fn is_silent(&self, node: &Node<'_>) -> bool {
        node.start < self.silent_until
    }

    fn symbol(&mut self, kind: NodeKind, uri: &[u8], local: &[u8]) -> Symbol {
        let symbol = self.symbols.resolve(&self.plan, kind, uri, local);
        self.states.admit_symbol(symbol);
        symbol
    }

    #[inline]
    fn state_at(&self, depth: usize) -> &State {
        self.states.state(self.frames.stack[depth].state)
    }

    fn kind_at(&self, depth: usize) -> NodeKind {
        self.symbols.class(self.frames.stack[depth].symbol).kind
    }
}

/// The error of a document that passed one of the automaton's limits.
pub(crate) fn limit_error(limit: &'static str, bound: u64, byte: u64) -> DocumentError {
    let (code, what) = match limit {
        "candidates_max" => (codes::CANDIDATES, "candidates are held at once"),
        "buffer_bytes_max" => (codes::BUFFER_BYTES, "bytes are held for results"),
        "pairs_max" => (codes::PAIRS, "pairs of nodes are compared or counted"),
        _ => (codes::TEXT_BYTES, "bytes are in one string value"),
    };
    let reason = format!("more than {bound} {what} (`{limit}`)");
    DocumentError::at(byte, ErrorKind::Limit(limit), code, reason)
}
