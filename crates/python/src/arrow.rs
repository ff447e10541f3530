//! Columns for Arrow, handed over without a copy through its C data interface.

use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Fields};
use penstock_kernel::rows::TextColumn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Columns of one length, which `pyarrow.record_batch` takes over.
#[pyclass(frozen, module = "penstock._native")]
pub struct Columns {
    /// A struct, as the interface wants it.
    array: ArrayData,
}

impl Columns {
    /// The columns of so many rows, by name. One that is empty, though there are rows, is left out.
    pub fn of<const N: usize>(length: usize, columns: [(&str, ArrayData); N]) -> Columns {
        let (fields, columns): (Vec<Field>, Vec<ArrayData>) = columns
            .into_iter()
            .filter(|(_, column)| column.len() == length)
            .map(|(name, column)| (Field::new(name, column.data_type().clone(), true), column))
            .unzip();
        let type_ = DataType::Struct(Fields::from(fields));
        Columns {
            array: array(type_, length, None, vec![], columns),
        }
    }
}

impl Columns {
    /// The columns of so many rows, by name.
    pub fn of_any(length: usize, columns: Vec<(Box<str>, ArrayData)>) -> Columns {
        let (fields, columns): (Vec<Field>, Vec<ArrayData>) = columns
            .into_iter()
            .map(|(name, column)| (Field::new(name, column.data_type().clone(), true), column))
            .unzip();
        let type_ = DataType::Struct(Fields::from(fields));
        Columns {
            array: array(type_, length, None, vec![], columns),
        }
    }
}

#[pymethods]
impl Columns {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The capsules of Arrow's PyCapsule interface, which share the memory. The interface allows
    /// not to look at the schema that is asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let schema = FFI_ArrowSchema::try_from(self.array.data_type())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let array = FFI_ArrowArray::new(&self.array);
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// Numbers of a column, in the machine's byte order as Arrow wants them.
pub trait Number: ArrowNativeType {
    /// Their type.
    const TYPE: DataType;
}

macro_rules! numbers {
    ($($number:ty: $type:ident),+) => {$(impl Number for $number {
        const TYPE: DataType = DataType::$type;
    })+};
}
numbers!(u8: UInt8, u32: UInt32, i64: Int64);

/// A column of numbers.
pub fn numbers<T: Number>(numbers: Vec<T>) -> ArrayData {
    array(T::TYPE, numbers.len(), None, vec![numbers.into()], vec![])
}

/// A column of offsets, of which the negative ones are null; empty if all are.
pub fn offsets(offsets: Vec<i64>) -> ArrayData {
    let length = offsets.len();
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(length, |row| offsets[row] >= 0));
    if nulls.null_count() == length {
        return numbers::<i64>(vec![]);
    }
    array(i64::TYPE, length, Some(nulls), vec![offsets.into()], vec![])
}

/// A column of strings.
pub fn strings(column: TextColumn, nulls: Option<NullBuffer>) -> ArrayData {
    let length = column.offsets.len() - 1;
    let buffers = vec![column.offsets.into(), column.bytes.into()];
    array(DataType::Utf8, length, nulls, buffers, vec![])
}

/// An array; buffers and children are those that the layout of its type asks for.
pub fn array(
    type_: DataType,
    length: usize,
    nulls: Option<NullBuffer>,
    buffers: Vec<Buffer>,
    children: Vec<ArrayData>,
) -> ArrayData {
    let builder = ArrayData::builder(type_)
        .len(length)
        .nulls(nulls)
        .buffers(buffers)
        .child_data(children);
    // SAFETY: numbers fill their buffers, offsets are sorted and lie in what they refer to, and
    // strings are UTF-8: the tokenizer checks that.
    unsafe { builder.build_unchecked() }
}
