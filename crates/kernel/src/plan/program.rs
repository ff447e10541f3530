//! The bytes of one compiled query, read and checked.
//!
//! A *program* is "PSP3", what it requests (see `Request`), and the body of that request. The body
//! of rows is *patterns* and an output; that of records has patterns of its own for each variable
//! and is read by the joins. Everything is a varint except string bytes and numbers. Tables come
//! before their users and an entry refers only to earlier entries of its own table, so one forward
//! read suffices. Specs refer to entries by their places in the program's own tables, which are bare
//! numbers: ids are those of the plan that they are interned in.

use super::ids::{FormulaId, PartId};
use super::reader::{ProgramError, Read, Reader};
use super::records::Output;
use crate::vocabulary::{Aggregate, AtomKind, Axis, Comparison, NodeKind, Op, PartKind};

const MAGIC: &[u8] = b"PSP3";

/// What a program asks to be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Rows of results, decided while a document is read.
    Rows,
    /// Records of witnesses, which are joined.
    Records,
    /// Rows that are evaluated from parts of documents.
    Messages,
    /// Bindings of several streams, which are joined: programs that request messages lie inside.
    Bindings,
}

impl Request {
    /// All of them, in the order of their codes.
    pub const ALL: [Request; 4] = [
        Request::Rows,
        Request::Records,
        Request::Messages,
        Request::Bindings,
    ];

    /// The request of a code.
    pub fn of_code(code: u32) -> Option<Request> {
        Request::ALL.get(code as usize).copied()
    }

    /// What a program requests, and a reader of its body.
    pub fn of(program: &[u8]) -> Read<(Request, Reader<'_>)> {
        let body = program.strip_prefix(MAGIC);
        let body = body.ok_or(ProgramError("the first bytes are wrong"))?;
        let mut reader = Reader::new(body);
        let request = Request::of_code(reader.word()?);
        let request = request.ok_or(ProgramError("an unknown request"))?;
        Ok((request, reader))
    }
}

/// A node test; names and URIs are indices into the program's strings.
#[derive(Clone, Debug)]
pub struct TestSpec {
    pub kind: NodeKind,
    pub local: Option<u32>,
    pub uris: Option<Vec<u32>>,
}

/// A scalar expression: operator and arguments (earlier expressions, or an index for a leaf).
#[derive(Clone, Debug)]
pub struct ExprSpec {
    pub op: Op,
    pub args: Vec<u32>,
}

/// A step of a path: axis, test, condition.
pub type StepSpec = (Axis, u32, u32);

/// What an operand of a computed formula holds.
#[derive(Clone, Debug)]
pub struct OperandSpec {
    /// 0 string value, 1 name, 2 local name, 3 namespace URI; 4 the truth of `condition`.
    pub part: u32,
    /// A formula and its negation.
    pub condition: Option<(u32, u32)>,
    /// The path from the context node to the first node, with a condition at each step; empty for
    /// the context node itself.
    pub steps: Vec<StepSpec>,
}

/// A condition at a node, in negation normal form.
#[derive(Clone, Debug)]
pub enum FormulaSpec {
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
        operands: Vec<OperandSpec>,
    },
}

/// A part of an expression: its kind and what that lists (strings, numbers, tests, earlier parts).
#[derive(Clone, Debug)]
pub struct PartSpec {
    pub kind: PartKind,
    pub words: Vec<u32>,
}

/// One alternative of the spine: a condition at the document node, then guarded steps.
#[derive(Clone, Debug)]
pub struct PathSpec {
    pub root: u32,
    pub steps: Vec<StepSpec>,
}

/// What is looked for: paths, and the conditions at their nodes.
#[derive(Clone, Debug)]
pub struct Patterns {
    pub strings: Vec<Vec<u8>>,
    pub numbers: Vec<f64>,
    pub tests: Vec<TestSpec>,
    pub exprs: Vec<ExprSpec>,
    pub formulas: Vec<FormulaSpec>,
    pub parts: Vec<PartSpec>,
    pub paths: Vec<PathSpec>,
}

/// One compiled query that requests rows.
#[derive(Clone, Debug)]
pub struct Program {
    pub patterns: Patterns,
    /// With the program's own numbers as ids.
    pub output: Output,
}

impl Reader<'_> {
    fn forward_axis(&mut self) -> Read<Axis> {
        self.code(|code| Axis::from_code(code).filter(|axis| axis.is_forward()))
    }

    /// An earlier part that is a set of nodes.
    fn set(&mut self, parts: &[PartSpec]) -> Read<u32> {
        let part = self.below(parts.len())?;
        if parts[part as usize].kind.is_set() {
            Ok(part)
        } else {
            Err(ProgramError("a part is no set of nodes"))
        }
    }

    /// An earlier part that is an atom.
    fn atom(&mut self, parts: &[PartSpec]) -> Read<u32> {
        let part = self.below(parts.len())?;
        if parts[part as usize].kind.is_set() {
            Err(ProgramError("a part is no atom"))
        } else {
            Ok(part)
        }
    }

    fn flag(&mut self) -> Read<bool> {
        Ok(self.below(2)? == 1)
    }

    fn code<T>(&mut self, from: impl Fn(u32) -> Option<T>) -> Read<T> {
        from(self.word()?).ok_or(ProgramError("an unknown code"))
    }
}

