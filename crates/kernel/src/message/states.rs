//! The projections of all programs as one automaton: what is kept of an element follows from the
//! names on the way to it.
//!
//! A state is a set of places. It is built when a document first needs it and kept for the next
//! one. Most elements lead to the state in which nobody needs anything.

use super::names::{ClassId, Names, TestId};
use super::places::{GatherId, Marks, Place, PlaceId, Stay};
use super::program::Gather;
use crate::ids::ids;
use crate::tables::Table;
use crate::vocabulary::{Axis, NodeKind};
use rustc_hash::FxHashMap;

ids! {
    /// A state.
    StateId,
    /// A distinct program, as the listener numbers them.
    MemberId,
}

impl StateId {
    /// Nobody needs anything here or below.
    pub const DEAD: StateId = StateId(0);
}

/// States take so many bytes at most; then they are built anew.
const STATE_BYTES_MAX: usize = 16 << 20;

/// What a program keeps of an element.
#[derive(Debug)]
pub struct Keep {
    pub member: MemberId,
    /// Needed as long as the region lasts, or longer.
    pub marks: Marks,
    /// Needed until the document ends.
    pub kept: Marks,
    /// How long the element itself is needed.
    pub stay: Stay,
    /// Whose regions the element is.
    pub gathers: Box<[GatherId]>,
    /// Who only counts it.
    pub counts: Box<[GatherId]>,
    /// The attributes that are kept, and how long.
    pub attributes: Box<[(AttributeTest, Stay)]>,
}

/// Which attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeTest {
    All,
    Passing(TestId),
}

/// What a program keeps of leaves of one kind: text, comments or instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub member: MemberId,
    /// Whether the node is kept, and not only its characters for the values around it.
    pub is_node: bool,
    /// How long it is needed.
    pub stay: Stay,
}

/// A place and the program that it belongs to.
struct Node {
    member: MemberId,
    axis: Axis,
    test: TestId,
    kind: NodeKind,
    marks: Marks,
    kept: Marks,
    stay: Stay,
    gathers: Box<[GatherId]>,
    counts: Box<[GatherId]>,
    children: Vec<PlaceId>,
}

/// What is known of an element by the names on the way to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    /// The places that it is at.
    here: Box<[PlaceId]>,
    /// Places above from which steps lead to all descendants.
    above: Box<[PlaceId]>,
    /// Programs that keep everything inside, with the rank of `Inside`.
    inside: Box<[(MemberId, Inside)]>,
}

/// What a program keeps of whatever is inside an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Inside {
    Characters,
    KeptCharacters,
    Everything,
    KeptEverything,
}

/// A state: what is kept of its elements.
pub struct State {
    key: Key,
    pub keeps: Box<[Keep]>,
    /// What is kept of text inside.
    pub texts: Box<[Leaf]>,
    next: Vec<StateId>,
}

/// All states. Projections are added first, then states are built.
#[derive(Default)]
pub struct States {
    nodes: Table<PlaceId, Node>,
    states: Table<StateId, State>,
    ids: FxHashMap<Key, StateId>,
    text: ClassId,
    bytes: usize,
    /// Whether the source of elements cannot be copied as it stands.
    is_without_bytes: bool,
}

impl States {
    /// Adds the projection of a program; its document node.
    pub fn add(
        &mut self,
        member: MemberId,
        places: &[Place],
        gathers: &Table<GatherId, Gather>,
        names: &mut Names,
    ) -> PlaceId {
        let first = self.nodes.len() as u32;
        for place in places {
            let children = place.children.iter();
            let ids = place.gathers.iter().copied();
            let (counts, regions) = ids.partition::<Vec<_>, _>(|&id| gathers[id].is_counted);
            self.nodes.push(Node {
                member,
                axis: place.axis,
                test: names.intern(&place.test),
                kind: place.test.kind,
                // What is held is needed like the rest of a region, and no shorter.
                marks: place.marks.or(place.held),
                kept: place.kept,
                stay: place.stay(),
                gathers: regions.into(),
                counts: counts.into(),
                children: children.map(|child| PlaceId(first + child.0)).collect(),
            });
        }
        PlaceId(first)
    }

    /// All tests are known: states can be built.
    pub fn seal(&mut self, names: &mut Names) {
        self.text = names.class(NodeKind::Text, b"", b"");
        self.forget(names);
    }

    /// Whether the source of elements can be copied as it stands; no state from before is valid
    /// after a change.
    pub fn set_has_bytes(&mut self, has_bytes: bool, names: &Names) -> bool {
        let is_change = self.is_without_bytes == has_bytes;
        if is_change {
            self.is_without_bytes = !has_bytes;
            self.forget(names);
        }
        is_change
    }

