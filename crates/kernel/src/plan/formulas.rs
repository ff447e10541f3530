//! Formulas and their shapes, hash-consed.
//!
//! A *shape* is a formula without its constants. The automaton sees shapes only, so a million
//! formulas that differ in constants arm together.

use super::builder::Builder;
use super::ids::{
    ExprId, FormulaId, GuardId, NumberId, PartId, ShapeId, SpineId, StringId, TestId,
};
use super::program::{ExprSpec, FormulaSpec, OperandSpec, Patterns, StepSpec};
use super::reader::ProgramError;
use super::records::Output;
use crate::vocabulary::{Axis, Comparison, Op};

/// A condition at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FormulaKey {
    True,
    False,
    And(Vec<FormulaId>),
    Or(Vec<FormulaId>),
    Not(FormulaId),
    Edge {
        axis: Axis,
        test: TestId,
        sub: FormulaId,
    },
    Is(TestId),
    Text {
        op: Comparison,
        string: StringId,
    },
    Number {
        op: Comparison,
        number: NumberId,
    },
    Contains(StringId),
    StartsWith(StringId),
    Computed {
        expr: ExprId,
        operands: Vec<OperandKey>,
    },
}

/// A step of a path: the way to a node, its test, the condition there.
pub type Step = (Axis, TestId, FormulaId);

/// Where an operand's value comes from: a part of the context node, or of the first node that
/// the operand's own spine reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperandKey {
    pub part: u32,
    pub path: Option<OperandPath>,
    /// A formula and its negation, whose truth is the operand.
    pub condition: Option<(FormulaId, FormulaId)>,
}

/// The spine of an operand, from `root` at the context node to `leaf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperandPath {
    pub root: SpineId,
    pub leaf: SpineId,
    /// The topmost guard on the way, if there are conditions.
    pub guard: Option<GuardId>,
}

/// A formula without its constants. Value atoms that a hash can answer, and those that are found
/// in a sorted list, are apart from those that have to be tried one by one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShapeKey {
    Constant,
    And(Vec<ShapeId>),
    Or(Vec<ShapeId>),
    Not(ShapeId),
    Edge {
        axis: Axis,
        test: TestId,
        sub: ShapeId,
    },
    Is(TestId),
    Equal,
    Ordered(Order),
    Atom,
    Computed(Vec<OperandKey>),
}

/// How the numbers that a value is compared with are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    Above,
    Below,
    Same,
}

/// A scalar expression with interned constants.
pub type ExprKey = (Op, Vec<u32>);

/// Where the tables of one program went: the builder's ids by the program's own numbers.
#[derive(Default)]
pub struct Local {
    pub strings: Vec<StringId>,
    pub numbers: Vec<NumberId>,
    pub tests: Vec<TestId>,
    pub exprs: Vec<ExprId>,
    pub formulas: Vec<FormulaId>,
    pub parts: Vec<PartId>,
}

impl Local {
    pub fn string(&self, number: u32) -> StringId {
        self.strings[number as usize]
    }

    pub fn number(&self, number: u32) -> NumberId {
        self.numbers[number as usize]
    }

    pub fn test(&self, number: u32) -> TestId {
        self.tests[number as usize]
    }

    pub fn formula(&self, number: u32) -> FormulaId {
        self.formulas[number as usize]
    }

    pub fn part(&self, number: u32) -> PartId {
        self.parts[number as usize]
    }

    pub fn step(&self, &(axis, test, formula): &StepSpec) -> Step {
        (axis, self.test(test), self.formula(formula))
    }

    fn all(&self, formulas: &[u32]) -> Vec<FormulaId> {
        formulas.iter().map(|&part| self.formula(part)).collect()
    }

    pub fn place_expr(&self, spec: &ExprSpec) -> ExprKey {
        let place = |&word: &u32| match spec.op {
            Op::Text => self.string(word).0,
            Op::Number => self.number(word).0,
            Op::Boolean | Op::Operand => word,
            _ => self.exprs[word as usize].0,
        };
        (spec.op, spec.args.iter().map(place).collect())
    }

