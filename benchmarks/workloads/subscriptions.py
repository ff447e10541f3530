"""Queries for the documents of a document type, distinct and drawn from a seed.

A query is a walk from the root down the document type, as in YFilter's generator: at each step
an axis, a name or a wildcard, perhaps nested paths and comparisons of values. So the parameters
are those of table 1 of the YFilter paper on message brokering and of section 8.4 of the thesis
on XPaSS. Queries use XPath 1.0 without namespaces, so that other engines take them too.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from math import gcd
from random import Random

from benchmarks.workloads.dtd import Attribute, Schema

SEED = 20_060_412
_LENGTH_LIMIT = 20
_WINDOW = 4096
_SCARCE = 0.93
"""So many misses among the last draws, as a share, make queries grow …"""
_EXHAUSTED = 0.999
"""… and so many mean that there are no more."""


@dataclass(frozen=True)
class QueryParameters:
    """How queries are drawn. Ranges are inclusive, probabilities hold for each step."""

    length_min: int = 1
    length_max: int = 6
    """Location steps (the parameters L and D1)."""
    grows: bool = False
    """Whether longer queries are drawn where most short ones have been drawn already."""
    wildcard: float = 0.2
    """The probability that a step is ``*``."""
    descendant: float = 0.2
    """The probability that a step's axis is ``//`` (DSProb), which may skip levels."""
    even: float = 0.0
    """The probability that a walk is drawn evenly among all label paths of its length, most of
    which are rare in documents, rather than evenly among the children at each step."""
    nested_min: int = 0
    nested_max: int = 0
    """Nested paths, as in ``a[b/c]/d``."""
    nested_length_max: int = 2
    """Steps of a nested path (D2)."""
    predicates_min: int = 0
    predicates_max: int = 0
    """Comparisons with a value (PP)."""
    values_max: int = 10
    """Values are drawn from so many numbers, as in the documents."""
    operators: tuple[str, ...] = ("=",)


_Steps = tuple[list[str], list[str]]
"""The steps of a walk: what is written, and the elements that they stand for."""


@dataclass(frozen=True)
class _Field:
    """Something whose value can be asked for, as seen from an element."""

    path: str
    choices: tuple[str, ...] = ()


def queries(
    schema: Schema, parameters: QueryParameters, count: int, seed: int = SEED
) -> Iterator[str]:
    """Yield distinct queries; query ``n`` is the same on every machine, whatever ``count`` is.

    Raises:
        ValueError: The document type does not have so many queries of this kind.
    """
    walker = _Walker(schema, parameters, Random(f"{schema.name} {seed}"))
    yield from _distinct(walker, walker.query, count)


