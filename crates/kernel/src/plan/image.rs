//! A plan as one flat array of words: offsets, no pointers.
//!
//! The array starts with a table of contents. Records of one kind lie side by side with a fixed
//! number of words each; lists of ids lie in one pool, each behind its length, and records name
//! them by their place there. Nothing is copied to read a plan, so a mapped file serves as well
//! as owned memory.

use super::program::{Axis, Comparison, NodeKind, Op, codes};
use std::any::Any;

/// No id.
pub const NONE: u32 = u32::MAX;
pub(super) const MAGIC: u32 = 0x504b_5350;
pub(super) const VERSION: u32 = 1;

codes! {
    /// The parts of an image.
    Section {
        /// Pool of id lists.
        Lists = 0,
        /// Bytes of all strings.
        Bytes = 1,
        /// Offset and length of each string.
        Strings = 2,
        /// Numbers, two words each.
        Numbers = 3,
        /// Kind, local name, list of URIs.
        Tests = 4,
        /// Operator, list of arguments.
        Exprs = 5,
        /// Formulas.
        Formulas = 6,
        /// Shapes.
        Shapes = 7,
        /// Steps of the spine trie.
        Spines = 8,
        /// Guards.
        Guards = 9,
        /// Segments between a guard and what lies below it.
        Segments = 10,
        /// Targets.
        Targets = 11,
        /// Operands of computed formulas.
        Operands = 12,
        /// Open-addressed table of `= string` atoms.
        Equals = 13,
    }
}
pub(super) const SECTIONS: usize = 14;
pub(super) const HEAD: usize = 2 + 2 * SECTIONS;

pub(super) mod size {
    pub const TEST: usize = 3;
    pub const EXPR: usize = 2;
    pub const FORMULA: usize = 14;
    pub const SHAPE: usize = 6;
    pub const SPINE: usize = 10;
    pub const GUARD: usize = 6;
    pub const SEGMENT: usize = 3;
    pub const TARGET: usize = 4;
    pub const OPERAND: usize = 7;
}

/// Many programs interned together, ready to run. Immutable; any number of matchers share it.
pub struct Plan {
    words: &'static [u32],
    // Keeps the words alive; they are borrowed from it for as long as the plan lives.
    _owner: Box<dyn Any + Send + Sync>,
    offsets: [u32; SECTIONS],
    lengths: [u32; SECTIONS],
}

