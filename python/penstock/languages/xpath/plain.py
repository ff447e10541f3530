"""Plain paths, `/a//b/*`, read at once: most of a large set of queries are no more than that."""

from __future__ import annotations

from penstock.languages.lazy_patterns import lazy_pattern
from penstock.languages.xpath.namespaces import NO_NAMESPACE
from penstock.languages.xpath.tokens import NC_NAME
from penstock.twigs import (
    TRUE,
    Axis,
    Block,
    Branch,
    Fragments,
    NodeKind,
    NodeTest,
    Query,
    TwigNode,
)
from penstock.twigs.subforms import RESULT

STEPS_MAX = 50
"""Longer paths are left to those who know how deep a query may be nested."""

_STEP = rf"(//?)({NC_NAME}|\*)"
_STEPS = lazy_pattern(_STEP)
_PATH = lazy_pattern(rf"(?:{_STEP}(?![^/])){{1,{STEPS_MAX}}}")
_AXES = {"/": Axis.CHILD, "//": Axis.DESCENDANT}
_ANY = NodeTest(NodeKind.ELEMENT)
_ROOT = NodeTest(NodeKind.DOCUMENT)
_OUTPUT = Fragments(RESULT)


def plain_query(text: str) -> Query | None:
    """Return the query of a plain path without prefixes, in normal form; None for all others."""
    if _PATH.fullmatch(text) is None:
        return None
    below: tuple[Branch, ...] = ()
    variable: str | None = RESULT
    for axis, name in reversed(_STEPS.findall(text)):
        test = _ANY if name == "*" else NodeTest(NodeKind.ELEMENT, name, NO_NAMESPACE)
        below = (Branch(TwigNode(_AXES[axis], test, TRUE, variable, below)),)
        variable = None
    return Query((Block((TwigNode(Axis.SELF, _ROOT, branches=below),)),), _OUTPUT, text=text)
