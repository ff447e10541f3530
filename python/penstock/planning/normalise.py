"""The normal form of queries: all rewrites, in their order."""

from __future__ import annotations

from penstock.errors import QueryError
from penstock.languages.xpath.frontend import DEPTH_MAX, too_deep
from penstock.planning.rewrites.absolute_paths import hoist_absolute_paths
from penstock.planning.rewrites.canonical_order import order_canonically
from penstock.planning.rewrites.constants import fold_constants, fold_expression
from penstock.planning.rewrites.descendants import join_descendant_steps
from penstock.planning.rewrites.negation import push_negation
from penstock.planning.rewrites.self_steps import merge_self_steps
from penstock.planning.rewrites.single_values import place_single_values
from penstock.planning.rewrites.slot_numbers import number_slots
from penstock.planning.rewrites.truth_values import split_truth_values
from penstock.planning.rewrites.unused_branches import drop_unused_branches
from penstock.planning.rewrites.value_joins import to_value_joins
from penstock.twigs import Query, Selection
from penstock.twigs.depth import depth_of
from penstock.twigs.queries import NoTwigError, as_expression

REWRITES = (
    to_value_joins,
    drop_unused_branches,
    fold_constants,
    place_single_values,
    split_truth_values,
    hoist_absolute_paths,
    push_negation,
    merge_self_steps,
    join_descendant_steps,
    order_canonically,
)
"""Each of them gives the same object back where it has nothing to do."""

PASSES_MAX = 20
"""Far more than any query needs: each pass makes it smaller, and most need two."""


def normalise(query: Query) -> Query:
    """Return the query in normal form: the same results, and equal for equal questions.

    Afterwards there is no ``AtRoot``, and inside a comparison or a call no condition and no value
    whose path begins with ``self``; ``Not`` stands above ``Exists``, ``Compare`` and ``Call`` only;
    what can never match is gone; constants stand on the right of comparisons and are numbered in
    the order of the printed form. Twigs whose normal form would be too large become an
    expression; of an expression only the constants are brought into this form.

    Raises:
        QueryError: The query is nested too deeply, or its blocks have no normal form.
    """
    try:
        return normalise_twigs(query)
    except NoTwigError:
        if query.general is None:
            raise too_entangled(query) from None
        general = as_expression(query)
        if depth_of(general) > DEPTH_MAX:
            raise too_deep(query.text) from None
        return normalise_twigs(general)


def normalise_twigs(query: Query) -> Query:
    """Return the same of a query that may not become an expression.

    Raises:
        QueryError: As above.
        NoTwigError: The normal form of its twigs would be too large.
    """
    if isinstance(query.output, Selection):
        return fold_expression(query, query.output)
    try:
        for _ in range(PASSES_MAX):
            before = query
            for rewrite in REWRITES:
                query = rewrite(query)
            if query is before:
                break
        return number_slots(query)
    except RecursionError:
        span = (0, len(query.text))
        way_out = "use shorter paths and fewer predicates inside each other"
        message = "the query is nested too deeply"
        raise QueryError("PQ0105", message, span, way_out, query.text) from None


def too_entangled(query: Query) -> QueryError:
    """Return the error about blocks without a normal form."""
    message = "the conditions of a block combine absolute paths in too many ways"
    way_out = "use fewer absolute paths in its predicates"
    return QueryError("PQ0415", message, (0, len(query.text)), way_out, query.text)