impl Plan {
    /// A plan over words that the caller owns.
    pub fn from_words(words: Vec<u32>) -> Result<Plan, &'static str> {
        let owner = Box::new(words);
        // SAFETY: the vector is boxed, never changed and dropped only with the plan, so its
        // buffer outlives every borrow handed out by `&self`.
        let words = unsafe { std::slice::from_raw_parts(owner.as_ptr(), owner.len()) };
        Plan::open(words, owner)
    }

    fn open(words: &'static [u32], owner: Box<dyn Any + Send + Sync>) -> Result<Plan, &'static str> {
        if words.len() < HEAD || words[0] != MAGIC {
            return Err("these bytes are no plan");
        }
        if words[1] != VERSION {
            return Err("the plan was made by another version");
        }
        let mut offsets = [0; SECTIONS];
        let mut lengths = [0; SECTIONS];
        for section in 0..SECTIONS {
            let (offset, length) = (words[2 + 2 * section], words[3 + 2 * section]);
            if (offset as usize).checked_add(length as usize).is_none_or(|end| end > words.len()) {
                return Err("the plan is cut off");
            }
            offsets[section] = offset;
            lengths[section] = length;
        }
        Ok(Plan { words, _owner: owner, offsets, lengths })
    }

    /// The whole image; `from_words` takes it back.
    pub fn words(&self) -> &[u32] {
        self.words
    }

    #[inline]
    fn section(&self, section: Section) -> &[u32] {
        let index = section as usize;
        let start = self.offsets[index] as usize;
        &self.words[start..start + self.lengths[index] as usize]
    }

    #[inline]
    fn record(&self, section: Section, id: u32, size: usize) -> &[u32] {
        let start = self.offsets[section as usize] as usize + id as usize * size;
        &self.words[start..start + size]
    }

    fn count(&self, section: Section, size: usize) -> u32 {
        self.lengths[section as usize] / size as u32
    }

    /// A list of the pool.
    #[inline]
    pub fn list(&self, at: u32) -> &[u32] {
        let start = self.offsets[Section::Lists as usize] as usize + at as usize;
        let length = self.words[start] as usize;
        &self.words[start + 1..start + 1 + length]
    }

    /// The bytes of a string.
    pub fn string(&self, id: u32) -> &[u8] {
        let record = self.record(Section::Strings, id, 2);
        let bytes = word_bytes(self.section(Section::Bytes));
        &bytes[record[0] as usize..(record[0] + record[1]) as usize]
    }

    /// A number.
    pub fn number(&self, id: u32) -> f64 {
        let record = self.record(Section::Numbers, id, 2);
        f64::from_bits(u64::from(record[0]) | u64::from(record[1]) << 32)
    }

    /// How many node tests there are.
    pub fn test_count(&self) -> u32 {
        self.count(Section::Tests, size::TEST)
    }

    /// Kind, local name and URIs (lists of strings) of a node test.
    pub fn test(&self, id: u32) -> (NodeKind, Option<&[u8]>, Option<&[u32]>) {
        let record = self.record(Section::Tests, id, size::TEST);
        let kind = NodeKind::from_code(record[0]).unwrap_or(NodeKind::Any);
        let local = (record[1] != NONE).then(|| self.string(record[1]));
        (kind, local, (record[2] != NONE).then(|| self.list(record[2])))
    }

    /// A scalar expression.
    #[inline]
    pub fn expr(&self, id: u32) -> Expr<'_> {
        let record = self.record(Section::Exprs, id, size::EXPR);
        Expr { op: Op::from_code(record[0]).unwrap_or(Op::Boolean), args: self.list(record[1]) }
    }

    /// A formula.
    #[inline]
    pub fn formula(&self, id: u32) -> Formula<'_> {
        Formula { record: self.record(Section::Formulas, id, size::FORMULA), plan: self }
    }

    /// How many formulas there are.
    pub fn formula_count(&self) -> u32 {
        self.count(Section::Formulas, size::FORMULA)
    }

    /// A shape.
    #[inline]
    pub fn shape(&self, id: u32) -> Shape<'_> {
        Shape { record: self.record(Section::Shapes, id, size::SHAPE), plan: self }
    }

    /// A step of the spine trie; 0 is the document node.
    #[inline]
    pub fn spine(&self, id: u32) -> Spine<'_> {
        Spine { record: self.record(Section::Spines, id, size::SPINE), plan: self }
    }

    /// How many spine steps there are.
    pub fn spine_count(&self) -> u32 {
        self.count(Section::Spines, size::SPINE)
    }

    /// A guard.
    #[inline]
    pub fn guard(&self, id: u32) -> Guard<'_> {
        let r = self.record(Section::Guards, id, size::GUARD);
        Guard {
            spine: r[0],
            formula: r[1],
            segment: r[2],
            above: self.list(r[3]),
            targets: self.list(r[4]),
            operands: self.list(r[5]),
        }
    }

    /// How many guards there are.
    pub fn guard_count(&self) -> u32 {
        self.count(Section::Guards, size::GUARD)
    }

    /// Upper spine, lower spine and guards of a segment.
    #[inline]
    pub fn segment(&self, id: u32) -> (u32, u32, &[u32]) {
        let r = self.record(Section::Segments, id, size::SEGMENT);
        (r[0], r[1], self.list(r[2]))
    }

    /// Output and subscriptions of a target.
    #[inline]
    pub fn target(&self, id: u32) -> (Output, &[u32]) {
        let r = self.record(Section::Targets, id, size::TARGET);
        let output = match r[0] {
            0 => Output::Fragments,
            1 => Output::Aggregate { function: r[1], running: r[2] != 0 },
            2 => Output::Boolean { holds: r[1], fails: r[2] },
            3 => Output::Value { formula: r[1], kind: r[2] },
            _ => Output::Filter { holds: r[1] },
        };
        (output, self.list(r[3]))
    }

    /// How many targets there are.
    pub fn target_count(&self) -> u32 {
        self.count(Section::Targets, size::TARGET)
    }

    /// An operand of a computed formula.
    #[inline]
    pub fn operand(&self, id: u32) -> Operand {
        let r = self.record(Section::Operands, id, size::OPERAND);
        let kind = match r[0] {
            0 => OperandKind::Value,
            1 => OperandKind::Name,
            2 => OperandKind::LocalName,
            3 => OperandKind::Uri,
            _ => OperandKind::Truth,
        };
        Operand {
            kind,
            root: r[1],
            leaf: r[2],
            is_guarded: r[3] & 1 != 0,
            is_near: r[3] & 2 != 0,
            entry: r[4],
            condition: (r[5] != NONE).then_some([r[5], r[6]]),
        }
    }

    /// The atom `= value`, if any formula asks for that string.
    pub fn equal_atom(&self, value: &[u8]) -> Option<u32> {
        let table = self.section(Section::Equals);
        if table.is_empty() {
            return None;
        }
        let mask = table.len() - 1;
        let mut slot = hash_bytes(value) as usize & mask;
        loop {
            let formula = table[slot];
            if formula == NONE {
                return None;
            }
            if self.string(self.formula(formula).constant()) == value {
                return Some(formula);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// The words as bytes.
pub(super) fn word_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: every byte of a word is initialised and u8 has no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 4) }
}

