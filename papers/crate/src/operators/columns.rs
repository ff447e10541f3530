//! What the tuples of a predicate path have at their ends: values, and the constants that they are.

use super::streams::{StreamId, Streams};
use penstock_broker::formulas::Formulas;
use penstock_broker::{Constant, Kind, NONE, Operator, Path, Store, Values};
use rustc_hash::FxHashMap;

/// The values of one predicate path. A tuple with several values comes several times.
#[derive(Debug)]
pub(super) struct Column {
    pub stream: StreamId,
    path: Path,
    kind: Option<Kind>,
    /// By value: its tuple.
    pub tuples: Vec<u32>,
    /// By value: its number in the store.
    pub values: Vec<u32>,
    /// By value: the constant that it is, or `NONE`.
    pub keys: Vec<u32>,
}

/// A column, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ColumnId(pub u32);

/// The columns of all queries.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub all: Vec<Column>,
    ids: FxHashMap<(StreamId, Path, Option<Kind>), ColumnId>,
    /// By value: the constant that it is as text, and as a number.
    text_keys: Vec<u32>,
    number_keys: Vec<u32>,
}

const UNKNOWN: u32 = NONE - 1;

impl Columns {
    /// The column of a path, which `stream` has the tuples of.
    pub fn of(&mut self, stream: StreamId, path: &Path, kind: Option<Kind>) -> ColumnId {
        let path = Path {
            steps: Box::default(),
            field: path.field,
        };
        let next = ColumnId(self.all.len() as u32);
        let key = (stream, path.clone(), kind);
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.all.push(Column {
                stream,
                path,
                kind,
                tuples: Vec::new(),
                values: Vec::new(),
                keys: Vec::new(),
            });
        }
        id
    }

    #[inline]
    pub fn get(&self, column: ColumnId) -> &Column {
        &self.all[column.0 as usize]
    }

    /// Reads the values of a document.
    pub fn read(&mut self, streams: &Streams, store: &mut Store, formulas: &Formulas) {
        self.text_keys.clear();
        self.number_keys.clear();
        let (text_keys, number_keys) = (&mut self.text_keys, &mut self.number_keys);
        for column in &mut self.all {
            column.tuples.clear();
            column.values.clear();
            column.keys.clear();
            for (tuple, fields) in (0..).zip(streams.get(column.stream).iter()) {
                let element = &fields[fields.len() - 1..];
                let Some(kind) = column.kind else {
                    if store.has_field(&column.path, element) {
                        column.tuples.push(tuple);
                    }
                    continue;
                };
                let (tuples, values) = (&mut column.tuples, &mut column.values);
                let keys = &mut column.keys;
                store.each_value(&column.path, element, |known, value| {
                    let memory = match kind {
                        Kind::Text => &mut *text_keys,
                        _ => &mut *number_keys,
                    };
                    tuples.push(tuple);
                    values.push(value);
                    keys.push(key(memory, kind, value, known, formulas));
                    true
                });
            }
        }
    }
}

fn key(memory: &mut Vec<u32>, kind: Kind, value: u32, values: &Values, formulas: &Formulas) -> u32 {
    if memory.len() <= value as usize {
        memory.resize(value as usize + 1, UNKNOWN);
    }
    let slot = &mut memory[value as usize];
    if *slot == UNKNOWN {
        let known = match kind {
            Kind::Text => formulas.text_ids.get(values.text(value)),
            _ => values
                .number(value)
                .and_then(Constant::number_key)
                .and_then(|key| formulas.number_ids.get(&key)),
        };
        *slot = known.copied().unwrap_or(NONE);
    }
    *slot
}

/// How a value compares with a constant; None if it compares with nothing.
#[inline]
pub(super) fn compares(
    formulas: &Formulas,
    (kind, operator, constant): (Kind, Operator, u32),
    values: &Values,
    value: u32,
) -> bool {
    let order = match kind {
        Kind::Text => Some(values.text(value).cmp(&formulas.texts[constant as usize])),
        _ => match values.number(value) {
            Some(number) => number.partial_cmp(&formulas.numbers[constant as usize]),
            None => return false,
        },
    };
    operator.holds(order)
}
