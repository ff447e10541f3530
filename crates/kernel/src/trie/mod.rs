//! The document reads the questions: all of them at once, after its end.
//!
//! The automaton holds the questions still and moves over the document, event by event. For a small
//! document that is at hand as a whole it is cheaper to hold the document still and to move over
//! the questions: they lie in a trie of steps, and a set of label paths of the document goes down
//! every way that leads somewhere. What does not occur in the document costs nothing, and nothing
//! is remembered between documents. Where conditions come in, sets of nodes take the place of sets
//! of paths.
//!
//! Documents that come together go the ways together, as a bundle: most ways lead somewhere in
//! several of them, and each is gone only once.
//!
//! The answers are those of the automaton, the event at which each is decided included.

mod ask;
mod columns;
mod conditions;
mod keys;
mod names;
mod nodes;
mod paths;
mod ranked;
mod report;
mod sets;
mod times;
mod transpose;
mod values;
mod walk;

pub use report::Wanted;

use crate::document::{Collector, Docs, Earliest, Needs, Timed};
use crate::ledger::Account;
use crate::plan::questions::{Figure, Part, QuestionId};
use crate::plan::{FormulaId, NodeKind, Plan};
use crate::usage::Usage;
use ask::{Dated, Told, Ways};
use columns::Columns;
use names::Names;
use nodes::NodeSets;
use paths::First;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use times::Times;
use values::Values;
use walk::{Answered, Walk};

/// A filter that conditions answer, when and where, and the set of nodes that do; it is empty where
/// nobody asks for times.
struct Met {
    question: u32,
    earliest: Earliest,
    set: u32,
}

/// Asks the questions of a plan of whole documents, one bundle after the other.
///
/// `taken` takes in documents; `ask` then puts the questions to them, and `report` tells what each
/// of them answers.
pub struct Trie {
    plan: Arc<Plan>,
    /// Listens to the tokenizer.
    pub taken: Collector<Names>,
    columns: Columns,
    /// The ways through a document that is alone, through several, and through several whose
    /// filters tell when they were decided.
    alone: Ways<First>,
    together: Ways<Docs>,
    dated: Ways<Dated>,
    walk: Walk,
    /// Tries to be walked.
    roots: Vec<u32>,
    /// Queries that paths answer, and the sets of nodes that do.
    queries: Answered<u32>,
    query_sets: Vec<u32>,
    nodes: NodeSets,
    values: Values,
    /// Edges by formula: the nodes at which they hold.
    edges: FxHashMap<FormulaId, Rc<[Timed]>>,
    /// Records to visit with sets of nodes.
    todo: Vec<(u32, u32)>,
    /// Filters that conditions answer.
    met: Vec<Met>,
    /// Queries and the sets of nodes that answer them.
    selected: Vec<(u32, u32)>,
    /// Rows of filters and of queries, by question.
    used: [Usage<QuestionId>; 2],
    told: Told,
    times: Times,
    has_times: bool,
    nodes_max: u64,
    equal_bytes_max: usize,
}

impl Trie {
    /// For the questions of a plan; none if it has none. Bundles of more than `nodes_max`
    /// nodes are refused.
    pub fn new(plan: Arc<Plan>, nodes_max: u64, account: Account) -> Option<Self> {
        let image = plan.questions()?;
        let has_queries = !image.part(Part::Queries).is_empty();
        let is_attribute = |test| {
            let (kind, ..) = plan.test(test);
            matches!(kind, NodeKind::Any | NodeKind::Attribute)
        };
        let needs = Needs {
            values: image.figure(Figure::NeedsValues) != 0,
            attributes: plan.tests().any(is_attribute),
            descriptions: has_queries,
            source: has_queries,
            bytes_max: None,
        };
        Some(Trie {
            taken: Collector::new(Names::new(plan.clone(), image), needs, account),
            columns: Columns::new(image.part(Part::Codes).len() / 2),
            alone: Ways::default(),
            together: Ways::default(),
            dated: Ways::default(),
            walk: Walk::default(),
            roots: Vec::new(),
            queries: Answered::default(),
            query_sets: Vec::new(),
            nodes: NodeSets::default(),
            values: Values::default(),
            edges: FxHashMap::default(),
            todo: Vec::new(),
            met: Vec::new(),
            selected: Vec::new(),
            used: Default::default(),
            told: Told::default(),
            times: Times::default(),
            has_times: false,
            nodes_max,
            equal_bytes_max: image.figure(Figure::EqualBytesMax) as usize,
            plan,
        })
    }
}
