//! Formulas and their shapes, hash-consed.
//!
//! A *shape* is a formula without its constants. The automaton sees shapes only, so a million
//! formulas that differ in constants arm together.

use super::builder::Builder;
use super::program::{ExprSpec, FormulaSpec, OperandSpec, Patterns};
use super::reader::ProgramError;
use crate::vocabulary::{Axis, Comparison, Op};

/// A condition at a node. Ids refer to interned tables of the builder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FormulaKey {
    True,
    False,
    And(Vec<u32>),
    Or(Vec<u32>),
    Not(u32),
    Edge {
        axis: Axis,
        test: u32,
        sub: u32,
    },
    Is(u32),
    Text {
        op: Comparison,
        string: u32,
    },
    Number {
        op: Comparison,
        number: u32,
    },
    Contains(u32),
    StartsWith(u32),
    Computed {
        expr: u32,
        operands: Vec<OperandKey>,
    },
}

/// Where an operand's value comes from: a part of the context node, or of the first node that
/// the operand's own spine reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperandKey {
    pub part: u32,
    pub path: Option<OperandPath>,
    /// A formula and its negation, whose truth is the operand.
    pub condition: Option<(u32, u32)>,
}

/// The spine of an operand, from `root` at the context node to `leaf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperandPath {
    pub root: u32,
    pub leaf: u32,
    /// The topmost guard on the way, if there are conditions.
    pub guard: Option<u32>,
}

/// A formula without its constants. Value atoms that a hash can answer are apart from those that
/// have to be tried one by one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShapeKey {
    Constant,
    And(Vec<u32>),
    Or(Vec<u32>),
    Not(u32),
    Edge { axis: Axis, test: u32, sub: u32 },
    Is(u32),
    Equal,
    Atom,
    Computed(Vec<OperandKey>),
}

/// A scalar expression with interned constants.
pub type ExprKey = (Op, Vec<u32>);

/// Ids of one program's tables in the builder's tables.
pub struct Local {
    pub strings: Vec<u32>,
    pub numbers: Vec<u32>,
    pub tests: Vec<u32>,
    pub exprs: Vec<u32>,
    pub formulas: Vec<u32>,
    pub parts: Vec<u32>,
}

pub const TRUE: u32 = 0;
pub const FALSE: u32 = 1;

impl Builder {
    pub(super) fn intern_expr(&mut self, spec: &ExprSpec, local: &Local) -> u32 {
        let args = match spec.op {
            Op::Text => vec![local.strings[spec.args[0] as usize]],
            Op::Number => vec![local.numbers[spec.args[0] as usize]],
            Op::Boolean | Op::Operand => spec.args.clone(),
            _ => spec.args.iter().map(|&a| local.exprs[a as usize]).collect(),
        };
        self.exprs.intern((spec.op, args)).0
    }

