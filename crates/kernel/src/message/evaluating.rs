//! The evaluation of a program over what was kept of a document.

use super::binding::too_many;
use super::folding::Folding;
use super::member::Task;
use super::places::GatherId;
use super::program::{Body, Fold, Gather, Program};
use crate::ids::SubscriptionId;
use crate::ledger::Account;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::{ProgramError, Read};
use crate::rows::{RowHead, RowKind};
use crate::tables::Table;
use penstock_sequences::atomic::Moment;
use penstock_sequences::error::Error;
use penstock_sequences::eval::{Evaluation, Row, Sequence, Settings};
use penstock_sequences::names::{Names, NamesMark};
use penstock_sequences::tree::{Forest, NodeId, NodeRef, Tree};
use std::cell::RefCell;
use std::time::SystemTime;

/// The entry of the body; those of parts that gather follow.
const BODY: usize = 0;

/// Why a program has no value for a document.
#[derive(Clone, Debug)]
pub struct Failure {
    pub error: Error,
    /// Where the document was when that was known.
    pub byte: u64,
}

/// What became of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathered {
    Done,
    /// It depends on what may still come in the document.
    Waits,
}

/// A program and its trees.
pub struct Evaluating {
    /// The program that could not be read fails at every document.
    program: Result<Program, ProgramError>,
    evaluation: Option<Evaluation>,
    pub(super) forest: Forest,
    /// The tree of a document that is given with the query, while it is read.
    given: Tree,
    names: NamesMark,
    gathered: Table<GatherId, Result<Folding, Error>>,
    /// The place of the document under way among those that the program reads.
    role: usize,
    /// There is a message for each region, since the document may have no end.
    is_prompt: bool,
    /// Whether the documents that are given with the query have been read, by place.
    is_given: Vec<bool>,
    pub(super) ordinal: u64,
    /// The number of the last binding.
    pub(super) number: u64,
    pub(super) results_max: u64,
}

impl Evaluating {
    pub fn of(
        program: Read<Program>,
        names: Names,
        (limits, options): (&Limits, &Options),
    ) -> Evaluating {
        let is_message = |program: &Program| {
            let folds: Vec<Fold> = program.gathers.iter().map(|gather| gather.fold).collect();
            let Body::Sequences(code) = &program.body else {
                return false;
            };
            code.is_message(BODY) && folds == [Fold::Items]
        };
        let is_prompt = options.is_live && program.as_ref().is_ok_and(is_message);
        let documents = program.as_ref().map_or(1, |program| program.reads.len());
        let settings = |program: &Program| Settings {
            recursion_max: usize::try_from(limits.recursion_max).unwrap_or(usize::MAX),
            is_empty_dropped: !program.sends_empty,
            has_messages: !program.has_items,
            now: now(),
        };
        let evaluation = program.as_ref().ok();
        let evaluation = evaluation.and_then(|program| match &program.body {
            Body::Sequences(code) => Some(Evaluation::new(code.clone(), settings(program))),
            Body::Table(_) | Body::Bindings(_) => None,
        });
        Evaluating {
            gathered: no_items(&program),
            evaluation,
            names: names.mark(),
            forest: Forest::new(names),
            given: Tree::default(),
            program,
            role: 0,
            is_prompt,
            is_given: vec![false; documents],
            ordinal: 0,
            number: 0,
            results_max: limits.results_max,
        }
    }

    /// How many parts gather.
    pub fn gather_count(&self) -> usize {
        self.gathered.len()
    }

    /// The place of the document under way among those that the program reads.
    pub fn role(&self) -> usize {
        self.role
    }

    /// The tree of the document under way.
    pub fn tree(&mut self) -> &mut Tree {
        match self.role {
            0 => self.forest.document(),
            _ => &mut self.given,
        }
    }

    /// The names of the program and of its documents.
    pub fn names(&mut self) -> &mut Names {
        &mut self.forest.names
    }

