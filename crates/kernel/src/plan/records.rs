//! Views of the records of a plan: what each word of a record means.

use super::ids::{
    ExprId, FormulaId, GuardId, NumberId, OperandId, PartId, SegmentId, ShapeId, SpineId, StringId,
    TargetId, TestId,
};
use super::image::Plan;
use crate::events::local_name;
use crate::values::ValueTest;
use crate::vocabulary::{Aggregate, AtomKind, Axis, Comparison, NodeKind, Op, codes};

/// A scalar expression.
#[derive(Clone, Copy)]
pub enum Expr<'a> {
    /// A string constant.
    Text(StringId),
    /// A number constant.
    Number(NumberId),
    /// A boolean constant.
    Boolean(bool),
    /// An operand of the formula, by its place among them.
    Operand(usize),
    /// An operator and its arguments.
    Call(Op, &'a [ExprId]),
}

/// What a target reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// The nodes.
    Fragments,
    /// The nodes, without their bytes.
    Spans,
    /// An aggregate over the nodes.
    Aggregate {
        /// Which one.
        function: Aggregate,
        /// Whether it reports after every node.
        running: bool,
    },
    /// A boolean, by a formula at the document node and its negation.
    Boolean {
        /// Holds when the answer is true.
        holds: FormulaId,
        /// Holds when the answer is false.
        fails: FormulaId,
    },
    /// A computed formula at the document node.
    Value {
        /// The formula.
        formula: FormulaId,
        /// What the value is converted to.
        kind: AtomKind,
    },
    /// One match per document.
    Filter {
        /// Holds when the document matches.
        holds: FormulaId,
    },
    /// Nothing: once it holds, no other program of the plan finds anything more in the document.
    End {
        /// Holds from then on.
        holds: FormulaId,
    },
    /// The nodes of a set.
    Select {
        /// The set, a part.
        set: PartId,
        /// Whether they come without their bytes.
        spans: bool,
        /// What travels beside them, a part; NONE if nothing does.
        beside: PartId,
    },
    /// The value of an atom at the document node.
    SelectValue {
        /// The atom, a part.
        atom: PartId,
        /// What the value is converted to.
        kind: AtomKind,
    },
    /// One match per document, when an atom is true.
    SelectFilter {
        /// The atom, a part.
        atom: PartId,
    },
    /// An aggregate over a set.
    SelectAggregate {
        /// The set, a part.
        set: PartId,
        /// As for `Aggregate`.
        function: Aggregate,
        /// Whether it reports after every node.
        running: bool,
    },
}

impl Output {
    /// Whether the results are nodes with their bytes.
    pub fn has_bytes(self) -> bool {
        matches!(
            self,
            Output::Fragments | Output::Select { spans: false, .. }
        )
    }

    /// Whether the results are nodes.
    pub fn has_nodes(self) -> bool {
        matches!(
            self,
            Output::Fragments | Output::Spans | Output::Select { .. }
        )
    }

    /// Function and whether it is running, of an aggregate.
    pub fn aggregate(self) -> Option<(Aggregate, bool)> {
        match self {
            Output::Aggregate { function, running }
            | Output::SelectAggregate {
                function, running, ..
            } => Some((function, running)),
            _ => None,
        }
    }
}

/// Which part of a node an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// Its string value.
    Value,
    /// Its name as written.
    Name,
    /// Its local name.
    LocalName,
    /// Its namespace.
    Uri,
    /// Not a part: whether a condition holds at the node, as `true` or `false`.
    Truth,
}

impl OperandKind {
    /// The kind of a program's code, which was checked when the program was read.
    pub fn of_code(code: u32) -> OperandKind {
        match code {
            0 => OperandKind::Value,
            1 => OperandKind::Name,
            2 => OperandKind::LocalName,
            3 => OperandKind::Uri,
            _ => OperandKind::Truth,
        }
    }

    /// The part of a node's name that it is, if it is one.
    pub fn name_part<'a>(self, kind: NodeKind, name: &'a [u8], uri: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            OperandKind::Value | OperandKind::Truth => None,
            OperandKind::Name => Some(name),
            OperandKind::LocalName => Some(local_name(kind, name)),
            OperandKind::Uri => Some(uri),
        }
    }
}

/// An operand of a computed formula. Without a `root` it is a part of the context node itself.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Which part.
    pub kind: OperandKind,
    /// Root of the operand's spine, matched at the context node.
    pub root: SpineId,
    /// Leaf of the operand's spine.
    pub leaf: SpineId,
    /// Whether there are conditions on the way.
    pub is_guarded: bool,
    /// Whether the path stays at the node and its attributes, so that all it can reach is known
    /// when those are.
    pub is_near: bool,
    /// The last of the self steps that the path starts with, or its root: a node that does not
    /// match it can reach nothing.
    pub entry: SpineId,
    /// A formula and its negation, whose truth is the operand.
    pub condition: Option<[FormulaId; 2]>,
}

