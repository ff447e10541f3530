//! Programs and documents in, messages out: the paper's operators over the product's document in
//! memory, and the product's own broker over the same one, so that both are measured alike.

mod assembling;

use crate::operators::{Knowledge, Nesting, Operators, Sharing, Strategy};
use penstock_broker::{Broker, Index, OutputId, Query, TestId};
use penstock_kernel::broker::{
    Alphabet, Brokered, Document, Outcome, Outputs, Pieces, Reading, Written, assemble,
};
use penstock_kernel::ledger::{Account, Ledger};
use penstock_kernel::limits::Limits;
use penstock_kernel::tokenizer::Tokenizer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How queries are asked.
enum Way {
    /// As the product asks them.
    Keyed(Box<Broker>),
    /// By operators of the paper.
    Operators(Box<Operators>),
}

/// Messages of a document, each once; None for one that is empty, or the reason of a failure.
type Messages = Vec<Result<Option<Vec<u8>>, String>>;

/// Queries in XQuery of one form, asked of one document after the other.
#[pyclass(unsendable)]
pub struct MessageBroker {
    document: Document,
    tokenizer: Tokenizer,
    pieces: Pieces,
    outputs: Outputs,
    way: Way,
    asking: Duration,
    messages: Duration,
}

/// Which elements may lie in each other, by local name: the number of the loop.
type Loops = FxHashMap<String, u32>;

/// What is known of the elements that pass a test. An element on no loop never lies in one of its
/// name.
fn nesting(loops: Option<&Loops>, alphabet: &Alphabet, test: TestId) -> Nesting {
    let (Some(loops), Some(local)) = (loops, alphabet.local(test)) else {
        return Nesting::Unknown;
    };
    match std::str::from_utf8(local)
        .ok()
        .and_then(|name| loops.get(name))
    {
        Some(&number) => Nesting::Loop(number),
        None => Nesting::Never,
    }
}

#[pymethods]
impl MessageBroker {
    /// Programs that have a form for the broker, by their numbers. `strategy` is `keyed`, which is
    /// the product's, or `f`, `fw`, `fwr` or `shared`; `loops` are what a schema says, which
    /// documents may break if `is_checked`.
    #[new]
    #[pyo3(signature = (programs, strategy, knowledge, *, loops = None, is_checked = false, is_profiled = false))]
    fn new(
        programs: Vec<Vec<u8>>,
        strategy: &str,
        knowledge: &str,
        loops: Option<std::collections::HashMap<String, u32>>,
        is_checked: bool,
        is_profiled: bool,
    ) -> PyResult<MessageBroker> {
        let ledger = Arc::new(Ledger::new(&Limits::NONE, None, None));
        let mut document = Document::new(Account::new(ledger));
        let (mut pieces, mut outputs) = (Pieces::default(), Outputs::default());
        let mut queries = Vec::with_capacity(programs.len());
        for (number, program) in programs.iter().enumerate() {
            let alphabet = &mut document.alphabet;
            let form = Brokered::read(program, &mut |test| alphabet.test(test));
            let form = form
                .map_err(|reason| PyValueError::new_err(reason.to_string()))?
                .ok_or_else(|| PyValueError::new_err("a program has no form for the broker"))?;
            let own = form.pieces.iter();
            let own = own.map(|piece| pieces.intern(piece, Limits::NONE.recursion_max));
            let own = own.collect::<Result<Vec<u32>, _>>();
            let own = own.map_err(|reason| PyValueError::new_err(reason.to_string()))?;
            let output = outputs.intern(form.output, &form.message, &own);
            queries.push(Query {
                binding: form.binding,
                condition: form.condition,
                output: OutputId(output),
                subscription: number as u32,
            });
        }
        let way = match read_strategy(strategy, knowledge)? {
            None => Way::Keyed(Box::new(Broker::new(Index::of(&queries)))),
            Some(strategy) => {
                let all = outputs.all.iter();
                let returns: Vec<Vec<_>> = all
                    .map(|output| {
                        let pieces_of = outputs.pieces_of(output).into_iter();
                        let steps = pieces_of.filter_map(|piece| pieces.steps(piece));
                        steps.map(Into::into).collect()
                    })
                    .collect();
                let loops: Option<Loops> = loops.map(|loops| loops.into_iter().collect());
                let of = |test| nesting(loops.as_ref(), &document.alphabet, test);
                let mut operators = Operators::new(&queries, &returns, strategy, &of, is_checked);
                if is_profiled {
                    operators.measure();
                }
                Way::Operators(Box::new(operators))
            }
        };
        Ok(MessageBroker {
            document,
            tokenizer: Tokenizer::new(Limits::NONE),
            pieces,
            outputs,
            way,
            asking: Duration::ZERO,
            messages: Duration::ZERO,
        })
    }

