"""Variables from outside a query have values before it is evaluated."""

from __future__ import annotations

from penstock.errors import QueryError
from penstock.twigs import Query
from penstock.twigs import sequences as q


def check_bound(query: Query) -> None:
    """Do nothing if every external variable of a query in XQuery has a value.

    Raises:
        QueryError: One has none.
    """
    assert isinstance(query.output, q.Sequences)
    unbound = [one.value for one in query.output.variables if isinstance(one.value, q.Unbound)]
    if not unbound:
        return
    first = min(unbound, key=lambda variable: variable.span)
    if first.is_declared:
        message = f"the external variable `${first.name}` has no value"
        way_out, code = f"give it one: variables={{'{first.name}': …}}", "XPDY0002"
    else:
        message = f"`${first.name}` has no value"
        way_out, code = f"bind it with for, let or variables={{'{first.name}': …}}", "XPST0008"
    raise QueryError("PQ0115", message, first.span, way_out, query.text, code)
