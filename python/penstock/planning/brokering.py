"""How queries that the broker serves are asked of small documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

BrokerStrategy = Literal["keyed", "f", "fw", "fwr", "shared"]
"""``keyed`` is the one to use, the others are there to be compared with: the operators of the paper
on message brokering, with path matching shared for binding paths (PathSharing-F), for paths of
conditions too (FW), for return paths too (FWR), and with shared plans."""

Knowledge = Literal["nothing", "queries", "schema"]
"""What operators of the paper are left out by: nothing, Opt(q) or Opt(q+dtd)."""


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """How many queries in XQuery of one form are asked of a small document at once.

    All strategies give the same messages. ``knowledge`` chooses the operators of all but ``keyed``;
    ``schema`` also needs the schema of the stream (``Engine(schemas=...)``), and knows the queries
    without it. ``is_profiled`` takes the time of each operator.

    >>> BrokerOptions(strategy="fwr", knowledge="queries").named
    ('fwr', 'queries')

    Raises:
        ValueError: There is no such strategy, or no such knowledge.
    """

    strategy: BrokerStrategy = "keyed"
    knowledge: Knowledge = "schema"
    is_profiled: bool = False

    def __post_init__(self) -> None:
        if self.strategy not in get_args(BrokerStrategy):
            names = ", ".join(get_args(BrokerStrategy))
            raise ValueError(f"strategy is one of {names}, not {self.strategy}")
        if self.knowledge not in get_args(Knowledge):
            names = ", ".join(get_args(Knowledge))
            raise ValueError(f"knowledge is one of {names}, not {self.knowledge}")

    @property
    def named(self) -> tuple[str, str] | None:
        """The strategy and its knowledge, as the kernel calls them; None is the default."""
        return None if self.strategy == "keyed" else (self.strategy, self.knowledge)