    /// Asks a document all queries: for each query that gets a message its number and that of the
    /// message; and the messages, each its bytes, None if it is empty, or why it failed. Without
    /// an answer the operators leave the document to the product.
    #[allow(clippy::type_complexity)]
    fn ask<'py>(
        &mut self,
        py: Python<'py>,
        document: &[u8],
    ) -> PyResult<Option<(Vec<(u32, u32)>, Vec<Py<PyAny>>)>> {
        self.read(document).map_err(PyValueError::new_err)?;
        let started = Instant::now();
        let rows = self.rows();
        self.asking += started.elapsed();
        let Some(rows) = rows else {
            return Ok(None);
        };
        let started = Instant::now();
        let written = self.write();
        self.messages += started.elapsed();
        let written = written.into_iter();
        let messages: PyResult<Vec<Py<PyAny>>> = written
            .map(|message| match message {
                Ok(None) => Ok(py.None()),
                Ok(Some(bytes)) => Ok(PyBytes::new(py, &bytes).into_any().unbind()),
                Err(reason) => Ok(reason.into_pyobject(py)?.into_any().unbind()),
            })
            .collect();
        Ok(Some((rows, messages?)))
    }

    /// What there is for all queries together, and how many of each: operators, or what the
    /// product shares.
    fn counts(&self) -> Vec<(&'static str, usize)> {
        match &self.way {
            Way::Keyed(broker) => broker.index().counts(),
            Way::Operators(operators) => operators.counts(),
        }
    }

    /// Seconds since the last call, by what they were spent for: asking up to lists or rows, and
    /// writing messages; then each operator, if that is profiled.
    fn take_costs(&mut self) -> Vec<(&'static str, f64)> {
        let mut costs = vec![("asking", self.asking), ("messages", self.messages)];
        (self.asking, self.messages) = (Duration::ZERO, Duration::ZERO);
        if let Way::Operators(operators) = &mut self.way {
            costs.extend(operators.take_costs());
        }
        let costs = costs.into_iter();
        costs
            .map(|(name, cost)| (name, cost.as_secs_f64()))
            .collect()
    }
}

impl MessageBroker {
    fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.document.begin();
        self.pieces.clear();
        self.tokenizer
            .begin(None)
            .and_then(|()| self.tokenizer.feed(bytes, &mut self.document))
            .and_then(|()| self.tokenizer.finish(&mut self.document))
            .map_err(|error| error.reason.to_string())
    }

    /// Which query gets which message; None if the operators do not answer, the values of the
    /// product's broker have no outcome, or the document has too many nodes for it.
    fn rows(&mut self) -> Option<Vec<(u32, u32)>> {
        let store = &mut self.document.store;
        match &mut self.way {
            Way::Keyed(broker) => {
                if !broker.ask(store) || !broker.answers.faults.is_empty() {
                    return None;
                }
                let answers = &broker.answers;
                let rows = answers.subscriptions.iter().copied();
                Some(rows.zip(answers.messages.iter().copied()).collect())
            }
            Way::Operators(operators) => {
                if !operators.ask(store, &mut |_| {}) {
                    return None;
                }
                let made = (0..).zip(&operators.groups.messages);
                let rows = made.flat_map(|(message, made)| {
                    let own = operators.subscriptions(made.plan).iter();
                    own.map(move |&subscription| (subscription, message))
                });
                Some(rows.collect())
            }
        }
    }

    fn write(&mut self) -> Messages {
        let reading = Reading {
            store: &self.document.store,
            record: &self.document.record,
            alphabet: &self.document.alphabet,
        };
        let (outputs, pieces) = (&self.outputs, &mut self.pieces);
        let broker = match &self.way {
            Way::Operators(operators) => {
                return assembling::assemble(&operators.groups, outputs, pieces, &reading);
            }
            Way::Keyed(broker) => broker,
        };
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        let written = &mut Written {
            bytes: &mut bytes,
            offsets: &mut offsets,
        };
        let account = &mut self.document.account;
        let answers = &broker.answers;
        let unsent = assemble(answers, outputs, pieces, &reading, account, written);
        let mut messages: Messages = offsets
            .windows(2)
            .map(|ends| Ok(Some(bytes[ends[0] as usize..ends[1] as usize].to_vec())))
            .collect();
        for (message, outcome) in unsent {
            messages[message as usize] = match outcome {
                Outcome::Failed(error) => Err(pieces.errors[error as usize].to_string()),
                _ => Ok(None),
            };
        }
        messages
    }
}

/// A strategy of the paper and what it knows, by their names; None is the product's.
fn read_strategy(sharing: &str, knowledge: &str) -> PyResult<Option<Strategy>> {
    let sharing = match sharing {
        "keyed" => return Ok(None),
        "f" => Sharing::Bindings,
        "fw" => Sharing::Conditions,
        "fwr" => Sharing::Returns,
        "shared" => Sharing::Plans,
        _ => return Err(PyValueError::new_err(format!("unknown strategy {sharing}"))),
    };
    let knowledge = match knowledge {
        "nothing" => Knowledge::Nothing,
        "queries" => Knowledge::Queries,
        "schema" => Knowledge::Schema,
        _ => {
            return Err(PyValueError::new_err(format!(
                "unknown knowledge {knowledge}"
            )));
        }
    };
    Ok(Some(Strategy { sharing, knowledge }))
}
