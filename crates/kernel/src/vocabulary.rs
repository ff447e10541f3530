//! The words that programs, plans and values share, and their codes: axes, kinds, operators.

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $code:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum $name { $($(#[$case_doc])* $case = $code),+ }
        impl $name {
            /// The case with this code.
            pub fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some($name::$case),)+ _ => None }
            }
        }
    };
}
pub(crate) use codes;

codes! {
    /// The axes that a plan evaluates.
    Axis {
        /// The node itself.
        Itself = 0,
        /// Children.
        Child = 1,
        /// Descendants.
        Descendant = 2,
        /// The node and its descendants.
        DescendantOrSelf = 3,
        /// Attributes.
        Attribute = 4,
        /// The parent.
        Parent = 5,
        /// Ancestors.
        Ancestor = 6,
        /// The node and its ancestors.
        AncestorOrSelf = 7,
        /// Later siblings.
        FollowingSibling = 8,
        /// Earlier siblings.
        PrecedingSibling = 9,
        /// What starts after the node's end.
        Following = 10,
        /// What ends before the node's start.
        Preceding = 11,
        /// Namespaces in scope.
        Namespace = 12,
    }
}

impl Axis {
    /// Whether twigs have it; the others belong to expressions.
    pub fn is_forward(self) -> bool {
        (self as u32) <= Axis::Attribute as u32
    }
}

codes! {
    /// The kinds of parts that expressions are made of; sets of nodes from `Here` on.
    PartKind {
        /// String constant.
        Text = 0,
        /// Number constant.
        Number = 1,
        /// Boolean constant.
        Boolean = 2,
        /// Operator and atoms.
        Call = 3,
        /// All parts hold.
        And = 4,
        /// Some part holds.
        Or = 5,
        /// The part does not hold.
        Not = 6,
        /// `position()`.
        Position = 7,
        /// `last()`.
        Last = 8,
        /// Whether a set has a node.
        Exists = 9,
        /// Comparison and two sets.
        ComparePairs = 10,
        /// Comparison, set, atom, whether as numbers.
        CompareSome = 11,
        /// How many nodes a set has.
        Count = 12,
        /// The sum of their numbers.
        Sum = 13,
        /// The string value of the first node.
        String = 14,
        /// A part of the name of the first node.
        Name = 15,
        /// All string values, separated by spaces.
        Strings = 16,
        /// The context node.
        Here = 17,
        /// The document node.
        Root = 18,
        /// Base set, axis, test, predicates.
        Step = 19,
        /// Base set, predicates.
        Filter = 20,
        /// Sets.
        Union = 21,
        /// The elements whose id is a word of an atom.
        Identified = 22,
        /// Values beside a result: names and sets by turns.
        Beside = 23,
        /// Test, atom, constant: the atom at the parent, or the constant where no parent passes.
        Above = 24,
        /// All string values, as an array of JSON.
        List = 25,
    }
}

codes! {
    /// The kinds of nodes; `Any` is `node()`.
    NodeKind {
        /// Every kind.
        Any = 0,
        /// The document node.
        Document = 1,
        /// Elements.
        Element = 2,
        /// Attributes.
        Attribute = 3,
        /// Text nodes.
        Text = 4,
        /// Comments.
        Comment = 5,
        /// Processing instructions.
        Instruction = 6,
        /// Namespaces in scope.
        Namespace = 7,
    }
}

impl PartKind {
    /// Whether it is a set of nodes.
    pub fn is_set(self) -> bool {
        (PartKind::Here as u32..=PartKind::Identified as u32).contains(&(self as u32))
    }
}

codes! {
    /// Aggregates over nodes.
    Aggregate {
        /// How many there are.
        Count = 0,
        /// The sum of their numbers.
        Sum = 1,
        /// The average.
        Average = 2,
        /// The least.
        Min = 3,
        /// The greatest.
        Max = 4,
    }
}

codes! {
    /// The kinds of atomic values that results are converted to.
    AtomKind {
        /// A string.
        String = 0,
        /// A number.
        Number = 1,
        /// A boolean.
        Boolean = 2,
    }
}

codes! {
    /// The parts of a name.
    NamePart {
        /// The name as written.
        Written = 1,
        /// The name without its prefix.
        Local = 2,
        /// The namespace.
        Uri = 3,
    }
}

codes! {
    /// Comparison operators.
    Comparison {
        /// `=`
        Eq = 0,
        /// `!=`
        Ne = 1,
        /// `<`
        Lt = 2,
        /// `<=`
        Le = 3,
        /// `>`
        Gt = 4,
        /// `>=`
        Ge = 5,
    }
}

codes! {
    /// Operators of scalar expressions; the first four are leaves whose argument is an index.
    Op {
        /// String constant.
        Text = 0,
        /// Number constant.
        Number = 1,
        /// Boolean constant.
        Boolean = 2,
        /// Operand of the formula.
        Operand = 3,
        /// `string(x)`
        ToString = 4,
        /// `number(x)`
        ToNumber = 5,
        /// `boolean(x)`
        ToBoolean = 6,
        /// `concat(x, …)`
        Concat = 7,
        /// `contains(x, y)`
        Contains = 8,
        /// `starts-with(x, y)`
        StartsWith = 9,
        /// `string-length(x)`
        Length = 10,
        /// `normalize-space(x)`
        Normalize = 11,
        /// `substring(x, y[, z])`
        Substring = 12,
        /// `substring-before(x, y)`
        Before = 13,
        /// `substring-after(x, y)`
        After = 14,
        /// `translate(x, y, z)`
        Translate = 15,
        /// `floor(x)`
        Floor = 16,
        /// `ceiling(x)`
        Ceiling = 17,
        /// `round(x)`
        Round = 18,
        /// `x + y`
        Add = 19,
        /// `x - y`
        Subtract = 20,
        /// `x * y`
        Multiply = 21,
        /// `x div y`
        Divide = 22,
        /// `x mod y`
        Modulo = 23,
        /// `-x`
        Negate = 24,
        /// `x = y`
        Eq = 25,
        /// `x != y`
        Ne = 26,
        /// `x < y`
        Lt = 27,
        /// `x <= y`
        Le = 28,
        /// `x > y`
        Gt = 29,
        /// `x >= y`
        Ge = 30,
    }
}
