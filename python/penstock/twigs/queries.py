"""A whole query in the intermediate representation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.results import Document
from penstock.twigs.expressions import Selection, TwigNode
from penstock.twigs.joins import Comparison, Join
from penstock.twigs.outputs import Aggregate, Fragments, Output


class NoTwigError(Exception):
    """A question has no forward twig, or none of a reasonable size; an expression says it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Twigs over one stream. Several alternatives are a union: they bind the same variables.

    Every alternative is rooted at the document node (axis self, kind document). ``filters``
    compare variables of the block with each other; bindings that fail one do not count.
    """

    alternatives: tuple[TwigNode, ...]
    stream: str | None = None
    filters: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """Blocks, the joins between them, what to output, and the constants of all slots.

    An expression needs no blocks: it is its output.
    ``text`` and ``language`` say where it came from, and ``options`` what else its language needs
    to read the text again: values that JSON can hold. Two queries that ask the same are equal.
    ``general`` is the same query as an expression, where the blocks are a sub-form of it.
    ``documents`` are the values of variables that are bound to one, by the names of the variables;
    whoever evaluates the query reads them.
    """

    blocks: tuple[Block, ...]
    output: Output
    constants: tuple[str | float | bool, ...] = ()
    joins: tuple[Join, ...] = ()
    text: str = field(default="", compare=False)
    language: str = field(default="xpath", compare=False)
    options: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    general: Query | None = field(default=None, compare=False, repr=False)
    documents: Mapping[str, Document] = field(default_factory=dict, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Query {self.language}: {self.text or '(no text)'}>"

    @property
    def selects_nodes(self) -> bool:
        """Whether the results are nodes, and not one value or a summary of nodes."""
        if isinstance(self.output, Selection):
            return self.output.type is None and self.output.aggregate is None
        return isinstance(self.output, Fragments)


def as_expression(query: Query) -> Query:
    """Return a query of XPath as one expression, whether twigs say it as well or not."""
    general = query.general
    if general is None:
        assert isinstance(query.output, Selection), "blocks that are joined are no expression"
        return query
    output = general.output
    if isinstance(query.output, Aggregate) and isinstance(output, Selection):
        output = replace(output, running=query.output.running)
    constants = general.constants
    return replace(query, blocks=(), output=output, constants=constants, general=None)
