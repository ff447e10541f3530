//! The lazy automaton over label paths.
//!
//! A state is what the structure of the plan says about a node, given the symbols on the way to
//! it: the spine steps it matches, the shapes to be decided at it, and what both arm below it.
//! Constants and predicates play no part, so regular documents need few states. The cache is
//! bounded: when it is full, only the states of open nodes survive.

use super::drafts::{Draft, sort_out};
use crate::events::Symbol;
use crate::plan::{
    Aggregate, Axis, FormulaId, FormulaKind, NodeKind, OperandId, OperandKind, Output, Plan,
    SegmentId, ShapeId, ShapeKind, SpineId, Symbols, TargetId,
};
use crate::tables::Table;
use rustc_hash::FxHashMap;
use std::rc::Rc;

crate::ids::ids! {
    /// A state, until the cache is cleared.
    StateId,
}

/// What a node in this state asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// Its string value.
    pub const VALUE: Flags = Flags(1);
    /// Its attributes.
    pub const ATTRIBUTES: Flags = Flags(1 << 1);
    /// Its text children as nodes.
    pub const TEXT: Flags = Flags(1 << 2);
    /// Its comment children.
    pub const COMMENT: Flags = Flags(1 << 3);
    /// Its instruction children.
    pub const INSTRUCTION: Flags = Flags(1 << 4);
    /// Something to do when it opens.
    pub const OPEN: Flags = Flags(1 << 5);
    /// Something to do when it closes.
    pub const CLOSE: Flags = Flags(1 << 6);
    /// The hash of equality atoms.
    pub const EQUAL: Flags = Flags(1 << 7);
    /// Its number, for an aggregate.
    pub const NUMBER: Flags = Flags(1 << 8);
    /// Its bytes, for a result.
    pub const BYTES: Flags = Flags(1 << 9);
    /// Nothing but being counted.
    pub const COUNT: Flags = Flags(1 << 10);

    /// Whether one of these is set.
    #[inline]
    pub fn has(self, any: Flags) -> bool {
        self.0 & any.0 != 0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

/// What makes two states the same.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub symbol: Symbol,
    /// Spine steps that the node matches.
    pub matched: Box<[SpineId]>,
    /// Those of the node and above from which steps go deep.
    pub deep: Box<[SpineId]>,
    /// Shapes to be decided at the node.
    pub here: Box<[ShapeId]>,
    /// Descendant edges that are armed at the node or above it.
    pub deep_shapes: Box<[ShapeId]>,
    /// Existence edges that the node's start decides.
    pub fires: Box<[FormulaId]>,
    /// Numbers that the node's value is compared with: all of an order, or those that edges of a
    /// shape lead to.
    pub ranges: Box<[ShapeId]>,
}

const COLUMNS_MIN: usize = 8;

/// A state with everything derived from its key.
#[derive(Debug)]
pub struct State {
    key: Rc<Key>,
    pub flags: Flags,
    /// Targets that select the node at once.
    pub plain: Box<[TargetId]>,
    /// Segments that end in the node.
    pub segments: Box<[SegmentId]>,
    /// Every target that may select the node.
    pub reach: Rc<[TargetId]>,
    /// `Is` formulas that hold at the node and announce it.
    pub facts: Box<[FormulaId]>,
    /// Negations decided when the node's attributes are known.
    pub open_nots: Box<[FormulaId]>,
    /// Negations decided when the node closes.
    pub close_nots: Box<[FormulaId]>,
    /// Value atoms to try one by one.
    pub atoms: Box<[FormulaId]>,
    /// Computed formulas armed at the node.
    pub computed: Rc<[FormulaId]>,
    /// The operands of these, and for each the formulas that use it.
    pub operands: Rc<[(OperandId, Rc<[FormulaId]>)]>,
    /// Operands that the node may be, and the leaf that says so.
    pub claims: Rc<[(OperandId, SpineId)]>,
}

