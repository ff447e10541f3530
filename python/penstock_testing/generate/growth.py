"""Queries whose cost has to follow the input, with the documents that make them grow.

Answers are no longer than the document, up to a factor: nodes of flat documents, counts of deep
ones. Nothing here is inherently quadratic: no arithmetic on positions along order axes, no two
order axes in one count or comparison, no string values of nested elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from penstock_testing.generate.expressions import SIGNS
from penstock_testing.generate.growth_documents import DEEP

_FLAT = ("flat", "equal", "repeating", "groups", "mixed")
_KEYED = ("keys_last", "keys_last", "keys_first")
_SIBLINGS = ("preceding-sibling", "following-sibling")
_ORDER = (*_SIBLINGS, "preceding", "following")
_UP = ("ancestor", "ancestor-or-self")
_NAMES = {
    "flat": {"b"},
    "equal": {"b"},
    "repeating": {"b"},
    "groups": {"b", "g"},
    "mixed": {"b", "c"},
    "keys_first": {"b", "c"},
    "keys_last": {"b", "c"},
    "comb": {"b", "c"},
    "deep": set[str](),
}
"""Which of the elements beside ``a`` the shapes have."""
_CONTEXTS = ("//a", "//a", "//*", "//a[b]", "//c")


@dataclass(frozen=True, slots=True)
class GrowthCase:
    """A query and the shape of the documents that it is measured over."""

    query: str
    shape: str

    def __str__(self) -> str:
        return f"{self.shape}: {self.query}"


KNOWN = tuple(
    GrowthCase(query, shape)
    for shape, queries in {
        "flat": (
            "//a/preceding-sibling::a[last()]",
            "//b[../preceding-sibling::a/b = .]",
            "//a[count(../a) > 5]",
            "//a[not(b = preceding-sibling::a/b)]",
            "//a[position() = count(../a)]",
            "count(//*[. = //*])",
            "//a/following-sibling::a[1]",
            "//b[not(. = //a/@n)]",
            "/r/a/following-sibling::a/b",
            "//a/following::b[1]",
            "//a[2]",
            "//a/following-sibling::a[1]/b",
            "//following::*[preceding::*]",
        ),
        "deep": (
            "count(//a/ancestor::a[3])",
            "count(//a[count(ancestor::a) > 5])",
            "count(//a//a[1])",
        ),
        "keys_last": ("//a[b = //k][3]", "//c/following-sibling::a[b = //k][2]"),
    }.items()
    for query in queries
)
"""Queries that once grew with the square or the cube of the input."""


def growth_cases(seed: int, count: int) -> list[GrowthCase]:
    """Return so many different cases, those of all kinds in turn."""
    writer = _Writer(Random(seed))
    cases: dict[GrowthCase, None] = {}
    for case in writer.cases():
        cases[case] = None
        if len(cases) == count:
            break
    return list(cases)


def _holding(query: str, shapes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shapes whose documents have elements of all names in a query."""
    names = set(re.findall(r"\b[bcg]\b", query))
    return tuple(shape for shape in shapes if names <= _NAMES[shape])


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.one_of = random.choice

    def cases(self) -> Iterator[GrowthCase]:
        """Yield one case of every kind, over and over."""
        kinds: tuple[Callable[[], tuple[str, tuple[str, ...]]], ...] = (
            self.ordered_position,
            self.ordered_path,
            self.existence,
            self.counted,
            self.child_position,
            self.compared,
            self.compared_with_all,
            self.summed,
            self.named,
            self.hoisted,
            self.filtered,
            self.undecided,
            self.nested,
        )
        while True:
            for kind in kinds:
                query, shapes = kind()
                shape = self.one_of(_holding(query, shapes))
                is_counted = shape in DEEP or self.happens(0.2)
                yield GrowthCase(f"count({query})" if is_counted else query, shape)

    def happens(self, chance: float) -> bool:
        return self.random.random() < chance

    # Positions and paths along order axes.

    def position(self) -> str:
        small = self.one_of("123")
        return self.one_of(
            (
                small,
                small,
                "last()",
                f"position() <= {small}",
                f"position() > {small}",
                f"position() = last() - {small}",
                f"last() > {small}",
            )
        )

    def ordered_position(self) -> tuple[str, tuple[str, ...]]:
        axis, test = self.one_of(_ORDER), self.one_of(("a", "a", "*", "c"))
        tail = self.one_of(("", "", "/b", "/@n"))
        guard = self.one_of(("", "", "[b]", "[@n > 3]"))
        return f"{self.context()}/{axis}::{test}{guard}[{self.position()}]{tail}", _FLAT

    def ordered_path(self) -> tuple[str, tuple[str, ...]]:
        steps = "/".join(self.step() for _ in range(self.one_of((1, 1, 2))))
        return f"{self.context()}/{steps}{self.one_of(('', '/b', '/@n'))}", _FLAT

    def step(self) -> str:
        guard = self.one_of(("", "", "[b]", "[@n = 7]", "[not(@n > 3)]"))
        return f"{self.one_of(_ORDER)}::{self.one_of(('a', 'a', '*', 'c'))}{guard}"

    def context(self) -> str:
        return self.one_of(_CONTEXTS)

    def existence(self) -> tuple[str, tuple[str, ...]]:
        steps = "/".join(self.step() for _ in range(self.one_of((1, 2, 2))))
        path = steps + self.one_of(("", "/b", "/@n", "/parent::*"))
        # libxml2 has its own opinion on what follows an attribute.
        if not path.endswith("/@n") and self.happens(0.3):
            path += f"[{self.step()}]"
        truth = f"not({path})" if self.happens(0.4) else path
        return f"{self.context()}[{truth}]", (*_FLAT, "keys_last")

    # Counts, sums and names.

    def cut(self) -> str:
        """Return a set that at most one order axis cuts out of a group."""
        return self.one_of(
            (
                f"{self.one_of(_SIBLINGS)}::a",
                f"{self.one_of(_SIBLINGS)}::*[b]",
                f"{self.one_of(_SIBLINGS)}::a[@n > 3]",
                f"{self.one_of(_SIBLINGS)}::a/b",
                "preceding::a",
                "following::b",
                "../a",
                "../*",
                "//a",
            )
        )

    def bound(self) -> str:
        return self.one_of(("0", "1", "5", "100", "@n", "count(//a) - 3", "count(../a) div 2"))

    def counted(self) -> tuple[str, tuple[str, ...]]:
        sign = self.one_of(SIGNS)
        return f"//a[count({self.cut()}) {sign} {self.bound()}]", _FLAT

    def summed(self) -> tuple[str, tuple[str, ...]]:
        cut = self.one_of((f"{self.one_of(_SIBLINGS)}::a/@n", "../a/b", "//a/@n", "preceding::b"))
        return f"//a[sum({cut}) {self.one_of(SIGNS)} {self.one_of(('0', '50', '@n'))}]", _FLAT

    def named(self) -> tuple[str, tuple[str, ...]]:
        nearest = f"{self.one_of(_ORDER)}::{self.one_of('a*')}[{self.one_of('112')}]"
        return self.one_of(
            (
                (f"//a[name({nearest}) = 'a']", ("mixed", "flat")),
                (f"//a[string({nearest}/b) = b]", _FLAT),
                (f"//a[{nearest}/@n < @n]", _FLAT),
                (f"//a[string({self.one_of(_ORDER)}::a/@n) != @n]", _FLAT),
            )
        )

    # Children by position, and what is asked of a parent.

    def child_position(self) -> tuple[str, tuple[str, ...]]:
        parent = self.one_of(("/", "/r", "/*", "/*/*"))
        guard = self.one_of(("", "", "[b]", "[@n > 3]", "[b = 5]"))
        position = self.one_of(
            (
                self.position(),
                self.position(),
                "position() mod 3 = 1",
                "position() = count(../a) - 1",
                "position() > last() div 2",
                "position() = @n",
                "last()][b",
            )
        )
        return f"{parent}/a{guard}[{position}]{self.one_of(('', '/b'))}", _FLAT

    def hoisted(self) -> tuple[str, tuple[str, ...]]:
        condition = self.one_of(
            (
                f"count(../a[b > 5]) {self.one_of(SIGNS)} 3",
                f"../a[{self.one_of(('1', 'last()', '3'))}]/b {self.one_of(SIGNS)} b",
                "../@n = @n",
                f"sum(../a/@n) {self.one_of(SIGNS)} 100",
                "not(../c)",
                "../a/b = '5'",
                "count(../../g) > 1",
                "string(../a[2]/b) = '7'",
                f"../a/@n {self.one_of(SIGNS)} b",
            )
        )
        return f"//a[{condition}]", _FLAT

    def filtered(self) -> tuple[str, tuple[str, ...]]:
        inner = self.one_of(
            ("//a", "//a[b]", f"//a/{self.one_of(_ORDER)}::a", "//a | //c", "//a[../a[2]]")
        )
        return f"({inner})[{self.position()}]", _FLAT

    # Comparisons of sets.

    def compared(self) -> tuple[str, tuple[str, ...]]:
        own = self.one_of(("b", "@n", "b | @n"))
        order = self.one_of(_ORDER)
        other = self.one_of((f"{order}::a/b", f"{order}::a/@n", "../a/@n", f"{order}::*[@n]/b"))
        return f"//a[{self.comparison(own, other)}]", _FLAT

    def compared_with_all(self) -> tuple[str, tuple[str, ...]]:
        context, own = self.one_of((("//b", "."), ("//a", "@n"), ("//a", "b"), ("//@n", ".")))
        other = self.one_of(("//b", "//@n", "//a/b", "//a[@n > 3]/b", "//k"))
        shapes = _KEYED if other == "//k" else _FLAT
        return f"{context}[{self.comparison(own, other)}]", shapes

    def comparison(self, left: str, right: str) -> str:
        text = f"{left} {self.one_of(('=', '=', *SIGNS))} {right}"
        return f"not({text})" if self.happens(0.4) else text

    def undecided(self) -> tuple[str, tuple[str, ...]]:
        """Return a question about members that only keys decide."""
        member = self.one_of(("a[b = //k]", "a[@n = //k]", "a[not(b = //k)]"))
        small = self.one_of("123")
        axis = self.one_of(_SIBLINGS)
        query = self.one_of(
            (
                f"//{member}[{self.one_of((small, 'last()', f'position() < {small}'))}]",
                f"//c/{axis}::{member}[{self.one_of((small, 'last()'))}]",
                f"//c[count({axis}::{member}) {self.one_of(SIGNS)} {small}]",
                f"//a[{axis}::{member}]",
                f"//a[not({axis}::{member})]",
                f"//{member}/{axis}::c",
                f"//a[count(../{member}) > {small}]",
                f"(//{member})[{small}]",
            )
        )
        return query, _KEYED

    # Nested elements.

    def nested(self) -> tuple[str, tuple[str, ...]]:
        up, small, sign = self.one_of(_UP), self.one_of("123"), self.one_of(SIGNS)
        query = self.one_of(
            (
                f"//a/{up}::a[{self.one_of((small, 'last()'))}]",
                f"//a[count({up}::a) {sign} {small}]",
                f"//a[{up}::a/@n {sign} @n]",
                f"//a[{up}::a[{small}]/@n {sign} @n]",
                f"//b[count({up}::a/c) {sign} {small}]",
                f"//a//{self.one_of('abc')}[{small}]",
                f"//a[not({up}::a/b)]",
                f"//a[{up}::*[c = {small}]]",
                f"//a[count(.//a) {sign} {small}]",
                f"//a[descendant::a[{small}]]",
                f"//c[following::b = .]/{up}::a",
                f"//a[../{self.one_of('bc')} = 3]",
                f"//a[sum({up}::a/@n) {sign} 50]",
                f"//b/preceding::c[{small}]",
                f"//c/following::b[{small}]",
                f"//a/descendant::*[{self.one_of((small, 'last()'))}]",
            )
        )
        return query, ("comb", "deep")
