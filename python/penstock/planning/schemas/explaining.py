"""What a schema changes, in words."""

from __future__ import annotations

from penstock.planning.schemas.ends import end_lines
from penstock.planning.schemas.impossible import impossible_steps
from penstock.planning.schemas.knowledge import Knowledge
from penstock.planning.schemas.programs import is_joined, rewrite_blocks, rewrite_for
from penstock.planning.schemas.watching import watched
from penstock.schemas import Schema
from penstock.twigs import Query
from penstock.twigs.printing import print_query

_MODES = {
    "off": "off: the schema is not used",
    "trust": "trust: documents that do not fit the schema may get wrong results",
    "verify": "verify: documents at hand are checked; others are read without the schema",
}


def explain_schema(query: Query, schema: Schema) -> tuple[list[str], Query]:
    """Return the lines about a schema, and the query that is evaluated under it."""
    lines = [schema.source, _MODES[schema.mode]]
    if schema.mode == "off":
        return lines, query
    lines += [f"impossible: {one}" for one in impossible_steps(query, schema)]
    if is_joined(query):
        streams = {block.stream or "" for block in query.blocks}
        changed = rewrite_blocks(query, dict.fromkeys(streams, schema))
        is_changed = changed is not query
    else:
        rewritten = rewrite_for(query, schema, is_fed=True)
        changed, is_changed = rewritten.query, rewritten.query is not query
        if schema.mode == "verify" and rewritten.targets:
            names = ", ".join(map(str, watched(schema, rewritten.targets)))
            lines.append(f"checked: where {names} may stand")
        if schema.mode == "trust":
            lines += end_lines(changed, "query", Knowledge.of(schema))
    if not is_changed:
        return [*lines, "the query stays as it is"], query
    return [*lines, "the query becomes", *print_query(changed).splitlines()], changed