    pub(super) fn intern_spec(
        &mut self,
        spec: &FormulaSpec,
        patterns: &Patterns,
        local: &Local,
    ) -> Result<u32, ProgramError> {
        let map = |ids: &[u32]| {
            ids.iter()
                .map(|&f| local.formulas[f as usize])
                .collect::<Vec<_>>()
        };
        let key = match spec {
            FormulaSpec::True => return Ok(TRUE),
            FormulaSpec::False => return Ok(FALSE),
            FormulaSpec::And(parts) => return Ok(self.conjunction(map(parts))),
            FormulaSpec::Or(parts) => return Ok(self.disjunction(map(parts))),
            FormulaSpec::Not(part) => return Ok(self.negation(local.formulas[*part as usize])),
            FormulaSpec::Edge { axis, test, sub } => {
                return Ok(self.edge(
                    *axis,
                    local.tests[*test as usize],
                    local.formulas[*sub as usize],
                ));
            }
            FormulaSpec::Is(test) => FormulaKey::Is(local.tests[*test as usize]),
            FormulaSpec::Text { op, string } => {
                let string = local.strings[*string as usize];
                if *op == Comparison::Ne {
                    // So that the string is found by a value that is equal to it.
                    let op = Comparison::Eq;
                    self.formula(FormulaKey::Text { op, string });
                }
                FormulaKey::Text { op: *op, string }
            }
            FormulaSpec::Number { op, number } => FormulaKey::Number {
                op: *op,
                number: local.numbers[*number as usize],
            },
            FormulaSpec::Contains(string) => FormulaKey::Contains(local.strings[*string as usize]),
            FormulaSpec::StartsWith(string) => {
                FormulaKey::StartsWith(local.strings[*string as usize])
            }
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
        let map = |&(axis, test, formula): &(Axis, u32, u32)| {
            (
                axis,
                local.tests[test as usize],
                local.formulas[formula as usize],
            )
        };
        let steps: Vec<_> = spec.steps.iter().map(map).collect();
        let at = |f: u32| local.formulas[f as usize];
        OperandKey {
            part: spec.part,
            path: (!steps.is_empty()).then(|| self.operand_path(&steps)),
            condition: spec.condition.map(|(holds, fails)| (at(holds), at(fails))),
        }
    }

    /// Negation normal form: what a negation stands above is one edge, test or atom, because
    /// those are decided by single events.
    fn negation(&mut self, formula: u32) -> u32 {
        match self.formulas.keys()[formula as usize].clone() {
            FormulaKey::True => FALSE,
            FormulaKey::False => TRUE,
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
    fn edge(&mut self, axis: Axis, test: u32, sub: u32) -> u32 {
        if sub == FALSE {
            return FALSE;
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

    pub(super) fn conjunction(&mut self, parts: Vec<u32>) -> u32 {
        let mut flat = self.flatten(parts, |key| {
            if let FormulaKey::And(p) = key {
                Some(p)
            } else {
                None
            }
        });
        flat.retain(|&part| part != TRUE);
        match flat.as_slice() {
            _ if flat.contains(&FALSE) => FALSE,
            [] => TRUE,
            [only] => *only,
            _ => self.formula(FormulaKey::And(flat)),
        }
    }

    fn disjunction(&mut self, parts: Vec<u32>) -> u32 {
        let mut flat = self.flatten(parts, |key| {
            if let FormulaKey::Or(p) = key {
                Some(p)
            } else {
                None
            }
        });
        flat.retain(|&part| part != FALSE);
        match flat.as_slice() {
            _ if flat.contains(&TRUE) => TRUE,
            [] => FALSE,
            [only] => *only,
            _ => self.formula(FormulaKey::Or(flat)),
        }
    }

    fn flatten(
        &self,
        parts: Vec<u32>,
        inner: impl Fn(&FormulaKey) -> Option<&Vec<u32>>,
    ) -> Vec<u32> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match inner(&self.formulas.keys()[part as usize]) {
                Some(children) => flat.extend_from_slice(children),
                None => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat
    }

    pub(super) fn formula(&mut self, key: FormulaKey) -> u32 {
        let (id, new) = self.formulas.intern(key.clone());
        if new {
            let shape = self.shape(&key);
            self.shape_of.push(shape);
        }
        id
    }

    fn shape(&mut self, key: &FormulaKey) -> u32 {
        let of = |builder: &Builder, ids: &[u32]| {
            let mut shapes: Vec<u32> = ids.iter().map(|&f| builder.shape_of[f as usize]).collect();
            shapes.sort_unstable();
            shapes.dedup();
            shapes
        };
        let shape = match key {
            FormulaKey::True | FormulaKey::False => ShapeKey::Constant,
            FormulaKey::And(parts) => ShapeKey::And(of(self, parts)),
            FormulaKey::Or(parts) => ShapeKey::Or(of(self, parts)),
            FormulaKey::Not(part) => ShapeKey::Not(self.shape_of[*part as usize]),
            FormulaKey::Edge { axis, test, sub } => ShapeKey::Edge {
                axis: *axis,
                test: *test,
                sub: self.shape_of[*sub as usize],
            },
            FormulaKey::Is(test) => ShapeKey::Is(*test),
            FormulaKey::Text {
                op: Comparison::Eq, ..
            } => ShapeKey::Equal,
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
        self.shapes.intern(shape).0
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
