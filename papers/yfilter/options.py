"""Which of the paper's strategies asks small documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

BrokerStrategy = Literal["keyed", "f", "fw", "fwr", "shared"]
"""``keyed`` is the product's. The others are the operators of the paper, with path matching shared
for binding paths (PathSharing-F), for paths of conditions too (FW), for return paths too (FWR), and
with shared plans."""

Knowledge = Literal["nothing", "queries", "schema"]
"""What operators are left out by: nothing, Opt(q) or Opt(q+dtd)."""


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """How queries in XQuery of one form are asked of a small document.

    All strategies give the same messages. ``knowledge`` chooses the operators of all but ``keyed``;
    ``schema`` also needs a schema, and knows the queries without it. ``is_profiled`` takes the time
    of each operator.

    Raises:
        ValueError: The strategy or the knowledge is unknown.
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
