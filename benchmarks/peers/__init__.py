"""The systems that are measured, one module each.

A module that answers queries has ``NAME``, ``TIMED`` (what the clock covers) and

- ``missing()``: why the system cannot run here, or None;
- ``prepare(query)``: a callable from the document's bytes to an answer; only the call is timed;
- ``prepare_file(query)``: the same from a path, the way its users read files; for peak memory;
- ``values(answer)``: string values of an answer's nodes, or the number as one value; not timed.

A module that only parses has ``prepare(None)`` alone and the attribute ``PARSES_ONLY``.

A module for many subscriptions has ``NAME``, ``TIMED``, ``missing()`` and

- ``KINDS`` of queries that it takes, ``MODES``, and ``SUBSCRIPTIONS``, how many are measured:
  beyond them, waiting for it makes no sense;
- ``subscribe(queries, mode)``: something with
  ``read(documents)``, which evaluates an iterable of documents one after the other and has the
  numbers of the queries that match in hand for each; only this is timed;
  ``answer(document)``, the same numbers sorted, in query mode as pairs with the numbers of the
  selected elements in document order;
  ``forget()``, to drop what was learnt from documents.
"""

from importlib import import_module
from types import ModuleType

QUERY_PEERS = (
    "penstock_batches",
    "penstock_kernel",
    "lxml_tree",
    "pugixml_tree",
    "simdxml_index",
    "simdxml_batch",
    "saxonche_tree",
)
MANY_PEERS = (
    "penstock_many",
    "yfilter_nfa",
    "xpass_plain",
    "xpass_compressed",
    "lxml_loop",
    "spark_xpath",
)
PARSE_PEERS = ("penstock_tokenizer", "libxml2_sax", "pyexpat_bare")


def load(module: str) -> ModuleType:
    """Return the peer's module; importing it does not import the system it measures."""
    return import_module(f"{__name__}.{module}")


def absent(*packages: str) -> str | None:
    """Say which of the packages cannot be imported, or return None."""
    for package in packages:
        try:
            import_module(package)
        except ImportError as error:
            return f"{package} cannot be imported ({error})"
    return None
