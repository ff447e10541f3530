//! A program that requests messages, read and checked.

use super::binding;
use super::places::{GatherId, Place, read_places};
use crate::plan::{ProgramError, Read, Reader, Request};
use crate::tables::Table;
use crate::tabular::Layout;
use penstock_sequences::code::Code;
use penstock_sequences::names::Names;
use std::rc::Rc;

/// Flags: the broker has the query too; the code is that of a table; the document is its only
/// region; the code is the layout of bindings.
const IS_BROKERED: u32 = 8;
const IS_TABLE: u32 = 16;
const IS_WHOLE: u32 = 32;
const IS_BOUND: u32 = 64;

/// What becomes of the items that a part gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Items,
    Count,
    Sum,
    Average,
    Least,
    Greatest,
    Exists,
    Empty,
}

impl Fold {
    fn of_code(code: u32) -> Option<Fold> {
        Some(match code {
            0 => Fold::Items,
            1 => Fold::Count,
            2 => Fold::Sum,
            3 => Fold::Average,
            4 => Fold::Least,
            5 => Fold::Greatest,
            6 => Fold::Exists,
            7 => Fold::Empty,
            _ => return None,
        })
    }
}

/// A part that gathers.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    pub fold: Fold,
    /// Only the number of elements matters: there are no regions.
    pub is_counted: bool,
}

/// What a program needs of a document.
pub struct Reads {
    /// The name of a document that is given with the query; that of the current one is empty.
    pub name: Box<str>,
    pub places: Vec<Place>,
}

/// What stands between a program's code and what it gathers.
pub struct Head<'a> {
    flags: u32,
    /// The stream whose documents are read; None: all.
    pub stream: Option<&'a str>,
    /// The same query for the broker, if that serves it.
    pub form: Option<&'a [u8]>,
}

impl<'a> Head<'a> {
    fn read(reader: &mut Reader<'a>) -> Read<Head<'a>> {
        let flags = reader.below(128)?;
        let stream = match reader.below(2)? {
            0 => None,
            _ => Some(reader.text()?),
        };
        let form = match flags & IS_BROKERED {
            0 => None,
            _ => Some(reader.bytes()?),
        };
        Ok(Head {
            flags,
            stream,
            form,
        })
    }

    /// The head of a program that requests messages.
    pub fn of(program: &'a [u8]) -> Read<Head<'a>> {
        let (Request::Messages, mut reader) = Request::of(program)? else {
            return Err(ProgramError("it requests no messages"));
        };
        reader.bytes()?;
        Head::read(&mut reader)
    }
}

/// What is evaluated.
pub enum Body {
    /// Expressions over sequences.
    Sequences(Rc<Code>),
    /// A table: each region has records.
    Table(Rc<Layout>),
    /// What gathers bindings: each element of a region is one.
    Bindings(Rc<binding::Layout>),
}

/// A program.
pub struct Program {
    pub body: Body,
    /// The document itself is the only region.
    pub is_whole: bool,
    /// The items of the only part that gathers are the rows.
    pub is_direct: bool,
    /// A constructor gives an item like all others, and no message.
    pub has_items: bool,
    /// A message is sent even if nothing is in it.
    pub sends_empty: bool,
    pub gathers: Table<GatherId, Gather>,
    /// The stream whose documents are read; None: all.
    pub stream: Option<Box<str>>,
    /// The current document, then those that are given.
    pub reads: Vec<Reads>,
}

impl Program {
    /// Reads the bytes of a program; its names go into a table.
    pub fn read(bytes: &[u8], names: &mut Names) -> Read<Program> {
        let (Request::Messages, mut reader) = Request::of(bytes)? else {
            return Err(ProgramError("it requests no messages"));
        };
        let code = reader.bytes()?;
        let head = Head::read(&mut reader)?;
        let is_table = head.flags & IS_TABLE != 0;
        let body = match head.flags & (IS_TABLE | IS_BOUND) {
            IS_TABLE => Body::Table(Rc::new(Layout::read(code, names)?)),
            IS_BOUND => Body::Bindings(Rc::new(binding::Layout::read(code, names)?)),
            _ => {
                let code = Code::read(code, names);
                Body::Sequences(Rc::new(
                    code.map_err(|_| ProgramError("its code is wrong"))?,
                ))
            }
        };
        let gathers = reader.many(|reader, _| {
            let code = reader.word()?;
            let fold = Fold::of_code(code / 2).ok_or(ProgramError("an unknown fold"))?;
            let is_counted = code % 2 == 1;
            Ok(Gather { fold, is_counted })
        })?;
        let reads = reader.many(|reader, _| {
            let name = reader.text()?.into();
            let places = read_places(reader, gathers.len(), is_table)?;
            Ok(Reads { name, places })
        })?;
        reader.end()?;
        if reads.is_empty() {
            return Err(ProgramError("it reads no document"));
        }
        let entries = match &body {
            Body::Sequences(code) => code.entry_count(),
            Body::Table(_) | Body::Bindings(_) => 2,
        };
        if entries != gathers.len() + 1 {
            return Err(ProgramError("its code has other entries"));
        }
        Ok(Program {
            body,
            is_whole: head.flags & IS_WHOLE != 0,
            is_direct: head.flags & 1 != 0,
            sends_empty: head.flags & 2 != 0,
            has_items: head.flags & 4 != 0,
            gathers: gathers.into_iter().collect(),
            stream: head.stream.map(Box::from),
            reads,
        })
    }
}
