//! The values beside results as a column of maps, in Arrow's layout.

use crate::columns::Column;
use penstock_kernel::rows::{Rows, TextColumn};

/// A bit for every entry, as Arrow marks what is there.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    length: usize,
}

impl Bits {
    fn push(&mut self, is_set: bool) {
        if self.length.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(is_set) << (self.length % 8);
        }
        self.length += 1;
    }
}

/// The buffers of the column, by name; none if no row has values beside it.
pub fn binding_columns(rows: &Rows) -> Vec<(&'static str, Column)> {
    if rows.bindings.is_empty() {
        return Vec::new();
    }
    let (mut names, mut values) = (TextColumn::default(), TextColumn::default());
    let (mut is_bound, mut has_value) = (Bits::default(), Bits::default());
    let mut offsets = vec![0];
    let mut waiting = rows.bindings.iter().peekable();
    for row in 0..rows.len() {
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
        offsets.push(has_value.length as i32);
    }
    vec![
        ("bindings_valid", Column::of(is_bound.bytes)),
        ("bindings_offsets", Column::of(offsets)),
        ("bindings_name_offsets", Column::of(names.offsets)),
        ("bindings_name_bytes", Column::of(names.bytes)),
        ("bindings_value_valid", Column::of(has_value.bytes)),
        ("bindings_value_offsets", Column::of(values.offsets)),
        ("bindings_value_bytes", Column::of(values.bytes)),
    ]
}
