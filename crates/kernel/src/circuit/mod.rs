//! Evaluates what has no forward twig: any expression of XPath 1.0, in one pass.
//!
//! For every node that an expression asks about, its conditions become cells of three-valued truth
//! (`cells`), wired to each other as the document arrives: a path's truth is an `Or` that stays
//! open until no further node can come, a predicate an `And`, a position or a count a number with
//! bounds. What a step waits for is an *arm* at an open node; a node that opens looks at the arms
//! that its name is listed for, nothing else. Cells outlive their nodes where something above or
//! beside them is still undecided, and go as soon as nobody depends on them.
//!
//! Everything that is asked of a node is wired while it opens. Steps that look back therefore find
//! what they need (`routes::Need`), and nothing of the document is kept but what a query may still
//! ask for.

mod arms;
mod around;
mod behind;
mod below;
mod cells;
mod chains;
mod counts;
mod entries;
mod evaluation;
mod events;
mod farthest;
mod folds;
mod frames;
mod gates;
mod identifiers;
mod indexes;
mod lasts;
mod lateness;
mod lines;
mod lists;
mod natures;
mod nexts;
mod outputs;
mod pairs;
mod picks;
mod ranges;
mod ranks;
mod routes;
mod settling;
mod sharing;
mod sinks;
mod slack;
mod spreading;
mod steps;
mod stores;
mod suffixes;
mod symbols;
mod thresholds;
mod trails;

pub use cells::Atom;
pub use frames::Opening;

use crate::plan::{NONE, Plan};
use crate::tables::bytes_of;
use cells::{Cells, Wire};
use frames::{Arm, Behind, Extra, Frame, Infos};
use lists::List;
use pairs::Pair;
use routes::{Need, Route, Routes};
use rustc_hash::{FxHashMap, FxHashSet};
use sinks::Sink;
use std::rc::Rc;
use std::sync::Arc;
use symbols::Symbol;

/// What the circuit tells the automaton at the end of an event.
#[derive(Debug)]
pub enum Action {
    /// A candidate is a result of a target.
    Select { target: u32, candidate: u32 },
    /// The circuit no longer holds the candidate.
    Release { candidate: u32 },
    /// The values beside a result are known.
    Bind {
        target: u32,
        candidate: u32,
        values: Vec<Option<Rc<str>>>,
    },
    /// A target counts a node, with its number.
    Tally { target: u32, number: f64 },
    /// A target has its value.
    Answer { target: u32, atom: Atom },
}

/// Meetings with members that every node may have on average: what stays below is no growth.
const PAIRS_FREE: u64 = 64;

/// Tables over this many bytes are given back at the end of a document.
const TABLE_BYTES_MAX: u64 = 1 << 20;

