//! Headers of stream views for Python: written from the rows of views, and asked by servers.

use crate::batches::{Batch, text_of};
use crate::documents::{Chunk, Raw};
use crate::watch::away;
use penstock_kernel::ledger::with_stack;
use penstock_kernel::values::{Comparison, ValueTest as Comparing};
use penstock_routing::dates;
use penstock_routing::header::{ConfigurationId, Entry, Header, NodeKind, Refusal};
use penstock_routing::operators::Test;
use penstock_routing::router::{self, Node, NodeId, Options, Truth, ViewId};
use penstock_routing::stamping::Stamping;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Kind of the node, start, end, checksum, place of the scope.
type One = (&'static str, u64, u64, u32, Option<u32>);
/// The state of a view, and its node if it has one.
type State = (&'static str, Option<One>);
/// Refusal if there is one, bytes of an element, namespaces in scope there.
type Part<'py> = (
    Option<&'static str>,
    Bound<'py, PyBytes>,
    Bound<'py, PyDict>,
);
/// Refusal, truth of every query, bytes of the document that were looked at.
type Decided<'py> = (Option<&'static str>, Bound<'py, PyBytes>, u64);

/// A test of string values against a constant.
#[pyclass(frozen, module = "penstock._native")]
pub struct ValueTest {
    inner: Test,
}

#[pymethods]
impl ValueTest {
    /// An operator and its constant: bytes of a string, or a number. With `is_date` the string is a
    /// date or a time.
    #[new]
    #[pyo3(signature = (operator, text = None, number = None, *, is_date = false))]
    fn new(
        operator: &str,
        text: Option<&[u8]>,
        number: Option<f64>,
        is_date: bool,
    ) -> PyResult<ValueTest> {
        let comparison = comparison_of(operator);
        let inner = match (operator, comparison, text, number) {
            (_, Some(comparison), Some(text), _) if is_date => {
                let instant = dates::parse(text);
                Test::Date(comparison, instant.ok_or_else(|| unusable("no date"))?)
            }
            (_, Some(comparison), _, Some(number)) => {
                Test::Value(Comparing::Number(comparison, number.to_bits()))
            }
            ("=", _, Some(text), _) => Test::Value(Comparing::Equal(text.into())),
            ("!=", _, Some(text), _) => Test::Value(Comparing::Differs(text.into())),
            ("contains", _, Some(text), _) => Test::Value(Comparing::Contains(text.into())),
            ("starts-with", _, Some(text), _) => Test::Value(Comparing::StartsWith(text.into())),
            ("matches", _, Some(text), _) => {
                let text = std::str::from_utf8(text).map_err(|_| unusable("no text"))?;
                with_stack(|| Test::matching(text)).map_err(|error| unusable(&error))?
            }
            _ => return Err(unusable("no test")),
        };
        Ok(ValueTest { inner })
    }

    /// Whether a value passes.
    fn passes(&self, value: &[u8]) -> bool {
        self.inner.passes(value)
    }
}

fn comparison_of(operator: &str) -> Option<Comparison> {
    Some(match operator {
        "=" => Comparison::Eq,
        "!=" => Comparison::Ne,
        "<" => Comparison::Lt,
        "<=" => Comparison::Le,
        ">" => Comparison::Gt,
        ">=" => Comparison::Ge,
        _ => return None,
    })
}

fn unusable(why: &str) -> PyErr {
    PyValueError::new_err(why.to_owned())
}

/// The queries of servers, for headers of one configuration.
#[pyclass(frozen, module = "penstock._native")]
pub struct Router {
    inner: router::Router,
}

#[pymethods]
impl Router {
    /// Nodes are a kind and its numbers; `servers` lists the nodes of each one's queries.
    #[new]
    fn new(
        configuration: [u8; 8],
        view_count: usize,
        tests: Vec<PyRef<'_, ValueTest>>,
        nodes: Vec<(String, Vec<u32>)>,
        servers: Vec<Vec<u32>>,
    ) -> PyResult<Router> {
        let tests = tests.iter().map(|test| test.inner.clone()).collect();
        let nodes: Option<Vec<Node>> = nodes.iter().map(node_of).collect();
        let ids = |server: Vec<u32>| server.into_iter().map(NodeId).collect();
        let servers = servers.into_iter().map(ids).collect();
        let id = ConfigurationId(configuration);
        let made =
            nodes.and_then(|nodes| router::Router::new(id, view_count, tests, nodes, servers));
        let inner = made.ok_or_else(|| unusable("these nodes are no formulas"))?;
        Ok(Router { inner })
    }

    /// What a header tells about all queries; `facts` has what was found out about parts.
    #[pyo3(signature = (header, document, *, facts = None, is_full = false, is_alone = false))]
    fn decide<'py>(
        &self,
        py: Python<'py>,
        header: &[u8],
        document: &Bound<'py, PyAny>,
        facts: Option<&[u8]>,
        is_full: bool,
        is_alone: bool,
    ) -> PyResult<Decided<'py>> {
        let chunk = Chunk::of(document)?;
        let raw: Raw = chunk.raw();
        let facts: Vec<Truth> = facts.unwrap_or_default().iter().map(truth_of).collect();
        let options = Options {
            is_full,
            is_alone,
            facts: &facts,
        };
        let decided = away(py, || self.inner.decide(header, raw.bytes(), options));
        Ok(match decided {
            Ok(answers) => {
                let truths: Vec<u8> = answers.queries.iter().map(|&truth| truth as u8).collect();
                (None, PyBytes::new(py, &truths), answers.bytes_touched)
            }
            Err(refusal) => (Some(refusal.name()), PyBytes::new(py, b""), 0),
        })
    }
}