/// FNV-1a with a final mix: the table is part of the image, so the function is part of the format.
pub(super) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^ (hash >> 32)
}

/// A scalar expression: operator and arguments.
#[derive(Clone, Copy)]
pub struct Expr<'a> {
    /// The operator.
    pub op: Op,
    /// Expressions, or for a leaf one index.
    pub args: &'a [u32],
}

/// What a target reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The nodes.
    Fragments,
    /// 0 count, 1 sum, 2 avg, 3 min, 4 max.
    Aggregate {
        /// Which one.
        function: u32,
        /// Whether it reports after every node.
        running: bool,
    },
    /// A boolean, by a formula at the document node and its negation.
    Boolean {
        /// Holds when the answer is true.
        holds: u32,
        /// Holds when the answer is false.
        fails: u32,
    },
    /// A computed formula at the document node.
    Value {
        /// The formula.
        formula: u32,
        /// 0 string, 1 number, 2 boolean.
        kind: u32,
    },
    /// One match per document.
    Filter {
        /// Holds when the document matches.
        holds: u32,
    },
}

/// Which part of a node an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// An operand of a computed formula. `root` NONE: a part of the context node itself.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Which part.
    pub kind: OperandKind,
    /// Root of the operand's spine, matched at the context node.
    pub root: u32,
    /// Leaf of the operand's spine.
    pub leaf: u32,
    /// Whether there are conditions on the way.
    pub is_guarded: bool,
    /// Whether the path stays at the node and its attributes, so that all it can reach is known
    /// when those are.
    pub is_near: bool,
    /// The last of the self steps that the path starts with, or its root: a node that does not
    /// match it can reach nothing.
    pub entry: u32,
    /// A formula and its negation, whose truth is the operand.
    pub condition: Option<[u32; 2]>,
}

/// A guarded suffix of a path.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// The step it stands at.
    pub spine: u32,
    /// The formula that has to hold there.
    pub formula: u32,
    /// The segment down to the next guard or the leaf.
    pub segment: u32,
    /// Segments that lead up to the guards above.
    pub above: &'a [u32],
    /// Targets for which it is the topmost guard.
    pub targets: &'a [u32],
    /// Operands for which it is: pairs of computed formula and place.
    pub operands: &'a [u32],
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
    record: &'a [u32],
    plan: &'a Plan,
}

