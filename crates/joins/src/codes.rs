//! The small numbers that programs and records are written with.

/// Absent: no parent, no value, no text.
pub const NONE: u32 = u32::MAX;

/// A window without an end, and the time of what never expires.
pub const FOREVER: i64 = i64::MAX;

/// How the blocks of a stage meet in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// At most a window apart, in either order.
    Join,
    /// The right one after the left one, within the window.
    FollowedBy,
    /// The left one without any right one within the window.
    NotFollowedBy,
    /// Time does not matter.
    Meet,
}

impl Kind {
    /// The kind with this code.
    pub fn from_code(code: u32) -> Option<Kind> {
        Some(match code {
            0 => Kind::Join,
            1 => Kind::FollowedBy,
            2 => Kind::NotFollowedBy,
            3 => Kind::Meet,
            _ => return None,
        })
    }

    /// The least and the largest distance in time, right minus left, that the kind admits.
    pub fn distances(self, window: i64) -> (i64, i64) {
        match self {
            Kind::Join => (-window, window),
            Kind::FollowedBy | Kind::NotFollowedBy => (1, window),
            Kind::Meet => (-FOREVER, FOREVER),
        }
    }
}

/// Which side of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// What came before the operator.
    Left,
    /// The block after it.
    Right,
}