    /// Forgets the names of documents.
    pub fn forget_names(&mut self) {
        self.clear();
        self.is_given.fill(false);
        self.forest.names.truncate(self.names);
    }

    /// Starts a document of a stream; whether the program reads it.
    pub fn begin(&mut self, stream: &str) -> bool {
        (self.ordinal, self.number) = (0, 0);
        let Ok(program) = &self.program else {
            return true;
        };
        let mut given = program.reads.iter().skip(1);
        let place = given.position(|reads| *reads.name == *stream);
        self.role = place.map_or(0, |place| place + 1);
        self.tree().clear();
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.restart(now());
        }
        let Ok(program) = &self.program else {
            return true;
        };
        if self.role > 0 {
            return true;
        }
        let is_own = program.stream.as_deref().is_none_or(|own| own == stream);
        is_own && self.is_given[1..].iter().all(|&is_given| is_given)
    }

    /// Counts an element of which nothing is kept.
    pub fn count(&mut self, gather: GatherId) {
        if let Ok(folding) = &mut self.gathered[gather] {
            folding.count();
        }
    }

    /// Evaluates a part that gathers in a region, given its elements.
    pub fn gather(
        &mut self,
        gather: GatherId,
        nodes: &[NodeId],
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<Gathered, Failure> {
        let Ok(program) = &self.program else {
            return Ok(Gathered::Done);
        };
        if let Body::Table(layout) = &program.body {
            let layout = layout.clone();
            return self.record(&layout, nodes, subscriptions, task);
        }
        if let Body::Bindings(layout) = &program.body {
            let layout = layout.clone();
            return self.bind(&layout, nodes, subscriptions, task);
        }
        let Some(evaluation) = &mut self.evaluation else {
            return Ok(Gathered::Done);
        };
        let region = nodes.iter().map(|&node| NodeRef::of_document(node));
        let region: Sequence = region.collect();
        let entry = BODY + 1 + gather.index();
        if program.is_direct {
            let written = self.rows(entry, Some(region), subscriptions, task);
            return written.map(|()| Gathered::Done);
        }
        let Ok(folding) = &mut self.gathered[gather] else {
            return Ok(Gathered::Done);
        };
        let mark = self.forest.mark();
        let mut meter = meter(task.account);
        let folded = match folding.items() {
            Some(items) => {
                evaluation.collect(entry, Some(region), &mut self.forest, &mut meter, items)
            }
            None => {
                let items = evaluation.items(entry, Some(region), &mut self.forest, &mut meter);
                items.and_then(|items| folding.add(&items, evaluation.environment()))
            }
        };
        drop(meter);
        self.forest.truncate(mark);
        // Somebody has to read what was gathered before its error is one of the query.
        if let Err(error) = folded {
            self.gathered[gather] = Err(error);
        }
        if !self.is_prompt {
            return Ok(Gathered::Done);
        }
        let sent = self.send(subscriptions, task);
        self.forest.truncate(mark);
        self.gathered = no_items(&self.program);
        sent.map(|()| Gathered::Done)
    }

    /// What the program makes, in a word.
    pub fn kind(&self) -> &'static str {
        match self.program.as_ref().map(|program| &program.body) {
            Ok(Body::Table(_)) => "tables",
            Ok(Body::Bindings(_)) => "bindings",
            Ok(Body::Sequences(_)) | Err(_) => "messages",
        }
    }

    /// Evaluates what waits for the end of the document.
    pub fn finish(
        &mut self,
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<(), Failure> {
        if let Err(reason) = &self.program {
            let error = Error::new("XPST0003", reason.to_string());
            return Err(Failure { error, byte: 0 });
        }
        self.is_given[self.role] = true;
        if self.role > 0 {
            self.forest.add_document(std::mem::take(&mut self.given));
            return Ok(());
        }
        if let Ok(Program {
            body: Body::Table(layout),
            is_whole,
            ..
        }) = &self.program
        {
            let layout = layout.clone();
            let nodes: &[NodeId] = if *is_whole { &[NodeId::ROOT] } else { &[] };
            // Nothing is unknown any more.
            return self.record(&layout, nodes, subscriptions, task).map(|_| ());
        }
        let is_direct = self.program.as_ref().is_ok_and(|program| program.is_direct);
        if is_direct || self.is_prompt {
            return Ok(());
        }
        self.send(subscriptions, task)
    }

    /// Evaluates the body with what was gathered.
    fn send(
        &mut self,
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<(), Failure> {
        let Some(evaluation) = &mut self.evaluation else {
            return Ok(());
        };
        for (place, gathered) in self.gathered.iter_mut().enumerate() {
            let value = gathered.as_mut().map_err(|error| error.clone());
            let value = value.and_then(|folding| folding.finish(&mut self.forest));
            evaluation.set_gathered(place, value);
        }
        self.rows(BODY, None, subscriptions, task)
    }

    fn rows(
        &mut self,
        entry: usize,
        binding: Option<Sequence>,
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<(), Failure> {
        let Some(evaluation) = &mut self.evaluation else {
            return Ok(());
        };
        let mark = self.forest.mark();
        let Task {
            account,
            rows,
            document,
            at,
        } = task;
        let account = RefCell::new(&mut **account);
        let ordinal = &mut self.ordinal;
        let results_max = self.results_max;
        let mut is_beyond = false;
        let mut out = |row: Row<'_>| {
            if *ordinal >= results_max {
                is_beyond = true;
                return;
            }
            for &subscription in subscriptions {
                account.borrow_mut().add_row(row.value.len());
                rows.value.bytes.extend_from_slice(row.value);
                let head = RowHead {
                    document: *document,
                    subscription,
                    ordinal: *ordinal,
                    kind: kind_of(row.kind),
                    span: row.span.map(|(start, end)| (start, Some(end))),
                    decided_at: *at,
                    node: *ordinal,
                };
                rows.push(head, row.name.as_bytes(), row.scope);
            }
            *ordinal += 1;
        };
        let mut meter = |steps| account.borrow_mut().spend(steps);
        let forest = &mut self.forest;
        let written = evaluation.rows(entry, binding, forest, &mut meter, &mut out);
        self.forest.truncate(mark);
        let written = match written {
            Ok(()) if is_beyond => Err(too_many(results_max)),
            written => written,
        };
        written.map_err(|error| Failure { error, byte: 0 })
    }

    /// Whether nothing was gathered that belongs to a document under way.
    pub fn is_clear(&self) -> bool {
        let mut gathered = self.gathered.iter();
        gathered.all(|one| one.as_ref().is_ok_and(Folding::is_clear))
    }

    /// Forgets the document under way and what was gathered.
    pub fn clear(&mut self) {
        if self.role == 0 {
            self.forest.clear();
            self.gathered = no_items(&self.program);
        }
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.forget();
        }
    }
}

/// What parts have gathered when a document begins.
fn no_items(program: &Read<Program>) -> Table<GatherId, Result<Folding, Error>> {
    let gathers = program.iter().flat_map(|program| program.gathers.iter());
    let folds = gathers.map(|gather: &Gather| Ok(Folding::new(gather.fold)));
    folds.collect()
}

/// The time of the day.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Moment::since_1970(since.unwrap_or_default())
}

pub(super) fn meter(account: &mut Account) -> impl FnMut(u64) {
    |steps| account.spend(steps)
}

fn kind_of(kind: &str) -> RowKind {
    match kind {
        "document" => RowKind::Document,
        "element" => RowKind::Element,
        "attribute" => RowKind::Attribute,
        "text" => RowKind::Text,
        "comment" => RowKind::Comment,
        "processing-instruction" => RowKind::Instruction,
        "number" => RowKind::Number,
        "boolean" => RowKind::Boolean,
        "message" => RowKind::Message,
        _ => RowKind::String,
    }
}