impl<'a> Formula<'a> {
    /// Its kind.
    #[inline]
    pub fn kind(&self) -> FormulaKind {
        FormulaKind::from_code(self.record[0]).unwrap_or(FormulaKind::False)
    }
    /// Children of And and Or; operands of Computed.
    #[inline]
    pub fn children(&self) -> &'a [u32] {
        self.plan.list(self.record[4])
    }
    /// The child of Not; the formula that an Edge leads to.
    #[inline]
    pub fn sub(&self) -> u32 {
        self.record[3]
    }
    /// The axis of an Edge: child, descendant or attribute.
    #[inline]
    pub fn axis(&self) -> Axis {
        Axis::from_code(self.record[1]).unwrap_or(Axis::Child)
    }
    /// The node test of Edge and Is.
    #[inline]
    pub fn test(&self) -> u32 {
        self.record[2]
    }
    /// The operator of Text and Number.
    #[inline]
    pub fn comparison(&self) -> Comparison {
        Comparison::from_code(self.record[1]).unwrap_or(Comparison::Eq)
    }
    /// The string or number of a value atom.
    #[inline]
    pub fn constant(&self) -> u32 {
        self.record[2]
    }
    /// The expression of Computed.
    #[inline]
    pub fn expr(&self) -> u32 {
        self.record[2]
    }
    /// Its shape.
    #[inline]
    pub fn shape(&self) -> u32 {
        self.record[5]
    }
    /// Its negation, if some formula needs it.
    #[inline]
    pub fn negation(&self) -> u32 {
        self.record[6]
    }
    /// Disjunctions with this child.
    #[inline]
    pub fn disjunctions(&self) -> &'a [u32] {
        self.plan.list(self.record[7])
    }
    /// Conjunctions that this child wakes.
    #[inline]
    pub fn conjunctions(&self) -> &'a [u32] {
        self.plan.list(self.record[8])
    }
    /// Edges that lead to this formula.
    #[inline]
    pub fn edges(&self) -> &'a [u32] {
        self.plan.list(self.record[9])
    }
    /// Guards with this formula.
    #[inline]
    pub fn guards(&self) -> &'a [u32] {
        self.plan.list(self.record[10])
    }
    /// Targets that watch this formula at the document node.
    #[inline]
    pub fn root_targets(&self) -> &'a [u32] {
        self.plan.list(self.record[11])
    }
    /// Operands that its truth answers: computed formula, place, answer.
    #[inline]
    pub fn operands(&self) -> &'a [u32] {
        self.plan.list(self.record[13])
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
    }
}

/// View of a shape record.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    record: &'a [u32],
    plan: &'a Plan,
}

impl<'a> Shape<'a> {
    /// Its kind.
    #[inline]
    pub fn kind(&self) -> ShapeKind {
        ShapeKind::from_code(self.record[0]).unwrap_or(ShapeKind::Constant)
    }
    /// The axis of an Edge.
    pub fn axis(&self) -> Axis {
        Axis::from_code(self.record[1]).unwrap_or(Axis::Child)
    }
    /// The test of an Edge.
    pub fn test(&self) -> u32 {
        self.record[2]
    }
    /// The shape below an Edge or Not.
    pub fn sub(&self) -> u32 {
        self.record[3]
    }
    /// Children of And and Or; operands of Computed.
    pub fn children(&self) -> &'a [u32] {
        self.plan.list(self.record[4])
    }
    /// The formulas of this shape.
    pub fn formulas(&self) -> &'a [u32] {
        self.plan.list(self.record[5])
    }
}

/// View of a spine record.
#[derive(Clone, Copy)]
pub struct Spine<'a> {
    record: &'a [u32],
    plan: &'a Plan,
}

impl<'a> Spine<'a> {
    /// The step above; NONE for the document node and for the root of an operand.
    #[inline]
    pub fn parent(&self) -> u32 {
        self.record[0]
    }
    /// How it is reached from there.
    #[inline]
    pub fn axis(&self) -> Axis {
        Axis::from_code(self.record[1]).unwrap_or(Axis::Child)
    }
    /// The steps below by axis and test: triples, sorted.
    pub fn kids(&self) -> &'a [u32] {
        self.plan.list(self.record[3])
    }
    /// Targets whose nodes this step selects at once.
    pub fn plain(&self) -> &'a [u32] {
        self.plan.list(self.record[4])
    }
    /// Segments that end in this leaf.
    pub fn segments(&self) -> &'a [u32] {
        self.plan.list(self.record[5])
    }
    /// Formulas of the guards at this step.
    pub fn formulas(&self) -> &'a [u32] {
        self.plan.list(self.record[6])
    }
    /// Computed formulas (pairs with the operand's place) whose operand is this leaf.
    pub fn claims(&self) -> &'a [u32] {
        self.plan.list(self.record[7])
    }
    /// Every target that may select this leaf.
    pub fn reach(&self) -> &'a [u32] {
        self.plan.list(self.record[8])
    }
    /// Whether a target needs the number of the node.
    pub fn needs_number(&self) -> bool {
        self.record[9] != 0
    }
}