impl Patterns {
    /// Patterns that fill their bytes; every index in the result is in range.
    pub fn read(bytes: &[u8]) -> Read<Patterns> {
        let mut r = Reader::new(bytes);
        let patterns = Patterns::read_from(&mut r)?;
        r.end()?;
        Ok(patterns)
    }

    fn read_from(r: &mut Reader<'_>) -> Read<Patterns> {
        let strings = r.many(|r, _| Ok(r.bytes()?.to_vec()))?;
        let numbers = r.many(|r, _| {
            let mut raw = [0; 8];
            raw.copy_from_slice(r.take(8)?);
            Ok(f64::from_le_bytes(raw))
        })?;
        let n_strings = strings.len();
        let tests = r.many(|r, _| read_test(r, n_strings))?;
        let exprs = r.many(|r, index| read_expr(r, index, n_strings, numbers.len()))?;
        let sizes = Sizes {
            strings: n_strings,
            numbers: numbers.len(),
            tests: tests.len(),
            exprs: exprs.len(),
        };
        let formulas = r.many(|r, index| read_formula(r, index, &sizes))?;
        let n_formulas = formulas.len();
        let mut parts: Vec<PartSpec> = Vec::new();
        for _ in 0..r.count()? {
            let part = read_part(r, &parts, &sizes)?;
            parts.push(part);
        }
        let paths = r.many(|r, _| {
            let root = r.below(n_formulas)?;
            let steps = r.many(|r, _| {
                Ok((
                    r.forward_axis()?,
                    r.below(sizes.tests)?,
                    r.below(n_formulas)?,
                ))
            })?;
            Ok(PathSpec { root, steps })
        })?;
        Ok(Patterns {
            strings,
            numbers,
            tests,
            exprs,
            formulas,
            parts,
            paths,
        })
    }
}

impl Program {
    /// Reads the body of a program; every index in the result is in range.
    pub fn read(mut r: Reader<'_>) -> Read<Program> {
        let mut patterns = Patterns::read_from(&mut r)?;
        let (n_strings, n_formulas) = (patterns.strings.len(), patterns.formulas.len());
        let parts = &mut patterns.parts;
        let formula = |r: &mut Reader<'_>| Ok(FormulaId(r.below(n_formulas)?));
        let output = match r.word()? {
            0 => Output::Fragments,
            5 => Output::Spans,
            1 => Output::Aggregate {
                function: r.code(Aggregate::from_code)?,
                running: r.flag()?,
            },
            2 => Output::Boolean {
                holds: formula(&mut r)?,
                fails: formula(&mut r)?,
            },
            3 => Output::Value {
                formula: formula(&mut r)?,
                kind: r.code(AtomKind::from_code)?,
            },
            4 => Output::Filter {
                holds: formula(&mut r)?,
            },
            6 => {
                let set = PartId(r.set(parts)?);
                let spans = r.flag()?;
                let mut words = Vec::new();
                for _ in 0..r.count()? {
                    words.extend([r.below(n_strings)?, r.below(parts.len())?]);
                }
                let mut beside = PartId::NONE;
                if !words.is_empty() {
                    beside = PartId(parts.len() as u32);
                    let kind = PartKind::Beside;
                    parts.push(PartSpec { kind, words });
                }
                Output::Select { set, spans, beside }
            }
            7 => Output::SelectValue {
                atom: PartId(r.atom(parts)?),
                kind: r.code(AtomKind::from_code)?,
            },
            8 => Output::SelectFilter {
                atom: PartId(r.atom(parts)?),
            },
            9 => Output::SelectAggregate {
                set: PartId(r.set(parts)?),
                function: r.code(Aggregate::from_code)?,
                running: r.flag()?,
            },
            10 => Output::End {
                holds: formula(&mut r)?,
            },
            _ => return Err(ProgramError("an unknown output")),
        };
        r.end()?;
        Ok(Program { patterns, output })
    }
}

struct Sizes {
    strings: usize,
    numbers: usize,
    tests: usize,
    exprs: usize,
}

fn read_test(r: &mut Reader<'_>, strings: usize) -> Read<TestSpec> {
    let kind = r.code(NodeKind::from_code)?;
    let local = r.below(strings + 1)?.checked_sub(1);
    let uris = match r.word()? {
        0 => None,
        1 => Some(r.many(|r, _| r.below(strings))?),
        _ => return Err(ProgramError("an unknown code")),
    };
    Ok(TestSpec { kind, local, uris })
}

fn read_expr(r: &mut Reader<'_>, index: usize, strings: usize, numbers: usize) -> Read<ExprSpec> {
    let op = r.code(Op::from_code)?;
    let args = match op {
        Op::Text => vec![r.below(strings)?],
        Op::Number => vec![r.below(numbers)?],
        Op::Boolean => vec![r.below(2)?],
        Op::Operand => vec![r.below(256)?],
        _ => r.many(|r, _| r.below(index))?,
    };
    if !arity(op).contains(&args.len()) {
        return Err(WRONG_COUNT);
    }
    Ok(ExprSpec { op, args })
}