/// All expressions of a plan over one document at a time.
pub struct Circuit {
    plan: Arc<Plan>,
    routes: Routes,
    table: Rc<[Route]>,
    symbols: Vec<Option<Rc<Symbol>>>,
    cells: Cells,
    infos: Infos,
    frames: Vec<Frame>,
    extras: Vec<Extra>,
    /// By route: arms at open nodes, innermost last.
    arms: Vec<Vec<Arm>>,
    /// By route: arms for whatever follows a closed node.
    follow: Vec<Vec<Arm>>,
    /// Closed nodes that any later node may look back at, by route.
    behind: Vec<(u32, Behind)>,
    /// Ends of chains about all nodes to come.
    ahead: Vec<chains::Ahead>,
    /// Nodes that count the nodes to come.
    picks: Vec<picks::Picks>,
    /// By route: open nodes that wait for the last node below them.
    lasts: Vec<Vec<lasts::Lasts>>,
    /// By route: open nodes among which positions are asked for.
    trails: Vec<trails::Trail>,
    /// By sink: arrivals on trails that further nodes may join.
    arrivals: FxHashMap<u32, Vec<cells::Handle>>,
    counts: Vec<counts::Group>,
    free_counts: Vec<u32>,
    /// Groups of the whole document: counted step, group.
    document_counts: Vec<(u32, u32)>,
    /// By counted step: open nodes that it counts, and those that ask for what is below them.
    around: Vec<around::Around>,
    below: Vec<below::Below>,
    folding: folds::Folding,
    /// For the end of this event: members of groups, numbers of what is behind a node, and groups
    /// that close.
    joining: Vec<(u32, u32, Wire)>,
    asking: Vec<(u32, cells::Handle)>,
    closing: Vec<u32>,
    indexes: Vec<indexes::Index>,
    free_indexes: Vec<u32>,
    /// Indexes of the whole document: set, index.
    document_indexes: Vec<(u32, u32)>,
    sinks: Vec<Sink>,
    free_sinks: Vec<u32>,
    lists: Vec<List>,
    free_lists: Vec<u32>,
    set_pairs: Vec<Pair>,
    free_pairs: Vec<u32>,
    /// What was wired at the opening node in this event.
    memo: Vec<(Need, Wire)>,
    /// Elements with ids: the ids, the remembered node.
    ids: Vec<(Rc<[Rc<str>]>, u32)>,
    id_words: FxHashSet<Rc<str>>,
    id_arms: Vec<(frames::Target, Wire, Wire)>,
    /// Truths over several ways to one node that this event closes.
    ways: Vec<cells::Handle>,
    /// What the document node was asked for.
    root: FxHashMap<Need, frames::Wired>,
    opening_value: Option<Rc<str>>,
    opening_name: (Rc<[u8]>, Rc<[u8]>),
    is_opening: bool,
    /// Closed sinks whose cell may still be open.
    lingering: Vec<u32>,
    linger_max: usize,
    next_order: u64,
    /// Nodes before this one in document order are no results.
    heard_from: u64,
    next_serial: u64,
    /// Bytes that lie outside the tables: arms, entries of sinks, values of indexes.
    held_bytes: usize,
    /// Meetings of a node with a member of its set, one by one, in this document.
    pairs: u64,
    pub actions: Vec<Action>,
}

impl Circuit {
    /// The circuit of a plan; none where no subscription has an expression.
    pub fn new(plan: &Arc<Plan>) -> Option<Circuit> {
        let mut routes = Routes::new(plan);
        if routes.is_empty() {
            return None;
        }
        routes.complete(plan);
        let count = routes.all().len();
        let (counted, folded) = (routes.counts.len(), routes.folds.len());
        Some(Circuit {
            plan: plan.clone(),
            table: routes.all().into(),
            routes,
            symbols: Vec::new(),
            cells: Cells::default(),
            infos: Infos::default(),
            frames: Vec::new(),
            extras: Vec::new(),
            arms: vec![Vec::new(); count],
            follow: vec![Vec::new(); count],
            behind: Vec::new(),
            ahead: Vec::new(),
            picks: Vec::new(),
            lasts: (0..count).map(|_| Vec::new()).collect(),
            trails: (0..count).map(|_| trails::Trail::default()).collect(),
            arrivals: FxHashMap::default(),
            counts: Vec::new(),
            free_counts: Vec::new(),
            document_counts: Vec::new(),
            around: by_step(counted),
            below: by_step(counted),
            folding: folds::Folding::new(folded),
            joining: Vec::new(),
            asking: Vec::new(),
            closing: Vec::new(),
            indexes: Vec::new(),
            free_indexes: Vec::new(),
            document_indexes: Vec::new(),
            sinks: Vec::new(),
            free_sinks: Vec::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            set_pairs: Vec::new(),
            free_pairs: Vec::new(),
            memo: Vec::new(),
            ids: Vec::new(),
            id_words: FxHashSet::default(),
            id_arms: Vec::new(),
            ways: Vec::new(),
            root: FxHashMap::default(),
            opening_value: None,
            opening_name: (Rc::from(&b""[..]), Rc::from(&b""[..])),
            is_opening: false,
            lingering: Vec::new(),
            linger_max: sinks::LINGER_MIN,
            next_order: 0,
            heard_from: 0,
            next_serial: 0,
            held_bytes: 0,
            pairs: 0,
            actions: Vec::new(),
        })
    }

