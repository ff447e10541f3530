//! One program and the document under way: its tree, its open regions, what it has gathered.

use super::evaluating::{Evaluating, Failure, Gathered};
use super::names::Names;
use super::places::{GatherId, PlaceId, Stay};
use super::program::Program;
use super::states::Keep;
use crate::events::{Scope, Span, Symbol};
use crate::ids::{DocumentId, SubscriptionId};
use crate::ledger::Account;
use crate::limits::Limits;
use crate::options::Options;
use crate::plan::Read;
use crate::rows::Rows;
use crate::source::Source;
use crate::tables::Table;
use crate::vocabulary::NodeKind;
use penstock_sequences as sequences;
use sequences::names::QName;
use sequences::tree::{Mark, NodeId, Tree};
use std::collections::VecDeque;
use std::rc::Rc;

/// What an evaluation works with, and where its rows go.
pub struct Task<'a> {
    pub account: &'a mut Account,
    pub rows: &'a mut Rows,
    pub document: DocumentId,
    /// The offset behind the event that it is due to.
    pub at: u64,
}

/// An open element of the tree.
struct Open {
    node: NodeId,
    /// The tree before it.
    mark: Mark,
    /// How many nodes were kept before it.
    kept_before: usize,
    /// How many nodes are kept until it ends.
    held: usize,
    /// Its string value is kept until the end of the document.
    has_value: bool,
    has_bytes: bool,
    /// The regions that it belongs to.
    gathers: Box<[GatherId]>,
}

/// The region of a part that gathers.
#[derive(Default)]
struct Region {
    /// The elements so far, in document order.
    nodes: Vec<NodeId>,
    /// How many of them are open.
    open: usize,
}

/// What a member does with the document under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The document is of another stream, or nobody listens.
    Idle,
    Reading,
    Failed,
}

/// A distinct program.
pub struct Member {
    /// By the session's ids.
    subscriptions: Vec<SubscriptionId>,
    /// Those of them that are not silent.
    audible: Vec<SubscriptionId>,
    /// Where its projections start, by document.
    roots: Vec<PlaceId>,
    evaluating: Evaluating,
    phase: Phase,
    error: Option<Failure>,
    open: Vec<Open>,
    regions: Table<GatherId, Region>,
    /// How many elements of regions are open.
    regions_open: usize,
    /// Regions whose records wait for what may follow, in document order.
    waiting: VecDeque<Vec<NodeId>>,
    /// How many nodes are kept until the end of the document, or of an element that is open.
    kept: usize,
    /// How many elements are open whose string value is kept until then.
    values_open: usize,
    /// Names by symbol, with the prefix that they were last written with.
    names: Vec<Option<(Box<[u8]>, QName)>>,
    bytes: Vec<u8>,
}

