//! Rows read back as columns, laid out as Arrow lays them out.

use super::base64;
use super::decimals::parse_decimal;
use super::json::JsonReader;
use super::layout::{Column, Content, Layout, Shape, Type};
use super::moments::{parse_date, parse_timestamp};
use super::types::{parse_double, parse_integer};
use crate::rows::TextColumn;

/// The values of a column.
pub enum Data {
    /// Characters.
    Text(TextColumn),
    /// Integers.
    Integers(Vec<i64>),
    /// Units of the last place.
    Decimals(Vec<i128>, u8, u8),
    /// Doubles.
    Doubles(Vec<f64>),
    /// Truth values.
    Booleans(Vec<bool>),
    /// Days since 1970.
    Dates(Vec<i32>),
    /// Microseconds since 1970.
    Timestamps(Vec<i64>),
    /// Bytes.
    Binary(TextColumn),
    /// Where the items of each list end, behind a zero; the items.
    List(Vec<i32>, Box<Cells>),
    /// Columns by name.
    Struct(Vec<(Box<str>, Cells)>),
}

/// A column, and which of its values are not null.
pub struct Cells {
    /// The values; where they are null, anything.
    pub data: Data,
    /// Whether each value is there.
    pub is_valid: Vec<bool>,
}

/// The columns of rows of a table, by name. The rows are those that were written by its layout.
pub fn read_rows<'r>(
    layout: &Layout,
    rows: impl Iterator<Item = &'r [u8]>,
) -> Vec<(Box<str>, Cells)> {
    let columns: Vec<&Column> = layout.columns.iter().chain(&layout.errors).collect();
    let mut cells: Vec<Cells> = columns.iter().map(|column| Cells::of(column)).collect();
    for row in rows {
        let mut reader = JsonReader::new(row);
        for (column, cells) in columns.iter().zip(&mut cells) {
            read_field(column, cells, &mut reader);
        }
    }
    let names = columns.iter().map(|column| column.name.clone());
    names.zip(cells).collect()
}

fn read_field(column: &Column, cells: &mut Cells, reader: &mut JsonReader<'_>) {
    let is_there = (reader.takes(b"{") || reader.takes(b",")) && reader.takes(&column.key);
    debug_assert!(is_there, "a row was written by another layout");
    cells.read(column, column.shape, reader);
}

impl Cells {
    fn of(column: &Column) -> Cells {
        let one = Cells::of_content(&column.content);
        match column.shape {
            Shape::One => one,
            Shape::List => Cells {
                data: Data::List(vec![0], Box::new(one)),
                is_valid: Vec::new(),
            },
        }
    }

    fn of_content(content: &Content) -> Cells {
        let data = match content {
            Content::Columns(columns) => {
                let named = columns
                    .iter()
                    .map(|column| (column.name.clone(), Cells::of(column)));
                Data::Struct(named.collect())
            }
            Content::Type(type_) => match type_ {
                Type::String | Type::Xml => Data::Text(TextColumn::default()),
                Type::Integer => Data::Integers(Vec::new()),
                Type::Decimal(digits, scale) => Data::Decimals(Vec::new(), *digits, *scale),
                Type::Double => Data::Doubles(Vec::new()),
                Type::Boolean => Data::Booleans(Vec::new()),
                Type::Date => Data::Dates(Vec::new()),
                Type::Timestamp => Data::Timestamps(Vec::new()),
                Type::Binary => Data::Binary(TextColumn::default()),
            },
        };
        Cells {
            data,
            is_valid: Vec::new(),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.is_valid.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.is_valid.is_empty()
    }

    fn read(&mut self, column: &Column, shape: Shape, reader: &mut JsonReader<'_>) {
        if reader.takes_null() {
            self.push_null();
            return;
        }
        self.is_valid.push(true);
        match (&mut self.data, shape) {
            (Data::List(ends, items), Shape::List) => {
                let mut is_open = reader.takes(b"[") && !reader.takes(b"]");
                while is_open {
                    items.read(column, Shape::One, reader);
                    is_open = reader.takes(b",");
                    if !is_open {
                        reader.takes(b"]");
                    }
                }
                ends.push(items.len() as i32);
            }
            (Data::Struct(fields), _) => {
                if let Content::Columns(columns) = &column.content {
                    for (column, (_, cells)) in columns.iter().zip(fields) {
                        read_field(column, cells, reader);
                    }
                }
                reader.takes(b"}");
            }
            (data, _) => data.read(reader),
        }
    }

    fn push_null(&mut self) {
        self.is_valid.push(false);
        match &mut self.data {
            Data::Text(text) | Data::Binary(text) => text.finish_value(),
            Data::Integers(values) | Data::Timestamps(values) => values.push(0),
            Data::Decimals(values, ..) => values.push(0),
            Data::Doubles(values) => values.push(0.0),
            Data::Booleans(values) => values.push(false),
            Data::Dates(values) => values.push(0),
            Data::List(ends, items) => ends.push(items.len() as i32),
            Data::Struct(fields) => fields.iter_mut().for_each(|(_, cells)| cells.push_null()),
        }
    }
}

impl Data {
    /// Reads a value that has no parts. It was written here, so it has its form.
    fn read(&mut self, reader: &mut JsonReader<'_>) {
        match self {
            Data::Text(text) => {
                reader.string(&mut text.bytes);
                text.finish_value();
            }
            Data::Integers(values) => values.push(parse_integer(reader.word()).unwrap_or_default()),
            Data::Decimals(values, digits, scale) => {
                let units = parse_decimal(reader.word(), *digits, *scale);
                values.push(units.unwrap_or_default());
            }
            Data::Doubles(values) => {
                let word = reader.word();
                let word = word.strip_prefix(b"\"").unwrap_or(word);
                let word = word.strip_suffix(b"\"").unwrap_or(word);
                values.push(parse_double(word).unwrap_or_default());
            }
            Data::Booleans(values) => values.push(reader.word() == b"true"),
            Data::Dates(values) => {
                values.push(parse_date(&string(reader)).unwrap_or_default());
            }
            Data::Timestamps(values) => {
                values.push(parse_timestamp(&string(reader)).unwrap_or_default());
            }
            Data::Binary(bytes) => {
                let decoded = base64::decode(&string(reader)).unwrap_or_default();
                bytes.bytes.extend_from_slice(&decoded);
                bytes.finish_value();
            }
            Data::List(..) | Data::Struct(_) => {}
        }
    }
}

fn string(reader: &mut JsonReader<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    reader.string(&mut text);
    text
}
