//! Reading the tables of encoded expressions.

use super::bytes::{BadCode, Bytes, Read};
use super::expr::{Expr, ExprId, Slot};
use super::facts::{Facts, facts_of};
use super::keeping::kept;
use super::lookups::Lookup;
use super::{
    Binding, Code, Entry, Function, Global, ItemType, Occurrence, SequenceType, TestId, TypeId,
};
use crate::atomic::{Atomic, AtomicType, Untyped};
use crate::names::{Names, QName, StringId};
use crate::tree::{Kind, NameTest, Test, UriTest};

/// The first bytes.
const MAGIC: &[u8] = b"PSQ1";
/// Deeper expressions might use up the machine's stack.
const DEPTH_MAX: u32 = 500;
/// More slots than any query has variables.
const SLOTS_MAX: usize = 1 << 16;

const KINDS: [Option<Kind>; 7] = [
    None,
    Some(Kind::Document),
    Some(Kind::Element),
    Some(Kind::Attribute),
    Some(Kind::Text),
    Some(Kind::Comment),
    Some(Kind::Instruction),
];
const OCCURRENCES: [Occurrence; 5] = [
    Occurrence::One,
    Occurrence::Optional,
    Occurrence::Any,
    Occurrence::Some,
    Occurrence::None,
];

/// The tables that are read so far.
#[derive(Default)]
pub(super) struct Tables {
    pub strings: Vec<StringId>,
    pub texts: Vec<Box<str>>,
    pub names: Vec<QName>,
    pub constants: Vec<Atomic>,
    pub tests: Vec<Test>,
    pub types: Vec<SequenceType>,
    /// The expressions by the numbers that the bytes use.
    pub places: Vec<ExprId>,
    pub exprs: Vec<Expr>,
    pub known: Vec<Facts>,
    pub lookups: Vec<Lookup>,
}

