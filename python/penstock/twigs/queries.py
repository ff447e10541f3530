"""A whole query in the intermediate representation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.twigs.joins import Comparison, Join
from penstock.twigs.outputs import Output
from penstock.twigs.patterns import TwigNode


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

    ``text`` and ``language`` say where it came from, and ``options`` what else its language needs
    to read the text again: values that JSON can hold. Two queries that ask the same are equal.
    """

    blocks: tuple[Block, ...]
    output: Output
    constants: tuple[str | float | bool, ...] = ()
    joins: tuple[Join, ...] = ()
    text: str = field(default="", compare=False)
    language: str = field(default="xpath", compare=False)
    options: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
