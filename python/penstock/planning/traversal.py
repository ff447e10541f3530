"""One walk over a query for all rewrites: from the leaves up, rebuilding only what changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.twigs import Query, TwigNode, Value
from penstock.twigs.parts import Changes, rewrite


def rewrite_query(
    query: Query,
    changes: Changes,
    choose: Callable[[list[TwigNode]], list[TwigNode]] | None = None,
) -> Query:
    """Return the query with its parts changed as by :func:`rewrite`, its blocks first.

    ``choose`` returns the alternatives of a block that stay, in their order. Where nothing
    changed it is the same object. Output templates other than ``Value`` contain nothing that a
    rewrite looks at.
    """
    blocks = []
    for block in query.blocks:
        twigs = [rewrite(twig, changes) for twig in block.alternatives]
        alternatives = tuple(twigs if choose is None else choose(twigs))
        is_same = alternatives == block.alternatives
        blocks.append(block if is_same else replace(block, alternatives=alternatives))
    output = query.output
    if isinstance(output, Value):
        atom = rewrite(output.atom, changes)
        if atom is not output.atom:
            output = replace(output, atom=atom)
    if output is query.output and tuple(blocks) == query.blocks:
        return query
    return replace(query, blocks=tuple(blocks), output=output)
