//! A plan as one flat array of words: offsets, no pointers.
//!
//! The array starts with a table of contents. Records of one kind lie side by side with a fixed
//! number of words each; lists of ids lie in one pool, each behind its length, and records name
//! them by their place there. Nothing is copied to read a plan, so a mapped file serves as well
//! as owned memory.

use super::ids::{
    ExprId, FormulaId, GuardId, NumberId, OperandId, PartId, SegmentId, ShapeId, SpineId, StringId,
    SubscriptionId, TargetId, TestId,
};
use super::parts::Part;
use super::questions::{Figure, Image};
use super::records::{Expr, Formula, Guard, Operand, OperandKind, Output, Shape, Spine};
use super::requests::ByRequest;
use crate::ids::{Id, as_ids};
use crate::rows::Naming;
use crate::vocabulary::{Aggregate, AtomKind, NodeKind, Op, PartKind};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// No id.
pub const NONE: u32 = u32::MAX;
pub(super) const MAGIC: u32 = 0x504b_5350;
pub(super) const VERSION: u32 = 7;

/// The parts of an image.
#[derive(Clone, Copy, Debug)]
pub(super) enum Section {
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
    /// Open-addressed table of `= string` atoms: formula, string.
    Equals = 13,
    /// Parts of expressions: kind, list of words.
    Parts = 14,
    /// What can be asked of whole documents, an image of its own.
    Questions = 15,
    /// The plan of what cannot.
    Rest = 16,
    /// Programs that request something else than rows: subscription, place, string.
    Requests = 17,
}
pub(super) const SECTIONS: usize = 18;
pub(super) const HEAD: usize = 2 + 2 * SECTIONS;

pub(super) mod size {
    pub const TEST: usize = 3;
    pub const EXPR: usize = 2;
    pub const FORMULA: usize = 15;
    pub const SHAPE: usize = 6;
    pub const SPINE: usize = 10;
    pub const GUARD: usize = 6;
    pub const SEGMENT: usize = 3;
    pub const TARGET: usize = 5;
    pub const OPERAND: usize = 7;
    pub const PART: usize = 2;
    pub const REQUEST: usize = 4;
}

/// Many programs interned together, ready to run. Immutable; any number of automata share it.
pub struct Plan {
    words: &'static [u32],
    // Keeps the words alive; they are borrowed from it for as long as the plan lives.
    _owner: Box<dyn Any + Send + Sync>,
    offsets: [u32; SECTIONS],
    lengths: [u32; SECTIONS],
    /// Programs that request something else than rows, by what they request: sorted once.
    pub(super) by_request: OnceLock<ByRequest>,
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

    /// A plan over words that `owner` keeps alive, such as a mapped file.
    ///
    /// # Safety
    /// The words must stay where and as they are until `owner` is dropped.
    pub unsafe fn from_owner(
        words: &'static [u32],
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Plan, &'static str> {
        Plan::open(words, owner)
    }

