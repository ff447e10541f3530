//! Parts of expressions: as the circuit reads them, and interned like everything else.

use super::formulas::Local;
use super::ids::{NumberId, PartId, StringId, TestId};
use super::program::PartSpec;
use crate::ids::as_ids;
use crate::vocabulary::{Axis, Comparison, NamePart, Op, PartKind};
use smallvec::{SmallVec, smallvec};

/// A part of an expression; `PartKind` tells what each is.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    Text(StringId),
    Number(NumberId),
    Boolean(bool),
    Call(Op, &'a [PartId]),
    And(&'a [PartId]),
    Or(&'a [PartId]),
    Not(PartId),
    Position,
    Last,
    Exists(PartId),
    ComparePairs(Comparison, [PartId; 2]),
    CompareSome(CompareSome),
    Count(PartId),
    Sum(PartId),
    String(PartId),
    Name(NamePart, PartId),
    Strings(PartId),
    List(PartId),
    Here,
    Root,
    Step(Step<'a>),
    Filter {
        base: PartId,
        predicates: &'a [PartId],
    },
    Union(&'a [PartId]),
    Identified(PartId),
    Beside(&'a [[u32; 2]]),
    Above {
        test: TestId,
        atom: PartId,
        otherwise: PartId,
    },
}

/// A comparison of the nodes of a set, on the left, with an atom.
#[derive(Clone, Copy, Debug)]
pub struct CompareSome {
    pub op: Comparison,
    pub set: PartId,
    pub atom: PartId,
    pub as_number: bool,
}

/// A step from the nodes of a set.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    pub base: PartId,
    pub axis: Axis,
    pub test: TestId,
    pub predicates: &'a [PartId],
}

impl<'a> Part<'a> {
    /// The part with a kind and its words, which were checked when the program was read.
    #[inline]
    pub(super) fn new(kind: PartKind, words: &'a [u32]) -> Part<'a> {
        let part = |index: usize| PartId(words[index]);
        let comparison = || Comparison::from_code(words[0]).unwrap_or(Comparison::Eq);
        match kind {
            PartKind::Text => Part::Text(StringId(words[0])),
            PartKind::Number => Part::Number(NumberId(words[0])),
            PartKind::Boolean => Part::Boolean(words[0] != 0),
            PartKind::Call => {
                let op = Op::from_code(words[0]).unwrap_or(Op::ToBoolean);
                Part::Call(op, as_ids(&words[1..]))
            }
            PartKind::And => Part::And(as_ids(words)),
            PartKind::Or => Part::Or(as_ids(words)),
            PartKind::Not => Part::Not(part(0)),
            PartKind::Position => Part::Position,
            PartKind::Last => Part::Last,
            PartKind::Exists => Part::Exists(part(0)),
            PartKind::ComparePairs => Part::ComparePairs(comparison(), [part(1), part(2)]),
            PartKind::CompareSome => Part::CompareSome(CompareSome {
                op: comparison(),
                set: part(1),
                atom: part(2),
                as_number: words[3] != 0,
            }),
            PartKind::Count => Part::Count(part(0)),
            PartKind::Sum => Part::Sum(part(0)),
            PartKind::String => Part::String(part(0)),
            PartKind::Name => {
                let name = NamePart::from_code(words[0]).unwrap_or(NamePart::Written);
                Part::Name(name, part(1))
            }
            PartKind::Strings => Part::Strings(part(0)),
            PartKind::List => Part::List(part(0)),
            PartKind::Beside => Part::Beside(words.as_chunks().0),
            PartKind::Above => Part::Above {
                test: TestId(words[0]),
                atom: part(1),
                otherwise: part(2),
            },
            PartKind::Here => Part::Here,
            PartKind::Root => Part::Root,
            PartKind::Step => Part::Step(Step {
                base: part(0),
                axis: Axis::from_code(words[1]).unwrap_or(Axis::Itself),
                test: TestId(words[2]),
                predicates: as_ids(&words[3..]),
            }),
            PartKind::Filter => Part::Filter {
                base: part(0),
                predicates: as_ids(&words[1..]),
            },
            PartKind::Union => Part::Union(as_ids(words)),
            PartKind::Identified => Part::Identified(part(0)),
        }
    }

    /// The parts that are evaluated where it is: predicates are not, they have contexts of their own.
    pub fn operands(self) -> SmallVec<[PartId; 4]> {
        match self {
            Part::Call(_, parts) | Part::And(parts) | Part::Or(parts) | Part::Union(parts) => {
                parts.into()
            }
            Part::Not(part)
            | Part::Exists(part)
            | Part::Count(part)
            | Part::Sum(part)
            | Part::String(part)
            | Part::Strings(part)
            | Part::List(part)
            | Part::Name(_, part)
            | Part::Identified(part) => smallvec![part],
            Part::ComparePairs(_, sets) => SmallVec::from_slice(&sets),
            Part::CompareSome(compare) => smallvec![compare.set, compare.atom],
            Part::Step(Step { base, .. }) | Part::Filter { base, .. } => smallvec![base],
            Part::Above { atom, .. } => smallvec![atom],
            Part::Text(_)
            | Part::Number(_)
            | Part::Boolean(_)
            | Part::Position
            | Part::Last
            | Part::Here
            | Part::Root
            | Part::Beside(_) => SmallVec::new(),
        }
    }

    /// Whether it is a set of nodes.
    pub fn is_set(self) -> bool {
        matches!(
            self,
            Part::Here
                | Part::Root
                | Part::Step(_)
                | Part::Filter { .. }
                | Part::Union(_)
                | Part::Identified(_)
        )
    }
}

/// A part with the numbers of the plan in the place of the program's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartKey {
    pub kind: PartKind,
    pub words: Vec<u32>,
}

impl PartKey {
    /// The part of a program, given where its tables went.
    pub fn of(part: &PartSpec, local: &Local) -> Self {
        let mut words = part.words.clone();
        let parts = |words: &mut [u32]| {
            for word in words {
                *word = local.part(*word).0;
            }
        };
        match part.kind {
            PartKind::Text => words[0] = local.string(words[0]).0,
            PartKind::Number => words[0] = local.number(words[0]).0,
            PartKind::Call | PartKind::Name | PartKind::ComparePairs => parts(&mut words[1..]),
            PartKind::CompareSome => parts(&mut words[1..3]),
            PartKind::Step => {
                parts(&mut words[..1]);
                words[2] = local.test(words[2]).0;
                parts(&mut words[3..]);
            }
            PartKind::Above => {
                words[0] = local.test(words[0]).0;
                parts(&mut words[1..]);
            }
            PartKind::Beside => {
                for pair in words.chunks_exact_mut(2) {
                    pair[0] = local.string(pair[0]).0;
                    parts(&mut pair[1..]);
                }
            }
            PartKind::Boolean
            | PartKind::Position
            | PartKind::Last
            | PartKind::Here
            | PartKind::Root => {}
            _ => parts(&mut words),
        }
        PartKey {
            kind: part.kind,
            words,
        }
    }
}
