"""Parts of random queries in XQuery: paths, conditions, numbers and strings."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from penstock_testing.generate.expressions import SIGNS
from penstock_testing.generate.names import ATTRIBUTES, ELEMENTS, NUMBERS, ROOT, WORDS

VALUE_SIGNS = ("eq", "ne", "lt", "le", "gt", "ge")
_ABSOLUTE = ("//", "//", "//", "//", f"/{ROOT}/", f"/{ROOT}//", "/*/", "/*//")
_REVERSE = ("..", "ancestor::*", "preceding-sibling::*", "following-sibling::*", "preceding::*")

Kind = Literal["node", "nodes", "number", "string", "items"]


@dataclass(frozen=True, slots=True)
class FlworKnobs:
    """How large queries get, and how often the rarer things occur.

    ``hazards`` are comparisons and calculations that some documents make an error of.
    """

    depth_max: int = 3
    clauses_max: int = 3
    where: float = 0.5
    order: float = 0.35
    hazards: float = 0.03
    namespaces: float = 0.08
    functions: float = 0.15
    positions: float = 0.2


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable in scope, and what its value is."""

    name: str
    kind: Kind


class Parts:
    """Writes expressions; ``depth`` counts how deep one lies in the others."""

    def __init__(self, random: Random, knobs: FlworKnobs) -> None:
        self.random = random
        self.knobs = knobs
        self.names = 0
        self.has_prefix = False
        self.functions: list[str] = []

    def happens(self, chance: float) -> bool:
        # The smallest number makes nothing happen, so that shrinking makes things smaller.
        return self.random.random() >= 1 - chance

    def choose(self, *choices: str) -> str:
        return self.random.choice(choices)

    def of_kind(self, scope: list[Bound], *kinds: Kind) -> str | None:
        """Return a variable of one of the kinds, the later ones more often."""
        fitting = [bound.name for bound in scope if bound.kind in kinds]
        if not fitting:
            return None
        return self.random.choice((*fitting, fitting[-1]))

    def is_deep(self, depth: int) -> bool:
        return depth >= self.knobs.depth_max

    # Nodes.

    def nodes(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.random()
        if kind < 0.08 and not self.is_deep(depth):
            operator = self.choose("union", "|", "intersect", "except")
            return f"({self.path(scope, depth)} {operator} {self.path(scope, depth)})"
        if kind < 0.18 and not self.is_deep(depth):
            return f"({self.path(scope, depth)}){self.position()}"
        if kind < 0.22 and not self.is_deep(depth):
            return f"({self.path(scope, depth)}, {self.path(scope, depth)})"
        return self.path(scope, depth)

    def path(self, scope: list[Bound], depth: int) -> str:
        variable = self.of_kind(scope, "node", "nodes")
        if variable is None or self.happens(0.25):
            start = self.random.choice(_ABSOLUTE)
        else:
            start = variable + self.choose("/", "/", "//")
            if self.happens(0.1):
                return variable
        return start + self.steps(scope, depth)

    def steps(self, scope: list[Bound], depth: int) -> str:
        written = self.step(scope, depth)
        while self.happens(0.25):
            written += self.choose("/", "//") + self.step(scope, depth)
        return written

    def step(self, scope: list[Bound], depth: int) -> str:
        if self.happens(0.06):
            return self.random.choice(_REVERSE)
        if self.happens(0.06):
            return self.choose("text()", "node()", "comment()")
        step = self.name_test()
        if not self.is_deep(depth) and self.happens(0.25):
            step += f"[{self.predicate(scope, depth + 1)}]"
        elif self.happens(0.1):
            step += self.position()
        return step

    def name_test(self) -> str:
        if self.happens(self.knobs.namespaces):
            self.has_prefix = True
            return f"{self.choose('p', 'q')}:{self.choose('a', 'b', '*')}"
        return "*" if self.happens(0.35) else self.random.choice(ELEMENTS)

    def position(self) -> str:
        return self.choose("[1]", "[2]", "[last()]", "[position() < 3]", "[position() mod 2 = 1]")

    def predicate(self, scope: list[Bound], depth: int) -> str:
        """Return a condition about the context item."""
        attribute = f"@{self.random.choice(ATTRIBUTES)}"
        variable = self.of_kind(scope, "node")
        kind = self.random.randrange(6)
        if kind == 0:
            return self.choose(attribute, "*", "text()", self.random.choice(ELEMENTS))
        if kind == 1:
            return f"@n {self.random.choice(SIGNS)} {self.number_literal()}"
        if kind == 2 and variable is not None:
            return f"{attribute} = {variable}/{attribute}"
        if kind == 3 and variable is not None:
            return f". = {variable}/{self.choose('*', self.random.choice(ELEMENTS))}"
        if kind == 4:
            return f"{self.choose('.', attribute)} = {self.words()}"
        return f"count({self.choose('*', './/*', '@*')}) {self.random.choice(SIGNS)} 1"

    def one_node(self, scope: list[Bound], depth: int) -> str:
        """Return an expression for at most one node."""
        variable = self.of_kind(scope, "node")
        if variable is not None and self.happens(0.8):
            return variable
        return f"({self.path(scope, depth)})[1]"

    # Truth values.

    def condition(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.random()
        if self.is_deep(depth):
            kind *= 0.6
        if kind < 0.28:
            return self.comparison(scope, depth)
        if kind < 0.42:
            return self.join(scope, depth)
        if kind < 0.5:
            return f"{self.choose('exists', 'empty', 'not')}({self.path(scope, depth)})"
        if kind < 0.56:
            called = self.choose("contains", "starts-with", "ends-with")
            return f"{called}({self.string(scope, depth + 1)}, {self.word()})"
        if kind < 0.6:
            return self.type_test(scope, depth)
        if kind < 0.75:
            parts = self.condition(scope, depth + 1), self.condition(scope, depth + 1)
            return f"({parts[0]} {self.choose('and', 'or')} {parts[1]})"
        if kind < 0.8:
            return f"not({self.condition(scope, depth + 1)})"
        if kind < 0.93:
            return self.quantified(scope, depth)
        return self.node_comparison(scope, depth)

    def comparison(self, scope: list[Bound], depth: int) -> str:
        sign = self.random.choice(SIGNS)
        node = self.one_node(scope, depth)
        kind = self.random.randrange(6)
        if kind == 0:
            return f"{self.number(scope, depth + 1)} {sign} {self.number_literal()}"
        if kind == 1:
            return f"{self.path(scope, depth)}/@n {sign} {self.number_literal()}"
        if kind == 2:
            return f"{node}/@{self.random.choice(ATTRIBUTES)} {sign} {self.words()}"
        if kind == 3:
            value = self.random.choice(VALUE_SIGNS)
            return f"{node}/@{self.random.choice(ATTRIBUTES)} {value} {self.word()}"
        if kind == 4:
            value = self.random.choice(VALUE_SIGNS)
            return f"{self.number(scope, depth + 1)} {value} {self.number(scope, depth + 1)}"
        if self.happens(self.knobs.hazards):
            return f"{self.path(scope, depth)} {sign} {self.number_literal()}"
        return f"{self.string(scope, depth + 1)} {sign} {self.words()}"

    def join(self, scope: list[Bound], depth: int) -> str:
        sides = [
            f"{self.one_node(scope, depth)}/{self.choose('@n', '@x', '@y', '*', 'b', 'text()')}"
            for _ in range(2)
        ]
        sign = self.choose("=", "=", "=", "=", "!=", "<", ">")
        if self.happens(0.2):
            sides = [f"number({self.one_node(scope, depth)}/@n)" for _ in range(2)]
        return f"{sides[0]} {sign} {sides[1]}"

    def type_test(self, scope: list[Bound], depth: int) -> str:
        if self.happens(0.4):
            return f"{self.one_node(scope, depth)}/@n castable as xs:integer"
        type_ = self.choose("element(a)", "element()*", "node()+", "item()?", "text()", "xs:string")
        return f"{self.nodes(scope, depth + 1)} instance of {type_}"

    def quantified(self, scope: list[Bound], depth: int) -> str:
        bound = self.fresh("node")
        source = self.path(scope, depth + 1)
        test = self.condition([*scope, bound], depth + 1)
        return f"({self.choose('some', 'every')} {bound.name} in {source} satisfies {test})"

    def node_comparison(self, scope: list[Bound], depth: int) -> str:
        sides = self.one_node(scope, depth), self.one_node(scope, depth)
        return f"{sides[0]} {self.choose('is', '<<', '>>')} {sides[1]}"

    def fresh(self, kind: Kind) -> Bound:
        self.names += 1
        return Bound(f"$v{self.names}", kind)

    # Numbers and strings.

    def number_literal(self) -> str:
        return self.choose("0", "1", "2", "3", "1.5", "2e0", "10")

    def number(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.randrange(10)
        variable = self.of_kind(scope, "number")
        if variable is not None and kind < 3:
            return variable
        if kind < 4:
            return f"count({self.nodes(scope, depth + 1)})"
        if kind == 4:
            function = self.choose("sum", "sum", "avg", "min", "max")
            return f"{function}({self.path(scope, depth + 1)}/@n)"
        if kind == 5:
            return f"string-length({self.string(scope, depth + 1)})"
        if kind == 6:
            return f"number({self.one_node(scope, depth)}/@n)"
        if kind == 7 and not self.is_deep(depth):
            operator = self.choose("+", "-", "*", "div", "idiv", "mod")
            right = self.number(scope, depth + 1)
            if operator in ("div", "idiv", "mod") and not self.happens(self.knobs.hazards):
                right = self.choose("2", "3", "1.5", "2e0")
            return f"({self.number(scope, depth + 1)} {operator} {right})"
        if kind == 8:
            function = self.choose("round", "floor", "ceiling", "abs", "round-half-to-even", "-")
            return f"{function}({self.number(scope, depth + 1)})"
        return self.number_literal()

    def word(self) -> str:
        return f"'{self.random.choice((*WORDS, *NUMBERS))}'"

    def words(self) -> str:
        return self.word() if self.happens(0.7) else f"({self.word()}, {self.word()})"

    def string(self, scope: list[Bound], depth: int) -> str:
        variable = self.of_kind(scope, "string")
        node = self.one_node(scope, depth)
        kind = self.random.randrange(9)
        if variable is not None and kind < 2:
            return variable
        if kind < 4:
            return f"string({node}{self.choose('', '/@x', '/@n')})"
        if kind == 4:
            return f"{self.choose('name', 'local-name', 'namespace-uri')}({node})"
        if kind == 5 and not self.is_deep(depth):
            return f"concat({self.string(scope, depth + 1)}, {self.word()})"
        if kind == 6 and not self.is_deep(depth):
            return f"substring({self.string(scope, depth + 1)}, {self.choose('0', '1', '2')})"
        if kind == 7:
            function = self.choose("normalize-space", "upper-case", "lower-case")
            return f"{function}({node})"
        item = self.fresh("node").name
        source = self.path(scope, depth + 1)
        strings = f"for {item} in {source} return string({item})"
        return f"string-join({strings}, {self.choose(*_SEPARATORS)})"


_SEPARATORS = ("'-'", "''", "', '")