const WRONG_COUNT: ProgramError = ProgramError("an operator has the wrong number of arguments");

fn arity(op: Op) -> std::ops::RangeInclusive<usize> {
    match op {
        Op::Text | Op::Number | Op::Boolean | Op::Operand => 1..=1,
        Op::Concat => 1..=usize::MAX,
        Op::Substring => 2..=3,
        Op::Translate => 3..=3,
        Op::ToString
        | Op::ToNumber
        | Op::ToBoolean
        | Op::Length
        | Op::Normalize
        | Op::Floor
        | Op::Ceiling
        | Op::Round
        | Op::Negate => 1..=1,
        _ => 2..=2,
    }
}

/// The words of a part, as the plan keeps them: counts are left out where only a list follows.
fn read_part(r: &mut Reader<'_>, parts: &[PartSpec], sizes: &Sizes) -> Read<PartSpec> {
    let kind = r.code(PartKind::from_code)?;
    let mut words = Vec::new();
    match kind {
        PartKind::Text => words.push(r.below(sizes.strings)?),
        PartKind::Number => words.push(r.below(sizes.numbers)?),
        PartKind::Boolean => words.push(r.below(2)?),
        PartKind::Call => {
            let op = r.code(|code| Op::from_code(code).filter(|_| code > Op::Operand as u32))?;
            words.push(op as u32);
            words.extend(r.many(|r, _| r.atom(parts))?);
            if !arity(op).contains(&(words.len() - 1)) {
                return Err(WRONG_COUNT);
            }
        }
        PartKind::And | PartKind::Or => words = r.many(|r, _| r.atom(parts))?,
        PartKind::Not => words.push(r.atom(parts)?),
        PartKind::Position | PartKind::Last | PartKind::Here | PartKind::Root => {}
        PartKind::Exists
        | PartKind::Count
        | PartKind::Sum
        | PartKind::String
        | PartKind::Strings
        | PartKind::List => words.push(r.set(parts)?),
        PartKind::Name => words.extend([r.below(4)?, r.set(parts)?]),
        PartKind::ComparePairs => words.extend([
            r.code(Comparison::from_code)? as u32,
            r.set(parts)?,
            r.set(parts)?,
        ]),
        PartKind::CompareSome => words.extend([
            r.code(Comparison::from_code)? as u32,
            r.set(parts)?,
            r.atom(parts)?,
            r.below(2)?,
        ]),
        PartKind::Step => {
            let base = r.set(parts)?;
            let axis = r.code(Axis::from_code)? as u32;
            words.extend([base, axis, r.below(sizes.tests)?]);
            words.extend(r.many(|r, _| r.atom(parts))?);
        }
        PartKind::Filter => {
            words.push(r.set(parts)?);
            words.extend(r.many(|r, _| r.atom(parts))?);
        }
        PartKind::Union => words = r.many(|r, _| r.set(parts))?,
        PartKind::Identified => words.push(r.atom(parts)?),
        PartKind::Above => {
            words.extend([r.below(sizes.tests)?, r.atom(parts)?, r.atom(parts)?]);
        }
        PartKind::Beside => return Err(ProgramError("an unknown code")),
    }
    Ok(PartSpec { kind, words })
}

fn read_formula(r: &mut Reader<'_>, index: usize, sizes: &Sizes) -> Read<FormulaSpec> {
    Ok(match r.word()? {
        0 => FormulaSpec::True,
        1 => FormulaSpec::False,
        2 => FormulaSpec::And(r.many(|r, _| r.below(index))?),
        3 => FormulaSpec::Or(r.many(|r, _| r.below(index))?),
        4 => FormulaSpec::Not(r.below(index)?),
        5 => FormulaSpec::Edge {
            axis: r.forward_axis()?,
            test: r.below(sizes.tests)?,
            sub: r.below(index)?,
        },
        6 => FormulaSpec::Is(r.below(sizes.tests)?),
        7 => FormulaSpec::Text {
            op: r.code(Comparison::from_code)?,
            string: r.below(sizes.strings)?,
        },
        8 => FormulaSpec::Number {
            op: r.code(Comparison::from_code)?,
            number: r.below(sizes.numbers)?,
        },
        9 => FormulaSpec::Contains(r.below(sizes.strings)?),
        10 => FormulaSpec::StartsWith(r.below(sizes.strings)?),
        11 => {
            let expr = r.below(sizes.exprs)?;
            let operands = r.many(|r, _| {
                let part = r.below(5)?;
                let condition = if part == 4 {
                    Some((r.below(index)?, r.below(index)?))
                } else {
                    None
                };
                let steps =
                    r.many(|r, _| Ok((r.forward_axis()?, r.below(sizes.tests)?, r.below(index)?)))?;
                Ok(OperandSpec {
                    part,
                    condition,
                    steps,
                })
            })?;
            FormulaSpec::Computed { expr, operands }
        }
        _ => return Err(ProgramError("an unknown formula")),
    })
}