    fn open(
        words: &'static [u32],
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Plan, &'static str> {
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
            if (offset as usize)
                .checked_add(length as usize)
                .is_none_or(|end| end > words.len())
            {
                return Err("the plan is cut off");
            }
            offsets[section] = offset;
            lengths[section] = length;
        }
        Ok(Plan {
            words,
            _owner: owner,
            offsets,
            lengths,
            by_request: OnceLock::new(),
        })
    }

    /// The whole image; `from_words` takes it back.
    pub fn words(&self) -> &[u32] {
        self.words
    }

    #[inline]
    pub(super) fn section(&self, section: Section) -> &[u32] {
        let index = section as usize;
        let start = self.offsets[index] as usize;
        &self.words[start..start + self.lengths[index] as usize]
    }

    #[inline]
    pub(super) fn record(&self, section: Section, id: impl Id, size: usize) -> &[u32] {
        let start = self.offsets[section as usize] as usize + id.index() * size;
        &self.words[start..start + size]
    }

    pub(super) fn count(&self, section: Section, size: usize) -> u32 {
        self.lengths[section as usize] / size as u32
    }

    /// The ids of a list of the pool.
    #[inline]
    pub(super) fn list<I: Id>(&self, at: u32) -> &[I] {
        as_ids(self.words_at(at))
    }

    /// The words of a list of the pool.
    #[inline]
    pub(super) fn words_at(&self, at: u32) -> &[u32] {
        let start = self.offsets[Section::Lists as usize] as usize + at as usize;
        let length = self.words[start] as usize;
        &self.words[start + 1..start + 1 + length]
    }

    /// The bytes of a string.
    pub fn string(&self, id: StringId) -> &[u8] {
        let record = self.record(Section::Strings, id, 2);
        let bytes = word_bytes(self.section(Section::Bytes));
        &bytes[record[0] as usize..(record[0] + record[1]) as usize]
    }

    /// A number.
    pub fn number(&self, id: NumberId) -> f64 {
        let record = self.record(Section::Numbers, id, 2);
        f64::from_bits(u64::from(record[0]) | u64::from(record[1]) << 32)
    }

    /// All node tests.
    pub fn tests(&self) -> impl Iterator<Item = TestId> + use<> {
        (0..self.count(Section::Tests, size::TEST)).map(TestId)
    }

    /// Kind, local name and URIs of a node test.
    pub fn test(&self, id: TestId) -> (NodeKind, Option<&[u8]>, Option<&[StringId]>) {
        let record = self.record(Section::Tests, id, size::TEST);
        let kind = NodeKind::from_code(record[0]).unwrap_or(NodeKind::Any);
        let local = (record[1] != NONE).then(|| self.string(StringId(record[1])));
        (
            kind,
            local,
            (record[2] != NONE).then(|| self.list(record[2])),
        )
    }

    /// A scalar expression.
    #[inline]
    pub fn expr(&self, id: ExprId) -> Expr<'_> {
        let record = self.record(Section::Exprs, id, size::EXPR);
        let words = self.words_at(record[1]);
        match Op::from_code(record[0]).unwrap_or(Op::Boolean) {
            Op::Text => Expr::Text(StringId(words[0])),
            Op::Number => Expr::Number(NumberId(words[0])),
            Op::Boolean => Expr::Boolean(words[0] != 0),
            Op::Operand => Expr::Operand(words[0] as usize),
            op => Expr::Call(op, as_ids(words)),
        }
    }

    /// A formula.
    #[inline]
    pub fn formula(&self, id: FormulaId) -> Formula<'_> {
        Formula {
            record: self.record(Section::Formulas, id, size::FORMULA),
            plan: self,
        }
    }

    /// How many formulas there are.
    pub fn formula_count(&self) -> u32 {
        self.count(Section::Formulas, size::FORMULA)
    }

    /// A shape.
    #[inline]
    pub fn shape(&self, id: ShapeId) -> Shape<'_> {
        Shape {
            record: self.record(Section::Shapes, id, size::SHAPE),
            plan: self,
        }
    }

    /// A step of the spine trie.
    #[inline]
    pub fn spine(&self, id: SpineId) -> Spine<'_> {
        Spine {
            record: self.record(Section::Spines, id, size::SPINE),
            plan: self,
        }
    }

    /// How many spine steps there are.
    pub fn spine_count(&self) -> u32 {
        self.count(Section::Spines, size::SPINE)
    }

    /// A guard.
    #[inline]
    pub fn guard(&self, id: GuardId) -> Guard<'_> {
        let r = self.record(Section::Guards, id, size::GUARD);
        Guard {
            spine: SpineId(r[0]),
            formula: FormulaId(r[1]),
            segment: SegmentId(r[2]),
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
    pub fn segment(&self, id: SegmentId) -> (SpineId, SpineId, &[GuardId]) {
        let r = self.record(Section::Segments, id, size::SEGMENT);
        (SpineId(r[0]), SpineId(r[1]), self.list(r[2]))
    }

    /// All targets.
    pub fn targets(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.target_count()).map(TargetId)
    }

    /// How many targets there are.
    pub fn target_count(&self) -> u32 {
        self.count(Section::Targets, size::TARGET)
    }

    /// Output and subscriptions of a target.
    #[inline]
    pub fn target(&self, id: TargetId) -> (Output, &[SubscriptionId]) {
        let r = self.record(Section::Targets, id, size::TARGET);
        let aggregate = |code: u32| Aggregate::from_code(code).unwrap_or(Aggregate::Count);
        let atom_kind = |code: u32| AtomKind::from_code(code).unwrap_or(AtomKind::Boolean);
        let output = match r[0] {
            0 => Output::Fragments,
            5 => Output::Spans,
            1 => Output::Aggregate {
                function: aggregate(r[1]),
                running: r[2] != 0,
            },
            2 => Output::Boolean {
                holds: FormulaId(r[1]),
                fails: FormulaId(r[2]),
            },
            3 => Output::Value {
                formula: FormulaId(r[1]),
                kind: atom_kind(r[2]),
            },
            6 => Output::Select {
                set: PartId(r[1]),
                spans: r[2] & 1 != 0,
                beside: PartId(r[4]),
            },
            7 => Output::SelectValue {
                atom: PartId(r[1]),
                kind: atom_kind(r[2]),
            },
            8 => Output::SelectFilter { atom: PartId(r[1]) },
            9 => Output::SelectAggregate {
                set: PartId(r[1]),
                function: aggregate(r[2] >> 1),
                running: r[2] & 1 != 0,
            },
            10 => Output::End {
                holds: FormulaId(r[1]),
            },
            _ => Output::Filter {
                holds: FormulaId(r[1]),
            },
        };
        (output, self.list(r[3]))
    }

    /// Names and sets of the values beside the results of a target.
    pub fn beside(
        &self,
        target: TargetId,
    ) -> impl ExactSizeIterator<Item = (StringId, PartId)> + '_ {
        let r = self.record(Section::Targets, target, size::TARGET);
        let part = PartId(r[4]);
        let pairs = match part.is_some().then(|| self.part(part)) {
            Some(Part::Beside(pairs)) if r[0] == 6 => pairs,
            _ => &[],
        };
        pairs
            .iter()
            .map(|&[name, set]| (StringId(name), PartId(set)))
    }

    /// How many parts expressions consist of, equal ones counted once.
    pub fn part_count(&self) -> usize {
        self.count(Section::Parts, size::PART) as usize
    }

    /// All parts of expressions, each behind those that it consists of.
    pub(crate) fn parts(&self) -> impl Iterator<Item = PartId> + use<> {
        (0..self.count(Section::Parts, size::PART)).map(PartId)
    }

    /// A part of an expression.
    #[inline]
    pub(crate) fn part(&self, id: PartId) -> Part<'_> {
        let r = self.record(Section::Parts, id, size::PART);
        let kind = PartKind::from_code(r[0]).unwrap_or(PartKind::Boolean);
        Part::new(kind, self.words_at(r[1]))
    }

    /// An operand of a computed formula.
    #[inline]
    pub fn operand(&self, id: OperandId) -> Operand {
        let r = self.record(Section::Operands, id, size::OPERAND);
        Operand {
            kind: OperandKind::of_code(r[0]),
            root: SpineId(r[1]),
            leaf: SpineId(r[2]),
            is_guarded: r[3] & 1 != 0,
            is_near: r[3] & 2 != 0,
            entry: SpineId(r[4]),
            condition: (r[5] != NONE).then_some([r[5], r[6]].map(FormulaId)),
        }
    }

    /// What can be asked of whole documents, if anything can.
    pub(crate) fn questions(&self) -> Option<Image<'_>> {
        let words = self.section(Section::Questions);
        (!words.is_empty()).then(|| Image::new(words))
    }

    /// How many distinct questions can be asked of whole documents.
    pub fn question_count(&self) -> u32 {
        self.questions()
            .map_or(0, |image| image.figure(Figure::Distinct))
    }

    /// The plan of what cannot be asked of whole documents, if there is such a rest.
    pub(crate) fn rest(self: &Arc<Self>) -> Option<Arc<Plan>> {
        let start = self.offsets[Section::Rest as usize] as usize;
        let words = &self.words[start..start + self.lengths[Section::Rest as usize] as usize];
        // The words belong to this plan's owner, which the rest keeps alive.
        Plan::open(words, Box::new(self.clone())).ok().map(Arc::new)
    }

    /// The atom `= value`, if any formula asks for that string.
    pub fn equal_atom(&self, value: &[u8]) -> Option<FormulaId> {
        self.equal(value).map(|(formula, _)| formula)
    }

    /// The string that a value is, if any formula asks for it.
    pub fn equal_string(&self, value: &[u8]) -> Option<StringId> {
        self.equal(value).map(|(_, string)| string)
    }

    fn equal(&self, value: &[u8]) -> Option<(FormulaId, StringId)> {
        let table = self.section(Section::Equals);
        if table.is_empty() {
            return None;
        }
        let mask = table.len() / 2 - 1;
        let mut slot = hash_bytes(value) as usize & mask;
        loop {
            let formula = FormulaId(table[2 * slot]);
            let string = StringId(table[2 * slot + 1]);
            if formula.is_none() {
                return None;
            }
            if self.string(string) == value {
                return Some((formula, string));
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

impl Naming for Plan {
    fn name_beside(&self, target: TargetId, place: usize) -> &[u8] {
        let name = self.beside(target).nth(place);
        name.map_or(b"", |(name, _)| self.string(name))
    }
}
