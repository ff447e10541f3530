//! The lazy automaton over label paths.
//!
//! A state is what the structure of the plan says about a node, given the symbols on the way to
//! it: the spine steps it matches, the shapes to be decided at it, and what both arm below it.
//! Constants and predicates play no part, so regular documents need few states. The cache is
//! bounded: when it is full, only the states of open nodes survive.

use super::drafts::Draft;
use crate::plan::{
    Axis, FormulaKind, NONE, NodeKind, OperandKind, Output, Plan, ShapeKind, Symbols,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a node in this state asks for.
pub mod flag {
    /// Its string value.
    pub const VALUE: u32 = 1;
    /// Its attributes.
    pub const ATTRIBUTES: u32 = 1 << 1;
    /// Its text children as nodes.
    pub const TEXT: u32 = 1 << 2;
    /// Its comment children.
    pub const COMMENT: u32 = 1 << 3;
    /// Its instruction children.
    pub const INSTRUCTION: u32 = 1 << 4;
    /// Something to do when it opens.
    pub const OPEN: u32 = 1 << 5;
    /// Something to do when it closes.
    pub const CLOSE: u32 = 1 << 6;
    /// The hash of equality atoms.
    pub const EQUAL: u32 = 1 << 7;
    /// Its number, for an aggregate.
    pub const NUMBER: u32 = 1 << 8;
    /// Its bytes, for a result.
    pub const BYTES: u32 = 1 << 9;
    /// Nothing but being counted.
    pub const COUNT: u32 = 1 << 10;
}

/// What makes two states the same.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub symbol: u32,
    pub matched: Box<[u32]>,
    pub deep: Box<[u32]>,
    pub here: Box<[u32]>,
    pub deep_shapes: Box<[u32]>,
    pub fires: Box<[u32]>,
}

const COLUMNS_MIN: usize = 8;

/// A state with everything derived from its key.
#[derive(Debug)]
pub struct State {
    key: Rc<Key>,
    pub flags: u32,
    /// Targets that select the node at once.
    pub plain: Box<[u32]>,
    /// Segments that end in the node.
    pub segments: Box<[u32]>,
    /// Every target that may select the node.
    pub reach: Rc<[u32]>,
    /// `Is` formulas that hold at the node and announce it.
    pub facts: Box<[u32]>,
    /// Negations decided when the node's attributes are known.
    pub open_nots: Box<[u32]>,
    /// Negations decided when the node closes.
    pub close_nots: Box<[u32]>,
    /// Value atoms to try one by one.
    pub atoms: Box<[u32]>,
    /// Computed formulas armed at the node.
    pub computed: Rc<[u32]>,
    /// The operands of these, and for each the formulas that use it.
    pub operands: Rc<[(u32, Rc<[u32]>)]>,
    /// Operands that the node may be, and the leaf that says so.
    pub claims: Rc<[(u32, u32)]>,
}

impl State {
    /// Whether the node matches a spine step.
    #[inline]
    pub fn matches(&self, spine: u32) -> bool {
        contains(&self.key.matched, spine)
    }
    /// Whether a shape is decided at the node.
    #[inline]
    pub fn arms(&self, shape: u32) -> bool {
        contains(&self.key.here, shape)
    }
    /// Whether a descendant edge is armed at the node or above it.
    #[inline]
    pub fn arms_below(&self, shape: u32) -> bool {
        contains(&self.key.deep_shapes, shape)
    }
    /// Existence edges that the node's start decides.
    #[inline]
    pub fn fires(&self) -> &[u32] {
        &self.key.fires
    }
    fn bytes(&self) -> usize {
        let words = self.key.matched.len()
            + self.key.deep.len()
            + self.key.here.len()
            + self.key.deep_shapes.len();
        std::mem::size_of::<State>() + 4 * (words + self.segments.len() + self.atoms.len())
    }
}

#[inline]
fn contains(sorted: &[u32], item: u32) -> bool {
    if sorted.len() <= 8 {
        sorted.contains(&item)
    } else {
        sorted.binary_search(&item).is_ok()
    }
}

/// The states built so far.
///
/// What every start tag needs lies apart from the rest and close together: one table of
/// transitions, a row per state and a column per symbol, and the flags of the states.
pub struct States {
    states: Vec<State>,
    flags: Vec<u32>,
    table: Vec<u32>,
    columns: usize,
    ids: FxHashMap<Rc<Key>, u32>,
    bytes: usize,
    bytes_max: usize,
    pub builds: u64,
    pub clears: u64,
}

impl States {
    pub fn new(bytes_max: usize) -> Self {
        States {
            states: Vec::new(),
            flags: Vec::new(),
            table: Vec::new(),
            columns: COLUMNS_MIN,
            ids: FxHashMap::default(),
            bytes: 0,
            bytes_max,
            builds: 0,
            clears: 0,
        }
    }

