"""Questions about what many nodes have in common: counts, sums and first nodes along an axis.

The documents hold numbers that add up exactly, fractions that do not, and texts that are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock_testing.generate.expressions import SIGNS

_AXES = (
    *("preceding-sibling", "following-sibling", "preceding", "following") * 3,
    *("ancestor", "ancestor-or-self", "descendant", "descendant-or-self", "child"),
    *("../preceding-sibling", "../following-sibling"),
)
_TESTS = ("a", "a", "a", "b", "*", "node()", "text()")
_GUARDS = ("", "", "", "[@n > 1]", "[b]", "[b = //k]", "[not(. = //k)]", "[following-sibling::a]")
_WAYS = ("", "", "/b", "/@n", "/@*", "//b", "/b/a", "/text()", "/b[2]", "/b[. = //k]")
_WAYS_FROM_OPEN = ("", "", "/@n")
"""What lies below an open node that is no member is waited for, until the node ends."""
_NUMBERS = ("0", "1", "2", "0.3", "0.6", "@n", "-1", "count(../a)", "count(//a) - 3", "b")
_TEXTS = ("'1'", "'a'", "''", "string(b)", "string(@n)", "name()")
_CONTEXTS = ("//a", "//a", "//b", "//*", "//node()", "//a/b", "//@n")
_VALUES = (
    ("0", "1", "2", "3"),
    ("0.1", "0.2", "0.3", "1"),
    ("1", "2", "-1", "", "x"),
    ("0.1", "-0.1", "x", "1", "9007199254740991"),
)


@dataclass(frozen=True, slots=True)
class SummaryKnobs:
    """How many elements a document has at most, and how deep they are nested."""

    nodes_max: int = 12
    depth_max: int = 7


def random_summary(random: Random) -> str:
    """Return an expression for nodes that counts, adds up or names others along an axis."""
    one_of = random.choice
    condition = _condition(random)
    if random.random() < 0.2:
        condition = f"not({condition})"
    if random.random() < 0.2:
        condition += f" {one_of(('and', 'or'))} {_condition(random)}"
    return f"{one_of(_CONTEXTS)}[{condition}]{one_of(('', '', '/b', '/@n'))}"


def _condition(random: Random) -> str:
    one_of = random.choice
    if random.random() < 0.3:
        text = one_of(("string", "name", "local-name"))
        return f"{text}({_nodes(random)}) {one_of(('=', '!='))} {one_of(_TEXTS)}"
    number = f"{one_of(('sum', 'sum', 'count', 'string-length'))}({_nodes(random)})"
    if random.random() < 0.15:
        number += f" + sum({_nodes(random)})"
    return f"{number} {one_of(SIGNS)} {one_of(_NUMBERS)}"


def _nodes(random: Random) -> str:
    axis = random.choice(_AXES)
    ways = _WAYS_FROM_OPEN if axis.startswith("ancestor") else _WAYS
    return "".join((axis, "::", *map(random.choice, (_TESTS, _GUARDS, ways))))


def random_numbers(random: Random, knobs: SummaryKnobs | None = None) -> bytes:
    """Return a document of elements with numbers, nested or flat, and keys at its end."""
    return _Writer(random, knobs or SummaryKnobs()).document().encode()


class _Writer:
    def __init__(self, random: Random, knobs: SummaryKnobs) -> None:
        self.random = random
        self.depth_max = knobs.depth_max
        self.nodes_left = random.randint(1, knobs.nodes_max)
        self.values = random.choice(_VALUES)
        self.names = random.choice(("aab", "aaabbck", "ab", "aaabk"))
        self.nesting = random.choice((0.1, 0.4, 0.6))
        self.parts: list[str] = []

    def document(self) -> str:
        self.parts.append("<r>")
        while self.nodes_left:
            self.element(1)
        for _ in range(self.random.choice((0, 1, 2))):
            self.parts.append(f"<k>{self.value()}</k>")
        return "".join((*self.parts, "</r>"))

    def element(self, depth: int) -> None:
        name = self.random.choice(self.names)
        self.nodes_left -= 1
        attributes = (f' {key}="{self.value()}"' for key in "nm" if self.random.random() < 0.35)
        self.parts.append(f"<{name}{''.join(attributes)}>")
        if self.random.random() < 0.5:
            self.parts.append(self.value())
        while depth < self.depth_max and self.nodes_left and self.random.random() < self.nesting:
            self.element(depth + 1)
        if self.random.random() < 0.15:
            self.parts.append(self.value())
        self.parts.append(f"</{name}>")

    def value(self) -> str:
        return self.random.choice(self.values)
