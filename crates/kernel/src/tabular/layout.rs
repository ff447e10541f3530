//! The layout of a table: its record, its columns, and what becomes of values that do not fit.

use super::chains::{Chain, chain_of};
use super::expressions::{Expr, ExprId, expressions};
use crate::plan::{Patterns, ProgramError, Read, Reader, Request};
use crate::values::write_json;
use penstock_sequences::names::Names;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Characters as they are.
    String,
    /// 64 bits.
    Integer,
    /// Digits in all, and digits after the point.
    Decimal(u8, u8),
    /// A double.
    Double,
    /// `true`, `false`, `1` or `0`.
    Boolean,
    /// A day.
    Date,
    /// Microseconds, in UTC.
    Timestamp,
    /// Bytes, in base 64.
    Binary,
    /// An element that stands alone.
    Xml,
}

/// How many values a column has in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// That of the first node, or null.
    One,
    /// Those of all nodes.
    List,
}

/// What a value is.
#[derive(Debug)]
pub enum Content {
    /// A value of a type.
    Type(Type),
    /// A struct.
    Columns(Box<[Column]>),
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: Box<str>,
    /// How many values it has in a row.
    pub shape: Shape,
    /// What they are.
    pub content: Content,
    /// Its name in JSON, with the colon.
    pub(super) key: Box<[u8]>,
    /// Where the values come from; None for a struct of the record itself.
    pub(super) source: Option<Source>,
}

/// What a column is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Nodes(ExprId),
    Atom(ExprId),
}

/// What becomes of a value that does not fit its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// It is null, and the column of errors says why.
    Null,
    /// The document fails.
    Fail,
}

/// A table.
#[derive(Debug)]
pub struct Layout {
    pub(super) exprs: Box<[Expr]>,
    /// By expression.
    pub(super) chains: Box<[Option<Chain>]>,
    /// The records, seen from each element of a region.
    pub(super) record: ExprId,
    /// The columns, without that of errors.
    pub columns: Box<[Column]>,
    /// What becomes of a value that does not fit.
    pub on_error: OnError,
    /// The column of errors, behind the others.
    pub errors: Option<Column>,
}

/// Structs inside each other.
const DEPTH_MAX: usize = 64;

impl Layout {
    /// The layout of a table's program.
    pub fn of_program(program: &[u8]) -> Read<Layout> {
        let (Request::Messages, mut reader) = Request::of(program)? else {
            return Err(ProgramError("it is no table"));
        };
        Layout::read(reader.bytes()?, &mut Names::default())
    }

    /// Reads the code of a table; names of its tests go into a table of names.
    pub fn read(bytes: &[u8], names: &mut Names) -> Read<Layout> {
        let mut reader = Reader::new(bytes);
        let patterns = Patterns::read(reader.bytes()?)?;
        let exprs = expressions(&patterns, names)?;
        let is_set: Vec<bool> = patterns
            .parts
            .iter()
            .map(|part| part.kind.is_set())
            .collect();
        let record = set(&mut reader, &is_set)?;
        let on_error = match reader.below(2)? {
            0 => OnError::Null,
            _ => OnError::Fail,
        };
        let errors = match reader.below(2)? {
            0 => None,
            _ => Some(errors()),
        };
        let columns = read_columns(&mut reader, &is_set, DEPTH_MAX)?;
        reader.end()?;
        let ids = (0..exprs.len() as u32).map(ExprId);
        let chains = ids.map(|id| chain_of(&exprs, id)).collect();
        Ok(Layout {
            exprs: exprs.into(),
            chains,
            record,
            columns,
            on_error,
            errors,
        })
    }
}

fn set(reader: &mut Reader<'_>, is_set: &[bool]) -> Read<ExprId> {
    match source(reader, is_set)? {
        Source::Nodes(id) => Ok(id),
        Source::Atom(_) => Err(ProgramError("a part is no set of nodes")),
    }
}

fn source(reader: &mut Reader<'_>, is_set: &[bool]) -> Read<Source> {
    let place = reader.below(is_set.len())?;
    Ok(match is_set[place as usize] {
        true => Source::Nodes(ExprId(place)),
        false => Source::Atom(ExprId(place)),
    })
}

fn read_columns(reader: &mut Reader<'_>, is_set: &[bool], depth: usize) -> Read<Box<[Column]>> {
    if depth == 0 {
        return Err(ProgramError("its columns are nested too deeply"));
    }
    let columns = reader.many(|reader, _| read_column(reader, is_set, depth - 1))?;
    Ok(columns.into())
}

fn read_column(reader: &mut Reader<'_>, is_set: &[bool], depth: usize) -> Read<Column> {
    let name: Box<str> = reader.text()?.into();
    let code = reader.below(5)?;
    let source = match code {
        0 | 1 => Some(source(reader, is_set)?),
        2 => None,
        _ => Some(Source::Nodes(set(reader, is_set)?)),
    };
    let content = match code {
        0 | 1 => Content::Type(read_type(reader)?),
        _ => Content::Columns(read_columns(reader, is_set, depth)?),
    };
    let shape = match code {
        1 | 4 => Shape::List,
        _ => Shape::One,
    };
    Ok(column(&name, shape, content, source))
}

fn column(name: &str, shape: Shape, content: Content, source: Option<Source>) -> Column {
    let mut key = Vec::new();
    write_json(name.as_bytes(), &mut key);
    key.push(b':');
    Column {
        name: name.into(),
        shape,
        content,
        key: key.into(),
        source,
    }
}

/// The column of what did not fit.
fn errors() -> Column {
    let text = |name| column(name, Shape::One, Content::Type(Type::String), None);
    let fields = ["column", "value", "reason"].map(text);
    column("errors", Shape::List, Content::Columns(fields.into()), None)
}

fn read_type(reader: &mut Reader<'_>) -> Read<Type> {
    Ok(match reader.below(9)? {
        0 => Type::String,
        1 => Type::Integer,
        2 => {
            let (digits, scale) = (reader.below(39)?, reader.below(39)?);
            if digits == 0 || scale > digits {
                return Err(ProgramError("a decimal without digits"));
            }
            Type::Decimal(digits as u8, scale as u8)
        }
        3 => Type::Double,
        4 => Type::Boolean,
        5 => Type::Date,
        6 => Type::Timestamp,
        7 => Type::Binary,
        _ => Type::Xml,
    })
}