    /// An output of the program, with the builder's ids.
    pub fn place(&self, mut output: Output) -> Output {
        let formula = |id: &mut FormulaId| *id = self.formula(id.0);
        let part = |id: &mut PartId| *id = self.part(id.0);
        match &mut output {
            Output::Fragments | Output::Spans | Output::Aggregate { .. } => {}
            Output::Boolean { holds, fails } => {
                formula(holds);
                formula(fails);
            }
            Output::Value { formula: id, .. }
            | Output::Filter { holds: id }
            | Output::End { holds: id } => formula(id),
            Output::Select { set, beside, .. } => {
                part(set);
                if beside.is_some() {
                    part(beside);
                }
            }
            Output::SelectValue { atom: id, .. }
            | Output::SelectFilter { atom: id }
            | Output::SelectAggregate { set: id, .. } => part(id),
        }
        output
    }
}

impl Builder {
    pub(super) fn intern_spec(
        &mut self,
        spec: &FormulaSpec,
        patterns: &Patterns,
        local: &Local,
    ) -> Result<FormulaId, ProgramError> {
        let key = match spec {
            FormulaSpec::True => return Ok(FormulaId::TRUE),
            FormulaSpec::False => return Ok(FormulaId::FALSE),
            FormulaSpec::And(parts) => return Ok(self.conjunction(local.all(parts))),
            FormulaSpec::Or(parts) => return Ok(self.disjunction(local.all(parts))),
            FormulaSpec::Not(part) => return Ok(self.negation(local.formula(*part))),
            FormulaSpec::Edge { axis, test, sub } => {
                return Ok(self.edge(*axis, local.test(*test), local.formula(*sub)));
            }
            FormulaSpec::Is(test) => FormulaKey::Is(local.test(*test)),
            FormulaSpec::Text { op, string } => {
                let string = local.string(*string);
                if *op == Comparison::Ne {
                    // So that the string is found by a value that is equal to it.
                    let op = Comparison::Eq;
                    self.formula(FormulaKey::Text { op, string });
                }
                FormulaKey::Text { op: *op, string }
            }
            FormulaSpec::Number { op, number } => FormulaKey::Number {
                op: *op,
                number: local.number(*number),
            },
            FormulaSpec::Contains(string) => FormulaKey::Contains(local.string(*string)),
            FormulaSpec::StartsWith(string) => FormulaKey::StartsWith(local.string(*string)),
            FormulaSpec::Computed { expr, operands } => {
                if !operands_in_range(patterns, *expr, operands.len()) {
                    return Err(ProgramError(
                        "an expression names an operand that is not there",
                    ));
                }
                let operands = operands.iter().map(|o| self.operand(o, local)).collect();
                FormulaKey::Computed {
                    expr: local.exprs[*expr as usize],
                    operands,
                }
            }
        };
        Ok(self.formula(key))
    }

    fn operand(&mut self, spec: &OperandSpec, local: &Local) -> OperandKey {
        let steps: Vec<_> = spec.steps.iter().map(|step| local.step(step)).collect();
        let both = |(holds, fails)| (local.formula(holds), local.formula(fails));
        OperandKey {
            part: spec.part,
            path: (!steps.is_empty()).then(|| self.operand_path(&steps)),
            condition: spec.condition.map(both),
        }
    }

    /// Negation normal form: what a negation stands above is one edge, test or atom, because
    /// those are decided by single events.
    fn negation(&mut self, formula: FormulaId) -> FormulaId {
        match self.formulas.keys()[formula].clone() {
            FormulaKey::True => FormulaId::FALSE,
            FormulaKey::False => FormulaId::TRUE,
            FormulaKey::Not(part) => part,
            FormulaKey::And(parts) => {
                let parts = parts.into_iter().map(|part| self.negation(part)).collect();
                self.disjunction(parts)
            }
            FormulaKey::Or(parts) => {
                let parts = parts.into_iter().map(|part| self.negation(part)).collect();
                self.conjunction(parts)
            }
            _ => self.formula(FormulaKey::Not(formula)),
        }
    }

