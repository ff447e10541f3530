//! Built-in functions of atomic values.
//!
//! A function is found by its name and the number of its arguments. The caller converts each
//! argument with `convert` and calls the function with the values.

mod conversion;
mod environment;

pub use conversion::{Kind, Occurrence, Parameter, convert};
pub use environment::Environment;
use smallvec::SmallVec;

use crate::atomic::Atomic;
use crate::error::Result;

/// A sequence of atomic values; most have one.
pub type Values = SmallVec<[Atomic; 1]>;

/// A built-in function.
pub struct Builtin {
    /// The local name, or `xs:integer` for the constructor of a type.
    pub name: &'static str,
    /// What the arguments are converted to. The last one holds for all further arguments of a
    /// variadic function.
    pub parameters: &'static [Parameter],
    /// How many arguments there are at least; further parameters may be left out.
    pub required: usize,
    /// Whether there may be more arguments than parameters.
    pub is_variadic: bool,
    /// What the function returns.
    pub result: Parameter,
    /// The function itself.
    pub call: fn(&mut Call<'_>) -> Result<Values>,
}

impl Builtin {
    /// What the argument at a place is converted to.
    pub fn parameter(&self, place: usize) -> Option<&Parameter> {
        match self.parameters.get(place) {
            None if self.is_variadic => self.parameters.last(),
            found => found,
        }
    }

    fn takes(&self, arity: usize) -> bool {
        self.required <= arity && (self.is_variadic || arity <= self.parameters.len())
    }
}

/// One call of a function: its converted arguments, and what it may know besides.
pub struct Call<'a> {
    /// The function that is called.
    pub builtin: &'static Builtin,
    /// The values of each argument. A function may take them out.
    pub arguments: &'a mut [Values],
    /// The time of the evaluation, and patterns that were compiled before.
    pub environment: &'a Environment,
}

static GROUPS: [&[Builtin]; 0] = [];

/// The function with a name that takes so many arguments.
pub fn find(name: &str, arity: usize) -> Option<&'static Builtin> {
    let mut builtins = GROUPS.iter().flat_map(|group| group.iter());
    builtins.find(|builtin| builtin.name == name && builtin.takes(arity))
}
