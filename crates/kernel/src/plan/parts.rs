//! Parts of expressions, interned like everything else.

use super::formulas::Local;
use super::program::{NO_PART, OutputSpec, PartSpec};
use crate::vocabulary::PartKind;

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
                *word = local.parts[*word as usize];
            }
        };
        match part.kind {
            PartKind::Text => words[0] = local.strings[words[0] as usize],
            PartKind::Number => words[0] = local.numbers[words[0] as usize],
            PartKind::Call | PartKind::Name | PartKind::ComparePairs => parts(&mut words[1..]),
            PartKind::CompareSome => parts(&mut words[1..3]),
            PartKind::Step => {
                parts(&mut words[..1]);
                words[2] = local.tests[words[2] as usize];
                parts(&mut words[3..]);
            }
            PartKind::Above => {
                words[0] = local.tests[words[0] as usize];
                parts(&mut words[1..]);
            }
            PartKind::Beside => {
                for pair in words.chunks_exact_mut(2) {
                    pair[0] = local.strings[pair[0] as usize];
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

/// The output of an expression with the plan's parts.
pub fn place_output(output: OutputSpec, parts: &[u32]) -> OutputSpec {
    let at = |part: u32| parts.get(part as usize).copied().unwrap_or(NO_PART);
    match output {
        OutputSpec::Select { set, spans, beside } => OutputSpec::Select {
            set: at(set),
            spans,
            beside: at(beside),
        },
        OutputSpec::SelectValue { atom, kind } => OutputSpec::SelectValue {
            atom: at(atom),
            kind,
        },
        OutputSpec::SelectFilter { atom } => OutputSpec::SelectFilter { atom: at(atom) },
        OutputSpec::SelectAggregate {
            set,
            function,
            running,
        } => OutputSpec::SelectAggregate {
            set: at(set),
            function,
            running,
        },
        other => other,
    }
}