    /// An edge along any axis, in terms of child, descendant and attribute edges: the node itself
    /// is a test beside the rest, and a formula is shared by both halves.
    fn edge(&mut self, axis: Axis, test: TestId, sub: FormulaId) -> FormulaId {
        if sub == FormulaId::FALSE {
            return sub;
        }
        match axis {
            Axis::Itself => {
                let is = self.formula(FormulaKey::Is(test));
                self.conjunction(vec![is, sub])
            }
            Axis::DescendantOrSelf => {
                let here = self.edge(Axis::Itself, test, sub);
                let below = self.edge(Axis::Descendant, test, sub);
                self.disjunction(vec![here, below])
            }
            _ => self.formula(FormulaKey::Edge { axis, test, sub }),
        }
    }

    fn conjunction(&mut self, parts: Vec<FormulaId>) -> FormulaId {
        self.connect(parts, true)
    }

    fn disjunction(&mut self, parts: Vec<FormulaId>) -> FormulaId {
        self.connect(parts, false)
    }

    /// All parts, or one of them, without such formulas and constants among them.
    fn connect(&mut self, parts: Vec<FormulaId>, all: bool) -> FormulaId {
        let (neutral, deciding) = match all {
            true => (FormulaId::TRUE, FormulaId::FALSE),
            false => (FormulaId::FALSE, FormulaId::TRUE),
        };
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match &self.formulas.keys()[part] {
                FormulaKey::And(inner) if all => flat.extend_from_slice(inner),
                FormulaKey::Or(inner) if !all => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|&part| part != neutral);
        match flat.as_slice() {
            _ if flat.contains(&deciding) => deciding,
            [] => neutral,
            [only] => *only,
            _ if all => self.formula(FormulaKey::And(flat)),
            _ => self.formula(FormulaKey::Or(flat)),
        }
    }

    pub(super) fn formula(&mut self, key: FormulaKey) -> FormulaId {
        let id = self.formulas.intern(key.clone());
        if id.index() == self.shape_of.len() {
            let shape = self.shape(&key);
            self.shape_of.push(shape);
        }
        id
    }

    fn shape(&mut self, key: &FormulaKey) -> ShapeId {
        let of = |builder: &Builder, ids: &[FormulaId]| {
            let mut shapes: Vec<_> = ids.iter().map(|&f| builder.shape_of[f]).collect();
            shapes.sort_unstable();
            shapes.dedup();
            shapes
        };
        let shape = match key {
            FormulaKey::True | FormulaKey::False => ShapeKey::Constant,
            FormulaKey::And(parts) => ShapeKey::And(of(self, parts)),
            FormulaKey::Or(parts) => ShapeKey::Or(of(self, parts)),
            FormulaKey::Not(part) => ShapeKey::Not(self.shape_of[*part]),
            FormulaKey::Edge { axis, test, sub } => ShapeKey::Edge {
                axis: *axis,
                test: *test,
                sub: self.shape_of[*sub],
            },
            FormulaKey::Is(test) => ShapeKey::Is(*test),
            FormulaKey::Text {
                op: Comparison::Eq, ..
            } => ShapeKey::Equal,
            FormulaKey::Number { op, .. } if *op != Comparison::Ne => ShapeKey::Ordered(match op {
                Comparison::Gt | Comparison::Ge => Order::Above,
                Comparison::Lt | Comparison::Le => Order::Below,
                _ => Order::Same,
            }),
            FormulaKey::Text { .. }
            | FormulaKey::Number { .. }
            | FormulaKey::Contains(_)
            | FormulaKey::StartsWith(_) => ShapeKey::Atom,
            FormulaKey::Computed { operands, .. } => {
                let mut operands = operands.clone();
                operands.sort_unstable();
                operands.dedup();
                ShapeKey::Computed(operands)
            }
        };
        self.shapes.intern(shape)
    }
}

fn operands_in_range(patterns: &Patterns, expr: u32, count: usize) -> bool {
    // A walk over the whole table up to `expr` would accept the operands of unrelated
    // expressions; the tree below `expr` is what counts.
    let mut todo = vec![expr];
    let mut seen = vec![false; patterns.exprs.len()];
    while let Some(index) = todo.pop() {
        let ExprSpec { op, args } = &patterns.exprs[index as usize];
        if std::mem::replace(&mut seen[index as usize], true) {
            continue;
        }
        match op {
            Op::Operand if args[0] as usize >= count => return false,
            Op::Text | Op::Number | Op::Boolean | Op::Operand => {}
            _ => todo.extend_from_slice(args),
        }
    }
    true
}
