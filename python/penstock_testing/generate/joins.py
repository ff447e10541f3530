"""Random XSCL queries over the names of the random documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from penstock_testing.generate.names import STREAM_NAMES, STREAM_VALUES, STREAMS

_OPERATORS = ("FOLLOWED BY", "JOIN", "NOT FOLLOWED BY")
_WINDOWS = ("INF", "2", "3000 ms", "1 s", "INF", "0.05 min", "0.5", "0")
_INEQUALITIES = ("!=", "<", "<=", ">", ">=")
_PUBLISHED = "P"


@dataclass(frozen=True, slots=True)
class JoinKnobs:
    """How large queries get, and how often the rarer things occur."""

    blocks_max: int = 3
    variables_max: int = 3
    equalities_max: int = 3
    predicate: float = 0.15
    path: float = 0.2
    inequality: float = 0.2
    constant: float = 0.08
    select: float = 0.4


def random_xscl(
    random: Random, knobs: JoinKnobs | None = None, streams: tuple[str, ...] = STREAMS
) -> str:
    """Return the text of a query over some streams."""
    return _Writer(random, knobs or JoinKnobs(), streams).query()


def random_subscriptions(
    random: Random, count: int, knobs: JoinKnobs | None = None
) -> dict[str, str]:
    """Return queries by name; some publish a stream, and some of the others read it."""
    texts = {}
    for number in range(count):
        is_publisher, is_reader = (random.random() > 0.75 for _ in range(2))
        if is_publisher:
            texts[f"q{number}"] = f"{random_xscl(random, knobs)} PUBLISH {_PUBLISHED}"
        else:
            streams = (*STREAMS, _PUBLISHED, _PUBLISHED) if is_reader else STREAMS
            texts[f"q{number}"] = random_xscl(random, knobs, streams)
    return texts


@dataclass(slots=True)
class _Writer:
    random: Random
    knobs: JoinKnobs
    streams: tuple[str, ...]
    named: int = 0
    present: list[str] = field(default_factory=list)
    """Variables of the blocks so far that a result still has."""

    def happens(self, chance: float) -> bool:
        # The smallest number makes nothing happen, so that shrinking makes things smaller.
        return self.random.random() >= 1 - chance

    def query(self) -> str:
        text, self.present = self.block()
        for _ in range(min(self.random.choice((1, 1, 1, 2, 0)), self.knobs.blocks_max - 1)):
            text += self.operator()
        return f"{self.selection()}{text}"

    def selection(self) -> str:
        if not self.happens(self.knobs.select):
            return self.random.choice(("", "SELECT * FROM "))
        chosen = self.random.sample(self.present, self.random.randint(1, min(3, len(self.present))))
        if self.happens(0.4):
            inner = "".join(
                f"<i>{{{name}}}</i>" if self.happens(0.5) else f"<v s='{{{name}}}'/>"
                for name in chosen
            )
            return f"SELECT <e>{inner}</e> FROM "
        return f"SELECT {', '.join(chosen)} FROM "

    def operator(self) -> str:
        block, variables = self.block()
        kind = self.random.choice(_OPERATORS)
        is_absence = kind.startswith("NOT")
        terms = [
            self.term(variables, "=", is_absence)
            for _ in range(min(self.random.choice((1, 1, 1, 2, 3)), self.knobs.equalities_max))
        ]
        if self.happens(self.knobs.inequality):
            terms.append(self.term(variables, self.random.choice(_INEQUALITIES), is_absence))
        terms += self.filters(variables)
        if not is_absence:
            self.present += variables
        window = self.random.choice(_WINDOWS)
        return f" {kind}{{{' AND '.join(terms)}, {window}}} {block}"

    def term(self, variables: list[str], sign: str, is_absence: bool) -> str:
        """Return a comparison across the operator, in either order."""
        left = self.random.choice(self.present)
        if not is_absence:
            left = self.operand(left)
        right = self.operand(self.random.choice(variables))
        return f"{left} {sign} {right}" if self.happens(0.7) else f"{right} {sign} {left}"

    def operand(self, variable: str) -> str:
        if not self.happens(self.knobs.path):
            return variable
        forms = ("/{}", "//{}", "/*", "/@n", "/node()", "[{}]", "//{}[.='u']")
        return variable + self.random.choice(forms).format(self.random.choice(STREAM_NAMES))

    def filters(self, variables: list[str]) -> list[str]:
        """Return terms that concern one side alone."""
        made = []
        if self.happens(self.knobs.constant):
            variable = self.operand(self.random.choice(variables + self.present))
            made.append(f"{variable} != '{self.random.choice(STREAM_VALUES)}'")
        if self.happens(self.knobs.constant):
            side = self.random.choice((variables, self.present))
            pair = [self.operand(self.random.choice(side)) for _ in range(2)]
            made.append(f"{pair[0]} {self.random.choice(('=', '<='))} {pair[1]}")
        return made

    def block(self) -> tuple[str, list[str]]:
        """Return a block and its variables."""
        variables: list[str] = []
        stream = self.random.choice(self.streams)
        separator = self.random.choice(("//", "//", "//", "/"))
        room = self.random.randint(1, self.knobs.variables_max)
        step = self.step(variables, room, 0)
        if not variables:
            step += self.bind(variables)
        return f"{stream}{separator}{step}", variables

    def step(self, variables: list[str], room: int, depth: int) -> str:
        """Return a step that binds up to ``room`` variables, itself and in its predicates."""
        text = self.random.choice((*STREAM_NAMES, "*"))
        if self.happens(self.knobs.predicate):
            text += f"[{self.condition()}]"
        if self.happens(0.7) and len(variables) < room:
            text += self.bind(variables)
        while len(variables) < room and depth < 3 and self.happens(0.7):
            text += f"[{self.branch(variables, room, depth + 1)}]"
        return text

    def branch(self, variables: list[str], room: int, depth: int) -> str:
        if self.happens(0.2):
            return f"@n{self.bind(variables)}"
        prefix = self.random.choice(("", ".//", ".//", "./"))
        before = len(variables)
        text = self.step(variables, room, depth)
        return prefix + text + (self.bind(variables) if len(variables) == before else "")

    def bind(self, variables: list[str]) -> str:
        self.named += 1
        name = f"v{self.named}"
        variables.append(name)
        return f"->{name}" if self.happens(0.8) else f" AS {name}"

    def condition(self) -> str:
        forms = ("{n}", ".//{n}", "not({n})", "@n > 1", "{n} = '{v}'", "{n} != '{v}'", "//{n}")
        value, name = self.random.choice(STREAM_VALUES), self.random.choice(STREAM_NAMES)
        return self.random.choice(forms).format(n=name, v=value)
