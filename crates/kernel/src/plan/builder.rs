//! Interns programs: each distinct step, formula, guard and constant exists once.

use super::formulas::{ExprKey, FALSE, FormulaKey, Local, OperandPath, ShapeKey, TRUE};
use super::image::Plan;
use super::intern::Interner;
use super::parts::PartKey;
use super::program::{OutputSpec, PathSpec, Patterns, Program, Request};
use super::questions::is_question;
use super::reader::ProgramError;
use super::requests::{Place, Requested};
use crate::vocabulary::{Axis, NodeKind};
use rustc_hash::FxHashMap;

/// A node test with interned names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TestKey {
    pub kind: NodeKind,
    pub local: Option<u32>,
    pub uris: Option<Vec<u32>>,
}

/// A step of the spine trie; predicates are no part of it.
#[derive(Clone, Copy, Debug)]
pub struct SpineNode {
    pub parent: Option<u32>,
    pub axis: Axis,
    pub test: u32,
}

/// What lies below a guard: the leaf of the spine, or the next guard down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Below {
    Leaf(u32),
    Guard(u32),
}

/// A guarded suffix of a path: at a node matching `spine`, `formula` must hold, then `below`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GuardKey {
    pub spine: u32,
    pub formula: u32,
    pub below: Below,
}

/// How a node becomes a result: at once at a leaf, or when the topmost guard lets it pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    Plain(u32),
    Guarded(u32),
}

/// A distinct question; subscriptions that ask it share one posting list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetKey {
    pub ways: Vec<Way>,
    pub output: OutputSpec,
}

