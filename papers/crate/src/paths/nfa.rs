//! YFilter's automaton: one nondeterministic automaton for the paths of all queries, which share
//! their common prefixes, run with a stack of sets of active states.
//!
//! The publication gives every state a small hash table. Here the transitions of all states lie in
//! one array: a state with many has a place for every name, one with few a list that is searched.

use super::query::{Axis, NameId, Queries, Query};
use super::reader::Matcher;
use rustc_hash::FxHashMap;

type StateId = u32;

const NONE: StateId = StateId::MAX;
/// A state with more transitions has a place for every name.
const LISTED_MAX: usize = 8;
const HAS_PLACES: u16 = u16::MAX;

/// A state that is being built.
#[derive(Default)]
struct Draft {
    by_name: FxHashMap<NameId, StateId>,
    by_any: Option<StateId>,
    descendant: Option<StateId>,
    is_loop: bool,
    accepts: Vec<u32>,
}

#[derive(Clone, Copy)]
struct State {
    /// Where its transitions by name begin, and how many they are, or `HAS_PLACES`.
    transitions: u32,
    transition_count: u16,
    /// Whether it stays active on every name: the state after `//`.
    is_loop: bool,
    /// Where its queries begin; they end where those of the next state begin.
    accepts: u32,
    by_any: StateId,
    /// The state that `//` leads to without reading anything.
    descendant: StateId,
}

/// The last event that reached a state, so that it is active once, and the last document that it
/// accepted, so that its queries are listed once.
#[derive(Clone, Copy, Default)]
struct Visit {
    event: u32,
    document: u32,
}

pub struct Nfa {
    /// One more than there are states.
    states: Vec<State>,
    names: Vec<NameId>,
    targets: Vec<StateId>,
    accepts: Vec<u32>,
    is_query: bool,
    visits: Vec<Visit>,
    /// The active states of all open elements, and where each element's begin.
    active: Vec<StateId>,
    frames: Vec<usize>,
    event: u32,
    document: u32,
}

impl Nfa {
    pub fn build(queries: &Queries, is_query: bool) -> Result<Self, String> {
        let mut drafts = vec![Draft::default()];
        for (number, query) in queries.queries.iter().enumerate() {
            let accepting = add_path(&mut drafts, query)?;
            drafts[accepting as usize].accepts.push(number as u32);
        }
        let mut nfa = Nfa {
            visits: vec![Visit::default(); drafts.len()],
            states: Vec::with_capacity(drafts.len() + 1),
            names: Vec::new(),
            targets: Vec::new(),
            accepts: Vec::new(),
            is_query,
            active: Vec::new(),
            frames: Vec::new(),
            event: 0,
            document: 0,
        };
        for draft in &drafts {
            nfa.push_state(draft, queries.names.len());
        }
        nfa.push_state(&Draft::default(), 0);
        Ok(nfa)
    }

    fn push_state(&mut self, draft: &Draft, name_count: usize) {
        let has_places = draft.by_name.len() > LISTED_MAX;
        self.states.push(State {
            transitions: self.names.len() as u32,
            transition_count: if has_places {
                HAS_PLACES
            } else {
                draft.by_name.len() as u16
            },
            is_loop: draft.is_loop,
            accepts: self.accepts.len() as u32,
            by_any: draft.by_any.unwrap_or(NONE),
            descendant: draft.descendant.unwrap_or(NONE),
        });
        if has_places {
            let begin = self.names.len();
            self.names.extend(0..=name_count as NameId);
            self.targets.resize(self.names.len(), NONE);
            for (name, target) in &draft.by_name {
                self.targets[begin + *name as usize] = *target;
            }
        } else {
            self.names.extend(draft.by_name.keys());
            self.targets.extend(draft.by_name.values());
        }
        self.accepts.extend_from_slice(&draft.accepts);
    }

    /// Makes a state active, and the one that its `//` leads to.
    fn reach(&mut self, id: StateId, element: u32, found: &mut Vec<u32>) {
        if id == NONE || !self.activate(id) {
            return;
        }
        let state = self.states[id as usize];
        let accepts = state.accepts as usize..self.states[id as usize + 1].accepts as usize;
        if !accepts.is_empty() {
            let accepts = &self.accepts[accepts];
            let visit = &mut self.visits[id as usize];
            if self.is_query {
                found.extend(accepts.iter().flat_map(|query| [element, *query]));
            } else if visit.document != self.document {
                visit.document = self.document;
                found.extend_from_slice(accepts);
            }
        }
        if state.descendant != NONE {
            self.activate(state.descendant);
        }
    }

    fn activate(&mut self, id: StateId) -> bool {
        let visit = &mut self.visits[id as usize];
        let is_new = visit.event != self.event;
        if is_new {
            visit.event = self.event;
            self.active.push(id);
        }
        is_new
    }

    fn by_name(&self, state: State, name: NameId) -> StateId {
        let begin = state.transitions as usize;
        if state.transition_count == HAS_PLACES {
            return self.targets[begin + name as usize];
        }
        let listed = &self.names[begin..begin + state.transition_count as usize];
        let place = listed.iter().position(|known| *known == name);
        place.map_or(NONE, |place| self.targets[begin + place])
    }
}

impl Matcher for Nfa {
    fn begin(&mut self) {
        self.document += 1;
        self.event += 1;
        self.active.clear();
        self.frames.clear();
        self.frames.push(0);
        // No path is empty: the first state accepts nothing.
        self.reach(0, 0, &mut Vec::new());
    }

    fn start(&mut self, name: NameId, element: u32, found: &mut Vec<u32>) {
        self.event += 1;
        let above = self.frames.last().copied().unwrap_or(0)..self.active.len();
        self.frames.push(self.active.len());
        for place in above {
            let id = self.active[place];
            let state = self.states[id as usize];
            self.reach(self.by_name(state, name), element, found);
            self.reach(state.by_any, element, found);
            if state.is_loop {
                self.activate(id);
            }
        }
    }

    fn end(&mut self, _found: &mut Vec<u32>) {
        if let Some(begin) = self.frames.pop() {
            self.active.truncate(begin);
        }
    }

    fn finish(&mut self, _found: &mut Vec<u32>) {}
}

/// Adds a path, sharing the states of its longest known prefix, and returns the last one.
fn add_path(drafts: &mut Vec<Draft>, query: &Query) -> Result<StateId, String> {
    let mut current: StateId = 0;
    for step in &query.steps {
        if !step.is_trunk {
            return Err("the automaton evaluates paths without nested ones".to_owned());
        }
        let next = drafts.len() as StateId;
        if step.axis == Axis::Descendant {
            current = *drafts[current as usize].descendant.get_or_insert(next);
            if current == next {
                drafts.push(Draft {
                    is_loop: true,
                    ..Draft::default()
                });
            }
        }
        let next = drafts.len() as StateId;
        let draft = &mut drafts[current as usize];
        current = match step.name {
            Some(name) => *draft.by_name.entry(name).or_insert(next),
            None => *draft.by_any.get_or_insert(next),
        };
        if current == next {
            drafts.push(Draft::default());
        }
    }
    Ok(current)
}
