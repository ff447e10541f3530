//! Interns programs: each distinct step, formula, guard and constant exists once.

use super::formulas::{ExprKey, FormulaKey, Local, OperandPath, ShapeKey, Step};
use super::ids::{
    ExprId, FormulaId, GuardId, NumberId, PartId, ShapeId, SpineId, StringId, SubscriptionId,
    TargetId, TestId,
};
use super::image::Plan;
use super::intern::Interner;
use super::parts::PartKey;
use super::program::{PathSpec, Patterns, Program, Request};
use super::questions::is_question;
use super::reader::ProgramError;
use super::records::Output;
use super::requests::{Place, Requested};
use crate::tables::Table;
use crate::vocabulary::{Axis, NodeKind};
use rustc_hash::FxHashMap;

/// A node test with interned names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TestKey {
    pub kind: NodeKind,
    pub local: Option<StringId>,
    pub uris: Option<Vec<StringId>>,
}

/// A step of the spine trie; predicates are no part of it.
#[derive(Clone, Copy, Debug)]
pub struct SpineNode {
    pub parent: Option<SpineId>,
    pub axis: Axis,
    pub test: TestId,
}

/// What lies below a guard: the leaf of the spine, or the next guard down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Below {
    Leaf(SpineId),
    Guard(GuardId),
}

/// A guarded suffix of a path: at a node matching `spine`, `formula` must hold, then `below`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GuardKey {
    pub spine: SpineId,
    pub formula: FormulaId,
    pub below: Below,
}

/// How a node becomes a result: at once at a leaf, or when the topmost guard lets it pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    Plain(SpineId),
    Guarded(GuardId),
}

/// A distinct question; subscriptions that ask it share one posting list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetKey {
    pub ways: Vec<Way>,
    pub output: Output,
}

