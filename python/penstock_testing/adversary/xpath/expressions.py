"""Random expressions of XPath 1.0, from its grammar: any expression wherever its type is allowed.

Absolute expressions ask nothing of a context node outside their predicates, so that engines that
start at the document node and engines that start at the root element agree on them.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from penstock_testing.generate.names import (
    ATTRIBUTES,
    ELEMENTS,
    IDENTIFIER,
    LANGUAGES,
    NAMESPACES,
    NUMBERS,
    ROOT,
    WORDS,
)

VARIABLES: dict[str, str | float | bool] = {"s": "u", "n": 2.0, "z": -0.5, "t": True}
"""The variables that expressions refer to."""

_PARTS_MAX = 14
"""Sets, conditions and values of one expression; what is larger is slower and finds no more."""

_NAMES = (*ELEMENTS[:3], *ELEMENTS[:2], ROOT)
_SIGNS = ("=", "=", "!=", "<", "<=", ">", ">=")
_AXES = {
    "child": 30,
    "attribute": 6,
    "descendant": 7,
    "descendant-or-self": 5,
    "self": 6,
    "parent": 6,
    "ancestor": 6,
    "ancestor-or-self": 5,
    "following-sibling": 7,
    "preceding-sibling": 7,
    "following": 6,
    "preceding": 6,
    "namespace": 2,
}
_TESTS = {
    "name": 44,
    "*": 16,
    "node()": 18,
    "text()": 9,
    "comment()": 4,
    "processing-instruction()": 3,
    "processing-instruction('t')": 1,
    "prefixed": 5,
}
_NUMERALS = ("0", "1", "1", "2", "2", "3", "4", "10", "0.5", ".5", "2.", "1.5", "-1", "--2", "-.5")
_WORDS = (*WORDS, *NUMBERS, *ELEMENTS[:2], "k1", "k2")


class Question(NamedTuple):
    """An expression; a relative one is asked at the root element."""

    text: str
    is_relative: bool


def write_question(random: Random) -> Question:
    """Return an expression; its prefixes are those of ``NAMESPACES``."""
    is_relative = random.random() < 0.2
    return Question(_Writer(random).expression(is_relative), is_relative)


def _weighted(random: Random, choices: dict[str, int]) -> str:
    return random.choices(list(choices), list(choices.values()))[0]


class _Writer:
    """Writes one expression; ``here`` says whether there is a context node to refer to."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._parts_left = random.randint(2, _PARTS_MAX)

    def expression(self, here: bool) -> str:
        kind = self._random.random()
        if kind < 0.6:
            return self.nodes(here)
        if kind < 0.75:
            return self.number(here)
        return self.string(here) if kind < 0.87 else self.truth(here)

    def _happens(self, chance: float) -> bool:
        return self._random.random() < chance

    def _is_last(self) -> bool:
        """Count one more part; return whether it is time to come to an end."""
        self._parts_left -= 1
        return self._parts_left <= 0

    # Sets of nodes.

    def nodes(self, here: bool) -> str:
        is_last = self._is_last()
        kind = self._random.random()
        if kind < 0.72 or is_last:
            written = self.path(here)
        elif kind < 0.82:
            written = f"{self.nodes(here)} | {self.nodes(here)}"
        elif kind < 0.93:
            written = self.filtered(f"({self.nodes(here)})")
        else:
            written = self.filtered(f"id({self.identifiers(here)})")
        return written

    def filtered(self, primary: str) -> str:
        """Return a set with predicates or steps or both behind it."""
        written = primary
        if self._happens(0.5):
            written += self.predicates(0.9)
        if self._happens(0.35):
            written += self._random.choice(("/", "/", "//")) + self.step(is_last=True)
        return written

    def identifiers(self, here: bool) -> str:
        kind = self._random.random()
        if kind < 0.5:
            return self._random.choice(("'k1'", "'k2'", "'k3 k1'", "'k1 k2 k3 k4'"))
        if kind < 0.6:
            return f"//@{IDENTIFIER}"
        if here and kind < 0.75:
            return self._random.choice((".", "..", f"@{ATTRIBUTES[0]}"))
        return self.string(here) if kind < 0.8 else self.nodes(here)

    def path(self, here: bool) -> str:
        if self._happens(0.02):
            return "(/)"
        start = self._random.choice(("//", "//", "//", "/", f"/{ROOT}/", "/*/", "/descendant::"))
        if here and self._happens(0.75):
            start = self._random.choice(("", "", "", "", ".//", "./", "../"))
        count = self._random.choice((1, 1, 2, 2, 3))
        if start == "/descendant::":
            start += self.test("descendant") + self.predicates(0.4) + "/"
        steps = [self.step(is_last=place == count - 1) for place in range(count)]
        written = start + steps[0]
        for step in steps[1:]:
            written += self._random.choice(("/", "/", "/", "//")) + step
        return written

    def step(self, is_last: bool) -> str:
        if self._happens(0.06):
            return self._random.choice((".", "..", ".."))
        axis = _weighted(self._random, _AXES)
        if not is_last and axis in ("attribute", "namespace") and self._happens(0.7):
            axis = "child"
        if axis == "child" and self._happens(0.9):
            written = self.test(axis)
        elif axis == "attribute" and self._happens(0.9):
            written = f"@{self.test(axis)}"
        else:
            written = f"{axis}::{self.test(axis)}"
        return written + self.predicates(0.42)

    def test(self, axis: str) -> str:
        if axis == "namespace":
            return self._random.choice(("*", "*", "node()", *NAMESPACES, "xml"))
        kind = _weighted(self._random, _TESTS)
        if axis == "attribute" and kind not in ("prefixed", "*", "node()"):
            return self._random.choice((*ATTRIBUTES, IDENTIFIER))
        if kind == "prefixed":
            prefix = self._random.choice(list(NAMESPACES))
            return f"{prefix}:{self._random.choice((*_NAMES, '*'))}"
        return self._random.choice(_NAMES) if kind == "name" else kind

    # Predicates.

    def predicates(self, chance: float) -> str:
        written = ""
        while self._parts_left > 0 and self._happens(chance):
            inside = self.position() if self._happens(0.45) else self.predicate()
            written += f"[{inside}]"
            chance /= 3
        return written

    def predicate(self) -> str:
        kind = self._random.random()
        if kind < 0.9:
            return self.truth(here=True)
        return self.number(here=True) if kind < 0.95 else self.string(here=True)

    def position(self) -> str:
        small = self._random.choice("11223")
        sign = self._random.choice(_SIGNS)
        forms = (
            small,
            small,
            small,
            "last()",
            f"last() - {small}",
            f"position() {sign} {small}",
            f"position() {sign} last()",
            f"last() {sign} {small}",
            f"position() {sign} last() - {small}",
            f"not(position() {sign} {small})",
            "position() mod 2 = 1",
        )
        if self._happens(0.75):
            return self._random.choice(forms)
        if self._happens(0.5):
            return f"position() {sign} {self.number(here=True)}"
        joint = self._random.choice(("and", "or"))
        return f"{self._random.choice(forms[5:])} {joint} {self.truth(here=True)}"

    def truth(self, here: bool) -> str:
        is_last = self._is_last()
        kind = self._random.random()
        if kind < 0.4:
            written = self.comparison(here)
        elif kind < 0.58 or is_last:
            written = f"boolean({self.nodes(here)})" if not here else self.nodes(here)
        elif kind < 0.7:
            joint = self._random.choice((" and ", " or "))
            written = f"{self.truth(here)}{joint}{self.truth(here)}"
        elif kind < 0.86:
            written = f"not({self.truth(here)})"
        elif kind < 0.95:
            written = self.tested(here)
        else:
            written = f"boolean({self.any(here)})"
        return written

    def tested(self, here: bool) -> str:
        kind = self._random.randrange(4)
        if kind == 0 and here:
            return f"lang('{self._random.choice(LANGUAGES)}')"
        if kind == 1:
            return self._random.choice(("true()", "false()", "$t"))
        call = self._random.choice(("contains", "starts-with"))
        return f"{call}({self.any(here)}, {self.word()})"

    def comparison(self, here: bool) -> str:
        sides = [self.nodes(here), self.any(here)]
        if self._happens(0.25):
            sides[0] = self.any(here)
        if self._happens(0.35):
            sides[1] = self._random.choice((self.word(), self._random.choice(_NUMERALS)))
        if self._happens(0.3):
            sides.reverse()
        return f"{sides[0]} {self._random.choice(_SIGNS)} {sides[1]}"

    # Values.

    def any(self, here: bool) -> str:
        """Return an expression of any type; brackets keep its parts together."""
        kind = self._random.random()
        if kind < 0.5:
            return self.nodes(here)
        if kind < 0.75:
            return self.number(here)
        return self.string(here) if kind < 0.93 else f"({self.truth(here)})"

    def number(self, here: bool) -> str:
        is_last = self._is_last()
        kind = self._random.random()
        if kind < 0.3 or is_last:
            written = self._random.choice((*_NUMERALS, "$n", "$z"))
        elif kind < 0.55:
            written = f"count({self.nodes(here)})"
        elif kind < 0.6:
            written = f"sum({self.nodes(here)})"
        elif kind < 0.68:
            written = f"string-length({self.any(here)})"
        elif kind < 0.74:
            written = f"number({self.any(here)})"
        elif kind < 0.84:
            call = self._random.choice(("floor", "ceiling", "round"))
            written = f"{call}({self.any(here)})"
        elif kind < 0.88:
            written = f"-{self._random.choice(('', '-'))}({self.any(here)})"
        else:
            operator = self._random.choice(("+", "-", "*", "div", "mod"))
            written = f"({self.any(here)} {operator} {self.any(here)})"
        return written

    def string(self, here: bool) -> str:
        is_last = self._is_last()
        kind = self._random.random()
        if kind < 0.2 or is_last:
            written = self._random.choice((self.word(), self.word(), "$s"))
        elif kind < 0.42:
            written = f"string({self.any(here)})"
        elif kind < 0.62:
            part = self._random.choice(("name", "local-name", "namespace-uri"))
            written = f"{part}({self.nodes(here)})"
        elif kind < 0.68 and here:
            written = self._random.choice(("string()", "name()", "normalize-space()"))
        else:
            written = self.made(here)
        return written

    def made(self, here: bool) -> str:
        """Return a string that is made of others."""
        source = self.any(here)
        kind = self._random.randrange(6)
        if kind == 0:
            return f"concat({source}, {self.any(here)})"
        if kind == 1:
            return f"substring({source}, {self.number(here)})"
        if kind == 2:
            return f"substring({source}, {self.number(here)}, {self.number(here)})"
        if kind == 3:
            side = self._random.choice(("before", "after"))
            return f"substring-{side}({source}, {self.word()})"
        if kind == 4:
            return f"normalize-space({source})"
        return f"translate({source}, 'uv1', 'v')"

    def word(self) -> str:
        return f"'{self._random.choice(_WORDS)}'"
