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
mod askers;
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
mod ids;
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
mod undecided;

pub use cells::Atom;
pub use frames::Opening;
pub use ids::CandidateId;

use crate::events::Symbol;
use crate::ledger::Account;
use crate::plan::{Plan, TargetId};
use crate::small::SmallMap;
use crate::tables::{Arena, Table, bytes_of};
use cells::{Cells, Handle, Wire};
use frames::{Arm, Behind, Extra, Frame, Info};
use ids::{CountedId, GroupId, IndexId, InfoId, ListId, PairId, RouteId, SharedId, SinkId};
use lists::List;
use pairs::Pair;
use routes::{Need, RouteTable, Routes};
use rustc_hash::{FxHashMap, FxHashSet};
use sinks::Sink;
use std::rc::Rc;
use std::sync::Arc;
use symbols::SymbolUses;

/// What the automaton has to do at the end of an event.
#[derive(Debug)]
pub enum Action {
    /// A candidate is a result of a target.
    Select {
        target: TargetId,
        candidate: CandidateId,
    },
    /// The circuit no longer holds the candidate.
    Release { candidate: CandidateId },
    /// The values beside a result are known.
    Bind {
        target: TargetId,
        candidate: CandidateId,
        values: Vec<Option<Rc<str>>>,
    },
    /// A target counts a node, with its number.
    Tally { target: TargetId, number: f64 },
    /// A target has its value.
    Answer { target: TargetId, atom: Atom },
}

/// Meetings with members that every node may have on average: what stays below is no growth.
const PAIRS_FREE: u64 = 64;
/// A member lies anywhere in memory, its wires as well.
const STEPS_PER_PAIR: u64 = 4;

/// Tables over this many bytes are given back at the end of a document.
const TABLE_BYTES_MAX: u64 = 1 << 20;

/// Remembered nodes for which the room stays from one document to the next.
const INFOS_KEPT: usize = 1 << 12;

/// All expressions of a plan over one document at a time.
pub struct Circuit {
    plan: Arc<Plan>,
    routes: Routes,
    table: RouteTable,
    symbols: Table<Symbol, Option<Rc<SymbolUses>>>,
    cells: Cells,
    infos: Arena<InfoId, Info>,
    frames: Vec<Frame>,
    extras: Vec<Extra>,
    /// Arms at open nodes, innermost last.
    arms: Table<RouteId, Vec<Arm>>,
    /// Arms for whatever follows a closed node.
    follow: Table<RouteId, Vec<Arm>>,
    /// Closed nodes that any later node may look back at.
    behind: SmallMap<RouteId, Behind>,
    /// Open ends of chains about all later nodes.
    ahead: SmallMap<RouteId, chains::Ahead>,
    /// Contexts that count later nodes.
    picks: SmallMap<RouteId, picks::Picks>,
    /// Open nodes that wait for the last node below them.
    lasts: Table<RouteId, Vec<lasts::Lasts>>,
    /// Open nodes among which positions are counted.
    trails: Table<RouteId, trails::Trail>,
    /// By sink: arrivals on trails that further nodes may join.
    arrivals: FxHashMap<SinkId, Vec<Handle>>,
    groups: Arena<GroupId, counts::Group>,
    /// Groups of the whole document.
    document_groups: SmallMap<CountedId, GroupId>,
    /// Open nodes that a step counts, and those that ask for what is below them.
    around: Table<CountedId, around::Around>,
    below: Table<CountedId, below::Below>,
    folding: folds::Folding,
    /// For the end of this event: members of groups, numbers of what is behind a node, and groups
    /// that close.
    joining: Vec<(GroupId, ids::EntryId, Wire)>,
    asking: Vec<(GroupId, Handle)>,
    closing: Vec<GroupId>,
    indexes: Arena<IndexId, indexes::Index>,
    /// Indexes of the whole document.
    document_indexes: SmallMap<SharedId, IndexId>,
    sinks: Arena<SinkId, Sink>,
    lists: Arena<ListId, List>,
    set_pairs: Arena<PairId, Pair>,
    /// What was wired at the opening node in this event.
    memo: SmallMap<Need, Wire>,
    /// Elements with ids: the ids, the remembered node.
    ids: Vec<(Rc<[Rc<str>]>, InfoId)>,
    id_words: FxHashSet<Rc<str>>,
    id_arms: Vec<(frames::Target, Wire, Wire)>,
    /// Truths over several ways to one node that this event closes.
    ways: Vec<Handle>,
    /// Atoms and sets of the document node.
    root: FxHashMap<Need, frames::Wired>,
    opening_value: Option<Rc<str>>,
    opening_name: (Rc<[u8]>, Rc<[u8]>),
    is_opening: bool,
    /// Closed sinks whose cell may still be open.
    lingering: Vec<SinkId>,
    linger_max: usize,
    next_order: u64,
    /// Nodes before this one in document order are no results.
    heard_from: u64,
    next_serial: u64,
    /// Whether a node that concerns an expression has closed.
    is_touched: bool,
    /// Bytes that lie outside the tables: arms, entries of sinks, values of indexes.
    held_bytes: usize,
    /// Meetings of a node with a member of its set, one by one, in this document.
    pairs: u64,
    pub actions: Vec<Action>,
    /// Worked out when somebody asks for whom it works.
    askers: Option<askers::Askers>,
}