/// A guarded suffix of a path.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// The step it stands at.
    pub spine: SpineId,
    /// The formula that has to hold there.
    pub formula: FormulaId,
    /// The segment down to the next guard or the leaf.
    pub segment: SegmentId,
    /// Segments that lead up to the guards above.
    pub above: &'a [SegmentId],
    /// Targets for which it is the topmost guard.
    pub targets: &'a [TargetId],
    /// Operands for which it is.
    pub operands: &'a [OperandId],
}

codes! {
    /// Kinds of formulas.
    FormulaKind {
        /// Always.
        True = 0,
        /// Never.
        False = 1,
        /// All children.
        And = 2,
        /// Some child.
        Or = 3,
        /// Not the child.
        Not = 4,
        /// Some node along an axis.
        Edge = 5,
        /// The node passes a test.
        Is = 6,
        /// Its string value compares with a string.
        Text = 7,
        /// Its number compares with a number.
        Number = 8,
        /// Its string value contains a string.
        Contains = 9,
        /// Its string value starts with a string.
        StartsWith = 10,
        /// An expression over operands.
        Computed = 11,
    }
}

/// View of a formula record.
#[derive(Clone, Copy)]
pub struct Formula<'a> {
    pub(super) record: &'a [u32],
    pub(super) plan: &'a Plan,
}

impl<'a> Formula<'a> {
    /// Its kind.
    #[inline]
    pub fn kind(&self) -> FormulaKind {
        FormulaKind::from_code(self.record[0]).unwrap_or(FormulaKind::False)
    }
    /// Children of And and Or.
    #[inline]
    pub fn children(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[4])
    }
    /// Operands of Computed.
    #[inline]
    pub fn operands(&self) -> &'a [OperandId] {
        self.plan.list(self.record[4])
    }
    /// The child of Not; the formula that an Edge leads to.
    #[inline]
    pub fn sub(&self) -> FormulaId {
        FormulaId(self.record[3])
    }
    /// The axis of an Edge: child, descendant or attribute.
    #[inline]
    pub fn axis(&self) -> Axis {
        Axis::from_code(self.record[1]).unwrap_or(Axis::Child)
    }
    /// The node test of Edge and Is.
    #[inline]
    pub fn test(&self) -> TestId {
        TestId(self.record[2])
    }
    /// The operator of Text and Number.
    #[inline]
    pub fn comparison(&self) -> Comparison {
        Comparison::from_code(self.record[1]).unwrap_or(Comparison::Eq)
    }
    /// The string of an atom that compares strings.
    #[inline]
    pub fn string(&self) -> StringId {
        StringId(self.record[2])
    }
    /// The number of Number.
    #[inline]
    pub fn number(&self) -> NumberId {
        NumberId(self.record[2])
    }
    /// The test of the string value, if it is one: Text, Number, Contains, StartsWith.
    #[inline]
    pub fn value_test(&self) -> Option<ValueTest<&'a [u8]>> {
        let op = self.comparison();
        let string = || self.plan.string(self.string());
        Some(match self.kind() {
            FormulaKind::Text if op == Comparison::Eq => ValueTest::Equal(string()),
            FormulaKind::Text => ValueTest::Differs(string()),
            FormulaKind::Number => ValueTest::Number(op, self.plan.number(self.number()).to_bits()),
            FormulaKind::Contains => ValueTest::Contains(string()),
            FormulaKind::StartsWith => ValueTest::StartsWith(string()),
            _ => return None,
        })
    }
    /// The expression of Computed.
    #[inline]
    pub fn expr(&self) -> ExprId {
        ExprId(self.record[2])
    }
    /// Its shape.
    #[inline]
    pub fn shape(&self) -> ShapeId {
        ShapeId(self.record[5])
    }
    /// Its negation, or NONE where no formula needs it.
    #[inline]
    pub fn negation(&self) -> FormulaId {
        FormulaId(self.record[6])
    }
    /// Disjunctions with this child.
    #[inline]
    pub fn disjunctions(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[7])
    }
    /// Conjunctions that this child wakes.
    #[inline]
    pub fn conjunctions(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[8])
    }
    /// Conjunctions with this child, which another one wakes.
    #[inline]
    pub fn memberships(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[14])
    }
    /// Edges that lead to this formula.
    #[inline]
    pub fn edges(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[9])
    }
    /// Guards with this formula.
    #[inline]
    pub fn guards(&self) -> &'a [GuardId] {
        self.plan.list(self.record[10])
    }
    /// Targets that watch this formula at the document node.
    #[inline]
    pub fn root_targets(&self) -> &'a [TargetId] {
        self.plan.list(self.record[11])
    }
    /// Operands that its truth answers, with the answers.
    #[inline]
    pub fn answers(&self) -> impl Iterator<Item = (OperandId, bool)> + use<'a> {
        let words = self.plan.words_at(self.record[13]).chunks_exact(2);
        words.map(|pair| (OperandId(pair[0]), pair[1] != 0))
    }
    /// Whether it has to announce its truth; otherwise it is only probed.
    #[inline]
    pub fn announces(&self) -> bool {
        self.record[12] != 0
    }
}

