"""Programs of queries over documents that fit a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from penstock.planning.modes import Mode
from penstock.planning.normalise import normalise
from penstock.planning.programs import compile_program
from penstock.planning.schemas.descendants import write_out_descendants
from penstock.planning.schemas.ends import End, ends_of
from penstock.planning.schemas.impossible import drop_impossible
from penstock.planning.schemas.knowledge import Knowledge
from penstock.planning.schemas.single_children import read_single_children
from penstock.schemas import Name, Schema
from penstock.twigs import Event, Fragments, Query, Selection
from penstock.twigs.sequences import Sequences


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A query under a schema: what became of it, and the elements whose places it relies on."""

    query: Query
    targets: frozenset[Name] = frozenset()


def rewrite_for(query: Query, schema: Schema, *, is_fed: bool = False) -> Rewritten:
    """Return what a query becomes over documents that fit a schema; the same if nothing changes.

    ``is_fed`` is said of documents that come in pieces. Only they gain by comparisons that fail
    early; over documents at hand such comparisons cost much more than those with some node.

    In the mode ``verify`` only ``//`` of twigs and of XQuery is written out. That keeps the event
    that decides each result, so that rows are the same with and without the schema, their order
    included. What else is rewritten decides earlier, which is of no use where rows wait for the
    end of the document anyway.

    Raises:
        QueryError: The query is nested too deeply.
    """
    if schema.mode == "off" or is_joined(query):
        return Rewritten(query)
    knowledge = Knowledge.of(schema)
    normal = query if isinstance(query.output, Sequences) else normalise(query)
    if schema.mode == "verify" and isinstance(normal.output, Selection):
        return Rewritten(query)
    is_checked = schema.mode == "verify"
    changed, targets = write_out_descendants(normal, knowledge, keeps_moments=is_checked)
    if schema.mode == "trust":
        changed = drop_impossible(changed, knowledge)
        if not isinstance(changed.output, Sequences):
            changed = normalise(changed)
        if is_fed:
            changed = read_single_children(changed, knowledge)
    if changed == normal:
        return Rewritten(query)
    return Rewritten(changed, targets)


class Compiled(NamedTuple):
    """The program of a query under a schema; None: the same as without it.

    It relies on the places of ``targets``. Behind ``ends`` it has no matches; None: it may have.
    """

    program: bytes | None = None
    targets: frozenset[Name] = frozenset()
    ends: frozenset[End] | None = None


def compile_for(
    query: Query, mode: Mode, schema: Schema, *, is_fed: bool = False, with_ends: bool = False
) -> Compiled:
    """Return the program of a query under a schema; ``with_ends`` asks for its ends, too.

    Raises:
        QueryError: The query is nested too deeply.
    """
    rewritten = rewrite_for(query, schema, is_fed=is_fed)
    ends = None
    if with_ends and not is_joined(query):
        ends = ends_of(rewritten.query, mode, Knowledge.of(schema))
    if rewritten.query is query:
        return Compiled(ends=ends)
    return Compiled(compile_program(rewritten.query, mode), rewritten.targets, ends)


def is_joined(query: Query) -> bool:
    """Whether a query is evaluated by joins: its blocks belong to streams."""
    match query.output:
        case Event():
            return True
        case Fragments():
            return query.blocks[0].stream is not None
        case _:
            return False


def rewrite_blocks(query: Query, schemas: Mapping[str, Schema]) -> Query:
    """Return a query of joins with the blocks of trusted streams rewritten.

    Variables keep their places: a block is changed by itself, before the query is compiled.

    Raises:
        QueryError: The query is nested too deeply.
    """
    normal = normalise(query)
    blocks = []
    for block in normal.blocks:
        schema = schemas.get(block.stream or "")
        if schema is not None and schema.mode == "trust":
            alone = Query((block,), normal.output, normal.constants)
            changed, _ = write_out_descendants(alone, Knowledge.of(schema))
            block = changed.blocks[0]
        blocks.append(block)
    if tuple(blocks) == normal.blocks:
        return query
    return replace(normal, blocks=tuple(blocks), text="")