    #[inline]
    pub fn state(&self, id: u32) -> &State {
        &self.states[id as usize]
    }

    #[inline]
    pub fn flags(&self, id: u32) -> u32 {
        self.flags[id as usize]
    }

    /// The transition, if it was built before. `symbol` has a column: see `admit_symbol`.
    #[inline]
    pub fn next(&self, state: u32, symbol: u32) -> u32 {
        self.table[state as usize * self.columns + symbol as usize]
    }

    /// Makes room for a symbol.
    pub fn admit_symbol(&mut self, symbol: u32) {
        if (symbol as usize) < self.columns {
            return;
        }
        let columns = (symbol as usize + 1).next_power_of_two();
        let mut table = vec![NONE; self.states.len() * columns];
        for (row, old) in self.table.chunks_exact(self.columns).enumerate() {
            table[row * columns..row * columns + old.len()].copy_from_slice(old);
        }
        self.bytes += 4 * (table.len() - self.table.len());
        (self.table, self.columns) = (table, columns);
    }

    pub fn is_full(&self) -> bool {
        self.bytes > self.bytes_max
    }

    /// The state of the document node.
    pub fn root(&mut self, plan: &Plan, symbols: &Symbols) -> u32 {
        let draft = Draft::root();
        self.intern(plan, symbols, symbols.document, draft)
    }

    /// Builds the transition and remembers it.
    #[cold]
    pub fn build(&mut self, plan: &Plan, symbols: &Symbols, from: u32, symbol: u32) -> u32 {
        self.builds += 1;
        let draft = Draft::step(
            plan,
            symbols,
            &self.states[from as usize].key.clone(),
            symbol,
        );
        let to = self.intern(plan, symbols, symbol, draft);
        self.table[from as usize * self.columns + symbol as usize] = to;
        to
    }

    /// Forgets every state but those in `open`, and renames these.
    pub fn clear(&mut self, open: &mut [u32]) {
        self.clears += 1;
        let mut kept: FxHashMap<u32, u32> = FxHashMap::default();
        let mut old: Vec<Option<State>> = std::mem::take(&mut self.states)
            .into_iter()
            .map(Some)
            .collect();
        self.ids.clear();
        self.flags.clear();
        self.table.clear();
        self.bytes = 0;
        for state in open {
            let next = self.states.len() as u32;
            let id = *kept.entry(*state).or_insert(next);
            if let Some(survivor) = old[*state as usize].take() {
                self.ids.insert(survivor.key.clone(), id);
                self.keep(survivor);
            }
            *state = id;
        }
    }

    fn intern(&mut self, plan: &Plan, symbols: &Symbols, symbol: u32, draft: Draft) -> u32 {
        let key = Rc::new(draft.finish(plan, symbols, symbol));
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = self.states.len() as u32;
        let state = derive(plan, symbols, key.clone());
        self.keep(state);
        self.ids.insert(key, id);
        id
    }

    fn keep(&mut self, state: State) {
        self.bytes += state.bytes() + 4 * self.columns;
        self.flags.push(state.flags);
        self.table.resize(self.table.len() + self.columns, NONE);
        self.states.push(state);
    }
}

fn derive(plan: &Plan, symbols: &Symbols, key: Rc<Key>) -> State {
    let (mut plain, mut segments, mut reach, mut claims) = (vec![], vec![], vec![], vec![]);
    let mut flags = 0;
    for &spine in &key.matched {
        let view = plan.spine(spine);
        plain.extend_from_slice(view.plain());
        // The leaf of an operand has candidates of its own, made where it is claimed.
        if view.claims().is_empty() {
            segments.extend_from_slice(view.segments());
        }
        reach.extend_from_slice(view.reach());
        claims.extend(view.claims().iter().map(|&operand| (operand, spine)));
        if view.needs_number() {
            flags |= flag::NUMBER | flag::VALUE;
        }
    }
    for list in [&mut plain, &mut segments, &mut reach] {
        list.sort_unstable();
        list.dedup();
    }
    let mut state = State {
        key: key.clone(),
        flags,
        plain: plain.into(),
        segments: segments.into(),
        reach: reach.into(),
        facts: Box::default(),
        open_nots: Box::default(),
        close_nots: Box::default(),
        atoms: Box::default(),
        computed: Rc::default(),
        operands: Rc::default(),
        claims: claims.into(),
    };
    derive_formulas(plan, symbols, &key, &mut state);
    derive_flags(plan, &key, &mut state);
    state
}