/// Collects programs and freezes them into a plan.
#[derive(Debug)]
pub struct Builder {
    pub(super) strings: Interner<StringId, Box<[u8]>>,
    pub(super) numbers: Interner<NumberId, u64>,
    pub(super) tests: Interner<TestId, TestKey>,
    pub(super) exprs: Interner<ExprId, ExprKey>,
    pub(super) formulas: Interner<FormulaId, FormulaKey>,
    pub(super) parts: Interner<PartId, PartKey>,
    pub(super) shapes: Interner<ShapeId, ShapeKey>,
    pub(super) shape_of: Table<FormulaId, ShapeId>,
    pub(super) spines: Table<SpineId, SpineNode>,
    pub(super) spine_ids: FxHashMap<(SpineId, Axis, TestId), SpineId>,
    pub(super) operand_paths: FxHashMap<Vec<Step>, OperandPath>,
    pub(super) guards: Interner<GuardId, GuardKey>,
    pub(super) targets: Interner<TargetId, TargetKey>,
    pub(super) postings: Table<TargetId, Vec<SubscriptionId>>,
    /// Whether a target can be asked of a whole document.
    pub(super) is_question: Table<TargetId, bool>,
    /// The programs that cannot; none in a builder that is itself such a rest.
    pub(super) rest: Option<Box<Builder>>,
    /// The programs that request something else than rows.
    pub(super) requests: Vec<Requested<Box<[u8]>>>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Builder {
            rest: Some(Box::new(Builder::without_rest())),
            ..Builder::without_rest()
        }
    }

    fn without_rest() -> Self {
        let mut builder = Builder {
            strings: Interner::default(),
            numbers: Interner::default(),
            tests: Interner::default(),
            exprs: Interner::default(),
            formulas: Interner::default(),
            parts: Interner::default(),
            shapes: Interner::default(),
            shape_of: Table::default(),
            spines: Table::default(),
            spine_ids: FxHashMap::default(),
            operand_paths: FxHashMap::default(),
            guards: Interner::default(),
            targets: Interner::default(),
            postings: Table::default(),
            is_question: Table::default(),
            rest: None,
            requests: Vec::new(),
        };
        builder.tests.intern(TestKey {
            kind: NodeKind::Document,
            local: None,
            uris: None,
        });
        builder.root();
        builder.formula(FormulaKey::True);
        builder.formula(FormulaKey::False);
        builder
    }

    /// Adds a program under the subscription's number. `place` tells the subscription from others
    /// that had its name before; a plan keeps it for programs that request something else than
    /// rows.
    pub fn add(
        &mut self,
        subscription: SubscriptionId,
        place: Place,
        program: &[u8],
    ) -> Result<(), ProgramError> {
        match Request::of(program)? {
            (Request::Rows, body) => self.add_rows(subscription, &Program::read(body)?),
            (Request::Records | Request::Messages | Request::Bindings, _) => {
                self.requests.push(Requested {
                    subscription,
                    place,
                    program: program.into(),
                });
                Ok(())
            }
        }
    }

    fn add_rows(
        &mut self,
        subscription: SubscriptionId,
        program: &Program,
    ) -> Result<(), ProgramError> {
        let patterns = &program.patterns;
        let local = self.intern_tables(patterns)?;
        let mut ways = Vec::with_capacity(patterns.paths.len());
        for path in &patterns.paths {
            ways.extend(self.way(path, &local));
        }
        ways.sort_unstable();
        ways.dedup();
        let output = local.place(program.output);
        if let Output::Value { formula, .. } = output
            && !matches!(self.formulas.keys()[formula], FormulaKey::Computed { .. })
        {
            return Err(ProgramError("a value is not a computed formula"));
        }
        let target = self.targets.intern(TargetKey { ways, output });
        if target.index() == self.postings.len() {
            self.postings.push(Vec::new());
            let key = &self.targets.keys()[target];
            self.is_question.push(is_question(self, key));
        }
        self.postings[target].push(subscription);
        match &mut self.rest {
            Some(rest) if !self.is_question[target] => rest.add_rows(subscription, program),
            _ => Ok(()),
        }
    }

    /// The plan of everything added so far.
    pub fn freeze(&self) -> Plan {
        super::freeze::freeze(self)
    }

    fn intern_tables(&mut self, patterns: &Patterns) -> Result<Local, ProgramError> {
        let mut local = Local::default();
        for string in &patterns.strings {
            let string = string.clone().into_boxed_slice();
            local.strings.push(self.strings.intern(string));
        }
        for number in &patterns.numbers {
            local.numbers.push(self.numbers.intern(number.to_bits()));
        }
        for test in &patterns.tests {
            let uris = test.uris.as_ref();
            let key = TestKey {
                kind: test.kind,
                local: test.local.map(|name| local.string(name)),
                uris: uris.map(|uris| uris.iter().map(|&uri| local.string(uri)).collect()),
            };
            local.tests.push(self.tests.intern(key));
        }
        for expr in &patterns.exprs {
            let key = local.place_expr(expr);
            local.exprs.push(self.exprs.intern(key));
        }
        for formula in &patterns.formulas {
            let id = self.intern_spec(formula, patterns, &local)?;
            local.formulas.push(id);
        }
        for part in &patterns.parts {
            let key = PartKey::of(part, &local);
            local.parts.push(self.parts.intern(key));
        }
        Ok(local)
    }

    /// Interns one alternative; nothing where a condition can never hold.
    fn way(&mut self, path: &PathSpec, local: &Local) -> Option<Way> {
        let mut spine = SpineId::ROOT;
        let mut guards = vec![(spine, local.formula(path.root))];
        for step in &path.steps {
            let (axis, test, formula) = local.step(step);
            spine = self.spine(spine, axis, test);
            guards.push((spine, formula));
        }
        if guards.iter().any(|&(_, f)| f == FormulaId::FALSE) {
            return None;
        }
        let top = self.guard_chain(&guards, spine);
        Some(top.map_or(Way::Plain(spine), Way::Guarded))
    }

    /// Interns the guards above a leaf from the bottom up; the topmost one, if there is any.
    fn guard_chain(&mut self, guards: &[(SpineId, FormulaId)], leaf: SpineId) -> Option<GuardId> {
        let mut below = Below::Leaf(leaf);
        let mut top = None;
        let is_condition = |guard: &&(SpineId, FormulaId)| guard.1 != FormulaId::TRUE;
        for &(spine, formula) in guards.iter().rev().filter(is_condition) {
            let guard = self.guards.intern(GuardKey {
                spine,
                formula,
                below,
            });
            below = Below::Guard(guard);
            top = Some(guard);
        }
        top
    }

    fn spine(&mut self, parent: SpineId, axis: Axis, test: TestId) -> SpineId {
        let place = self.spine_ids.entry((parent, axis, test));
        *place.or_insert_with(|| {
            self.spines.push(SpineNode {
                parent: Some(parent),
                axis,
                test,
            })
        })
    }

    /// The steps from a spine up to its root: the axis of each, and the step above.
    pub(super) fn steps_up(&self, mut spine: SpineId) -> impl Iterator<Item = (Axis, SpineId)> {
        std::iter::from_fn(move || {
            let node = self.spines[spine];
            spine = node.parent?;
            Some((node.axis, spine))
        })
    }

    /// A step that nothing is above; the first one is the document node.
    fn root(&mut self) -> SpineId {
        self.spines.push(SpineNode {
            parent: None,
            axis: Axis::Itself,
            test: TestId(0),
        })
    }

    /// The spine of an operand's path, under a root of its own: it starts wherever the formula
    /// is armed, not at the document node.
    pub(super) fn operand_path(&mut self, steps: &[Step]) -> OperandPath {
        if let Some(&path) = self.operand_paths.get(steps) {
            return path;
        }
        let root = self.root();
        let mut leaf = root;
        let mut guards = Vec::with_capacity(steps.len());
        for &(axis, test, formula) in steps {
            leaf = self.spine(leaf, axis, test);
            guards.push((leaf, formula));
        }
        let path = OperandPath {
            root,
            leaf,
            guard: self.guard_chain(&guards, leaf),
        };
        self.operand_paths.insert(steps.to_vec(), path);
        path
    }
}
