//! What the value of a part depends on, known before any document is read.

use crate::plan::{PartKind, Plan};

/// How a part depends on where it is evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nature {
    /// On nothing.
    pub is_constant: bool,
    /// On the context node.
    pub uses_here: bool,
    /// On position or size.
    pub uses_position: bool,
    pub uses_last: bool,
}

impl Nature {
    /// On the document alone.
    pub fn is_absolute(self) -> bool {
        !self.is_constant && !self.uses_here && !self.has_focus()
    }

    pub fn has_focus(self) -> bool {
        self.uses_position || self.uses_last
    }
}

/// The nature of a part, given those before it.
pub fn nature(plan: &Plan, part: u32, known: &[Nature]) -> Nature {
    let (kind, words) = plan.part(part);
    let of = |words: &[u32]| {
        let mut all = Nature {
            is_constant: true,
            ..Nature::default()
        };
        for &word in words {
            let nature = known[word as usize];
            all.is_constant &= nature.is_constant;
            all.uses_here |= nature.uses_here;
            all.uses_position |= nature.uses_position;
            all.uses_last |= nature.uses_last;
        }
        all
    };
    let not_constant = |nature: Nature| Nature {
        is_constant: false,
        ..nature
    };
    match kind {
        PartKind::Text | PartKind::Number | PartKind::Boolean => of(&[]),
        PartKind::Call => of(&words[1..]),
        PartKind::And | PartKind::Or | PartKind::Not => of(words),
        PartKind::Position => Nature {
            uses_position: true,
            ..Nature::default()
        },
        PartKind::Last => Nature {
            uses_last: true,
            ..Nature::default()
        },
        PartKind::Here | PartKind::Above => Nature {
            uses_here: true,
            ..Nature::default()
        },
        PartKind::Root => Nature::default(),
        PartKind::Name | PartKind::ComparePairs => not_constant(of(&words[1..])),
        PartKind::CompareSome => not_constant(of(&words[1..3])),
        PartKind::Step | PartKind::Filter => not_constant(of(&words[..1])),
        PartKind::Beside => Nature::default(),
        _ => not_constant(of(words)),
    }
}
