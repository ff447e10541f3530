"""Random forward twigs in XPath over the names of the random documents."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock_testing.generate.names import ATTRIBUTES, ELEMENTS, NUMBERS, ROOT, TARGETS, WORDS

SIGNS = ("=", "=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class ExpressionKnobs:
    """How large expressions get and what they may contain.

    ``beyond`` adds the aggregates that XPath 1.0 lacks; ``values`` atomic results and aggregates
    at all.
    """

    steps_max: int = 3
    predicate: float = 0.4
    nesting_max: int = 2
    union: float = 0.08
    values: float = 0.2
    namespaces: float = 0.06
    wildcards: float = 0.2
    beyond: bool = False


def random_expression(random: Random, knobs: ExpressionKnobs | None = None) -> str:
    """Return the text of an expression; its prefixes are those of ``NAMESPACES``."""
    return Writer(random, knobs or ExpressionKnobs()).expression()


class Writer:
    """Writes one expression."""

    def __init__(self, random: Random, knobs: ExpressionKnobs) -> None:
        self.random = random
        self.knobs = knobs
        self._counts = (1, *range(1, knobs.steps_max + 1))

    def happens(self, chance: float) -> bool:
        # The smallest number makes nothing happen, so that shrinking makes things smaller.
        return self.random.random() >= 1 - chance

    def expression(self) -> str:
        if self.happens(self.knobs.values):
            return self.aggregate() if self.happens(0.5) else self.atomic()
        return self.nodes()

    def nodes(self) -> str:
        path = self.absolute(0)
        while self.happens(self.knobs.union):
            path += f" | {self.absolute(0)}"
        return path

    def aggregate(self) -> str:
        function = self.random.choice(("count", "count", "sum"))
        if self.knobs.beyond and self.happens(0.5):
            function = self.random.choice(("avg", "min", "max"))
        return f"{function}({self.nodes()})"

    def atomic(self) -> str:
        path = self.absolute(1)
        kind = self.random.randrange(4)
        if kind == 0:
            return f"boolean({path})"
        if kind == 1:
            return f"{path} {self.random.choice(SIGNS)} {self.literal()}"
        if kind == 2:
            return self.string(path)
        return f"number({path})"

    # Paths.

    def absolute(self, nesting: int) -> str:
        first = self.random.choice(("//", "//", "//", f"/{ROOT}/", f"/{ROOT}//", "/*/", "/"))
        return first + self.steps(self.random.choice(self._counts), nesting)

    def relative(self, nesting: int) -> str:
        first = self.random.choice(("", "", "", "", ".//", "./"))
        return first + self.steps(self.random.choice((1, 1, 1, 2)), nesting)

    def steps(self, count: int, nesting: int) -> str:
        inner = [self.step(nesting, last=False) for _ in range(count - 1)]
        written = ""
        for step in inner:
            written += step + self.random.choice(("/", "/", "//"))
        return written + self.step(nesting, last=True)

    def step(self, nesting: int, last: bool) -> str:
        step = self.leaf() if last and self.happens(0.3) else self.branch()
        while nesting < self.knobs.nesting_max and self.happens(
            self.knobs.predicate / (nesting + 1)
        ):
            step += f"[{self.predicate(nesting + 1)}]"
            if self.happens(0.6):
                break
        return step

    def branch(self) -> str:
        if self.happens(0.15):
            axis = self.random.choice(("child", "descendant", "descendant-or-self", "self"))
            test = "node()" if self.happens(0.2) else self.name_test()
            return f"{axis}::{test}"
        return self.name_test()

    def name_test(self) -> str:
        prefix = self.random.choice(("p:", "q:")) if self.happens(self.knobs.namespaces) else ""
        is_any = self.happens(self.knobs.wildcards)
        return prefix + ("*" if is_any else self.random.choice(ELEMENTS))

    def leaf(self) -> str:
        if self.happens(0.5):
            return self.attribute()
        target = self.random.choice(TARGETS)
        choices = ("text()", "text()", "node()", "comment()", "processing-instruction()")
        return self.random.choice((*choices, f"processing-instruction('{target}')", "self::node()"))

    def attribute(self) -> str:
        prefix = "p:" if self.happens(self.knobs.namespaces) else ""
        name = "*" if self.happens(0.15) else self.random.choice(ATTRIBUTES)
        return ("attribute::" if self.happens(0.1) else "@") + prefix + name

    # Predicates.

    def predicate(self, nesting: int) -> str:
        if self.happens(0.3):
            joint = self.random.choice((" and ", " or "))
            count = self.random.choice((2, 2, 3))
            return joint.join(self.condition(nesting) for _ in range(count))
        return self.condition(nesting)

    def condition(self, nesting: int) -> str:
        kind = self.random.random()
        if kind < 0.23:
            return self.relative(nesting)
        if kind < 0.55:
            return self.comparison(nesting)
        if kind < 0.61:
            return self.absolute(self.knobs.nesting_max)
        if kind < 0.65:
            sign = self.random.choice(SIGNS)
            return f"{self.absolute(self.knobs.nesting_max)} {sign} {self.literal()}"
        if kind < 0.68:
            return self.random.choice(("true()", "false()"))
        if kind < 0.83:
            return self.called(nesting)
        if kind < 0.88:
            return f"({self.predicate(nesting)})"
        return f"not({self.predicate(nesting)})"

    def comparison(self, nesting: int) -> str:
        sides = [self.operand(nesting), self.literal()]
        if self.happens(0.1):
            sides = [self.attribute_of_one(), self.random.choice((".", self.attribute_of_one()))]
        if self.happens(0.1):
            sides.reverse()
        return f"{sides[0]} {self.random.choice(SIGNS)} {sides[1]}"

    def attribute_of_one(self) -> str:
        return f"@{self.random.choice(ATTRIBUTES)}"

    def operand(self, nesting: int) -> str:
        if self.happens(0.2):
            return "."
        if self.happens(0.2):
            return f"string-length({self.source(nesting)})"
        return self.attribute() if self.happens(0.3) else self.relative(nesting)

    def literal(self) -> str:
        if self.happens(0.5):
            return self.random.choice(NUMBERS).strip()
        if self.happens(0.04):
            return self.random.choice(("true()", "false()"))
        return f"'{self.random.choice(NUMBERS + WORDS)}'"

    def source(self, nesting: int) -> str:
        """Return what a function takes a string from."""
        return self.random.choice((".", self.attribute_of_one(), self.relative(nesting)))

    def word(self) -> str:
        return f"'{self.random.choice(WORDS)}'"

    def called(self, nesting: int) -> str:
        source = self.source(nesting)
        kind = self.random.randrange(7)
        if kind == 0:
            return f"contains({source}, {self.word()})"
        if kind == 1:
            return f"starts-with({source}, {self.word()})"
        if kind == 2:
            return f"{self.string(source)} = {self.word()}"
        if kind == 3:
            return f"number({source}) {self.random.choice(SIGNS)} {self.random.choice('0123')}"
        if kind == 4:
            return f"boolean({source})"
        if kind == 5:  # a string is true unless it is empty
            return self.string(source)
        part = self.random.choice(("name", "local-name", "namespace-uri"))
        inside = "" if source == "." else source
        return f"{part}({inside}) {self.random.choice(('=', '!='))} {self.named(part)}"

    def named(self, part: str) -> str:
        names = ("urn:p", "urn:q", "") if part == "namespace-uri" else (*ELEMENTS, "p:a", "x", "")
        return f"'{self.random.choice(names)}'"

    def string(self, source: str) -> str:
        return self.random.choice(
            (
                f"string({source})",
                f"normalize-space({source})",
                f"concat({source}, {self.word()})",
                f"substring({source}, {self.random.choice('012')})",
                f"substring({source}, 1, {self.random.choice('123')})",
                f"translate({source}, 'uv', 'v')",
            )
        )