impl Tables {
    pub fn facts(&self, id: ExprId) -> &Facts {
        &self.known[id.index()]
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    pub fn test(&self, id: TestId) -> &Test {
        &self.tests[id.0 as usize]
    }

    pub fn constant(&self, id: u32) -> &Atomic {
        &self.constants[id as usize]
    }

    /// Adds an expression whose parts are there.
    pub fn push(&mut self, expr: Expr) -> ExprId {
        let facts = facts_of(&expr, self);
        self.exprs.push(expr);
        self.known.push(facts);
        ExprId(self.exprs.len() as u32 - 1)
    }

    pub fn id(&self, bytes: &mut Bytes<'_>) -> Read<ExprId> {
        Ok(self.places[bytes.below(self.places.len())? as usize])
    }

    pub fn ids(&self, bytes: &mut Bytes<'_>) -> Read<Box<[ExprId]>> {
        Ok(bytes.many(|bytes| self.id(bytes))?.into())
    }

    pub fn slot(&self, bytes: &mut Bytes<'_>) -> Read<Slot> {
        Ok(Slot(bytes.below(SLOTS_MAX)?))
    }

    pub fn optional_slot(&self, bytes: &mut Bytes<'_>) -> Read<Option<Slot>> {
        Ok(bytes.optional(SLOTS_MAX)?.map(Slot))
    }

    pub fn type_id(&self, bytes: &mut Bytes<'_>) -> Read<TypeId> {
        Ok(TypeId(bytes.below(self.types.len())?))
    }

    pub fn optional_type(&self, bytes: &mut Bytes<'_>) -> Read<Option<TypeId>> {
        Ok(bytes.optional(self.types.len())?.map(TypeId))
    }

    pub fn string(&self, bytes: &mut Bytes<'_>) -> Read<StringId> {
        Ok(self.strings[bytes.below(self.strings.len())? as usize])
    }

    pub fn text(&self, bytes: &mut Bytes<'_>) -> Read<&str> {
        Ok(&self.texts[bytes.below(self.texts.len())? as usize])
    }

    pub fn atomic_type(&self, bytes: &mut Bytes<'_>) -> Read<AtomicType> {
        AtomicType::from_name(self.text(bytes)?).ok_or(BadCode("an unknown atomic type"))
    }

    fn read_name(&self, bytes: &mut Bytes<'_>, names: &mut Names) -> Read<QName> {
        let (local, uri) = (self.string(bytes)?, self.string(bytes)?);
        Ok(QName {
            name: names.expanded(uri, local),
            prefix: self.string(bytes)?,
        })
    }

    fn read_constant(&self, bytes: &mut Bytes<'_>) -> Read<Atomic> {
        let target = self.atomic_type(bytes)?;
        let text = Atomic::string(self.text(bytes)?);
        text.cast(target)
            .map_err(|_| BadCode("a constant is not a value of its type"))
    }

    fn read_test(&self, bytes: &mut Bytes<'_>, names: &mut Names) -> Read<Test> {
        let kind = bytes.choice(&KINDS)?;
        let local = bytes.optional(self.strings.len())?;
        let local = local.map(|index| self.strings[index as usize]);
        let uris = match bytes.flag()? {
            true => Some(bytes.many(|bytes| bytes.below(self.strings.len()))?),
            false => None,
        };
        let name = match (local, uris.as_deref()) {
            (None, None) => NameTest::Any,
            (Some(local), None) => NameTest::Local(local),
            (Some(local), Some(&[uri])) if !self.texts[uri as usize].contains('*') => {
                NameTest::Is(names.expanded(self.strings[uri as usize], local))
            }
            (local, Some(uris)) => {
                let tests = uris.iter().map(|&uri| self.uri_test(uri));
                NameTest::Within(local, tests.collect())
            }
        };
        let element = None;
        Ok(Test {
            kind,
            name,
            element,
        })
    }

    fn uri_test(&self, uri: u32) -> UriTest {
        let text = &self.texts[uri as usize];
        if text.contains('*') {
            UriTest::Glob(text.clone())
        } else {
            UriTest::Is(self.strings[uri as usize])
        }
    }

    fn read_type(&self, bytes: &mut Bytes<'_>) -> Read<SequenceType> {
        let occurrence = bytes.choice(&OCCURRENCES)?;
        let item = match bytes.below(3)? {
            0 => ItemType::Item,
            1 => {
                let mut test = self.tests[bytes.below(self.tests.len())? as usize].clone();
                if let Some(element) = bytes.optional(self.tests.len())? {
                    test.element = Some(Box::new(self.tests[element as usize].clone()));
                }
                ItemType::Node(test)
            }
            _ => ItemType::Atomic(self.atomic_type(bytes)?),
        };
        Ok(SequenceType { item, occurrence })
    }

    fn read_function(&self, bytes: &mut Bytes<'_>) -> Read<Function> {
        let name = self.names[bytes.below(self.names.len())? as usize];
        let parameters = bytes.many(|bytes| Ok((self.slot(bytes)?, self.optional_type(bytes)?)))?;
        let result = self.optional_type(bytes)?;
        let body = self.id(bytes)?;
        let slots = parameters.iter().map(|(slot, _)| slot.0 as usize + 1);
        let frame = slots.fold(self.facts(body).frame, usize::max);
        Ok(Function {
            name,
            parameters: parameters.into(),
            result,
            body,
            frame,
        })
    }

    fn read_global(&self, bytes: &mut Bytes<'_>) -> Read<Global> {
        let name = self.text(bytes)?.into();
        let value = self.id(bytes)?;
        let type_ = self.optional_type(bytes)?;
        Ok(Global { name, value, type_ })
    }

    fn read_entry(&self, bytes: &mut Bytes<'_>) -> Read<Entry> {
        let binding = match bytes.below(3)? {
            0 => Binding::Document,
            1 => Binding::Context,
            _ => Binding::Variable(self.slot(bytes)?),
        };
        let body = self.id(bytes)?;
        Ok(Entry { binding, body })
    }
}

pub(super) fn read(bytes: &[u8], names: &mut Names) -> Read<Code> {
    let rest = bytes.strip_prefix(MAGIC);
    let mut bytes = Bytes::new(rest.ok_or(BadCode("the first bytes are wrong"))?);
    let bytes = &mut bytes;
    let untyped = bytes.choice(&[Untyped::Error, Untyped::False])?;
    let mut tables = Tables::default();
    tables.texts = bytes.many(|bytes| Ok(bytes.text()?.into()))?;
    tables.strings = tables.texts.iter().map(|text| names.string(text)).collect();
    tables.names = bytes.many(|bytes| tables.read_name(bytes, names))?;
    tables.constants = bytes.many(|bytes| tables.read_constant(bytes))?;
    tables.tests = bytes.many(|bytes| tables.read_test(bytes, names))?;
    tables.types = bytes.many(|bytes| tables.read_type(bytes))?;
    bytes.many(|bytes| tables.read_expr(bytes))?;
    if tables.known.iter().any(|facts| facts.depth > DEPTH_MAX) {
        return Err(BadCode("its expressions are nested too deeply"));
    }
    let functions = bytes.many(|bytes| tables.read_function(bytes))?;
    let globals = bytes.many(|bytes| tables.read_global(bytes))?;
    let entries = bytes.many(|bytes| tables.read_entry(bytes))?;
    bytes.end()?;
    check_calls(&tables, &functions, globals.len())?;
    Ok(Code {
        untyped,
        is_kept: kept(&tables, &functions, &entries),
        exprs: tables.exprs,
        facts: tables.known,
        lookups: tables.lookups,
        constants: tables.constants,
        texts: tables.texts,
        tests: tables.tests,
        types: tables.types,
        functions,
        globals,
        entries,
    })
}

/// Sees to it that calls and global variables are there.
fn check_calls(tables: &Tables, functions: &[Function], globals: usize) -> Read<()> {
    let is_right = |expr: &Expr| match expr {
        Expr::OwnCall(function, arguments) => functions
            .get(*function as usize)
            .is_some_and(|function| function.parameters.len() == arguments.len()),
        Expr::Global(global) => (*global as usize) < globals,
        _ => true,
    };
    if tables.exprs.iter().all(is_right) {
        Ok(())
    } else {
        Err(BadCode("a function or variable is missing"))
    }
}
