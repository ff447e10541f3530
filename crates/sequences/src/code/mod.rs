//! Expressions as the evaluator reads them: flat tables, decoded from bytes and checked.
//!
//! The bytes are written by `planning/sequences/encoding.py`; the two change together. An
//! expression refers only to expressions before it, so every table is read and analysed in one pass
//! forward.

mod bytes;
mod children;
mod expr;
mod facts;

mod keeping;
mod lookups;
mod node_function;
mod read;
mod read_expr;
mod read_nodes;

pub use bytes::BadCode;
pub use expr::{
    Clause, Expr, ExprId, For, NewAttribute, NewElement, NewName, NodeOrder, OrderKey, Slot, Step,
    TypeCase,
};
pub use facts::{Amount, Facts, Order, Truth};
pub use lookups::{Binder, Lookup, LookupId, Match};
pub use node_function::NodeFunction;

use crate::atomic::{Atomic, AtomicType, Untyped};
use crate::names::{Names, QName};
use crate::tree::Test;

/// The number of a node test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TestId(pub u32);

/// The number of a sequence type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(pub u32);

/// What one item must be.
#[derive(Clone, Debug)]
pub enum ItemType {
    /// Anything.
    Item,
    /// A node that passes a test.
    Node(Test),
    /// An atomic value of a type, or of a type derived from it.
    Atomic(AtomicType),
}

/// How many items there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// Exactly one.
    One,
    /// At most one.
    Optional,
    /// Any number.
    Any,
    /// At least one.
    Some,
    /// None: `empty-sequence()`.
    None,
}

impl Occurrence {
    /// Whether so many items may be there.
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Occurrence::One => count == 1,
            Occurrence::Optional => count <= 1,
            Occurrence::Any => true,
            Occurrence::Some => count >= 1,
            Occurrence::None => count == 0,
        }
    }
}

/// What a sequence must be.
#[derive(Clone, Debug)]
pub struct SequenceType {
    /// Each item.
    pub item: ItemType,
    /// How many.
    pub occurrence: Occurrence,
}

/// A function that a query declares.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, for messages.
    pub name: QName,
    /// Where its arguments go, and what they must be.
    pub parameters: Box<[(Slot, Option<TypeId>)]>,
    /// What its value must be.
    pub result: Option<TypeId>,
    /// Its body, which has no context item.
    pub body: ExprId,
    /// How many slots a call needs.
    pub frame: usize,
}

/// A variable of the prolog.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name, for messages.
    pub name: Box<str>,
    /// Its value, of which the context item is the document node.
    pub value: ExprId,
    /// What its value must be.
    pub type_: Option<TypeId>,
}

/// What an entry is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The whole document: the context item is the document node.
    Document,
    /// An item, which is the context item.
    Context,
    /// A sequence, which is the value of a variable; the context item is the document node.
    Variable(Slot),
}

/// An expression that is evaluated from outside, for the document or for each binding.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is evaluated for.
    pub binding: Binding,
    /// The expression.
    pub body: ExprId,
}

/// The decoded expressions of one query.
pub struct Code {
    /// What the comparison of a number with text that is no number gives.
    pub untyped: Untyped,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) facts: Vec<Facts>,
    pub(crate) is_kept: Vec<bool>,
    pub(crate) lookups: Vec<Lookup>,
    pub(crate) constants: Vec<Atomic>,
    pub(crate) texts: Vec<Box<str>>,
    pub(crate) tests: Vec<Test>,
    pub(crate) types: Vec<SequenceType>,
    pub(crate) functions: Vec<Function>,
    pub(crate) globals: Vec<Global>,
    pub(crate) entries: Vec<Entry>,
}

impl Code {
    /// Decodes expressions; their names go to the table that the documents use.
    ///
    /// # Errors
    ///
    /// The bytes are not those of an encoded query.
    pub fn read(bytes: &[u8], names: &mut Names) -> Result<Code, BadCode> {
        read::read(bytes, names)
    }

    /// How many entries there are.
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Whether the value of an entry is one constructed element or document, which is handed out
    /// as one message.
    pub fn is_message(&self, entry: usize) -> bool {
        self.entries.get(entry).is_some_and(|entry| {
            matches!(
                self.expr(entry.body),
                Expr::NewElement(_) | Expr::NewDocument(_)
            )
        })
    }

    #[inline]
    pub(crate) fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    #[inline]
    pub(crate) fn facts(&self, id: ExprId) -> &Facts {
        &self.facts[id.index()]
    }
}
