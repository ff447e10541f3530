"""FLWR queries for Bib and Book documents, with the parameters of table 1 of the paper.

A query binds a variable to a path, filters it by comparisons of relative paths with constants, and
returns relative paths. Two queries have one *plan* if they are equal once every superfluous ``//``
is rewritten; the order of comparisons and of return paths does not count.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

from benchmarks.broker.dtds import Dtd, Steps

SEED = 20_030_912
_WINDOW = 20_000
_EXHAUSTED = 0.99
"""The share of misses among the last draws that means that there are no more queries."""
_TRIES = 50
"""How often a part of a query is drawn again before the query is given up."""

T = TypeVar("T")


@dataclass(frozen=True)
class QueryParameters:
    """How queries are drawn; in brackets, the names in the paper's table 1."""

    binding_depth_max: int
    """Steps of a binding path (D1): 2 for Bib and 3 for Book in the paper."""
    predicates: int = 1
    """Comparisons in the ``where`` clause (PP)."""
    returns: int = 2
    """Paths in the ``return`` clause (RP); an element with fewer paths returns those it has."""
    depth_max: int = 2
    """Steps of a relative path (D2)."""
    descendant: float = 0.2
    """The probability that a step's axis is ``//`` (DSProb)."""
    values: int = 10
    """Constants are drawn from so many numbers (MaxValue), as in the documents."""
    operators: tuple[str, ...] = ("=",)
    """``=`` compares strings, ``<=`` and the other orders compare numbers."""


BINDING_DEPTHS = {"bib": 2, "book": 3}
"""D1 of the paper's experiments."""


class Comparison(NamedTuple):
    """``path[/@attribute] operator constant``, relative to the bound node."""

    steps: Steps
    attribute: str
    operator: str
    constant: int

    def text(self, variable: str) -> str:
        """Return it in XQuery."""
        operand = path_text(variable, self.steps)
        if self.attribute:
            operand += f"/@{self.attribute}"
        constant = f'"{self.constant}"' if self.operator == "=" else str(self.constant)
        return f"{operand} {self.operator} {constant}"


class Flwr(NamedTuple):
    """A query: binding path, comparisons in order, return paths in order."""

    binding: Steps
    comparisons: tuple[Comparison, ...]
    returns: tuple[Steps, ...]

    @property
    def bound(self) -> str:
        """The name of the bound element."""
        return self.binding[-1][1]

    def text(self) -> str:
        """Return the query in XQuery; it reads the current document of any stream."""
        where = " and ".join(one.text("$b") for one in self.comparisons)
        where = f" where {where}" if where else ""
        lists = "".join(f"{{{path_text('$b', steps)}}}" for steps in self.returns)
        return (
            f"<results>{{for $b in {path_text('', self.binding)}{where} "
            f"return <{self.bound}>{lists}</{self.bound}>}}</results>"
        )

    def plan(self, dtd: Dtd) -> "Flwr":
        """Return the query with every superfluous ``//`` rewritten."""
        bound, rewrite = self.bound, dtd.rewrite
        comparisons = [one._replace(steps=rewrite(bound, one.steps)) for one in self.comparisons]
        returns = [rewrite(bound, steps) for steps in self.returns]
        binding = rewrite(None, self.binding)
        return Flwr(binding, tuple(sorted(comparisons)), tuple(sorted(returns)))


def path_text(start: str, steps: Steps) -> str:
    """Return steps as a path from a variable, or from the document."""
    return start + "".join(f"{'//' if is_deep else '/'}{name}" for is_deep, name in steps)


def unique_queries(
    dtd: Dtd, parameters: QueryParameters, count: int, seed: int = SEED
) -> Iterator[Flwr]:
    """Yield queries that differ as written; several may have one plan.

    Query ``n`` is the same on every machine, whatever ``count`` is.

    Raises:
        ValueError: There are not so many.
    """
    return _distinct(_Drawing(dtd, parameters, seed).query, lambda query: query, count)


def unique_plans(
    dtd: Dtd, parameters: QueryParameters, count: int, seed: int = SEED
) -> Iterator[Flwr]:
    """Yield queries, as written, that differ in their plans.

    Raises:
        ValueError: There are not so many.
    """
    return _distinct(_Drawing(dtd, parameters, seed).query, lambda query: query.plan(dtd), count)


