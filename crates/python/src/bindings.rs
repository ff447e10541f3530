//! The values beside results as a column of maps.

use crate::arrow::{array, strings};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use penstock_kernel::rows::{Rows, TextColumn};
use std::sync::Arc;

/// The column; empty if no row has values beside it.
pub fn binding_column(rows: &Rows) -> ArrayData {
    let length = if rows.bindings.is_empty() {
        0
    } else {
        rows.len()
    };
    let (mut names, mut values) = (TextColumn::default(), TextColumn::default());
    let (mut is_bound, mut has_value) = (Vec::new(), Vec::new());
    let mut offsets = vec![0];
    let mut waiting = rows.bindings.iter().peekable();
    for row in 0..length {
        let bound = waiting.next_if(|beside| beside.row as usize == row);
        if let Some(beside) = bound {
            for (name, value) in beside.pairs() {
                names.bytes.extend_from_slice(name);
                names.finish_value();
                let text = value.unwrap_or_default();
                values.bytes.extend_from_slice(text.as_bytes());
                values.finish_value();
                has_value.push(value.is_some());
            }
        }
        is_bound.push(bound.is_some());
        offsets.push(has_value.len() as i32);
    }
    let pair = DataType::Struct(Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]));
    let map = DataType::Map(Arc::new(Field::new("entries", pair.clone(), false)), false);
    let count = has_value.len();
    let texts = vec![
        strings(names, None),
        strings(values, Some(has_value.into())),
    ];
    let pairs = vec![array(pair, count, None, vec![], texts)];
    array(
        map,
        length,
        Some(is_bound.into()),
        vec![offsets.into()],
        pairs,
    )
}
