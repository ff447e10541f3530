"""Output templates: what a query makes of its bindings."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.twigs.expressions import Atom, Condition, Selection, ValueType
from penstock.twigs.sequences import Sequences
from penstock.twigs.tables import Table


@dataclass(frozen=True, slots=True)
class Fragments:
    """The nodes bound to a variable, each once, in document order where order matters.

    ``beside`` names further variables, bound relative to the node, that travel with it.
    """

    variable: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """One atomic value per document, evaluated at the document node."""

    atom: Atom
    type: ValueType


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``count sum avg min max`` over the nodes bound to a variable.

    A running aggregate reports after every node, a plain one at the end of the document.
    """

    function: str
    variable: str
    running: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """Characters of a constructed message."""

    text: str


@dataclass(frozen=True, slots=True)
class Insert:
    """What a variable is bound to: the nodes themselves, or with ``as_value`` their string."""

    variable: str
    as_value: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """A constructed element. Attribute values are sequences of literals and inserts."""

    name: str
    attributes: tuple[tuple[str, tuple[Content, ...]], ...] = ()
    content: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Content repeated for every binding of ``variable`` under the bindings around it.

    This is an inner ``for``; ``where`` filters the bindings, evaluated at the bound node.
    """

    variable: str
    content: tuple[Content, ...]
    where: Condition | None = None


Content = Literal | Insert | Element | Group


@dataclass(frozen=True, slots=True)
class Message:
    """One constructed message for every tuple of bindings of the ``each`` variables.

    ``where`` are conditions on single bindings: pairs (variable, condition at its node).
    """

    each: tuple[str, ...]
    content: tuple[Content, ...]
    where: tuple[tuple[str, Condition], ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """A joined event: one for every distinct tuple of bindings of the selected variables.

    ``content`` is what the event is made of; without it, the selected nodes under a new root, or
    without ``select`` the roots of the blocks. ``publish`` names the stream that it goes on to.
    """

    select: tuple[str, ...] = ()
    publish: str | None = None
    content: tuple[Content, ...] = ()


Output = Fragments | Value | Aggregate | Message | Event | Selection | Sequences | Table