impl State {
    /// Whether the node matches a spine step.
    #[inline]
    pub fn matches(&self, spine: SpineId) -> bool {
        contains(&self.key.matched, spine)
    }
    /// Whether a shape is decided at the node.
    #[inline]
    pub fn arms(&self, shape: ShapeId) -> bool {
        contains(&self.key.here, shape)
    }
    /// Whether a descendant edge is armed at the node or above it.
    #[inline]
    pub fn arms_below(&self, shape: ShapeId) -> bool {
        contains(&self.key.deep_shapes, shape)
    }
    /// Existence edges that the node's start decides.
    #[inline]
    pub fn fires(&self) -> &[FormulaId] {
        &self.key.fires
    }
    /// Where the numbers lie that the node's value is compared with.
    #[inline]
    pub fn ranges(&self) -> &[ShapeId] {
        &self.key.ranges
    }
    fn bytes(&self) -> usize {
        let words = self.key.matched.len()
            + self.key.ranges.len()
            + self.key.deep.len()
            + self.key.here.len()
            + self.key.deep_shapes.len();
        std::mem::size_of::<State>() + 4 * (words + self.segments.len() + self.atoms.len())
    }
}

#[inline]
fn contains<I: Copy + Ord>(sorted: &[I], item: I) -> bool {
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
    states: Table<StateId, State>,
    flags: Table<StateId, Flags>,
    table: Vec<StateId>,
    columns: usize,
    ids: FxHashMap<Rc<Key>, StateId>,
    bytes: usize,
    bytes_max: usize,
    pub builds: u64,
    pub clears: u64,
}

impl States {
    pub fn new(bytes_max: usize) -> Self {
        States {
            states: Table::default(),
            flags: Table::default(),
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
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id]
    }

    #[inline]
    pub fn flags(&self, id: StateId) -> Flags {
        self.flags[id]
    }

    /// The transition, if it was built before. `symbol` has a column: see `admit_symbol`.
    #[inline]
    pub fn next(&self, state: StateId, symbol: Symbol) -> StateId {
        self.table[state.index() * self.columns + symbol.index()]
    }

