"""Canonical variables and the edges between them: what stage 1 is asked for.

The variables of a query are names that its author chose. Queries share work where their variables
mean the same, so each becomes a canonical variable: a stream and the path from the document node
to the bound node. The steps of the path carry all conditions that the query's block puts on them,
those branches included which the minor drops; branches that the minor keeps are not conditions,
because stage 2 joins their witnesses. Equal canonical variables therefore have equal bindings in
every document, whichever query asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.twigs import TwigNode
from penstock.twigs.blanks import Atom

PARTIAL = "\0"
"""The names of streams of partial matches begin with it; no stream of documents does."""
MATCH = "match"
"""The key of a partial match itself; what it keeps is numbered from 1."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A canonical variable: the nodes at the end of one path in the documents of one stream.

    ``stream`` None means every stream. ``key`` is the path in normal form with its constants, as
    text: equal keys mean equal paths and conditions. ``alternatives`` are that path, in the form
    of ``Block.alternatives``: one twig as a rule, several where an absolute path in a predicate
    splits it, none where nothing can match. Each is rooted at the document node, its nodes have
    one branch at most, the last one is bound; slots refer to ``constants``. A variable of partial
    matches has a key only.
    """

    stream: str | None
    key: str
    alternatives: tuple[TwigNode, ...] = field(default=(), compare=False, repr=False)
    constants: tuple[Atom, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_partial(self) -> bool:
        """Whether partial matches bind it, not documents."""
        return self.stream is not None and self.stream.startswith(PARTIAL)


@dataclass(frozen=True, slots=True)
class Edge:
    """Two variables of one block, one somewhere above the other, perhaps through dropped nodes.

    In a document it holds for the pairs (upper node, lower node) that one embedding of the lower
    variable's path passes through. ``alternatives`` are that path with both nodes bound, to
    ``UPPER`` and ``LOWER``; slots refer to ``constants``.
    """

    upper: Variable
    lower: Variable
    alternatives: tuple[TwigNode, ...] = field(default=(), compare=False, repr=False)
    constants: tuple[Atom, ...] = field(default=(), compare=False, repr=False)


UPPER = "upper"
LOWER = "lower"
