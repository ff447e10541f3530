//! Open nodes as the circuit sees them, and the nodes it remembers.

use super::cells::{Handle, Wire};
use super::chains::Ahead;
use super::folds::Folds;
use super::indexes::Joiner;
use super::picks::Picks;
use super::routes::Need;
use super::trails::Trail;
use crate::plan::{NONE, NodeKind};
use crate::tables::{append, bytes_of};
use smallvec::SmallVec;
use std::rc::Rc;

/// An open node: small, because every element pushes one.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub symbol: u32,
    pub kind: NodeKind,
    pub order: u64,
    /// What is remembered of it, or NONE.
    pub info: u32,
}

/// Who hears of the nodes that a route reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The truth that there is one.
    Any(Handle),
    Sink(u32),
}

/// A route waits at an open node for nodes to come.
#[derive(Clone, Debug)]
pub struct Arm {
    pub depth: u32,
    /// The node that put it there; an arm is for later nodes.
    pub since: u64,
    pub to: ArmTarget,
    pub when: Wire,
    /// Whoever hears this arm need not hear those before it.
    pub is_all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArmTarget {
    Plain(Target),
    /// A list for the target that begins with the first node.
    Fresh(Target),
    List(u32),
}

/// What an open node keeps besides its frame; reused by the nodes of one depth.
#[derive(Debug, Default)]
pub struct Extra {
    /// Routes with arms at this node.
    pub armed: SmallVec<[u32; 4]>,
    /// The same, for attributes and namespaces.
    pub armed_near: SmallVec<[u32; 2]>,
    /// Cells that its string value decides.
    pub on_value: Vec<Handle>,
    /// Truths that its end closes.
    pub on_close: Vec<Handle>,
    /// Arms that go up when it closes: what follows it.
    pub later: Vec<(u32, ArmTarget, Wire)>,
    /// Children that later siblings may look back at, by route.
    pub behind: Vec<(u32, Behind)>,
    /// Ends of chains about children that are still to come.
    pub ahead: Vec<Ahead>,
    /// Children that count the siblings to come.
    pub picks: Vec<Picks>,
    /// Routes whose trails of open nodes it is on, or was passed over for.
    pub trails: SmallVec<[u32; 1]>,
    /// What the node asked of the nodes after it: route, truth.
    pub after: Vec<(u32, Handle)>,
    /// By route: the truth that the node or an ancestor will do.
    pub above: SmallVec<[(u32, Wire); 1]>,
    /// Groups of its children that are counted: step, group.
    pub counts: SmallVec<[(u32, u32); 1]>,
    /// Steps that count it once it is closed, and whether they do.
    pub counted: Vec<(u32, Wire)>,
    /// Numbers of nodes after it: group, number.
    pub counted_after: Vec<(u32, Handle)>,
    /// Indexes of what is below it: set, index.
    pub indexes: SmallVec<[(u32, u32); 1]>,
    /// Members that it leads to, for the nodes after it.
    pub joiners: Vec<Joiner>,
    /// Comparisons with what follows it: sink, its serial number.
    pub asks: Vec<(u32, u64)>,
    /// Steps that count it as an ancestor.
    pub around: SmallVec<[u32; 1]>,
    /// Sums and first nodes.
    pub folds: Folds,
    /// Steps of which it asks how many are below it.
    pub below: SmallVec<[u32; 1]>,
    pub is_used: bool,
}

/// The closed nodes that a route looks back at.
#[derive(Debug)]
pub enum Behind {
    /// Only whether one will do matters.
    Truth(Wire),
    /// Remembered nodes, in document order.
    Nodes(Vec<u32>),
    /// Nodes among which positions are asked for.
    Trail(Trail),
}

/// What has been wired at a remembered node.
#[derive(Clone, Debug)]
pub enum Wired {
    Wire(Wire),
    Store(u32),
}

/// A node that is remembered: a possible result, a member of a set, or one that may be asked late.
#[derive(Debug)]
pub struct Info {
    pub order: u64,
    pub kind: NodeKind,
    pub name: Rc<[u8]>,
    pub uri: Rc<[u8]>,
    pub value: Option<Wire>,
    pub wired: Vec<(Need, Wired)>,
    /// The automaton's candidate, or NONE.
    pub candidate: u32,
    /// Undecided outputs and open windows that hold the candidate.
    pub outputs: u32,
    /// Everyone who refers to it.
    pub references: u32,
    /// Depth while it is open, else NONE.
    pub depth: u32,
    /// The sets that it joined, by the serial number of the sink, with the truth that it did.
    pub joined: SmallVec<[(u64, Handle); 1]>,
    /// Values beside it: target, sink.
    pub binds: SmallVec<[(u32, u32); 1]>,
    /// Whether the automaton was told that the candidate is no longer held.
    pub is_released: bool,
}

/// Remembered nodes for which the room stays from one document to the next.
const INFOS_KEPT: usize = 1 << 12;

/// The nodes remembered, by number; numbers are reused.
#[derive(Debug, Default)]
pub struct Infos {
    slots: Vec<Info>,
    free: Vec<u32>,
}

impl Infos {
    pub fn add(&mut self, info: Info) -> u32 {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = info;
            return id;
        }
        append(&mut self.slots, info);
        self.slots.len() as u32 - 1
    }

    pub fn remove(&mut self, id: u32) {
        self.slots[id as usize].order = u64::MAX;
        self.free.push(id);
    }

    pub fn bytes(&self) -> usize {
        bytes_of(&self.slots)
    }

    pub fn clear(&mut self) {
        if self.slots.capacity() > INFOS_KEPT {
            self.slots = Vec::new();
        }
        self.slots.clear();
        self.free.clear();
    }
}

impl std::ops::Index<u32> for Infos {
    type Output = Info;
    fn index(&self, id: u32) -> &Info {
        &self.slots[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Infos {
    fn index_mut(&mut self, id: u32) -> &mut Info {
        &mut self.slots[id as usize]
    }
}

/// A node that is opening, as the automaton describes it.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    pub symbol: u32,
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
    Late(u32),
}

impl Default for Info {
    fn default() -> Self {
        Info {
            order: 0,
            kind: NodeKind::Any,
            name: Rc::from(&b""[..]),
            uri: Rc::from(&b""[..]),
            value: None,
            wired: Vec::new(),
            candidate: NONE,
            outputs: 0,
            references: 0,
            depth: NONE,
            joined: SmallVec::new(),
            binds: SmallVec::new(),
            is_released: false,
        }
    }
}
