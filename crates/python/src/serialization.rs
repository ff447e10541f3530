//! XML that stands alone, for rows and for events of joins.

use penstock_kernel::events::Declarations;
use penstock_kernel::serialize::{self, Entities};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString, PyType};
use std::borrow::Cow;
use std::sync::Arc;

/// What a fragment needs to stand alone.
#[pyclass(frozen, module = "penstock._native")]
pub struct Surroundings {
    kernel: serialize::Surroundings,
    is_further: bool,
    is_in_cdata: bool,
}

type Arguments<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, bool, bool);

#[pymethods]
impl Surroundings {
    /// Declarations in scope and internal entities, for a fragment or for a piece of one that
    /// began earlier and may begin inside a CDATA section.
    #[new]
    #[pyo3(signature = (declarations, entities, is_further = false, is_in_cdata = false))]
    fn new(
        declarations: &Bound<'_, PyMapping>,
        entities: &Bound<'_, PyMapping>,
        is_further: bool,
        is_in_cdata: bool,
    ) -> PyResult<Surroundings> {
        let kernel = serialize::Surroundings {
            declarations: pairs(declarations)?,
            entities: Arc::new(Entities::from_iter(pairs(entities)?)),
        };
        Ok(Surroundings {
            kernel,
            is_further,
            is_in_cdata,
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Arguments<'py>)> {
        let (declarations, entities) = (PyDict::new(py), PyDict::new(py));
        for (prefix, uri) in &self.kernel.declarations {
            declarations.set_item(text_of(py, prefix)?, text_of(py, uri)?)?;
        }
        for (name, text) in &*self.kernel.entities {
            entities.set_item(text_of(py, name)?, text_of(py, text)?)?;
        }
        let arguments = (declarations, entities, self.is_further, self.is_in_cdata);
        Ok((PyType::new::<Surroundings>(py), arguments))
    }

    /// The same entities with other declarations.
    fn within(&self, declarations: &Bound<'_, PyMapping>) -> PyResult<Surroundings> {
        let kernel = serialize::Surroundings {
            declarations: pairs(declarations)?,
            entities: self.kernel.entities.clone(),
        };
        Ok(Surroundings {
            kernel,
            is_further: false,
            is_in_cdata: false,
        })
    }

    /// The same for a further piece.
    fn further(&self, is_in_cdata: bool) -> Surroundings {
        Surroundings {
            kernel: self.kernel.clone(),
            is_further: true,
            is_in_cdata,
        }
    }

    /// A result as XML that stands alone.
    fn serialize<'py>(
        &self,
        kind: &str,
        name: &Bound<'py, PyString>,
        value: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyString>> {
        let name = bytes_of(name)?;
        changed(value, |text| {
            if self.is_further {
                self.kernel.expand_further(text, self.is_in_cdata)
            } else {
                self.kernel.serialize(kind, &name, text)
            }
        })
    }

    /// Text with the entities expanded.
    fn expand<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        changed(text, |text| self.kernel.expand(text))
    }

    /// An element with the declarations added that it does not make itself.
    fn declare<'py>(&self, element: &Bound<'py, PyBytes>) -> Bound<'py, PyBytes> {
        match self.kernel.declare(element.as_bytes()) {
            Cow::Borrowed(_) => element.clone(),
            Cow::Owned(declared) => PyBytes::new(element.py(), &declared),
        }
    }
}

/// Text as content of an element.
#[pyfunction]
pub fn escape<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    changed(text, |text| appended(text, serialize::escape))
}

/// Text as the value of an attribute, with its quotes.
#[pyfunction]
pub fn quote<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    changed(text, |text| appended(text, serialize::quote))
}

/// Whether a piece of an element ends inside a CDATA section.
#[pyfunction]
pub fn ends_in_cdata(piece: &str, is_in_cdata: bool) -> bool {
    serialize::ends_in_section(piece.as_bytes(), is_in_cdata)
}

fn appended(text: &[u8], append: fn(&[u8], &mut Vec<u8>)) -> Cow<'_, [u8]> {
    let mut out = Vec::with_capacity(text.len() + 2);
    append(text, &mut out);
    out.into()
}

/// A text, or what a function makes of it.
fn changed<'py>(
    text: &Bound<'py, PyString>,
    change: impl FnOnce(&[u8]) -> Cow<'_, [u8]>,
) -> PyResult<Bound<'py, PyString>> {
    let bytes = bytes_of(text)?;
    let made = change(&bytes);
    if made.len() == bytes.len() && matches!(made, Cow::Borrowed(_)) {
        return Ok(text.clone());
    }
    text_of(text.py(), &made)
}

fn pairs(texts: &Bound<'_, PyMapping>) -> PyResult<Declarations> {
    let items = texts.items()?;
    let boxed = |text: Bound<'_, PyString>| PyResult::Ok(bytes_of(&text)?.into());
    let pair = |item: Bound<'_, PyAny>| {
        let (name, text) = item.extract()?;
        Ok((boxed(name)?, boxed(text)?))
    };
    items.iter().map(pair).collect()
}

// Python's strings may hold halves of surrogate pairs, as the texts of queries do; they pass.
fn bytes_of<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(text) = text.to_str() {
        return Ok(text.as_bytes().into());
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    Ok(encoded.extract::<Vec<u8>>()?.into())
}

pub(crate) fn text_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, text));
    }
    let bytes = PyBytes::new(py, bytes);
    let decoded = bytes.call_method1("decode", ("utf-8", "surrogatepass"))?;
    Ok(decoded.cast_into()?)
}
