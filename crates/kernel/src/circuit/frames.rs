//! Open nodes as the circuit sees them, and the nodes it remembers.

use super::cells::{Handle, Wire};
use super::chains::Ahead;
use super::folds::Folds;
use super::ids::{
    CandidateId, CountedId, GroupId, IndexId, InfoId, ListId, RouteId, SharedId, SinkId,
};
use super::indexes::Joiner;
use super::picks::Picks;
use super::routes::Need;
use super::trails::Trail;
use crate::events::Symbol;
use crate::plan::{NodeKind, TargetId};
use crate::small::{SmallMap, SmallSet};
use smallvec::SmallVec;
use std::rc::Rc;

/// An open node: small, because every element pushes one.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub symbol: Symbol,
    pub kind: NodeKind,
    pub order: u64,
    /// What is remembered of it, or NONE.
    pub info: InfoId,
}

/// Where the nodes that a route reaches are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The truth that there is one.
    Any(Handle),
    Sink(SinkId),
}

/// A route waits at an open node for nodes to come.
#[derive(Clone, Debug)]
pub struct Arm {
    pub depth: u32,
    /// The node that put it there; an arm is for later nodes.
    pub since: u64,
    pub to: ArmTarget,
    pub when: Wire,
    /// Whether a node that this arm reports need not be reported by the arms before it.
    pub is_all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArmTarget {
    Plain(Target),
    /// A list for the target that begins with the first node.
    Fresh(Target),
    List(ListId),
}

/// What an open node keeps besides its frame; reused by the nodes of one depth.
#[derive(Debug, Default)]
pub struct Extra {
    /// Routes with arms at this node.
    pub armed: SmallVec<[RouteId; 4]>,
    /// The same, for attributes and namespaces.
    pub armed_near: SmallVec<[RouteId; 2]>,
    /// Cells that its string value decides.
    pub on_value: Vec<Handle>,
    /// Truths that its end closes.
    pub on_close: Vec<Handle>,
    /// Arms that go up when it closes: what follows it.
    pub later: Vec<(RouteId, ArmTarget, Wire)>,
    /// Children that later siblings may look back at.
    pub behind: SmallMap<RouteId, Behind>,
    /// Open ends of chains about later children.
    pub ahead: SmallMap<RouteId, Ahead>,
    /// Children that count the siblings to come.
    pub picks: SmallMap<RouteId, Picks>,
    /// Routes whose trails of open nodes it was considered for.
    pub trails: SmallSet<RouteId>,
    /// By route: whether a node after this one satisfies it.
    pub after: Vec<(RouteId, Handle)>,
    /// By route: whether the node or an ancestor satisfies it.
    pub above: SmallMap<RouteId, Wire>,
    /// Groups of its children that are counted.
    pub groups: SmallMap<CountedId, GroupId>,
    /// Steps that count it once it is closed, and whether they do.
    pub counted: Vec<(CountedId, Wire)>,
    /// Numbers of nodes after it.
    pub counted_after: Vec<(GroupId, Handle)>,
    /// Indexes of what is below it.
    pub indexes: SmallMap<SharedId, IndexId>,
    /// Members that it leads to, for the nodes after it.
    pub joiners: Vec<Joiner>,
    /// Comparisons with what follows it: sink, its serial number.
    pub asks: Vec<(SinkId, u64)>,
    /// Steps that count it as an ancestor.
    pub around: SmallVec<[CountedId; 1]>,
    /// Sums and first nodes.
    pub folds: Folds,
    /// Steps whose nodes below it are counted for it.
    pub below: SmallVec<[CountedId; 1]>,
    /// Whether there is anything to do when the node closes.
    pub is_used: bool,
}

/// The closed nodes that a route looks back at.
#[derive(Debug)]
pub enum Behind {
    /// Whether one of them satisfies the route.
    Truth(Wire),
    /// Remembered nodes, in document order.
    Nodes(Vec<InfoId>),
    /// Nodes among which positions are counted.
    Trail(Trail),
}

/// What has been wired at a remembered node.
#[derive(Clone, Debug)]
pub enum Wired {
    Wire(Wire),
    Store(SinkId),
}

/// A node that is remembered: a possible result, a member of a set, or one that may be asked late.
#[derive(Debug)]
pub struct Info {
    pub order: u64,
    pub kind: NodeKind,
    pub name: Rc<[u8]>,
    pub uri: Rc<[u8]>,
    pub value: Option<Wire>,
    pub wired: SmallMap<Need, Wired>,
    /// The automaton's candidate, or NONE.
    pub candidate: CandidateId,
    /// Undecided outputs and open windows that hold the candidate.
    pub outputs: u32,
    /// References to it.
    pub references: u32,
    /// Its depth while it is open.
    pub depth: Option<u32>,
    /// The sets that it joined, by the serial number of the sink, with the truth that it did.
    pub joined: SmallMap<u64, Handle>,
    /// Values beside it.
    pub binds: SmallMap<TargetId, SinkId>,
    /// Whether the automaton was told that the candidate is no longer held.
    pub is_released: bool,
}

/// A node that is opening, as the automaton describes it.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    pub symbol: Symbol,
    pub kind: NodeKind,
    pub name: &'a [u8],
    pub uri: &'a [u8],
    /// Known at once for nodes without content.
    pub value: Option<&'a [u8]>,
    /// The ids of an element, where expressions ask for ids.
    pub ids: &'a [Box<str>],
    /// It was there before the automaton: conditions see it, but it is no result.
    pub is_silent: bool,
}

/// Where something is evaluated: at the node that is opening now, or at a remembered one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spot {
    Opening,
    Late(InfoId),
}

impl Default for Info {
    fn default() -> Self {
        Info {
            order: 0,
            kind: NodeKind::Any,
            name: Rc::from(&b""[..]),
            uri: Rc::from(&b""[..]),
            value: None,
            wired: SmallMap::default(),
            candidate: CandidateId::NONE,
            outputs: 0,
            references: 0,
            depth: None,
            joined: SmallMap::default(),
            binds: SmallMap::default(),
            is_released: false,
        }
    }
}