    /// Forgets the document under way.
    pub fn clear(&mut self) {
        if self.kept_bytes() > TABLE_BYTES_MAX {
            self.extras = Vec::new();
            self.sinks = Vec::new();
            self.lists = Vec::new();
            self.set_pairs = Vec::new();
            self.indexes = Vec::new();
            self.counts = Vec::new();
        }
        self.cells.clear();
        self.infos.clear();
        self.frames.clear();
        self.extras.clear();
        for lists in [&mut self.arms, &mut self.follow] {
            lists.iter_mut().for_each(Vec::clear);
        }
        self.behind.clear();
        self.ahead.clear();
        self.picks.clear();
        self.lasts.iter_mut().for_each(Vec::clear);
        self.trails.fill_with(trails::Trail::default);
        self.arrivals.clear();
        self.counts.clear();
        self.free_counts.clear();
        self.document_counts.clear();
        self.around
            .iter_mut()
            .for_each(|own| *own = Default::default());
        self.below
            .iter_mut()
            .for_each(|own| *own = Default::default());
        self.folding.clear();
        self.joining.clear();
        self.asking.clear();
        self.closing.clear();
        self.indexes.clear();
        self.free_indexes.clear();
        self.document_indexes.clear();
        self.sinks.clear();
        self.free_sinks.clear();
        self.lists.clear();
        self.free_lists.clear();
        self.set_pairs.clear();
        self.free_pairs.clear();
        self.memo.clear();
        self.ids.clear();
        self.id_words.clear();
        self.id_arms.clear();
        self.ways.clear();
        self.root.clear();
        self.lingering.clear();
        self.actions.clear();
        (self.next_order, self.heard_from) = (0, 0);
        (self.pairs, self.held_bytes) = (0, 0);
    }

    /// The targets that expressions answer.
    pub fn targets(&self) -> &[u32] {
        &self.routes.targets
    }

    /// Whether namespaces in scope are nodes that somebody asks for.
    pub fn uses_namespaces(&self) -> bool {
        self.routes.uses_namespaces
    }

    /// Whether ids matter.
    pub fn uses_ids(&self) -> bool {
        self.routes.uses_ids
    }

    /// Meetings of a node with a member of its set beyond what every node may have.
    pub fn pairs(&self) -> u64 {
        self.pairs.saturating_sub(self.next_order * PAIRS_FREE)
    }

    /// Bytes that it keeps: what lies in its tables, by their capacity.
    pub fn kept_bytes(&self) -> u64 {
        let tables = self.cells.bytes()
            + self.infos.bytes()
            + bytes_of(&self.frames)
            + bytes_of(&self.extras)
            + bytes_of(&self.sinks)
            + bytes_of(&self.lists)
            + bytes_of(&self.set_pairs)
            + bytes_of(&self.indexes)
            + bytes_of(&self.counts)
            + self.folding.bytes();
        (tables + self.held_bytes) as u64
    }

    /// Units of work so far, over all documents.
    pub fn work(&self) -> u64 {
        self.cells.work
    }

    /// Whether anybody waits for the attributes or namespaces of the opening element.
    pub fn awaits_attributes(&self) -> bool {
        !self.extras[self.frames.len() - 1].armed_near.is_empty()
    }

    /// The node that is opening now, remembered; NONE where nobody asked for that.
    pub fn opening_info(&self) -> u32 {
        self.frames.last().map_or(NONE, |frame| frame.info)
    }

    /// Whether the node that is opening now may become a result.
    pub fn wants_candidate(&self) -> bool {
        let info = self.opening_info();
        info != NONE && self.infos[info].outputs > 0 && self.infos[info].candidate == NONE
    }

    /// Tells which candidate the node that is opening now is.
    pub fn attach(&mut self, candidate: u32) {
        let info = self.opening_info();
        self.infos[info].candidate = candidate;
    }
}

/// A default for each of so many steps.
fn by_step<T: Default>(count: usize) -> Vec<T> {
    (0..count).map(|_| T::default()).collect()
}
