"""The problem of view selection: which views make the most servers hit, within a budget.

A server hits if each of its queries is decided. A query is a conjunction of *needs*; a need is
covered in one of several *ways*, each a set of views: the path itself, all its positions, or an
ancestor. Sets of views are bits of a number. With one way for each need, certain to decide, this
is the restricted problem of the paper, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from penstock.routing.configuration import View


@dataclass(frozen=True, slots=True)
class Way:
    """Views that cover a need together."""

    views: int
    chance: float = 1.0
    """The probability that they decide it: a view with several nodes does not."""
    price: float = 0.0
    """What using it costs, as a share of a parse of the document."""


@dataclass(frozen=True, slots=True)
class Need:
    """A condition of a query."""

    ways: tuple[Way, ...]
    false: float = 0.0
    """The probability that it is false: then the rest of the query does not matter."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A server, or several that ask the same."""

    queries: tuple[tuple[Need, ...], ...]
    weight: float = 1.0
    """How many documents reach it."""

    def value(self, chosen: int) -> float:
        """Return how many documents it saves a parse, by these views."""
        hit, price = 1.0, 0.0
        for query in self.queries:
            true, not_false = 1.0, 1.0
            for need in query:
                way = best_way(need, chosen)
                chance = 0.0 if way is None else way.chance
                price += 0.0 if way is None else way.price
                false = chance * need.false
                true *= chance - false
                not_false *= 1 - false
            hit *= true + 1 - not_false
            if not hit:
                return 0.0
        return self.weight * hit * max(0.0, 1 - price)


def best_way(need: Need, chosen: int) -> Way | None:
    """Return the best way to cover a need that the chosen views offer."""
    offered = [way for way in need.ways if not way.views & ~chosen]
    return max(offered, key=lambda way: way.chance - way.price, default=None)


@dataclass(frozen=True)
class Instance:
    """Candidates for views, what each costs in a header, and who demands them."""

    views: tuple[View, ...]
    sizes: tuple[float, ...]
    demands: tuple[Demand, ...]

    @cached_property
    def _values(self) -> dict[int, float]:
        """Values that were asked for: searches come back to the same sets."""
        return {}

    @property
    def everything(self) -> int:
        """All candidates."""
        return (1 << len(self.views)) - 1

    @cached_property
    def required(self) -> dict[int, float] | None:
        """For the restricted problem: weights by the views that are needed; None for any other."""
        weights: dict[int, float] = {}
        for demand in self.demands:
            views = 0
            for query in demand.queries:
                for need in query:
                    if need.false or len(need.ways) != 1:
                        return None
                    (way,) = need.ways
                    if way.chance != 1 or way.price:
                        return None
                    views |= way.views
            weights[views] = weights.get(views, 0.0) + demand.weight
        return weights

    @cached_property
    def _affected(self) -> tuple[tuple[int, ...], ...]:
        """By view: the demands that it may matter to."""
        found: list[set[int]] = [set() for _ in self.views]
        for place, demand in enumerate(self.demands):
            ways = (way for query in demand.queries for need in query for way in need.ways)
            for way in ways:
                for view in bits(way.views):
                    found[view].add(place)
        return tuple(tuple(sorted(places)) for places in found)

    def value(self, chosen: int) -> float:
        """Return how many documents are not parsed, over all servers."""
        known = self._values.get(chosen)
        if known is None:
            missing = ~chosen
            if self.required is not None:
                known = sum(w for views, w in self.required.items() if not views & missing)
            else:
                known = sum(demand.value(chosen) for demand in self.demands)
            self._values[chosen] = known
        return known

    def change(self, before: int, after: int) -> float:
        """Return how much more another choice is worth; it costs what the difference affects."""
        if self.required is not None:
            return self.value(after) - self.value(before)
        affected = {place for view in bits(before ^ after) for place in self._affected[view]}
        demands = [self.demands[place] for place in sorted(affected)]
        return sum(demand.value(after) - demand.value(before) for demand in demands)

    def size(self, chosen: int) -> float:
        """Return what views cost in a header."""
        return sum(self.sizes[view] for view in bits(chosen))

    @property
    def weight(self) -> float:
        """How many documents servers decide about."""
        return sum(demand.weight for demand in self.demands)


def bits(views: int) -> Iterator[int]:
    """Yield the views of a set."""
    while views:
        lowest = views & -views
        yield lowest.bit_length() - 1
        views ^= lowest
