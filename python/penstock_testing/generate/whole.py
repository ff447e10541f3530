"""Random expressions of all of XPath 1.0: every axis, positions, node-sets as values."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock_testing.generate.expressions import SIGNS, ExpressionKnobs, Writer
from penstock_testing.generate.names import ELEMENTS, IDENTIFIER, LANGUAGES, WORDS

_REVERSE = ("parent", "ancestor", "ancestor-or-self")
_ORDERED = ("following-sibling", "preceding-sibling", "following", "preceding")
_FORWARD = ("child", "descendant", "descendant-or-self", "self")


@dataclass(frozen=True, slots=True)
class WholeKnobs(ExpressionKnobs):
    """How often the parts of XPath occur that a forward twig lacks.

    ``axes`` are steps on reverse and order axes, ``positions`` predicates with a position,
    ``filters`` parenthesised sets, ``namespace_nodes`` steps to namespace nodes, ``identifiers``
    calls of ``id()``.
    """

    wildcards: float = 0.35
    axes: float = 0.35
    positions: float = 0.3
    filters: float = 0.12
    namespace_nodes: float = 0
    identifiers: float = 0.04


def random_xpath(random: Random, knobs: WholeKnobs | None = None) -> str:
    """Return the text of an expression; its prefixes are those of ``NAMESPACES``."""
    return _WholeWriter(random, knobs or WholeKnobs()).expression()


class _WholeWriter(Writer):
    knobs: WholeKnobs

    def __init__(self, random: Random, knobs: WholeKnobs) -> None:
        super().__init__(random, knobs)

    def expression(self) -> str:
        if not self.happens(self.knobs.values):
            return self.nodes()
        kind = self.random.randrange(3)
        if kind == 0:
            return self.number(0)
        return self.condition(0) if kind == 1 else self.text(0)

    # Sets of nodes.

    def nodes(self) -> str:
        paths = [self.absolute(0)]
        while self.happens(self.knobs.union):
            paths.append(self.absolute(0))
        return " | ".join(paths)

    def absolute(self, nesting: int) -> str:
        path = super().absolute(nesting)
        return self.filtered(path, nesting) if self.happens(self.knobs.filters) else path

    def relative(self, nesting: int) -> str:
        if nesting == 0:  # outside all predicates; there lxml has another context node
            return self.absolute(1)
        path = super().relative(nesting)
        if self.happens(self.knobs.identifiers):
            path = self.identified(nesting)
        return self.filtered(path, nesting) if self.happens(self.knobs.filters / 2) else path

    def filtered(self, path: str, nesting: int) -> str:
        """Return a set in parentheses, filtered or stepped from or both."""
        if self.happens(0.3):
            path += f" | {super().absolute(nesting)}"
        path = f"({path})"
        if self.happens(0.6):
            path += f"[{self.position(nesting)}]"
        if self.happens(0.3) and nesting < self.knobs.nesting_max:
            path += f"[{self.predicate(nesting + 1)}]"
        if self.happens(0.4):
            path += self.random.choice(("/", "/", "//")) + self.step(nesting, last=True)
        return path

    def identified(self, nesting: int) -> str:
        sources = ("'k1'", "'k2 k4'", ".", "@x", "text()", f"//@{IDENTIFIER}", "..")
        path = f"id({self.random.choice(sources)})"
        return f"{path}/{self.step(nesting, last=True)}" if self.happens(0.4) else path

    def step(self, nesting: int, last: bool) -> str:
        if self.happens(0.04):
            return self.random.choice((".", ".."))
        step = self.attribute() if last and self.happens(0.2) else self.branch(last)
        return step + self.predicates(nesting)

    def branch(self, last: bool = False) -> str:
        if self.happens(self.knobs.axes):
            axis = self.random.choice(_REVERSE + _ORDERED)
            return f"{axis}::{self.node_test()}"
        if last and self.happens(self.knobs.namespace_nodes):
            return f"namespace::{self.random.choice(('*', 'p', 'node()'))}"
        if self.happens(0.2):
            return f"{self.random.choice(_FORWARD)}::{self.node_test()}"
        return self.leaf_test() if last and self.happens(0.15) else self.name_test()

    def node_test(self) -> str:
        return self.leaf_test() if self.happens(0.3) else self.name_test()

    def leaf_test(self) -> str:
        tests = ("text()", "text()", "node()", "node()", "comment()", "processing-instruction()")
        return self.random.choice((*tests, "processing-instruction('t')"))

    # Predicates.

    def predicates(self, nesting: int) -> str:
        written = ""
        while nesting < self.knobs.nesting_max and self.happens(
            self.knobs.predicate / (nesting + 1)
        ):
            if self.happens(self.knobs.positions):
                written += f"[{self.position(nesting + 1)}]"
            else:
                written += f"[{self.predicate(nesting + 1)}]"
            if self.happens(0.5):
                break
        return written

    def position(self, nesting: int) -> str:
        small = self.random.choice("1123")
        sign = self.random.choice(SIGNS)
        kind = self.random.randrange(10)
        if kind < 3:
            return small
        if kind == 3:
            return self.random.choice(("last()", "last()", f"last() - {small}"))
        if kind == 4:
            return f"position() {sign} {small}"
        if kind == 5:
            return f"position() {sign} last() - {small}"
        if kind == 6:
            return f"position() mod 2 = {self.random.choice('01')}"
        if kind == 7:
            return f"{self.number(nesting)} {sign} position()"
        if kind == 8:
            return f"{self.random.choice(('position()', 'last()'))} {sign} {self.number(nesting)}"
        joint = self.random.choice((" and ", " or "))
        return f"position() {sign} {small}{joint}{self.condition(nesting)}"

    def condition(self, nesting: int) -> str:
        kind = self.random.random() * (0.35 if nesting == 0 else 1)
        if kind < 0.14:
            paths = self.relative(nesting), self.relative(nesting)
            return f"{paths[0]} {self.random.choice(SIGNS)} {paths[1]}"
        if kind < 0.24:
            numbers = self.number(nesting), self.number(nesting)
            return f"{numbers[0]} {self.random.choice(SIGNS)} {numbers[1]}"
        if kind < 0.28:
            return f"{self.text(nesting)} {self.random.choice(SIGNS)} {self.text(nesting)}"
        if kind < 0.31:
            paths = self.relative(nesting), self.relative(nesting)
            return f"{self.random.choice(('boolean', 'not', 'count'))}({' | '.join(paths)})"
        if kind < 0.35:
            sign = self.random.choice(SIGNS)
            return f"{self.relative(nesting)} {sign} {self.random.choice(('true()', 'false()'))}"
        if kind < 0.37:
            return f"lang('{self.random.choice(LANGUAGES)}')"
        return super().condition(nesting)

    # Values.

    def number(self, nesting: int) -> str:
        kind = self.random.randrange(9)
        path = self.relative(nesting) if nesting < self.knobs.nesting_max else "."
        if kind < 3:
            return f"count({path})"
        if kind == 3:
            return f"sum({path})"
        if kind == 4:
            return f"number({path})"
        if kind == 5:
            return f"string-length({self.text(nesting)})"
        if kind == 6:
            return f"{self.random.choice(('floor', 'ceiling', 'round'))}({path} div 2)"
        if kind == 7:
            operator = self.random.choice(("+", "-", "*", "div", "mod"))
            return f"({path} {operator} {self.random.choice('0123')})"
        return self.random.choice(("0", "1", "2", "3", "0.5", "-1", f"-({path})"))

    def text(self, nesting: int) -> str:
        path = self.relative(nesting) if nesting < self.knobs.nesting_max else "."
        kind = self.random.randrange(5)
        if kind == 0:
            side = self.random.choice(("before", "after"))
            return f"substring-{side}({path}, {self.word()})"
        if kind == 1:
            return f"substring({path}, {self.number(self.knobs.nesting_max)})"
        if kind == 2:
            part = self.random.choice(("name", "local-name", "namespace-uri"))
            return f"{part}({path})"
        if kind == 3:
            return f"'{self.random.choice((*WORDS, *ELEMENTS))}'"
        return self.string(path)
