"""What the kernel does with queries over a document, event by event, and random ones to try.

``PENSTOCK_PAIRS`` sets the number of random pairs of the default runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random

from penstock.errors import QueryError
from penstock.kernel import trace
from penstock.languages.xpath import xpath
from penstock.planning import depths
from penstock.planning.circuit_forms import to_circuit_form
from penstock.planning.compile import compile_query
from penstock.planning.normalise import normalise
from penstock.twigs import Query, Selection
from penstock.twigs.expressions import (
    Expression,
    Filter,
    Here,
    Identified,
    NameOf,
    Nodes,
    Root,
    Step,
    StringOf,
    Union,
)
from penstock.twigs.nodetests import BACK
from penstock.twigs.parts import parts_of
from penstock_testing.generate import (
    NAMESPACES,
    DocumentKnobs,
    ExpressionKnobs,
    WholeKnobs,
    random_document,
    random_expression,
    random_numbers,
    random_positions,
    random_shared_comparison,
    random_siblings,
    random_summary,
    random_xpath,
)
from penstock_testing.tree import Tree, parse
from tests.property.probes import Trace, TraceStep

PAIRS = int(os.environ.get("PENSTOCK_PAIRS", "400"))
CHUNKS = (1, 7, 1 << 16)

_LAST_AXES = (
    "descendant",
    "descendant",
    "descendant-or-self",
    "preceding",
    "following",
    "ancestor",
)

Draw = Callable[[Random], tuple[str, bytes]]
KernelStep = tuple[int, list[tuple[int, int, int]], list[int]]

_SMALL = DocumentKnobs(nodes_max=14)
_WHOLE = DocumentKnobs(nodes_max=12, identifiers=0.2, language=0.05)


def twigs(random: Random) -> tuple[str, bytes]:
    """Draw a path that is a forward twig, and a document."""
    knobs = ExpressionKnobs(values=0, predicate=0.5)
    return random_expression(random, knobs), random_document(random, _SMALL)


def twig_values(random: Random) -> tuple[str, bytes]:
    """Draw an expression for a value that forward twigs give, and a document."""
    return random_expression(random, ExpressionKnobs(values=1)), random_document(random, _SMALL)


def paths(random: Random) -> tuple[str, bytes]:
    """Draw an expression for nodes from all of XPath 1.0, and a document."""
    knobs = WholeKnobs(values=0, predicate=0.5, namespace_nodes=0.02)
    return random_xpath(random, knobs), random_document(random, _WHOLE)


def shared_sets(random: Random) -> tuple[str, bytes]:
    """Draw a comparison with a set that many nodes share, and a document."""
    return random_shared_comparison(random)


def positions(random: Random) -> tuple[str, bytes]:
    """Draw an expression with positions along order axes, and a document with keys at its end."""
    return random_positions(random), random_siblings(random)


def summaries(random: Random) -> tuple[str, bytes]:
    """Draw an expression that counts, adds up or names nodes along an axis, and a document."""
    return random_summary(random), random_numbers(random)


def values(random: Random) -> tuple[str, bytes]:
    """Draw an expression for a value from all of XPath 1.0, and a document."""
    return random_xpath(random, WholeKnobs(values=1)), random_document(random, _WHOLE)


def lasts(random: Random) -> tuple[str, bytes]:
    """Draw an expression for the last node along an axis, and a document."""
    one_of = random.choice
    before, after = one_of(("", "", "", "[@x]", "[b]", "[. = //b]")), one_of(("", "", "[b]", "[1]"))
    position = one_of(("last()", "last()", "last()", "position() = last() - 1"))
    last = f"{one_of(_LAST_AXES)}::{one_of('ab***')}{before}[{position}]{after}"
    path = last + one_of(("", "", "/b", "/@x", "/..", f"/{one_of(_LAST_AXES)}::*[last()]"))
    context = one_of(("//a", "//*", "//*", "//a[b]", "//*[not(b)]", "//@x", "/", "//*[. = //b]"))
    if context == "/":
        expression = f"/descendant::*/{path} | //b/{path}"
    elif random.random() < 0.3:
        expression = f"{context}[{path}{one_of(('', ' = 1'))}]"
    else:
        expression = f"{context}/{path}"
    return expression, random_document(random, _SMALL)


def cases(draw: Draw, first: int, count: int) -> Iterator[tuple[str, Query, Tree]]:
    """Yield random pairs; queries whose programs would be too large are left out."""
    for seed in range(first, first + count):
        expression, document = draw(Random(seed))
        try:
            query = normalise(xpath(expression, namespaces=NAMESPACES))
            compile_query(query)
        except QueryError:
            continue
        yield expression, query, parse(document)


def trace_of(query: Query, tree: Tree, chunk_bytes: int) -> Trace:
    """Return what the kernel does with the query, fed in chunks of a size."""
    return [
        TraceStep(offset, tuple((start, end) for _, start, end in decided), tuple(held))
        for offset, decided, held in traces_of([query], tree, chunk_bytes)
    ]


def traces_of(queries: list[Query], tree: Tree, chunk_bytes: int = 1 << 16) -> list[KernelStep]:
    """Return what the kernel does with several queries in one pass."""
    steps: list[KernelStep] = trace(list(map(compile_query, queries)), tree.source, chunk_bytes)
    return steps


def looks_back(query: Query) -> bool:
    """Return whether the results of a query may be nodes that came before anybody asked for them.

    Of such nodes the kernel keeps all that pass the test of the last step, until the set is
    complete: which of them a node to come will reach is known only when it comes.
    """
    if not isinstance(query.output, Selection):
        return False
    nodes = query.output.expression
    return isinstance(nodes, Nodes) and depths.looks_back(nodes)


def orders_what_grows_backwards(query: Query) -> bool:
    """Return whether an order is asked of a set that earlier nodes may join while it grows.

    The kernel knows such an order when the set is complete: which open or closed nodes a step back
    may still reach is not worked out. The oracle is told to do the same (``is_order_late``).
    """
    if not isinstance(query.output, Selection):
        return False
    selection, _ = to_circuit_form(query.output, query.constants)
    return _orders_late(selection.expression)


def _orders_late(part: Expression) -> bool:
    match part:
        case StringOf(nodes=nodes) | NameOf(nodes=nodes) | Filter(base=nodes):
            if _is_late(nodes):
                return True
    return any(map(_orders_late, parts_of(part)))


def _is_late(nodes: Nodes) -> bool:
    match nodes:
        case Step(base=Here() | Root()):
            return False  # what a single step back reaches is there at once
        case Step(base=Step(axis=before) as base, axis=axis):
            return axis in BACK or before in BACK or _is_late(base)
        case Step(base=base, axis=axis):
            return axis in BACK or _is_late(base)
        case Filter(base=base):
            return _is_late(base)
        case Union(parts=parts):
            return any(map(_is_late, parts))
        case Identified():
            return True
        case _:
            return False
