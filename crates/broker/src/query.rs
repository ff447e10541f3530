//! What a broker can be asked: one loop over a path, a condition on the bound node, an output.
//!
//! ```text
//! for $b in /book//section[@id <= 2]   binding: steps, each with a condition
//! where $b//figure/title = "XML"       condition: comparisons of relative paths with constants
//! return <s>{ $b/title }</s>           output: known by its number, made by somebody else
//! ```

/// A node test, as whoever fills the store numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestId(pub u32);

/// An output: what a message says for each bound node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputId(pub u32);

/// How a step goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// To children.
    Child,
    /// To all descendants.
    Descendant,
}

/// A step to elements.
pub type Step = (Axis, TestId);

/// What of the elements at the end of a path is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Their string values.
    Element,
    /// Attributes that pass a test.
    Attribute(TestId),
    /// Their own text nodes.
    Text,
}

/// A path from a bound node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The steps to elements; none stays at the bound node.
    pub steps: Box<[Step]>,
    /// What is looked at there.
    pub field: Field,
}

/// How a value is compared with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Operator {
    /// Whether it holds for a value and a constant in this order; None is a number that is none.
    #[inline]
    pub fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match self {
            Operator::Equal => order == Some(Equal),
            Operator::NotEqual => order != Some(Equal),
            Operator::Less => order == Some(Less),
            Operator::LessOrEqual => matches!(order, Some(Less | Equal)),
            Operator::Greater => order == Some(Greater),
            Operator::GreaterOrEqual => matches!(order, Some(Greater | Equal)),
        }
    }

    /// Whether it asks for an order.
    pub fn is_range(self) -> bool {
        !matches!(self, Operator::Equal | Operator::NotEqual)
    }
}

/// What values are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Text.
    Text,
    /// Numbers; text that is none is an error.
    Number,
    /// Numbers; text that is none compares with nothing.
    LenientNumber,
}

/// A constant. Which of the two it is follows from the kind of the comparison.
#[derive(Clone, Debug)]
pub enum Constant {
    /// Text.
    Text(Box<[u8]>),
    /// A number.
    Number(f64),
}

impl Constant {
    /// A number as a key: equal numbers have equal keys, and what equals nothing has none.
    pub fn number_key(number: f64) -> Option<u64> {
        // The two zeros are equal.
        (!number.is_nan()).then(|| (number + 0.0).to_bits())
    }
}

/// A condition at a bound node.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Always.
    True,
    /// Some value at the end of a path compares with a constant.
    Compare(Path, Kind, Operator, Constant),
    /// A path leads somewhere.
    Exists(Path),
    /// All hold; the first that does not decides.
    And(Vec<Condition>),
    /// Some holds; the first that does decides.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

/// A step of a binding path, and what holds at its elements.
#[derive(Clone, Debug)]
pub struct BindingStep {
    /// The step.
    pub step: Step,
    /// What holds there.
    pub condition: Condition,
}

/// A query.
#[derive(Clone, Debug)]
pub struct Query {
    /// The path that a variable is bound to the nodes of, from the document node. It has steps.
    pub binding: Vec<BindingStep>,
    /// What holds at the bound nodes that are left.
    pub condition: Condition,
    /// What is said of them.
    pub output: OutputId,
    /// Who asks.
    pub subscription: u32,
}
