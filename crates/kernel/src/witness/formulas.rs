//! The conditions of all steps, each distinct one once, as long as some step has it.

use super::nodetests::{NodeTest, NodeTests, TestId};
use crate::counted::Counted;
use crate::plan::{
    Axis, Comparison, ExprSpec, FormulaSpec, Op, OperandKind, OperandSpec, Patterns, ProgramError,
};
use crate::values::{Value, ValueTest, apply};
use std::borrow::Cow;

/// The number of a formula.
pub type FormulaId = u32;

/// A step: the way to a node, its test, the condition there.
pub type Step = (Axis, TestId, FormulaId);

/// A condition at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    True,
    False,
    And(Box<[FormulaId]>),
    Or(Box<[FormulaId]>),
    Not(FormulaId),
    Is(TestId),
    Reaches(Step),
    Value(ValueTest<Box<[u8]>>),
    Computed(Scalar, Box<[Operand]>),
}

/// A scalar expression over operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    Text(Box<str>),
    Number(u64),
    Boolean(bool),
    Operand(u32),
    Call(Op, Box<[Scalar]>),
}

/// An operand: a part of the first node that steps lead to, or whether a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    pub kind: OperandKind,
    pub condition: Option<FormulaId>,
    pub steps: Box<[Step]>,
}

/// The formulas and tests that somebody holds.
#[derive(Default)]
pub struct Formulas {
    pub tests: NodeTests,
    formulas: Counted<Formula>,
}

/// The tests and formulas of patterns, held until they are given up together.
pub struct Tables {
    pub tests: Vec<TestId>,
    pub formulas: Vec<FormulaId>,
}

impl Formulas {
    /// Holds the tests and formulas of patterns.
    pub fn hold(&mut self, patterns: &Patterns) -> Result<Tables, ProgramError> {
        let tests = patterns.tests.iter();
        let tests = tests
            .map(|test| self.tests.hold(NodeTest::of(test, &patterns.strings)))
            .collect();
        let mut tables = Tables {
            tests,
            formulas: Vec::with_capacity(patterns.formulas.len()),
        };
        for spec in &patterns.formulas {
            match self.formula(spec, patterns, &tables) {
                Ok(formula) => {
                    let formula = self.hold_formula(formula);
                    tables.formulas.push(formula);
                }
                Err(error) => {
                    self.release(&tables);
                    return Err(error);
                }
            }
        }
        Ok(tables)
    }

    /// Gives up the tests and formulas of patterns.
    pub fn release(&mut self, tables: &Tables) {
        for &test in &tables.tests {
            self.tests.release(test);
        }
        for &formula in &tables.formulas {
            self.release_formula(formula);
        }
    }

    /// Holds what a step refers to once more.
    pub fn hold_step(&mut self, (_, test, formula): Step) {
        self.tests.hold_again(test);
        self.formulas.hold_again(formula);
    }

    /// Gives up what a step refers to once.
    pub fn release_step(&mut self, (_, test, formula): Step) {
        self.tests.release(test);
        self.release_formula(formula);
    }

    /// A formula that somebody holds.
    #[inline]
    pub fn get(&self, formula: FormulaId) -> &Formula {
        self.formulas.get(formula).unwrap_or(&Formula::False)
    }

    /// How many formulas there are.
    pub fn len(&self) -> usize {
        self.formulas.len()
    }

    fn hold_formula(&mut self, formula: Formula) -> FormulaId {
        // A formula holds its parts once, however often it is held itself.
        let (id, is_new) = self.formulas.hold(formula);
        if is_new {
            for part in parts_of(self.get(id)) {
                match part {
                    Part::Test(test) => self.tests.hold_again(test),
                    Part::Formula(formula) => self.formulas.hold_again(formula),
                }
            }
        }
        id
    }

    fn release_formula(&mut self, formula: FormulaId) {
        let mut pending = vec![formula];
        while let Some(formula) = pending.pop() {
            let Some(gone) = self.formulas.release(formula) else {
                continue;
            };
            for part in parts_of(&gone) {
                match part {
                    Part::Test(test) => self.tests.release(test),
                    Part::Formula(formula) => pending.push(formula),
                }
            }
        }
    }

