//! What the schema of a stream says of elements, for strategies that use it.

use super::alphabet::Alphabet;
use penstock_broker::{Nesting, TestId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Which elements may lie in each other. An element on no loop never lies in one of its name.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// By local name: the number of the loop. None: nothing is known.
    pub of: Option<Arc<FxHashMap<Box<[u8]>, u32>>>,
    /// Documents may break it.
    pub is_checked: bool,
}

impl Loops {
    /// What is known of the elements that pass a test.
    pub fn nesting(&self, alphabet: &Alphabet, test: TestId) -> Nesting {
        let (Some(loops), Some(local)) = (&self.of, alphabet.local(test)) else {
            return Nesting::Unknown;
        };
        match loops.get(local) {
            Some(&number) => Nesting::Loop(number),
            None => Nesting::Never,
        }
    }
}
