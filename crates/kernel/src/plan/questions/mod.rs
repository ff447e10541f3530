//! The part of a plan that is asked of whole documents: which targets are questions, and how the
//! questions are laid out for the trie to walk.

mod gather;
mod image;
mod keys;
mod layout;
mod question;

pub(super) use gather::{fits, is_question, questions};
pub(crate) use image::{Askers, BARE, Figure, Group, HALF_MARK, Image, MARK, Part};
pub(crate) use keys::codes as keyed_codes;
pub(super) use layout::lay_out;
pub(crate) use question::{Code, QuestionId, Relation};