    /// Makes room for a symbol.
    pub fn admit_symbol(&mut self, symbol: Symbol) {
        if symbol.index() < self.columns {
            return;
        }
        let columns = (symbol.index() + 1).next_power_of_two();
        let mut table = vec![StateId::NONE; self.states.len() * columns];
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
    pub fn root(&mut self, plan: &Plan, symbols: &Symbols) -> StateId {
        let draft = Draft::root();
        self.intern(plan, symbols, symbols.document, draft)
    }

    /// Builds the transition and remembers it.
    #[cold]
    pub fn build(
        &mut self,
        plan: &Plan,
        symbols: &Symbols,
        from: StateId,
        symbol: Symbol,
    ) -> StateId {
        self.builds += 1;
        let draft = Draft::step(plan, symbols, &self.states[from].key.clone(), symbol);
        let to = self.intern(plan, symbols, symbol, draft);
        self.table[from.index() * self.columns + symbol.index()] = to;
        to
    }

    /// Forgets every state but those in `open`, and renames these.
    pub fn clear(&mut self, open: &mut [StateId]) {
        self.clears += 1;
        let mut kept: FxHashMap<StateId, StateId> = FxHashMap::default();
        let mut old: Table<StateId, Option<State>> = std::mem::take(&mut self.states)
            .into_iter()
            .map(Some)
            .collect();
        self.ids.clear();
        self.flags.clear(usize::MAX);
        self.table.clear();
        self.bytes = 0;
        for state in open {
            if let Some(survivor) = old[*state].take() {
                let key = survivor.key.clone();
                let id = self.keep(survivor);
                self.ids.insert(key, id);
                kept.insert(*state, id);
            }
            *state = kept[state];
        }
    }

    fn intern(&mut self, plan: &Plan, symbols: &Symbols, symbol: Symbol, draft: Draft) -> StateId {
        let key = Rc::new(draft.finish(plan, symbols, symbol));
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = self.keep(derive(plan, symbols, key.clone()));
        self.ids.insert(key, id);
        id
    }

    fn keep(&mut self, state: State) -> StateId {
        self.bytes += state.bytes() + 4 * self.columns;
        self.flags.push(state.flags);
        self.table
            .resize(self.table.len() + self.columns, StateId::NONE);
        self.states.push(state)
    }
}

fn derive(plan: &Plan, symbols: &Symbols, key: Rc<Key>) -> State {
    let (mut plain, mut segments, mut reach, mut claims) = (vec![], vec![], vec![], vec![]);
    let mut flags = Flags::default();
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
            flags |= Flags::NUMBER | Flags::VALUE;
        }
    }
    sort_out(&mut plain);
    sort_out(&mut reach);
    sort_out(&mut segments);
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
    let is_root = key.matched.contains(&SpineId::ROOT);
    if is_root && !plan.formula(FormulaId::TRUE).root_targets().is_empty() {
        facts.push(FormulaId::TRUE);
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
            ShapeKind::Equal => state.flags |= Flags::EQUAL | Flags::VALUE,
            ShapeKind::Atom => {
                atoms.extend_from_slice(view.formulas());
                state.flags |= Flags::VALUE;
            }
            ShapeKind::Computed => computed.extend_from_slice(view.formulas()),
            _ if view.is_ordered() => state.flags |= Flags::VALUE,
            _ => {}
        }
    }
    let mut operands: Vec<(OperandId, Vec<FormulaId>)> = Vec::new();
    for &formula in &computed {
        for &operand in plan.formula(formula).operands() {
            match operands.iter_mut().find(|(known, _)| *known == operand) {
                Some((_, users)) => users.push(formula),
                None => operands.push((operand, vec![formula])),
            }
        }
    }
    let is_own_value = |operand: OperandId| {
        let operand = plan.operand(operand);
        operand.root.is_none() && operand.kind == OperandKind::Value
    };
    let is_value = |operand: OperandId| plan.operand(operand).kind == OperandKind::Value;
    if operands.iter().any(|&(operand, _)| is_own_value(operand))
        || state.claims.iter().any(|&(operand, _)| is_value(operand))
    {
        state.flags |= Flags::VALUE;
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
            NodeKind::Text => Flags::TEXT,
            NodeKind::Comment => Flags::COMMENT,
            NodeKind::Instruction => Flags::INSTRUCTION,
            NodeKind::Any => Flags::TEXT | Flags::COMMENT | Flags::INSTRUCTION,
            _ => Flags::default(),
        }
    };
    let mut attributes = false;
    for (spines, near) in [(&key.matched, true), (&key.deep, false)] {
        for &spine in spines {
            for (axis, test, _) in plan.spine(spine).kids() {
                match axis {
                    Axis::Attribute => attributes |= near,
                    Axis::Itself => {}
                    _ => want(plan.test(test).0),
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
        state.flags |= Flags::ATTRIBUTES;
    }
    let outputs = || state.reach.iter().map(|&t| plan.target(t).0);
    if outputs().any(|output| output == Output::Fragments) {
        state.flags |= Flags::BYTES;
    }
    let is_count = |output| {
        matches!(
            output,
            Output::Aggregate {
                function: Aggregate::Count,
                ..
            }
        )
    };
    if state.segments.is_empty() && !state.plain.is_empty() && outputs().all(is_count) {
        state.flags |= Flags::COUNT;
    }
    let busy = !(state.plain.is_empty() && state.segments.is_empty() && state.claims.is_empty());
    let formulas = !(key.fires.is_empty() && state.facts.is_empty() && state.open_nots.is_empty());
    if busy || formulas || attributes || !state.computed.is_empty() || state.flags.has(Flags::VALUE)
    {
        state.flags |= Flags::OPEN;
    }
    let value = state.flags.has(Flags::VALUE);
    if value || !state.close_nots.is_empty() || !state.computed.is_empty() {
        state.flags |= Flags::CLOSE;
    }
}
