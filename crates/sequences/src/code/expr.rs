//! The kinds of expressions.

use super::lookups::LookupId;
use super::node_function::NodeFunction;
use super::{TestId, TypeId};
use crate::atomic::{AtomicType, Comparison, Operator};
use crate::functions::Builtin;
use crate::names::{QName, StringId};
use crate::tree::Axis;

/// The number of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

impl ExprId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The place of a variable in the frame of its function or entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// A location step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where it begins.
    pub base: ExprId,
    /// Its axis.
    pub axis: Axis,
    /// Its node test.
    pub test: TestId,
    /// Its predicates, which apply one after the other.
    pub predicates: Box<[ExprId]>,
    /// The index that the first predicate can be answered with.
    pub lookup: Option<LookupId>,
}

/// `is`, `<<` or `>>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOrder {
    /// The same node.
    Is,
    /// The left one comes first.
    Before,
    /// The right one comes first.
    After,
}

/// `for`, or a binding of a quantifier.
#[derive(Clone, Debug)]
pub struct For {
    /// The variable.
    pub slot: Slot,
    /// Its values.
    pub source: ExprId,
    /// The variable of `at`.
    pub position: Option<Slot>,
    /// Whether positions follow those of the evaluation before. One loop of an entry may do that.
    pub goes_on: bool,
    /// What each item must be.
    pub type_: Option<TypeId>,
    /// A conjunct of a later `where`, and the index that it can be answered with.
    pub lookup: Option<(LookupId, ExprId)>,
}

/// A key of `order by`.
#[derive(Clone, Debug)]
pub struct OrderKey {
    /// The key.
    pub key: ExprId,
    /// Whether large keys come first.
    pub is_descending: bool,
    /// Whether an empty key is larger than all others.
    pub is_empty_greatest: bool,
}

/// A clause of a FLWOR expression.
#[derive(Clone, Debug)]
pub enum Clause {
    /// `for`
    For(For),
    /// `let`
    Let {
        /// The variable.
        slot: Slot,
        /// Its value.
        source: ExprId,
        /// What its value must be.
        type_: Option<TypeId>,
    },
    /// `where`: the conjuncts of the condition.
    Where(Box<[ExprId]>),
    /// `order by`, and the variables that the tuples consist of.
    OrderBy(Box<[OrderKey]>, Box<[Slot]>),
}

/// A case of a type switch.
#[derive(Clone, Debug)]
pub struct TypeCase {
    /// None is the default.
    pub type_: Option<TypeId>,
    /// The variable that the operand is bound to.
    pub slot: Option<Slot>,
    /// The result.
    pub result: ExprId,
}

/// The name in a constructor.
#[derive(Clone, Copy, Debug)]
pub enum NewName {
    /// It is written there.
    Known(QName),
    /// It is the value of an expression.
    Computed(ExprId),
}

/// Prefixes and namespace names.
pub type Declared = Box<[(StringId, StringId)]>;

/// An element constructor.
#[derive(Clone, Debug)]
pub struct NewElement {
    /// Its name.
    pub name: NewName,
    /// The declarations written at it.
    pub namespaces: Declared,
    /// Attributes, then content.
    pub content: Box<[ExprId]>,
    /// The declarations in force around it, for computed names.
    pub scope: Declared,
}

/// An attribute constructor.
#[derive(Clone, Debug)]
pub struct NewAttribute {
    /// Its name.
    pub name: NewName,
    /// The parts of its value.
    pub value: Box<[ExprId]>,
    /// The declarations in force around it, for computed names.
    pub scope: Declared,
}

/// An expression. Its parts are expressions before it.
#[derive(Clone)]
#[allow(missing_docs)]
pub enum Expr {
    Constant(u32),
    Variable(Slot),
    /// A variable that holds exactly one item.
    Item(Slot),
    Global(u32),
    Gathered(u32),
    Here,
    Root,
    /// The document node of a document, whatever the context item is.
    Document(u32),
    Position,
    Last,
    Sequence(Box<[ExprId]>),
    Range(ExprId, ExprId),
    Step(Step),
    Filter {
        base: ExprId,
        predicates: Box<[ExprId]>,
        lookup: Option<LookupId>,
    },
    Union(Box<[ExprId]>),
    Combine {
        is_except: bool,
        left: ExprId,
        right: ExprId,
    },
    Each {
        base: ExprId,
        body: ExprId,
    },
    Arithmetic(Operator, ExprId, ExprId),
    Signed {
        is_negative: bool,
        operand: ExprId,
    },
    GeneralCompare(Comparison, ExprId, ExprId),
    ValueCompare(Comparison, ExprId, ExprId),
    NodeCompare(NodeOrder, ExprId, ExprId),
    And(Box<[ExprId]>),
    Or(Box<[ExprId]>),
    If(ExprId, ExprId, ExprId),
    Flwor(Box<[Clause]>, ExprId),
    Quantified {
        is_every: bool,
        bindings: Box<[For]>,
        test: Box<[ExprId]>,
    },
    OwnCall(u32, Box<[ExprId]>),
    NodeCall(NodeFunction, Box<[ExprId]>),
    Call(&'static Builtin, Box<[ExprId]>),
    InstanceOf(ExprId, TypeId),
    TreatAs(ExprId, TypeId),
    CastAs {
        operand: ExprId,
        target: AtomicType,
        is_optional: bool,
    },
    CastableAs {
        operand: ExprId,
        target: AtomicType,
        is_optional: bool,
    },
    TypeSwitch(ExprId, Box<[TypeCase]>),
    Characters(u32),
    NewElement(NewElement),
    NewAttribute(NewAttribute),
    NewText(ExprId),
    NewComment(ExprId),
    NewInstruction(NewName, ExprId),
    NewDocument(ExprId),
}
