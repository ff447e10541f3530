//! The document reads the questions: all of them at once, after its end.
//!
//! The matcher holds the questions still and moves over the document, event by event. For a small
//! document that is at hand as a whole it is cheaper to hold the document still and to move over
//! the questions: they lie in a trie of steps, and a set of label paths of the document goes down
//! every way that leads somewhere. A way is visited at most once per document, nothing is
//! remembered between documents but shapes, and what does not occur in the document costs
//! nothing. Where conditions come in, sets of nodes take the place of sets of paths.
//!
//! The answers are those of the matcher, the event at which each is decided included.

mod answers;
mod collect;
mod conditions;
mod document;
pub mod image;
pub mod layout;
mod names;
mod nodes;
mod paths;
pub mod question;
mod ranked;
mod report;
mod sets;
mod shapes;
mod values;
mod walk;

pub use report::How;

use crate::events::Scope;
use crate::matcher::Symbols;
use crate::plan::{Axis, Plan};
use crate::usage::Usage;
use document::Document;
use image::{Figure, Part};
use names::Names;
use nodes::{NodeSets, Timed};
use paths::Paths;
use rustc_hash::{FxHashMap, FxHashSet};
use shapes::Shapes;
use std::rc::Rc;
use std::sync::Arc;
use values::Values;
use walk::Walked;

/// A node for rows of queries: its name, and the declarations in scope.
type Described = (Rc<[u8]>, Option<Rc<Scope>>);

/// Asks the questions of a plan of one whole document after the other.
///
/// As a handler it takes in a document; `answer` then reports what it answers.
pub struct Inverted {
    plan: Arc<Plan>,
    symbols: Symbols,
    names: Names,
    document: Document,
    paths: Paths,
    nodes: NodeSets,
    shapes: Shapes,
    values: Values,
    /// Edges by formula: the nodes at which they hold.
    edges: FxHashMap<u32, Rc<[Timed]>>,
    /// Records to visit with sets of nodes.
    todo: Vec<(u32, u32)>,
    /// Answered filters that conditions decided: question, time.
    found: Vec<(u32, u32)>,
    /// Answered queries: question, set of nodes.
    selected: Vec<(u32, u32)>,
    /// Rows of filters and of queries, by question.
    used: [Usage; 2],
    /// By node.
    described: Vec<Described>,
    source: Vec<u8>,
    scratch: Vec<u8>,
    known_names: FxHashSet<Rc<[u8]>>,
    walked: Walked,
    nodes_max: u64,
    equal_bytes_max: usize,
    needs_values: bool,
    has_queries: bool,
    asks_attributes: bool,
    is_text_asked: bool,
    is_comment_asked: bool,
}

impl Inverted {
    /// For the questions of a plan; none if it has none. Documents of more than `nodes_max`
    /// nodes are refused.
    pub fn new(plan: Arc<Plan>, nodes_max: u64) -> Option<Self> {
        let image = plan.questions()?;
        let symbols = Symbols::new(&plan);
        let mut names = Names::new(image);
        names.admit(
            &symbols,
            symbols.document.max(symbols.text).max(symbols.comment),
        );
        let is_asked = |symbol: u32| !symbols.class(symbol).tests.is_empty();
        let asks_attributes = (0..plan.test_count()).any(|test| {
            use crate::plan::NodeKind::{Any, Attribute};
            matches!(plan.test(test).0, Any | Attribute)
        });
        Some(Inverted {
            names,
            document: Document::default(),
            paths: Paths::new(image.part(Part::Codes).len() / 2),
            nodes: NodeSets::new(),
            shapes: Shapes::default(),
            values: Values::default(),
            edges: FxHashMap::default(),
            todo: Vec::new(),
            found: Vec::new(),
            selected: Vec::new(),
            used: Default::default(),
            described: Vec::new(),
            source: Vec::new(),
            scratch: Vec::new(),
            known_names: FxHashSet::default(),
            walked: Walked::default(),
            nodes_max,
            equal_bytes_max: image.figure(Figure::EqualBytesMax) as usize,
            needs_values: image.figure(Figure::NeedsValues) != 0,
            has_queries: !image.part(Part::Queries).is_empty(),
            asks_attributes,
            is_text_asked: is_asked(symbols.text),
            is_comment_asked: is_asked(symbols.comment),
            symbols,
            plan,
        })
    }

    /// The axis of a move.
    fn axis(&self, code: u16) -> Axis {
        self.names.axis(code)
    }
}
