"""The product's progressive join with the paper's policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from papers import native
from penstock.joins import JoinGraph, JoinOptions, ProgressiveJoiner
from penstock.limits import Limits

Flush = Literal["auto", "rrpj", "rpj", "random"]
"""What is written out when memory is full: ``auto`` is the product's choice."""
Probe = Literal["rop", "rop-written", "sequential", "apriori"]
"""In which order streams are probed: ``rop`` is the product's, ``rop-written`` the paper's."""
FLUSHES: tuple[Flush, ...] = get_args(Flush)
PROBES: tuple[Probe, ...] = get_args(Probe)


@dataclass(frozen=True, slots=True)
class Policies:
    """What leaves memory, which part of the budget at a time, and in which order is probed.

    ``partitions`` are hash partitions of each stream, ``page_bytes`` those of a page, and
    ``selectivities`` how likely a binding finds a match in each stream, for ``apriori``.
    """

    flush: Flush = "auto"
    flush_fraction: float = 0.1
    partitions: int = 1024
    page_bytes: int = 40_960
    probe: Probe = "rop"
    selectivities: Sequence[float] = ()


class PolicyJoiner(ProgressiveJoiner):
    """A progressive join with policies.

    >>> from penstock.joins import Equality, Side
    >>> graph = JoinGraph([1, 1], [Equality(Side(0, 0), Side(1, 0))])
    >>> with PolicyJoiner(graph, Policies(flush="rrpj")) as joiner:
    ...     _ = list(joiner.push(0, [[b"k"]], b"<a/>"))
    ...     [(left, right)] = joiner.push(1, [[b"k"]], b"<b/>")
    >>> left.fragment, right.fragment
    (b'<a/>', b'<b/>')

    Raises:
        ValueError: A policy is unknown, or the graph is not connected.
    """

    def __init__(
        self,
        graph: JoinGraph,
        policies: Policies,
        options: JoinOptions | None = None,
        limits: Limits | None = None,
        *,
        seed: int = 0,
    ) -> None:
        self._policies = policies
        super().__init__(graph, options, limits, seed=seed)

    def _open(self, graph: JoinGraph, options: JoinOptions, limits: Limits, seed: int) -> Any:
        policies = self._policies
        return native.load().progressive_join(
            self._pages,
            graph.attributes,
            graph.equalities,
            graph.comparisons,
            limits,
            within=graph.within_us,
            flush=policies.flush,
            flush_fraction=policies.flush_fraction,
            partitions=policies.partitions,
            page_bytes=policies.page_bytes,
            probe=policies.probe,
            selectivities=list(policies.selectivities),
            state_bytes_max=options.state_bytes_max,
            seed=seed,
        )