    /// Whether states should be forgotten, which is possible between documents only.
    pub fn is_full(&self) -> bool {
        self.bytes > STATE_BYTES_MAX
    }

    /// Forgets all states.
    pub fn forget(&mut self, names: &Names) {
        self.states.clear(0);
        self.ids.clear();
        self.bytes = 0;
        self.state(Key::default(), names);
    }

    /// The state of the document node, at some places.
    pub fn root(&mut self, places: &[PlaceId], class: ClassId, names: &Names) -> StateId {
        let mut here = places.to_vec();
        let key = self.key(&mut here, Vec::new(), Vec::new(), class, names);
        self.state(key, names)
    }

    #[inline]
    pub fn of(&self, state: StateId) -> &State {
        &self.states[state]
    }

    /// The state of an element below another.
    #[inline]
    pub fn next(&mut self, state: StateId, class: ClassId, names: &Names) -> StateId {
        match self.states[state].next.get(class.index()) {
            Some(&next) if next.is_some() => next,
            _ => self.build(state, class, names),
        }
    }

    #[cold]
    fn build(&mut self, state: StateId, class: ClassId, names: &Names) -> StateId {
        let above = &self.states[state].key;
        let mut here = Vec::new();
        let mut reach = |place: PlaceId, is_near: bool| {
            for &child in &self.nodes[place].children {
                let node = &self.nodes[child];
                let is_reached = match node.axis {
                    Axis::Child => is_near,
                    Axis::Descendant | Axis::DescendantOrSelf => true,
                    _ => false,
                };
                if is_reached && names.passes(class, node.test) {
                    here.push(child);
                }
            }
        };
        above.here.iter().for_each(|&place| reach(place, true));
        above.above.iter().for_each(|&place| reach(place, false));
        let mut further = above.above.to_vec();
        further.extend(above.here.iter().filter(|&&place| self.goes_down(place)));
        let inside = above.inside.to_vec();
        let key = self.key(&mut here, further, inside, class, names);
        let next = self.state(key, names);
        let row = &mut self.states[state].next;
        if row.len() <= class.index() {
            row.resize(class.index() + 1, StateId::NONE);
        }
        row[class.index()] = next;
        next
    }

    /// Whether steps lead from a place to all descendants.
    fn goes_down(&self, place: PlaceId) -> bool {
        let mut children = self.nodes[place].children.iter();
        let is_down = |axis| matches!(axis, Axis::Descendant | Axis::DescendantOrSelf);
        children.any(|&child| is_down(self.nodes[child].axis))
    }

    /// What is known of an element that is at some places, and at those that are the element itself.
    fn key(
        &self,
        here: &mut Vec<PlaceId>,
        mut above: Vec<PlaceId>,
        mut inside: Vec<(MemberId, Inside)>,
        class: ClassId,
        names: &Names,
    ) -> Key {
        let mut at = 0;
        while at < here.len() {
            for &child in &self.nodes[here[at]].children {
                let node = &self.nodes[child];
                let is_self = matches!(node.axis, Axis::Itself | Axis::DescendantOrSelf);
                if is_self && names.passes(class, node.test) && !here.contains(&child) {
                    here.push(child);
                }
            }
            at += 1;
        }
        here.sort_unstable();
        here.dedup();
        above.sort_unstable();
        above.dedup();
        for &place in here.iter() {
            let node = &self.nodes[place];
            let rank = |marks: Marks, everything, characters| match self.marks(marks) {
                marks if marks.has_tree() => Some(everything),
                marks if marks.has_value() => Some(characters),
                _ => None,
            };
            let own = rank(node.marks, Inside::Everything, Inside::Characters);
            let kept = rank(node.kept, Inside::KeptEverything, Inside::KeptCharacters);
            inside.extend(
                [own, kept]
                    .into_iter()
                    .flatten()
                    .map(|rank| (node.member, rank)),
            );
        }
        inside.sort_unstable();
        inside.dedup();
        Key {
            here: std::mem::take(here).into(),
            above: above.into(),
            inside: inside.into(),
        }
    }

    fn marks(&self, marks: Marks) -> Marks {
        match self.is_without_bytes {
            true => marks.without_bytes(),
            false => marks,
        }
    }

