"""The entry point: text to query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.errors import QueryError
from penstock.languages.xpath.expressions import ExpressionLowering
from penstock.languages.xpath.frontend import DEPTH_MAX, options_of, too_deep
from penstock.languages.xpath.namespaces import NamespaceMap, Namespaces
from penstock.languages.xscl.blocks import Blocks
from penstock.languages.xscl.parser import XsclParser
from penstock.languages.xscl.predicates import Predicates, guard
from penstock.languages.xscl.syntax import Selection, XsclSyntax
from penstock.twigs import Event, Fragments, Query
from penstock.twigs.depth import depth_of
from penstock.twigs.queries import NoTwigError
from penstock.twigs.subforms import Recognition


def xscl(
    text: str,
    *,
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
) -> Query:
    """Return the query of a text in XSCL, which joins documents of streams.

    >>> xscl("orders//o->x FOLLOWED BY{x/@id = y/@id, 1 h} payments//p->y").language
    'xscl'

    ``namespaces`` and ``variables`` are those of the XPath in it, as ``xpath`` takes them:
    ``$name`` is a constant there, and has nothing to do with ``->name``.

    Raises:
        QueryError: The text is no query, or contains what is not evaluated yet.
    """
    bindings = Namespaces(namespaces, text)
    lowering = ExpressionLowering(text, bindings, variables)
    try:
        query = _lower(XsclParser(text).parse_query(), lowering)
        if depth_of(query) <= DEPTH_MAX:
            return replace(query, options=options_of(bindings, variables))
    except NoTwigError:
        message = "blocks are forward twigs, and this needs positions or axes that look back"
        way_out = "use the axes child, descendant and attribute, and conditions on values"
        raise QueryError("PQ0414", message, (0, len(text)), way_out, text) from None
    except RecursionError:
        pass  # deeper still
    raise too_deep(text)


def _lower(syntax: XsclSyntax, lowering: ExpressionLowering) -> Query:
    blocks = Blocks(lowering, syntax.bindings, Recognition(lowering.slots))
    lowered = blocks.lower(syntax.blocks)
    predicates = Predicates(lowering, blocks)
    joins = predicates.lower(syntax.operators)
    output: Event | Fragments
    if not joins and syntax.selection is None and syntax.publish is None:
        output = Fragments(blocks.roots[0])
    else:
        output = _event(syntax, blocks, predicates)
    guarded = tuple(guard(block, predicates.filters) for block in lowered)
    constants = tuple(lowering.slots.values)
    return Query(guarded, output, constants, joins, lowering.text, "xscl")


def _event(syntax: XsclSyntax, blocks: Blocks, predicates: Predicates) -> Event:
    """Return the output; without a selection, the roots of the blocks that are present."""
    roots = [root for n, root in enumerate(blocks.roots) if n not in predicates.absent]
    selection = syntax.selection or Selection(())
    for name in selection.names:
        predicates.check_bound(name, len(syntax.blocks) - 1)
    names = [name.text for name in selection.names]
    if syntax.selection is None:
        names = roots
    publish = None if syntax.publish is None else syntax.publish.text
    return Event(tuple(dict.fromkeys(names)), publish, selection.content)
