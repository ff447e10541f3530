//! What the value of a part depends on, known before any document is read.

use crate::plan::{Part, PartId, Plan};
use crate::tables::Table;

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

/// The nature of each part of a plan.
pub fn natures(plan: &Plan) -> Table<PartId, Nature> {
    let mut natures = Table::default();
    for part in plan.parts() {
        natures.push(nature(plan.part(part), &natures));
    }
    natures
}

/// The nature of a part, given those before it.
fn nature(part: Part<'_>, known: &Table<PartId, Nature>) -> Nature {
    let mut all = Nature {
        is_constant: true,
        ..Nature::default()
    };
    for operand in part.operands() {
        let nature = known[operand];
        all.is_constant &= nature.is_constant;
        all.uses_here |= nature.uses_here;
        all.uses_position |= nature.uses_position;
        all.uses_last |= nature.uses_last;
    }
    match part {
        Part::Position => Nature {
            uses_position: true,
            ..Nature::default()
        },
        Part::Last => Nature {
            uses_last: true,
            ..Nature::default()
        },
        Part::Here | Part::Above { .. } => Nature {
            uses_here: true,
            ..Nature::default()
        },
        Part::Text(_) | Part::Number(_) | Part::Boolean(_) => all,
        Part::Call(..) | Part::And(_) | Part::Or(_) | Part::Not(_) => all,
        _ => Nature {
            is_constant: false,
            ..all
        },
    }
}