    fn formula(
        &self,
        spec: &FormulaSpec,
        patterns: &Patterns,
        tables: &Tables,
    ) -> Result<Formula, ProgramError> {
        let at = |formula: &u32| tables.formulas[*formula as usize];
        let all = |parts: &[u32]| parts.iter().map(at).collect();
        let string = |at: u32| Box::from(patterns.strings[at as usize].as_slice());
        Ok(match spec {
            FormulaSpec::True => Formula::True,
            FormulaSpec::False => Formula::False,
            FormulaSpec::And(parts) => Formula::And(all(parts)),
            FormulaSpec::Or(parts) => Formula::Or(all(parts)),
            FormulaSpec::Not(part) => Formula::Not(at(part)),
            FormulaSpec::Edge { axis, test, sub } => {
                Formula::Reaches(tables.step(&(*axis, *test, *sub)))
            }
            FormulaSpec::Is(test) => Formula::Is(tables.tests[*test as usize]),
            FormulaSpec::Text { op, string: text } => Formula::Value(match op {
                Comparison::Eq => ValueTest::Equal(string(*text)),
                _ => ValueTest::Differs(string(*text)),
            }),
            FormulaSpec::Number { op, number } => {
                let number = patterns.numbers[*number as usize];
                Formula::Value(ValueTest::Number(*op, number.to_bits()))
            }
            FormulaSpec::Contains(text) => Formula::Value(ValueTest::Contains(string(*text))),
            FormulaSpec::StartsWith(text) => Formula::Value(ValueTest::StartsWith(string(*text))),
            FormulaSpec::Computed { expr, operands } => Formula::Computed(
                scalar(patterns, *expr, operands.len())?,
                operands.iter().map(|one| tables.operand(one)).collect(),
            ),
        })
    }
}

impl Tables {
    /// A step of the patterns.
    pub fn step(&self, &(axis, test, formula): &(Axis, u32, u32)) -> Step {
        let (test, formula) = (self.tests[test as usize], self.formulas[formula as usize]);
        (axis, test, formula)
    }

    fn operand(&self, spec: &OperandSpec) -> Operand {
        Operand {
            kind: OperandKind::of_code(spec.part),
            condition: spec.condition.map(|one| self.formulas[one.0 as usize]),
            steps: spec.steps.iter().map(|step| self.step(step)).collect(),
        }
    }
}

enum Part {
    Test(TestId),
    Formula(FormulaId),
}

/// The tests and formulas that a formula refers to.
fn parts_of(formula: &Formula) -> Vec<Part> {
    let step = |&(_, test, formula): &Step| [Part::Test(test), Part::Formula(formula)];
    match formula {
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().map(|&part| Part::Formula(part)).collect()
        }
        Formula::Not(part) => vec![Part::Formula(*part)],
        Formula::Is(test) => vec![Part::Test(*test)],
        Formula::Reaches(one) => step(one).into(),
        Formula::Computed(_, operands) => {
            let operands = operands.iter();
            let parts = operands.flat_map(|operand| {
                let condition = operand.condition.into_iter().map(Part::Formula);
                condition.chain(operand.steps.iter().flat_map(step))
            });
            parts.collect()
        }
        _ => Vec::new(),
    }
}

/// An expression of patterns as a tree.
fn scalar(patterns: &Patterns, expr: u32, operand_count: usize) -> Result<Scalar, ProgramError> {
    let ExprSpec { op, args } = &patterns.exprs[expr as usize];
    Ok(match op {
        Op::Text => {
            let text = &patterns.strings[args[0] as usize];
            Scalar::Text(String::from_utf8_lossy(text).into())
        }
        Op::Number => Scalar::Number(patterns.numbers[args[0] as usize].to_bits()),
        Op::Boolean => Scalar::Boolean(args[0] != 0),
        Op::Operand if args[0] as usize >= operand_count => {
            let reason = "an expression names an operand that is not there";
            return Err(ProgramError(reason));
        }
        Op::Operand => Scalar::Operand(args[0]),
        _ => {
            let args = args.iter().map(|&arg| scalar(patterns, arg, operand_count));
            Scalar::Call(*op, args.collect::<Result<_, _>>()?)
        }
    })
}

impl Scalar {
    /// The value of the expression, given the strings of its operands.
    pub fn evaluate<'a>(&'a self, operands: &'a [String]) -> Value<'a> {
        match self {
            Scalar::Text(text) => Value::Text(Cow::Borrowed(text)),
            Scalar::Number(bits) => Value::Number(f64::from_bits(*bits)),
            Scalar::Boolean(value) => Value::Boolean(*value),
            Scalar::Operand(at) => Value::Text(Cow::Borrowed(&operands[*at as usize])),
            Scalar::Call(op, args) => apply(*op, args.len(), &|at| args[at].evaluate(operands)),
        }
    }
}