impl Circuit {
    /// The circuit of a plan, for all targets but the silent ones; none where no other target has
    /// an expression.
    pub fn new(
        plan: &Arc<Plan>,
        account: Account,
        silent: &FxHashSet<TargetId>,
    ) -> Option<Circuit> {
        let mut routes = Routes::new(plan, silent);
        if routes.is_empty() {
            return None;
        }
        routes.complete(plan);
        let count = routes.len();
        let (counted, folded) = (routes.counts.len(), routes.folds.len());
        Some(Circuit {
            plan: plan.clone(),
            table: routes.table(),
            routes,
            symbols: Table::default(),
            cells: Cells::new(account),
            infos: Arena::default(),
            frames: Vec::new(),
            extras: Vec::new(),
            arms: Table::of_defaults(count),
            follow: Table::of_defaults(count),
            behind: SmallMap::default(),
            ahead: SmallMap::default(),
            picks: SmallMap::default(),
            lasts: Table::of_defaults(count),
            trails: Table::of_defaults(count),
            arrivals: FxHashMap::default(),
            groups: Arena::default(),
            document_groups: SmallMap::default(),
            around: Table::of_defaults(counted),
            below: Table::of_defaults(counted),
            folding: folds::Folding::new(folded),
            joining: Vec::new(),
            asking: Vec::new(),
            closing: Vec::new(),
            indexes: Arena::default(),
            document_indexes: SmallMap::default(),
            sinks: Arena::default(),
            lists: Arena::default(),
            set_pairs: Arena::default(),
            memo: SmallMap::default(),
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
            is_touched: false,
            held_bytes: 0,
            pairs: 0,
            actions: Vec::new(),
            askers: None,
        })
    }

    /// Forgets the document under way.
    pub fn clear(&mut self) {
        let is_large = self.kept_bytes() > TABLE_BYTES_MAX;
        if is_large {
            self.extras = Vec::new();
        }
        let kept = if is_large { 0 } else { usize::MAX };
        self.groups.clear(kept);
        self.indexes.clear(kept);
        self.sinks.clear(kept);
        self.lists.clear(kept);
        self.set_pairs.clear(kept);
        self.cells.clear();
        self.infos.clear(INFOS_KEPT);
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
        self.document_groups.clear();
        self.around.fill_with(around::Around::default);
        self.below.fill_with(below::Below::default);
        self.folding.clear();
        self.joining.clear();
        self.asking.clear();
        self.closing.clear();
        self.document_indexes.clear();
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
        self.is_touched = false;
    }

    /// The targets that expressions answer.
    pub fn targets(&self) -> &[TargetId] {
        &self.routes.targets
    }

    /// Whether namespaces in scope are nodes that somebody asks for.
    pub fn uses_namespaces(&self) -> bool {
        self.routes.uses_namespaces
    }

    /// Whether no expression has learnt anything of the document but its open elements.
    pub fn is_untouched(&self) -> bool {
        !self.is_touched
    }

    /// Whether ids matter.
    pub fn uses_ids(&self) -> bool {
        self.routes.uses_ids
    }

    /// Nodes meet so many members of their sets.
    #[inline]
    fn count_pairs(&mut self, members: usize) {
        self.cells.account.spend(STEPS_PER_PAIR * members as u64);
        self.pairs += members as u64;
    }

    /// Meetings of a node with a member of its set beyond those that are free, which grow with the
    /// number of targets.
    pub fn pairs(&self) -> u64 {
        let askers = self.routes.targets.len().max(1) as u64;
        self.pairs
            .saturating_sub(self.next_order * PAIRS_FREE * askers)
    }

    /// Bytes that it keeps: what lies in its tables, by their capacity.
    pub fn kept_bytes(&self) -> u64 {
        let tables = self.cells.bytes()
            + self.infos.bytes()
            + bytes_of(&self.frames)
            + bytes_of(&self.extras)
            + self.sinks.bytes()
            + self.lists.bytes()
            + self.set_pairs.bytes()
            + self.indexes.bytes()
            + self.groups.bytes()
            + self.folding.bytes();
        (tables + self.held_bytes) as u64
    }

    /// What it has worked so far.
    pub fn account(&mut self) -> &mut Account {
        &mut self.cells.account
    }

    /// Steps of work so far, over all documents.
    pub fn steps(&self) -> u64 {
        self.cells.account.steps
    }

    /// What an open node keeps; its end will look at it.
    fn extra_of(&mut self, depth: usize) -> &mut Extra {
        let extra = &mut self.extras[depth];
        extra.is_used = true;
        extra
    }

    /// Whether anybody waits for the attributes or namespaces of the opening element.
    pub fn awaits_attributes(&self) -> bool {
        !self.extras[self.frames.len() - 1].armed_near.is_empty()
    }

    /// What is remembered of the opening node, or NONE.
    pub fn opening_info(&self) -> InfoId {
        self.frames.last().map_or(InfoId::NONE, |frame| frame.info)
    }

    /// Whether the node that is opening now may become a result.
    pub fn wants_candidate(&self) -> bool {
        let info = self.opening_info();
        info.is_some() && self.infos[info].outputs > 0 && self.infos[info].candidate.is_none()
    }

    /// Sets the candidate of the opening node.
    pub fn attach(&mut self, candidate: CandidateId) {
        let info = self.opening_info();
        self.infos[info].candidate = candidate;
    }
}