fn derive_formulas(plan: &Plan, symbols: &Symbols, key: &Key, state: &mut State) {
    let (mut facts, mut open_nots, mut close_nots, mut atoms, mut computed) =
        (vec![], vec![], vec![], vec![], vec![]);
    if key.matched.contains(&0) && !plan.formula(0).root_targets().is_empty() {
        facts.push(0);
    }
    for &shape in &key.here {
        let view = plan.shape(shape);
        match view.kind() {
            ShapeKind::Is => {
                let hold = view
                    .formulas()
                    .iter()
                    .filter(|&&f| symbols.passes(key.symbol, plan.formula(f).test()));
                facts.extend(hold);
            }
            ShapeKind::Not => {
                for &not in view
                    .formulas()
                    .iter()
                    .filter(|&&f| plan.formula(f).announces())
                {
                    let child = plan.formula(plan.formula(not).sub());
                    match child.kind() {
                        FormulaKind::Is => open_nots.push(not),
                        FormulaKind::Edge if child.axis() == Axis::Attribute => open_nots.push(not),
                        // The negation of a computed formula is announced when that is computed.
                        FormulaKind::Computed => {}
                        _ => close_nots.push(not),
                    }
                }
            }
            ShapeKind::Equal => state.flags |= flag::EQUAL | flag::VALUE,
            ShapeKind::Atom => {
                atoms.extend_from_slice(view.formulas());
                state.flags |= flag::VALUE;
            }
            ShapeKind::Computed => computed.extend_from_slice(view.formulas()),
            _ => {}
        }
    }
    let mut operands: Vec<(u32, Vec<u32>)> = Vec::new();
    for &formula in &computed {
        for &operand in plan.formula(formula).children() {
            match operands.iter_mut().find(|(known, _)| *known == operand) {
                Some((_, users)) => users.push(formula),
                None => operands.push((operand, vec![formula])),
            }
        }
    }
    let is_own_value = |operand: u32| {
        let operand = plan.operand(operand);
        operand.root == NONE && operand.kind == OperandKind::Value
    };
    let is_value = |operand: u32| plan.operand(operand).kind == OperandKind::Value;
    if operands.iter().any(|&(operand, _)| is_own_value(operand))
        || state.claims.iter().any(|&(operand, _)| is_value(operand))
    {
        state.flags |= flag::VALUE;
    }
    state.operands = operands
        .into_iter()
        .map(|(operand, users)| (operand, users.into()))
        .collect();
    (state.facts, state.open_nots, state.close_nots) =
        (facts.into(), open_nots.into(), close_nots.into());
    (state.atoms, state.computed) = (atoms.into(), computed.into());
}

fn derive_flags(plan: &Plan, key: &Key, state: &mut State) {
    let mut want = |kind: NodeKind| {
        state.flags |= match kind {
            NodeKind::Text => flag::TEXT,
            NodeKind::Comment => flag::COMMENT,
            NodeKind::Instruction => flag::INSTRUCTION,
            NodeKind::Any => flag::TEXT | flag::COMMENT | flag::INSTRUCTION,
            _ => 0,
        }
    };
    let mut attributes = false;
    for (spines, near) in [(&key.matched, true), (&key.deep, false)] {
        for &spine in spines {
            for kid in plan.spine(spine).kids().chunks_exact(3) {
                match Axis::from_code(kid[0]) {
                    Some(Axis::Attribute) => attributes |= near,
                    Some(Axis::Itself) => {}
                    _ => want(plan.test(kid[1]).0),
                }
            }
        }
    }
    for &shape in key.here.iter().chain(&key.deep_shapes) {
        let view = plan.shape(shape);
        match (view.kind(), view.axis()) {
            (ShapeKind::Edge, Axis::Attribute) => attributes = true,
            (ShapeKind::Edge, _) => want(plan.test(view.test()).0),
            _ => {}
        }
    }
    if attributes {
        state.flags |= flag::ATTRIBUTES;
    }
    let outputs = || state.reach.iter().map(|&t| plan.target(t).0);
    if outputs().any(|output| output == Output::Fragments) {
        state.flags |= flag::BYTES;
    }
    let is_count = |output| matches!(output, Output::Aggregate { function: 0, .. });
    if state.segments.is_empty() && !state.plain.is_empty() && outputs().all(is_count) {
        state.flags |= flag::COUNT;
    }
    let busy = !(state.plain.is_empty() && state.segments.is_empty() && state.claims.is_empty());
    let formulas = !(key.fires.is_empty() && state.facts.is_empty() && state.open_nots.is_empty());
    if busy
        || formulas
        || attributes
        || !state.computed.is_empty()
        || state.flags & flag::VALUE != 0
    {
        state.flags |= flag::OPEN;
    }
    let value = state.flags & flag::VALUE != 0;
    if value || !state.close_nots.is_empty() || !state.computed.is_empty() {
        state.flags |= flag::CLOSE;
    }
}
