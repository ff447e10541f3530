//! Ids as types, so that the number of one kind of thing cannot stand for one of another.
//!
//! An id is as wide as a word of a plan and costs nothing: `FormulaId(word)` is the id in a word,
//! and `id.0` the word of an id.

use std::mem::ManuallyDrop;

/// A number that names one thing of a kind.
///
/// # Safety
/// The type is a transparent wrapper of `u32`: words of a plan are read as ids in place.
pub unsafe trait Id: Copy {
    /// The id of the thing at a place of its table.
    fn at(index: usize) -> Self;

    /// The place of the thing in its table.
    fn index(self) -> usize;
}

/// Words as ids.
#[inline]
pub fn as_ids<I: Id>(words: &[u32]) -> &[I] {
    const { assert!(size_of::<I>() == size_of::<u32>()) };
    // SAFETY: an id is a transparent wrapper of `u32`, and every word is an id.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// Ids as words.
#[inline]
pub fn as_words<I: Id>(ids: &[I]) -> &[u32] {
    const { assert!(size_of::<I>() == size_of::<u32>()) };
    // SAFETY: an id is a transparent wrapper of `u32`.
    unsafe { std::slice::from_raw_parts(ids.as_ptr().cast(), ids.len()) }
}

/// The same of a vector, in place.
pub fn into_words<I: Id>(ids: Vec<I>) -> Vec<u32> {
    const { assert!(size_of::<I>() == size_of::<u32>()) };
    let mut ids = ManuallyDrop::new(ids);
    // SAFETY: an id is a transparent wrapper of `u32`, and the vector's memory changes hands.
    unsafe { Vec::from_raw_parts(ids.as_mut_ptr().cast(), ids.len(), ids.capacity()) }
}

/// Defines id types, each with its meaning.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        // Not every kind of id uses all of these.
        #[allow(dead_code)]
        impl $name {
            /// No id.
            pub const NONE: $name = $name(u32::MAX);

            /// The place of the thing in its table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Whether it is no id.
            #[inline]
            pub fn is_none(self) -> bool {
                self == $name::NONE
            }

            /// Whether it is an id.
            #[inline]
            pub fn is_some(self) -> bool {
                self != $name::NONE
            }
        }

        // SAFETY: it is a transparent wrapper of `u32`.
        unsafe impl $crate::ids::Id for $name {
            #[inline]
            fn at(index: usize) -> Self {
                $name(index as u32)
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}
pub(crate) use ids;

ids! {
    /// A subscription, by the number that its plan gives it or, in a session, that of the session.
    SubscriptionId,
    /// A document, by the number that its rows carry.
    DocumentId,
    /// What subscriptions ask for, each distinct output of distinct patterns once.
    TargetId,
}