/// Collects programs and freezes them into a plan.
#[derive(Debug)]
pub struct Builder {
    pub(super) strings: Interner<Box<[u8]>>,
    pub(super) numbers: Interner<u64>,
    pub(super) tests: Interner<TestKey>,
    pub(super) exprs: Interner<ExprKey>,
    pub(super) formulas: Interner<FormulaKey>,
    pub(super) parts: Interner<PartKey>,
    pub(super) shapes: Interner<ShapeKey>,
    pub(super) shape_of: Vec<u32>,
    pub(super) spines: Vec<SpineNode>,
    pub(super) spine_ids: FxHashMap<(u32, Axis, u32), u32>,
    pub(super) operand_paths: FxHashMap<Vec<(Axis, u32, u32)>, OperandPath>,
    pub(super) guards: Interner<GuardKey>,
    pub(super) targets: Interner<TargetKey>,
    pub(super) postings: Vec<Vec<u32>>,
    /// By target: whether it can be asked of a whole document.
    pub(super) is_question: Vec<bool>,
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
            shape_of: Vec::new(),
            spines: Vec::new(),
            spine_ids: FxHashMap::default(),
            operand_paths: FxHashMap::default(),
            guards: Interner::default(),
            targets: Interner::default(),
            postings: Vec::new(),
            is_question: Vec::new(),
            rest: None,
            requests: Vec::new(),
        };
        let root = builder
            .tests
            .intern(TestKey {
                kind: NodeKind::Document,
                local: None,
                uris: None,
            })
            .0;
        builder.spines.push(SpineNode {
            parent: None,
            axis: Axis::Itself,
            test: root,
        });
        builder.formula(FormulaKey::True);
        builder.formula(FormulaKey::False);
        builder
    }

    /// Adds a program under the subscription's number. `place` tells the subscription from others
    /// that had its name before; a plan keeps it for programs that request something else than
    /// rows.
    pub fn add(
        &mut self,
        subscription: u32,
        place: Place,
        program: &[u8],
    ) -> Result<(), ProgramError> {
        match Request::of(program)? {
            (Request::Rows, body) => self.add_rows(subscription, &Program::read(body)?),
            (Request::Records, _) => {
                self.requests.push(Requested {
                    subscription,
                    place,
                    program: program.into(),
                });
                Ok(())
            }
        }
    }

    fn add_rows(&mut self, subscription: u32, program: &Program) -> Result<(), ProgramError> {
        let patterns = &program.patterns;
        let local = self.intern_tables(patterns)?;
        let mut ways = Vec::with_capacity(patterns.paths.len());
        for path in &patterns.paths {
            ways.extend(self.way(path, &local));
        }
        ways.sort_unstable();
        ways.dedup();
        let at = |f: u32| local.formulas[f as usize];
        let output = match program.output {
            OutputSpec::Boolean { holds, fails } => OutputSpec::Boolean {
                holds: at(holds),
                fails: at(fails),
            },
            OutputSpec::Value { formula, kind } => {
                if !matches!(
                    self.formulas.keys()[at(formula) as usize],
                    FormulaKey::Computed { .. }
                ) {
                    return Err(ProgramError("a value is not a computed formula"));
                }
                OutputSpec::Value {
                    formula: at(formula),
                    kind,
                }
            }
            OutputSpec::Filter { holds } => OutputSpec::Filter { holds: at(holds) },
            other => super::parts::place_output(other, &local.parts),
        };
        let (target, new) = self.targets.intern(TargetKey { ways, output });
        if new {
            self.postings.push(Vec::new());
            let key = &self.targets.keys()[target as usize];
            self.is_question.push(is_question(self, key));
        }
        self.postings[target as usize].push(subscription);
        match &mut self.rest {
            Some(rest) if !self.is_question[target as usize] => {
                rest.add_rows(subscription, program)
            }
            _ => Ok(()),
        }
    }

    /// The plan of everything added so far.
    pub fn freeze(&self) -> Plan {
        super::freeze::freeze(self)
    }

    fn intern_tables(&mut self, patterns: &Patterns) -> Result<Local, ProgramError> {
        let strings: Vec<u32> = patterns
            .strings
            .iter()
            .map(|s| self.strings.intern(s.clone().into_boxed_slice()).0)
            .collect();
        let numbers = patterns
            .numbers
            .iter()
            .map(|n| self.numbers.intern(n.to_bits()).0)
            .collect();
        let tests = patterns
            .tests
            .iter()
            .map(|test| {
                let key = TestKey {
                    kind: test.kind,
                    local: test.local.map(|s| strings[s as usize]),
                    uris: test
                        .uris
                        .as_ref()
                        .map(|uris| uris.iter().map(|&s| strings[s as usize]).collect()),
                };
                self.tests.intern(key).0
            })
            .collect();
        let mut local = Local {
            strings,
            numbers,
            tests,
            exprs: Vec::new(),
            formulas: Vec::new(),
            parts: Vec::new(),
        };
        for expr in &patterns.exprs {
            let id = self.intern_expr(expr, &local);
            local.exprs.push(id);
        }
        for formula in &patterns.formulas {
            let id = self.intern_spec(formula, patterns, &local)?;
            local.formulas.push(id);
        }
        for part in &patterns.parts {
            let key = PartKey::of(part, &local);
            local.parts.push(self.parts.intern(key).0);
        }
        Ok(local)
    }

    /// Interns one alternative; nothing where a condition can never hold.
    fn way(&mut self, path: &PathSpec, local: &Local) -> Option<Way> {
        let formula = |f: u32| local.formulas[f as usize];
        let mut spine = 0;
        let mut guards = vec![(0, formula(path.root))];
        for &(axis, test, condition) in &path.steps {
            spine = self.spine(spine, axis, local.tests[test as usize]);
            guards.push((spine, formula(condition)));
        }
        if guards.iter().any(|&(_, f)| f == FALSE) {
            return None;
        }
        Some(
            self.guard_chain(&guards, spine)
                .map_or(Way::Plain(spine), Way::Guarded),
        )
    }

    /// Interns the guards above a leaf from the bottom up; the topmost one, if there is any.
    fn guard_chain(&mut self, guards: &[(u32, u32)], leaf: u32) -> Option<u32> {
        let mut below = Below::Leaf(leaf);
        let mut top = None;
        for &(spine, formula) in guards.iter().rev().filter(|&&(_, formula)| formula != TRUE) {
            let guard = self
                .guards
                .intern(GuardKey {
                    spine,
                    formula,
                    below,
                })
                .0;
            below = Below::Guard(guard);
            top = Some(guard);
        }
        top
    }

    fn spine(&mut self, parent: u32, axis: Axis, test: u32) -> u32 {
        let next = self.spines.len() as u32;
        let id = *self.spine_ids.entry((parent, axis, test)).or_insert(next);
        if id == next {
            self.spines.push(SpineNode {
                parent: Some(parent),
                axis,
                test,
            });
        }
        id
    }

    /// The spine of an operand's path, under a root of its own: it starts wherever the formula
    /// is armed, not at the document node.
    pub(super) fn operand_path(&mut self, steps: &[(Axis, u32, u32)]) -> OperandPath {
        if let Some(&found) = self.operand_paths.get(steps) {
            return found;
        }
        let root = self.spines.len() as u32;
        self.spines.push(SpineNode {
            parent: None,
            axis: Axis::Itself,
            test: 0,
        });
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