    fn state(&mut self, key: Key, names: &Names) -> StateId {
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let keeps = self.keeps(&key);
        let texts = self.leaves(&key, self.text, names);
        self.bytes += size_of::<State>()
            + key.here.len() * 16
            + key.above.len() * 8
            + keeps.len() * size_of::<Keep>();
        let id = self.states.push(State {
            key: key.clone(),
            keeps,
            texts,
            next: Vec::new(),
        });
        self.ids.insert(key, id);
        id
    }

    fn keeps(&self, key: &Key) -> Box<[Keep]> {
        let mut keeps: Vec<Keep> = Vec::new();
        for &place in &key.here {
            let node = &self.nodes[place];
            let tests = node.children.iter().map(|&child| &self.nodes[child]);
            let tests = tests.filter(|child| child.axis == Axis::Attribute);
            let tests = tests.map(|child| (AttributeTest::Passing(child.test), child.stay));
            let keep = keep_of(&mut keeps, node.member);
            keep.marks = keep
                .marks
                .or(self.marks(node.marks))
                .or(self.marks(node.kept));
            keep.kept = keep.kept.or(self.marks(node.kept));
            keep.stay = keep.stay.max(node.stay);
            keep.attributes = keep.attributes.iter().copied().chain(tests).collect();
            keep.gathers = keep.gathers.iter().chain(&node.gathers).copied().collect();
            keep.counts = keep.counts.iter().chain(&node.counts).copied().collect();
        }
        for &(member, inside) in &key.inside {
            let is_kept = inside == Inside::KeptEverything;
            if is_kept || inside == Inside::Everything {
                let keep = keep_of(&mut keeps, member);
                keep.marks = keep.marks.or(Marks::node());
                let mut stay = Stay::Region;
                if is_kept {
                    keep.kept = keep.kept.or(Marks::node());
                    stay = Stay::Document;
                }
                keep.stay = keep.stay.max(stay);
                let all = [(AttributeTest::All, stay)];
                keep.attributes = all
                    .into_iter()
                    .chain(keep.attributes.iter().copied())
                    .collect();
            }
        }
        keeps.retain(|keep| {
            let is_counted = !keep.counts.is_empty();
            keep.marks.is_some() || is_counted || !keep.attributes.is_empty()
        });
        keeps.into()
    }

    /// What is kept of leaves of a class inside the elements of a state.
    pub fn leaves_in(&self, state: StateId, class: ClassId, names: &Names) -> Box<[Leaf]> {
        self.leaves(&self.states[state].key, class, names)
    }

    fn leaves(&self, key: &Key, class: ClassId, names: &Names) -> Box<[Leaf]> {
        let mut leaves: Vec<Leaf> = Vec::new();
        let mut add = |member: MemberId, is_node: bool, stay: Stay| match leaves
            .iter_mut()
            .find(|leaf| leaf.member == member)
        {
            Some(leaf) => {
                leaf.is_node |= is_node;
                leaf.stay = leaf.stay.max(stay);
            }
            None => leaves.push(Leaf {
                member,
                is_node,
                stay,
            }),
        };
        let mut reach = |place: PlaceId, is_near: bool| {
            for &child in &self.nodes[place].children {
                let node = &self.nodes[child];
                let is_reached = match node.axis {
                    Axis::Child => is_near,
                    Axis::Descendant | Axis::DescendantOrSelf => true,
                    _ => false,
                };
                let needs = node.marks.is_some() || node.kept.is_some();
                let is_leaf = node.kind != NodeKind::Element;
                if is_reached && is_leaf && needs && names.passes(class, node.test) {
                    add(node.member, true, node.stay);
                }
            }
        };
        key.here.iter().for_each(|&place| reach(place, true));
        key.above.iter().for_each(|&place| reach(place, false));
        for &(member, inside) in &key.inside {
            match inside {
                Inside::Everything => add(member, true, Stay::Region),
                Inside::KeptEverything => add(member, true, Stay::Document),
                // Comments have no part in the values around them.
                Inside::Characters if class == self.text => add(member, false, Stay::Region),
                Inside::KeptCharacters if class == self.text => add(member, false, Stay::Document),
                _ => {}
            }
        }
        leaves.into()
    }
}

/// The entry of a program, which is made if there is none.
fn keep_of(keeps: &mut Vec<Keep>, member: MemberId) -> &mut Keep {
    let place = keeps.iter().position(|keep| keep.member == member);
    let place = place.unwrap_or_else(|| {
        keeps.push(Keep {
            member,
            marks: Marks::default(),
            kept: Marks::default(),
            stay: Stay::Region,
            gathers: Box::default(),
            counts: Box::default(),
            attributes: Box::default(),
        });
        keeps.len() - 1
    });
    &mut keeps[place]
}
