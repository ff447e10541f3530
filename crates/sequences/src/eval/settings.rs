//! What an evaluation may do, and what it knows of the world.

use crate::atomic::Moment;

/// The code of the error that functions call each other too deeply.
pub const RECURSION: &str = "recursion_max";

/// What an evaluation may do, and what it knows of the world.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How deeply functions of the query may call each other.
    pub recursion_max: usize,
    /// Whether a body that is a constructor gives a message instead of an item.
    pub has_messages: bool,
    /// Whether a message is dropped all of whose enclosed expressions are empty.
    pub is_empty_dropped: bool,
    /// The current date and time.
    pub now: Moment,
}