codes! {
    /// Kinds of shapes.
    ShapeKind {
        /// True or false.
        Constant = 0,
        /// All.
        And = 1,
        /// Some.
        Or = 2,
        /// Negation.
        Not = 3,
        /// Along an axis.
        Edge = 4,
        /// A test of the node.
        Is = 5,
        /// Value atoms answered by the hash.
        Equal = 6,
        /// Value atoms tried one by one.
        Atom = 7,
        /// Expressions over operands.
        Computed = 8,
        /// Numbers that a value is above, sorted; the value may be the number itself.
        Above = 9,
        /// Numbers that a value is below.
        Below = 10,
        /// Numbers that a value is equal to.
        Same = 11,
    }
}

/// View of a shape record.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    pub(super) record: &'a [u32],
    pub(super) plan: &'a Plan,
}

impl<'a> Shape<'a> {
    /// Its kind.
    #[inline]
    pub fn kind(&self) -> ShapeKind {
        ShapeKind::from_code(self.record[0]).unwrap_or(ShapeKind::Constant)
    }
    /// Whether its atoms are numbers that lie sorted.
    pub fn is_ordered(&self) -> bool {
        let kind = self.kind();
        matches!(kind, ShapeKind::Above | ShapeKind::Below | ShapeKind::Same)
    }
    /// The axis of an Edge.
    pub fn axis(&self) -> Axis {
        Axis::from_code(self.record[1]).unwrap_or(Axis::Child)
    }
    /// The test of an Edge.
    pub fn test(&self) -> TestId {
        TestId(self.record[2])
    }
    /// The shape below an Edge or Not.
    pub fn sub(&self) -> ShapeId {
        ShapeId(self.record[3])
    }
    /// Children of And and Or.
    pub fn children(&self) -> &'a [ShapeId] {
        self.plan.list(self.record[4])
    }
    /// Operands of Computed.
    pub fn operands(&self) -> &'a [OperandId] {
        self.plan.list(self.record[4])
    }
    /// The formulas of this shape.
    pub fn formulas(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[5])
    }
}

/// View of a spine record.
#[derive(Clone, Copy)]
pub struct Spine<'a> {
    pub(super) record: &'a [u32],
    pub(super) plan: &'a Plan,
}

impl<'a> Spine<'a> {
    /// The step above; NONE for the document node and for the root of an operand.
    #[inline]
    pub fn parent(&self) -> SpineId {
        SpineId(self.record[0])
    }
    /// How it is reached from there.
    #[inline]
    pub fn axis(&self) -> Axis {
        Axis::from_code(self.record[1]).unwrap_or(Axis::Child)
    }
    /// The steps below with their axes and tests.
    pub fn kids(&self) -> impl Iterator<Item = (Axis, TestId, SpineId)> + use<'a> {
        let words = self.plan.words_at(self.record[3]).chunks_exact(3);
        words.map(|kid| {
            let axis = Axis::from_code(kid[0]).unwrap_or(Axis::Child);
            (axis, TestId(kid[1]), SpineId(kid[2]))
        })
    }
    /// The step below along an axis with a test.
    pub fn kid(&self, axis: Axis, test: TestId) -> Option<SpineId> {
        // Triples, sorted by axis and test.
        let (kids, _) = self.plan.words_at(self.record[3]).as_chunks::<3>();
        let at = kids.binary_search_by_key(&(axis as u32, test.0), |kid| (kid[0], kid[1]));
        at.ok().map(|at| SpineId(kids[at][2]))
    }
    /// Targets whose nodes this step selects at once.
    pub fn plain(&self) -> &'a [TargetId] {
        self.plan.list(self.record[4])
    }
    /// Segments that end in this leaf.
    pub fn segments(&self) -> &'a [SegmentId] {
        self.plan.list(self.record[5])
    }
    /// Formulas of the guards at this step.
    pub fn formulas(&self) -> &'a [FormulaId] {
        self.plan.list(self.record[6])
    }
    /// Operands that end in this leaf.
    pub fn claims(&self) -> &'a [OperandId] {
        self.plan.list(self.record[7])
    }
    /// Every target that may select this leaf.
    pub fn reach(&self) -> &'a [TargetId] {
        self.plan.list(self.record[8])
    }
    /// Whether a target needs the number of the node.
    pub fn needs_number(&self) -> bool {
        self.record[9] != 0
    }
}