fn truth_of(code: &u8) -> Truth {
    match code {
        0 => Truth::False,
        1 => Truth::True,
        _ => Truth::Unknown,
    }
}

fn node_of((kind, numbers): &(String, Vec<u32>)) -> Option<Node> {
    let ids = || numbers.iter().copied().map(NodeId).collect();
    let truth = |code: &u32| truth_of(&(*code as u8));
    Some(match (kind.as_str(), numbers.as_slice()) {
        ("constant", [code]) => Node::Constant(truth(code)),
        ("and", _) => Node::And(ids()),
        ("or", _) => Node::Or(ids()),
        ("not", &[part]) => Node::Not(NodeId(part)),
        ("exists", &[view]) => Node::Exists(ViewId(view)),
        ("beyond", &[view]) => Node::Beyond(ViewId(view)),
        ("passes", &[view, test, is_empty_if_absent]) => Node::Passes {
            view: ViewId(view),
            test,
            is_empty_if_absent: is_empty_if_absent != 0,
        },
        ("part", [view, fact, if_absent]) => Node::Part {
            view: ViewId(*view),
            fact: *fact,
            if_absent: truth(if_absent),
        },
        _ => return None,
    })
}

/// The header of a document from the rows of its views, one at most of each. Views of `many` have
/// more nodes, those of `hidden` could not be evaluated. Nodes of views that are `parted` may be
/// parsed.
#[pyfunction]
#[pyo3(signature = (batch, document, configuration, *, parted, many, hidden, encoding = None))]
#[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
pub fn write_header<'py>(
    py: Python<'py>,
    batch: &Batch,
    document: &Bound<'py, PyAny>,
    configuration: [u8; 8],
    parted: Vec<bool>,
    many: Vec<usize>,
    hidden: Vec<usize>,
    encoding: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let chunk = Chunk::of(document)?;
    let raw = chunk.raw();
    let stamping = Stamping {
        configuration: ConfigurationId(configuration),
        parted: &parted,
        many: &many,
        hidden: &hidden,
    };
    let header = batch.with_rows(|rows| stamping.stamp(raw.bytes(), encoding, rows))?;
    Ok(PyBytes::new(py, &header.write()))
}

/// What a header says, or why it says nothing: configuration, bytes and checksum of the document,
/// whether it is not UTF-8, whether it declares something, the states of the views.
#[pyfunction]
pub fn read_header<'py>(py: Python<'py>, header: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let read = PyDict::new(py);
    let header = match Header::read(header) {
        Ok(header) => header,
        Err(refusal) => {
            read.set_item("refusal", refusal.name())?;
            return Ok(read);
        }
    };
    read.set_item("configuration", PyBytes::new(py, &header.configuration.0))?;
    read.set_item("document_bytes", header.document_bytes)?;
    read.set_item("document_checksum", header.document_checksum)?;
    read.set_item("is_recoded", header.is_recoded)?;
    read.set_item("is_declaring", header.is_declaring)?;
    let views: Vec<State> = header.entries.iter().map(state_of).collect();
    read.set_item("views", views)?;
    Ok(read)
}

fn state_of(entry: &Entry) -> State {
    match entry {
        Entry::Absent => ("absent", None),
        Entry::Many => ("multiple", None),
        Entry::Hidden => ("hidden", None),
        Entry::One(place) => {
            let kind = match place.kind {
                NodeKind::Element => "element",
                NodeKind::Attribute => "attribute",
                NodeKind::Text => "text",
            };
            let one = (kind, place.start, place.end, place.checksum, place.scope);
            ("one", Some(one))
        }
    }
}

/// The element of a view and the namespaces in scope there, if its parts may be parsed; the name of
/// the refusal if it does not belong to the document. None if the header has no such element.
#[pyfunction]
#[pyo3(signature = (header, document, view))]
pub fn header_part<'py>(
    py: Python<'py>,
    header: &[u8],
    document: &Bound<'py, PyAny>,
    view: usize,
) -> PyResult<Option<Part<'py>>> {
    let chunk = Chunk::of(document)?;
    let raw = chunk.raw();
    let Ok(header) = Header::read(header) else {
        return Ok(None);
    };
    let Some(Entry::One(place)) = header.entries.get(view) else {
        return Ok(None);
    };
    let scope = place
        .scope
        .and_then(|place| header.scopes.get(place as usize));
    let Some(scope) = scope else {
        return Ok(None);
    };
    let declarations = PyDict::new(py);
    for (prefix, uri) in scope {
        declarations.set_item(text_of(py, prefix), text_of(py, uri))?;
    }
    let bytes = place.bytes_in(raw.bytes());
    let refusal = bytes.is_none().then(|| Refusal::Range.name());
    let bytes = PyBytes::new(py, bytes.unwrap_or_default());
    Ok(Some((refusal, bytes, declarations)))
}
