"""From servers and their queries to a problem of selection: candidates, ways, sizes, weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.routing.configuration import View
from penstock.routing.costs import Selectivities, selectivity
from penstock.routing.formulas import All, Check, First, Formula, Some, leaves
from penstock.routing.paths import Path, positions, prefixes
from penstock.routing.queries import Query
from penstock.routing.selection.instance import Demand, Instance, Need, Way
from penstock.routing.statistics import Share, Shares

STATE_BYTES = 0.5
NODE_BYTES = 8.5
"""Offset, length and checksum of a node in a header of a document of some 50 KB."""
DOCUMENT_BYTES = 50_000.0
ELEMENT_BYTES = 500.0
"""Of an element whose parts are parsed, where nobody measured it."""
Weights = Mapping[str, float]


@dataclass
class Workload:
    """Servers, and what is known of their documents.

    ``weights`` say how many documents reach each server; ``reach`` computes them from a network.
    With ``nested`` an ancestor of several paths is a candidate, whose element is parsed. With
    ``positions_max`` so many positions of a path are, with one more that says there are no more.
    Selectivities make short-circuits count: without them every path of a server is needed.
    """

    servers: Mapping[str, Iterable[Query]]
    weights: Weights = field(default_factory=dict)
    shares: Shares = field(default_factory=dict)
    selectivities: Selectivities | None = None
    document_bytes: float = DOCUMENT_BYTES
    nested: bool = False
    positions_max: int = 0

    def instance(self, *, by_count: bool = False) -> Instance:
        """Return the problem; with ``by_count`` each view costs one, not its bytes."""
        return _Builder(self).build(by_count)


class _Builder:
    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.places: dict[tuple[bytes, bool], int] = {}
        self.views: list[View] = []
        self.sizes: list[float] = []
        self.above = self._ancestors() if workload.nested else {}

    def build(self, by_count: bool) -> Instance:
        weights: dict[tuple[tuple[Need, ...], ...], float] = {}
        for name, queries in self.workload.servers.items():
            demanded = tuple(self._query(query.formula) for query in queries)
            weight = self.workload.weights.get(name, 1.0)
            weights[demanded] = weights.get(demanded, 0.0) + weight
        demands = tuple(Demand(queries, weight) for queries, weight in weights.items())
        sizes = [1.0] * len(self.views) if by_count else self.sizes
        return Instance(tuple(self.views), tuple(sizes), demands)

    def _query(self, formula: Formula) -> tuple[Need, ...]:
        """Return the needs of a query. What is no conjunction needs everything, certainly."""
        parts = formula.parts if isinstance(formula, All) else (formula,)
        needs: dict[Need, None] = {}
        for part in parts:
            is_leaf = isinstance(part, Some | First)
            for leaf in leaves(part):
                needs[self._need(leaf if not is_leaf else part, is_certain=not is_leaf)] = None
        return tuple(needs)

    def _need(self, leaf: Formula, *, is_certain: bool) -> Need:
        match leaf:
            case Some(path=path, where=where):
                false = 0.0 if is_certain else self._false(path, where)
                return Need(tuple(self._ways(path)), false)
            case First(path=path, test=test):
                false = 0.0 if is_certain else self._false(path, test)
                return Need(tuple(self._ways(path)), false)
            case _:
                return Need(())  # only a parse answers it

    def _false(self, path: Path, where: Formula) -> float:
        measured = self.workload.selectivities
        if measured is None:
            return 0.0
        share = self._share(path.text)
        passing = selectivity(path.text, where, measured) if isinstance(where, Check) else 1.0
        there = 1.0 if share is None else 1 - share.absent
        return 1 - there * passing

    def _ways(self, path: Path) -> Iterable[Way]:
        share = self._share(path.text)
        multiple = 0.0 if share is None else share.multiple
        yield Way(1 << self._place(path, False), 1 - multiple)
        count = self.workload.positions_max
        if multiple and count and not any(positions(path)) and not path.text.endswith(")"):
            listed = [path.at(f"{path.text}[{place}]") for place in range(1, count + 2)]
            yield Way(sum(1 << self._place(one, False) for one in listed))
        above = self.above.get(path.key)
        if above is not None:
            found = self._share(above.text)
            length = ELEMENT_BYTES if found is None else found.node_bytes
            chance = 1.0 if found is None else 1 - found.multiple
            price = min(1.0, length / self.workload.document_bytes)
            yield Way(1 << self._place(above, True), chance, price)

    def _ancestors(self) -> dict[bytes, Path]:
        """Return, by path, the longest ancestor that another path has as well."""
        below: dict[bytes, set[bytes]] = {}
        found: dict[bytes, list[Path]] = {}
        for queries in self.workload.servers.values():
            for query in queries:
                for leaf in leaves(query.formula):
                    if not isinstance(leaf, Some | First) or leaf.path.key in found:
                        continue
                    above = [one.path for one in prefixes(leaf.path) if one.is_inside]
                    found[leaf.path.key] = above
                    for path in above:
                        below.setdefault(path.key, set()).add(leaf.path.key)
        shared = {
            key: next((path for path in above if len(below[path.key]) > 1), None)
            for key, above in found.items()
        }
        return {key: path for key, path in shared.items() if path is not None}

    def _place(self, path: Path, parts: bool) -> int:
        place = self.places.setdefault((path.key, parts), len(self.views))
        if place == len(self.views):
            self.views.append(View(path.text, parts))
            share = self._share(path.text)
            one = 1.0 if share is None else share.one
            self.sizes.append(STATE_BYTES + one * NODE_BYTES)
        return place

    def _share(self, text: str) -> Share | None:
        return self.workload.shares.get(text)


def reach(
    sources: Mapping[str, float], links: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Return how many documents reach each server of a network, for each that sources send.

    ``sources`` says how many documents start at a server, ``links`` which share of those that a
    server sees it passes on to others. Along a cycle documents die out, as long as the shares do;
    after a thousand hops they are counted as gone.
    """
    found: dict[str, float] = {}
    wave = dict(sources)
    for _ in range(1000):
        following: dict[str, float] = {}
        for server, count in wave.items():
            found[server] = found.get(server, 0.0) + count
            for target, share in links.get(server, {}).items():
                following[target] = following.get(target, 0.0) + count * share
        wave = {server: count for server, count in following.items() if count > 1e-9}
        if not wave:
            break
    return found