def templates(
    schema: Schema, parameters: QueryParameters, count: int, shapes: int, seed: int = SEED
) -> Iterator[str]:
    """Yield distinct queries that differ only in the constant of their one comparison.

    The shapes take turns. Each has the comparison ``=`` with one of ``values_max`` numbers.

    Raises:
        ValueError: There are not so many shapes, or not so many constants.
    """
    if -(-count // shapes) > parameters.values_max:
        raise ValueError(f"{count} queries of {shapes} shapes need more than values_max constants")
    one = replace(parameters, predicates_min=1, predicates_max=1, operators=("=",))
    walker = _Walker(schema, one, Random(f"{schema.name} {seed} templates"))
    drawn = list(_distinct(walker, walker.template, min(shapes, count)))
    # A step that has no factor in common with the range visits every constant once.
    stride = next(
        n
        for n in range(parameters.values_max * 5 // 8 + 1, parameters.values_max * 2)
        if gcd(n, parameters.values_max) == 1
    )
    for number in range(count):
        turn, shape = divmod(number, len(drawn))
        yield drawn[shape].format((shape * 7919 + turn * stride) % parameters.values_max)


def _distinct(walker: "_Walker", draw: Callable[[], str | None], count: int) -> Iterator[str]:
    seen: set[str] = set()
    draws = misses = 0
    while len(seen) < count:
        text = draw()
        draws += 1
        if text is None or text in seen:
            misses += 1
        else:
            seen.add(text)
            yield text
        if draws == _WINDOW:
            if misses > _SCARCE * draws and walker.grows and walker.length_max < _LENGTH_LIMIT:
                walker.length_max += 1
            elif misses > _EXHAUSTED * draws:
                raise ValueError(f"no more than about {len(seen)} queries of this kind")
            draws = misses = 0


class _Walker:
    """Draws queries."""

    def __init__(self, schema: Schema, parameters: QueryParameters, random: Random) -> None:
        self.grows = parameters.grows
        self.length_max = parameters.length_max
        self._parameters = parameters
        self._random = random.random
        self._root = schema.root
        self._children = {name: element.children for name, element in schema.elements.items()}
        self._fields = {name: _fields(schema, name) for name in schema.elements}
        self._counts: dict[tuple[str, int], int] = {}
        self._sums: dict[tuple[tuple[str, ...], int], list[int]] = {}

    def query(self) -> str | None:
        """Return a query, or None if the walk came to an end too early."""
        walked = self._walk()
        if walked is None:
            return None
        texts, elements = walked
        count = self._between(self._parameters.predicates_min, self._parameters.predicates_max)
        nested = self._between(self._parameters.nested_min, self._parameters.nested_max)
        if not count and not nested:
            return "".join(texts)
        conditions: list[set[str]] = [set() for _ in texts]
        for draw, wanted in ((self._comparison, count), (self._nested, nested)):
            for _ in range(wanted):
                place = int(self._random() * len(elements))
                condition = draw(elements[place])
                if condition is None:
                    return None
                conditions[place].add(f"[{condition}]")
        # Sorted, and each once, so that queries that say the same are the same text.
        return "".join(
            text + "".join(sorted(found)) for text, found in zip(texts, conditions, strict=True)
        )

    def template(self) -> str | None:
        """Return a query whose constant is left open, or None."""
        walked = self._walk()
        if walked is None:
            return None
        texts, elements = walked
        place = int(self._random() * len(elements))
        open_fields = [field for field in self._fields[elements[place]] if not field.choices]
        if not open_fields:
            return None
        field = open_fields[int(self._random() * len(open_fields))]
        texts[place] += f"[{field.path} = '{{}}']"
        return "".join(texts)

    def _walk(self) -> _Steps | None:
        parameters, random, children = self._parameters, self._random, self._children
        wildcard, descendant = parameters.wildcard, parameters.descendant
        left = self._between(parameters.length_min, self.length_max)
        is_even = random() < parameters.even
        texts: list[str] = []
        elements: list[str] = []
        below: tuple[str, ...] = (self._root,)
        while below and left:
            left -= 1
            element = self._even(below, left) if is_even else below[int(random() * len(below))]
            axis = "/"
            if random() < descendant:
                axis = "//"
                while random() < 0.5 and children[element]:
                    inner = children[element]
                    element = inner[int(random() * len(inner))]
            texts.append(axis + "*" if random() < wildcard else axis + element)
            elements.append(element)
            below = children[element]
        return (texts, elements) if len(texts) >= parameters.length_min else None

    def _even(self, names: tuple[str, ...], left: int) -> str:
        """Return one of the names, by how many paths of so many more steps it begins."""
        key = (names, left)
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = list(accumulate(self._paths(name, left) for name in names))
        if not sums[-1]:
            return names[int(self._random() * len(names))]
        return names[bisect_right(sums, self._random() * sums[-1])]

    def _paths(self, name: str, left: int) -> int:
        """Return how many label paths of so many more steps there are below an element."""
        if left == 0:
            return 1
        key = (name, left)
        if key not in self._counts:
            below = self._children[name]
            self._counts[key] = sum(self._paths(child, left - 1) for child in below)
        return self._counts[key]

    def _comparison(self, element: str) -> str | None:
        fields = self._fields[element]
        if not fields:
            return None
        field = fields[int(self._random() * len(fields))]
        if field.choices:
            return f"{field.path} = '{field.choices[int(self._random() * len(field.choices))]}'"
        operators = self._parameters.operators
        operator = operators[int(self._random() * len(operators))]
        value = int(self._random() * self._parameters.values_max)
        quoted = f"'{value}'" if operator in ("=", "!=") else str(value)
        return f"{field.path} {operator} {quoted}"

    def _nested(self, element: str) -> str | None:
        random = self._random
        length = self._between(1, self._parameters.nested_length_max)
        parts: list[str] = []
        below = self._children[element]
        while below and len(parts) < length:
            element = below[int(random() * len(below))]
            axis = "//" if random() < self._parameters.descendant else "/"
            test = "*" if random() < self._parameters.wildcard else element
            parts.append(axis + test)
            below = self._children[element]
        if not parts:
            return None
        path = "".join(parts)
        return f".{path}" if path.startswith("//") else path[1:]

    def _between(self, least: int, most: int) -> int:
        return least + int(self._random() * (most - least + 1))


def _fields(schema: Schema, name: str) -> tuple[_Field, ...]:
    element = schema.elements[name]
    own = (_Field("."),) if element.is_field else ()
    children = (_Field(child) for child in element.children if schema.elements[child].is_field)
    return (*own, *children, *map(_attribute_field, element.attributes))


def _attribute_field(attribute: Attribute) -> _Field:
    return _Field(f"@{attribute.name}", attribute.choices)