impl Member {
    /// A member without subscriptions.
    pub fn of(
        program: Read<Program>,
        names: sequences::names::Names,
        roots: Vec<PlaceId>,
        choices: (&Limits, &Options),
    ) -> Member {
        let evaluating = Evaluating::of(program, names, choices);
        let gathers = evaluating.gather_count();
        Member {
            subscriptions: Vec::new(),
            audible: Vec::new(),
            roots,
            evaluating,
            phase: Phase::Idle,
            error: None,
            open: Vec::new(),
            regions: Table::of_defaults(gathers),
            regions_open: 0,
            waiting: VecDeque::new(),
            kept: 0,
            values_open: 0,
            names: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds a subscription.
    pub fn add(&mut self, subscription: SubscriptionId) {
        self.subscriptions.push(subscription);
        self.audible.push(subscription);
    }

    /// Removes a subscription.
    pub fn remove(&mut self, subscription: SubscriptionId) {
        self.subscriptions.retain(|&own| own != subscription);
        self.audible.retain(|&own| own != subscription);
    }

    /// Gives subscriptions nothing.
    pub fn silence(&mut self, silent: &[SubscriptionId]) {
        let all = self.subscriptions.iter().copied();
        self.audible = all.filter(|own| !silent.contains(own)).collect();
    }

    /// The subscriptions that get its rows.
    pub fn audible(&self) -> &[SubscriptionId] {
        &self.audible
    }

    /// What it makes, in a word, and for how many subscriptions.
    pub fn described(&self) -> (&'static str, usize) {
        (self.evaluating.kind(), self.subscriptions.len())
    }

    /// Names by symbol mean nothing any more.
    pub fn forget_names(&mut self) {
        self.names.clear();
        self.evaluating.forget_names();
    }

    /// Starts a document.
    pub fn begin(&mut self, stream: &str) {
        let is_read = !self.audible.is_empty() && self.evaluating.begin(stream);
        self.phase = if is_read { Phase::Reading } else { Phase::Idle };
        self.error = None;
        self.open.clear();
        for region in self.regions.iter_mut() {
            region.nodes.clear();
            region.open = 0;
        }
        self.waiting.clear();
        (self.regions_open, self.kept, self.values_open) = (0, 0, 0);
    }

    /// Where the projection of the document under way starts, if it is read.
    pub fn root(&self) -> Option<PlaceId> {
        let root = self.roots.get(self.evaluating.role());
        root.copied().filter(|_| self.is_reading())
    }

    fn is_reading(&self) -> bool {
        self.phase == Phase::Reading
    }

    /// Whether the program has no value for the document.
    pub fn has_failed(&self) -> bool {
        self.phase == Phase::Failed
    }

    /// The tree, to be filled.
    pub fn tree(&mut self) -> &mut Tree {
        self.evaluating.tree()
    }

    /// How many of the open elements the tree has.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The name of a symbol that is written with a prefix.
    pub fn qname(&mut self, symbol: Symbol, prefix: &[u8], names: &Names) -> QName {
        if self.names.len() <= symbol.index() {
            self.names.resize(symbol.index() + 1, None);
        }
        match &self.names[symbol.index()] {
            // Most names have no prefix, and comparing nothing is a call that shows in profiles.
            Some((known, name)) if prefix.is_empty() && known.is_empty() => *name,
            Some((known, name)) if **known == *prefix => *name,
            _ => {
                let name = names.name(symbol);
                let qname = self
                    .evaluating
                    .names()
                    .qname(prefix, &name.uri, &name.local);
                self.names[symbol.index()] = Some((prefix.into(), qname));
                qname
            }
        }
    }

    /// Opens an element in the tree.
    pub fn open(&mut self, name: QName, scope: &Rc<Scope>, start: u64) {
        let kept_before = self.kept;
        let tree = self.evaluating.tree();
        let mark = tree.mark();
        let node = tree.start(name, Some(scope), start);
        self.open.push(Open {
            node,
            mark,
            kept_before,
            held: 0,
            has_value: false,
            has_bytes: false,
            gathers: Box::default(),
        });
    }

    /// Keeps the element that was opened last.
    pub fn keep(&mut self, keep: &Keep) {
        self.note_kept(keep.stay, 0);
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let is_longer = keep.stay > Stay::Region;
        open.has_value = keep.kept.has_value() || is_longer && keep.marks.has_value();
        open.has_bytes = keep.marks.has_bytes();
        open.gathers = keep.gathers.clone();
        self.values_open += usize::from(open.has_value);
        for &gather in &keep.gathers {
            let region = &mut self.regions[gather];
            region.nodes.push(open.node);
            region.open += 1;
            self.regions_open += 1;
        }
    }

    /// Counts an element of which nothing is kept.
    pub fn count(&mut self, gather: GatherId) {
        self.evaluating.count(gather);
    }

    /// Takes note of how long a node is kept. It is the innermost open element, an attribute of
    /// it, or so many levels below.
    #[inline]
    pub fn note_kept(&mut self, stay: Stay, below: usize) {
        if stay == Stay::Region {
            return;
        }
        self.kept += 1;
        if let Stay::Above(levels) = stay {
            // Above the root element is the document.
            let place = (self.open.len() + below).checked_sub(levels as usize + 1);
            if let Some(open) = place.and_then(|place| self.open.get_mut(place)) {
                open.held += 1;
            }
        }
    }

    /// Adds a comment or an instruction to the tree.
    pub fn leaf(&mut self, kind: NodeKind, target: &[u8], value: &[u8], span: (u64, u64)) {
        if kind == NodeKind::Comment {
            self.tree().comment(value, span);
        } else {
            let name = self.evaluating.names().qname(b"", b"", target);
            self.tree().instruction(name, value, span);
        }
    }

    /// Closes the innermost element of the tree: regions that end with it are evaluated.
    pub fn close(&mut self, span: Span, source: &Source, mut task: Task<'_>) {
        let Some(open) = self.open.pop() else {
            return;
        };
        if !self.is_reading() {
            return;
        }
        if open.has_bytes {
            self.bytes.clear();
            source.copy(span, &mut self.bytes);
            task.account.spend(self.bytes.len() as u64 / 64);
            self.evaluating.tree().set_raw(open.node, &self.bytes);
        }
        self.tree().end(span.end);
        self.values_open -= usize::from(open.has_value);
        self.kept -= open.held;
        if self
            .waiting
            .front()
            .is_some_and(|nodes| *nodes > vec![open.node])
        {
            self.gather_waiting(&mut task);
        }
        for &gather in &open.gathers {
            self.regions_open -= 1;
            self.regions[gather].open -= 1;
            if self.regions[gather].open == 0 {
                self.gather(gather, &mut task);
            }
        }
        // What belongs to no region any more, and is not kept, is forgotten with its ancestors.
        let is_needed = self.regions_open > 0 || self.values_open > 0 || !self.waiting.is_empty();
        if self.is_reading() && !is_needed && self.kept == open.kept_before {
            self.tree().truncate(open.mark);
        }
    }

    fn gather(&mut self, gather: GatherId, task: &mut Task<'_>) {
        let mut nodes = std::mem::take(&mut self.regions[gather].nodes);
        if self.waiting.is_empty() {
            let gathered = self.evaluating.gather(gather, &nodes, &self.audible, task);
            match gathered {
                Ok(Gathered::Waits) => self.waiting.push_back(std::mem::take(&mut nodes)),
                gathered => self.settle(gathered.map(|_| ()), task.at),
            }
        } else {
            // Rows keep the order of their records.
            self.waiting.push_back(std::mem::take(&mut nodes));
        }
        nodes.clear();
        self.regions[gather].nodes = nodes;
    }

    /// Tries again to evaluate the regions that wait. Only tables have such, in their only part.
    fn gather_waiting(&mut self, task: &mut Task<'_>) {
        while let Some(nodes) = self.waiting.pop_front() {
            let gathered = self
                .evaluating
                .gather(GatherId(0), &nodes, &self.audible, task);
            match gathered {
                Ok(Gathered::Waits) => {
                    self.waiting.push_front(nodes);
                    return;
                }
                Ok(Gathered::Done) => {}
                Err(failure) => {
                    self.settle(Err(failure), task.at);
                    self.waiting.clear();
                    return;
                }
            }
        }
    }

    /// Ends the document.
    pub fn finish(&mut self, mut task: Task<'_>) {
        if self.is_reading() {
            self.tree().end(task.at);
            self.gather_waiting(&mut task);
        }
        if self.is_reading() {
            let finished = self.evaluating.finish(&self.audible, &mut task);
            self.settle(finished, task.at);
        }
        self.phase = Phase::Idle;
        self.evaluating.clear();
    }

    fn settle(&mut self, outcome: Result<(), Failure>, at: u64) {
        if let Err(mut failure) = outcome {
            failure.byte = at;
            self.error = Some(failure);
            self.phase = Phase::Failed;
            self.evaluating.clear();
        }
    }

    /// Drops the document.
    pub fn abandon(&mut self) {
        self.phase = Phase::Idle;
        self.evaluating.clear();
    }

    /// Whether nothing is left of a document under way.
    pub fn is_clear(&self) -> bool {
        self.phase == Phase::Idle && self.error.is_none() && self.evaluating.is_clear()
    }

    /// Why the program has failed at the document, if it has.
    pub fn take_error(&mut self) -> Option<Failure> {
        self.error.take()
    }
}