def _distinct(
    draw: Callable[[], Flwr | None], key: Callable[[Flwr], Flwr], count: int
) -> Iterator[Flwr]:
    seen: set[Flwr] = set()
    draws = misses = 0
    while len(seen) < count:
        query = draw()
        draws += 1
        found = None if query is None else key(query)
        if query is None or found is None or found in seen:
            misses += 1
        else:
            seen.add(found)
            yield query
        if draws == _WINDOW:
            if misses > _EXHAUSTED * draws:
                raise ValueError(f"no more than about {len(seen)} queries of this kind")
            draws = misses = 0


class _Drawing:
    """Draws queries."""

    def __init__(self, dtd: Dtd, parameters: QueryParameters, seed: int) -> None:
        self._dtd = dtd
        self._parameters = parameters
        self._random = Random(f"{dtd.name} {seed}")
        self._paths: dict[str, int] = {}

    def query(self) -> Flwr | None:
        """Return a query, or None if the parts that were drawn make none."""
        parameters = self._parameters
        binding = self._walk(None, self._random.randint(1, parameters.binding_depth_max))
        if not binding or binding[-1][1] not in self._dtd.bound:
            return None
        bound = binding[-1][1]
        comparisons = self._several(lambda: self._comparison(bound), parameters.predicates)
        wanted = min(parameters.returns, self._return_paths(bound))
        returns = self._several(lambda: self._return(bound), wanted)
        if len(comparisons) < parameters.predicates or len(returns) < wanted:
            return None
        return Flwr(binding, comparisons, returns)

    def _several(self, draw: Callable[[], tuple[T, T] | None], count: int) -> tuple[T, ...]:
        """Return parts as written, sorted; no two of them are equal once rewritten."""
        parts: dict[T, T] = {}
        for _ in range(_TRIES * count):
            if len(parts) == count:
                break
            drawn = draw()
            if drawn is not None:
                parts.setdefault(*drawn)
        return tuple(sorted(parts.values()))  # type: ignore[type-var]

    def _comparison(self, bound: str) -> tuple[Comparison, Comparison] | None:
        steps = self._relative(bound)
        if steps is None:
            return None
        element = self._dtd.schema.elements[steps[-1][1] if steps else bound]
        fields = [""] if element.is_field else []
        fields += [attribute.name for attribute in element.attributes]
        if not fields:
            return None
        pick = self._random.choice
        rest = (pick(fields), pick(self._parameters.operators))
        constant = self._random.randrange(self._parameters.values)
        rewritten = Comparison(self._dtd.rewrite(bound, steps), *rest, constant)
        return rewritten, Comparison(steps, *rest, constant)

    def _return(self, bound: str) -> tuple[Steps, Steps] | None:
        steps = self._relative(bound)
        return None if steps is None else (self._dtd.rewrite(bound, steps), steps)

    def _return_paths(self, bound: str) -> int:
        """Return how many relative paths there are, once rewritten."""
        if bound not in self._paths:
            dtd = self._dtd
            axes = [(False, dtd.children), (True, dtd.below)]
            if not self._parameters.descendant:
                del axes[1]
            walks: list[Steps] = [()]
            paths: set[Steps] = {()}
            for _ in range(self._parameters.depth_max):
                walks = [
                    (*walk, (is_deep, name))
                    for walk in walks
                    for is_deep, names in axes
                    for name in names[walk[-1][1] if walk else bound]
                ]
                paths |= {dtd.rewrite(bound, walk) for walk in walks}
            self._paths[bound] = len(paths)
        return self._paths[bound]

    def _relative(self, bound: str) -> Steps | None:
        return self._walk(bound, self._random.randint(0, self._parameters.depth_max))

    def _walk(self, start: str | None, length: int) -> Steps | None:
        """Return so many steps down the document type, or None where it ends before."""
        random, dtd = self._random, self._dtd
        steps = []
        for _ in range(length):
            is_deep = random.random() < self._parameters.descendant
            names = (dtd.below if is_deep else dtd.children)[start]
            if not names:
                return None
            start = random.choice(names)
            steps.append((is_deep, start))
        return tuple(steps)
