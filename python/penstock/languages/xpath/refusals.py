"""What is understood but not evaluated yet: one sentence and one way out for each."""

from __future__ import annotations

from penstock.errors import QueryError
from penstock.languages.xpath.syntax import Span
from penstock.twigs import Axis

_REVERSE = frozenset({Axis.PARENT, Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF})
_ORDER = frozenset({Axis.FOLLOWING, Axis.PRECEDING, Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})


def refused_axis(axis: Axis, written: str, span: Span, text: str) -> QueryError | None:
    """Return why an axis is refused, or None where it is evaluated."""
    if axis in _REVERSE:
        message = f"`{written}` looks back, and reverse axes are not evaluated yet"
        way_out = "put the condition on the ancestor: //order[item]/total, not //item/../total"
        return QueryError("PQ0201", message, span, way_out, text)
    if axis in _ORDER:
        message = f"`{written}` follows document order, and such axes are not evaluated yet"
        way_out = "use child, descendant or a condition on the parent that both nodes share"
        return QueryError("PQ0202", message, span, way_out, text)
    if axis is Axis.NAMESPACE:
        message = f"`{written}` asks for namespace nodes, which are not evaluated yet"
        way_out = "compare namespace-uri() with the URI"
        return QueryError("PQ0203", message, span, way_out, text)
    return None


_CALLS = {
    "id": (
        "PQ0204",
        "`id()` needs declared ids and is not evaluated yet",
        "compare an attribute instead: //order[@id = 'x']",
    ),
    "position": (
        "PQ0206",
        "`position()` is not evaluated yet",
        "select by a condition on the content or on an attribute",
    ),
    "last": (
        "PQ0206",
        "`last()` is not evaluated yet",
        "select by a condition on the content or on an attribute",
    ),
    "lang": (
        "PQ0207",
        "`lang()` is not evaluated yet",
        "compare the attribute where it stands: [@xml:lang = 'en']",
    ),
}


def refused_call(name: str, span: Span, text: str) -> QueryError | None:
    """Return why a call is refused, or None where it is evaluated."""
    if name not in _CALLS:
        return None
    code, message, way_out = _CALLS[name]
    return QueryError(code, message, span, way_out, text)


def refused_aggregate(name: str, span: Span, text: str) -> QueryError:
    """Return why an aggregate that is not the whole query is refused."""
    message = f"`{name}()` inside a larger expression is not evaluated yet"
    way_out = f"make {name}(…) the whole query; for count(a) > 0 write a, for count(a) = 0 not(a)"
    return QueryError("PQ0208", message, span, way_out, text)


def refused_position(span: Span, text: str) -> QueryError:
    """Return why a predicate whose value is a number is refused."""
    message = "a predicate that is a number selects by position, which is not evaluated yet"
    way_out = "compare the number if you meant its truth: [string-length(a) != 0]"
    return QueryError("PQ0205", message, span, way_out, text)


def refused_union_string(span: Span, text: str) -> QueryError:
    """Return why the string value of a union is refused."""
    message = "the string value of a union is not evaluated yet"
    way_out = "compare each part by itself: a = 'x' or b = 'x'"
    return QueryError("PQ0209", message, span, way_out, text)


def refused_join(span: Span, text: str) -> QueryError:
    """Return why a comparison is refused whose two sides both vary."""
    message = "the comparison of two node-sets is not evaluated yet"
    way_out = "compare with a constant, or compare attributes and `.`, which are at most one node"
    return QueryError("PQ0210", message, span, way_out, text)


def refused_mixture(span: Span, text: str) -> QueryError:
    """Return why a value is refused that mixes the document node with another context."""
    message = "an absolute path inside a computed value is not evaluated yet"
    way_out = "compare the absolute path with a constant"
    return QueryError("PQ0211", message, span, way_out, text)
