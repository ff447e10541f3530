//! The rows of tables as columns for Arrow.

use crate::arrow::{Columns, array, strings};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use penstock_kernel::rows::Rows;
use penstock_kernel::tabular::{Cells, Data, Layout, read_rows};
use std::sync::Arc;

/// The rows of a table as its columns; the rows of other subscriptions are left out.
pub fn table_columns(rows: &Rows, subscription: u32, layout: &Layout) -> Columns {
    let own = (0..rows.len()).filter(|&row| rows.subscription[row].0 == subscription);
    let length = own.clone().count();
    let columns = read_rows(layout, own.map(|row| rows.value.value(row)));
    let columns = columns
        .into_iter()
        .map(|(name, cells)| (name, cells_array(cells)));
    Columns::of_any(length, columns.collect())
}

fn cells_array(cells: Cells) -> ArrayData {
    let Cells { data, is_valid } = cells;
    let length = is_valid.len();
    let nulls = NullBuffer::new(is_valid.into_iter().collect());
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    let plain = |type_, nulls, buffer: Buffer| array(type_, length, nulls, vec![buffer], vec![]);
    match data {
        Data::Text(text) => strings(text, nulls),
        Data::Binary(bytes) => {
            let buffers = vec![bytes.offsets.into(), bytes.bytes.into()];
            array(DataType::Binary, length, nulls, buffers, vec![])
        }
        Data::Integers(values) => plain(DataType::Int64, nulls, values.into()),
        Data::Decimals(values, digits, scale) => {
            let type_ = DataType::Decimal128(digits, scale as i8);
            plain(type_, nulls, values.into())
        }
        Data::Doubles(values) => plain(DataType::Float64, nulls, values.into()),
        Data::Booleans(values) => {
            let bits = BooleanBuffer::collect_bool(length, |place| values[place]);
            plain(DataType::Boolean, nulls, bits.into_inner())
        }
        Data::Dates(values) => plain(DataType::Date32, nulls, values.into()),
        Data::Timestamps(values) => {
            let type_ = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
            plain(type_, nulls, values.into())
        }
        Data::List(ends, items) => {
            let items = cells_array(*items);
            let field = Field::new("item", items.data_type().clone(), true);
            let type_ = DataType::List(Arc::new(field));
            array(type_, length, nulls, vec![ends.into()], vec![items])
        }
        Data::Struct(fields) => {
            let (fields, arrays): (Vec<Field>, Vec<ArrayData>) = fields
                .into_iter()
                .map(|(name, cells)| {
                    let column = cells_array(cells);
                    (Field::new(name, column.data_type().clone(), true), column)
                })
                .unzip();
            let type_ = DataType::Struct(Fields::from(fields));
            array(type_, length, nulls, vec![], arrays)
        }
    }
}
