"""Random subscriptions, small enough to be understood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from penstock_testing.adversary.xscl.syntax import (
    Block,
    Element,
    Insert,
    Operand,
    Operator,
    Path,
    Query,
    Step,
    Term,
    variables_of,
)

STREAMS = ("S", "S", "T")
PUBLISHED = ("P", "Q")
"""Streams that subscriptions publish, and that later ones read."""
NAMES = ("a", "a", "a", "b", "b", "k", "k", "p:a")
VALUES = ("1", "1", "1", "2", "u", "1.0", " 2 ", "")
WINDOWS = ("INF", "INF", "INF", "3", "4", "2 s", "1000 ms", "0.05 min", "0", "2000001 us", "1 h")
KINDS = ("JOIN", "JOIN", "FOLLOWED BY", "FOLLOWED BY", "NOT FOLLOWED BY")
INEQUALITIES = ("!=", "<", "<=", ">", ">=")
CONDITIONS = (
    "{n}",
    ".//{n}",
    "not({n})",
    "@n > 1",
    "@n",
    "{n} = '{v}'",
    "{n} != '{v}'",
    "//{n}",
    ". = '{v}'",
    ". = 1",
    "{n} or @n",
    "{n} and not(@n)",
    "contains(., '1')",
    "string-length(.) < 3",
)


def random_queries(random: Random) -> tuple[Query, ...]:
    """Return one to three subscriptions; some publish a stream, and some read one."""
    made: list[Query] = []
    published: set[str] = set()
    read: set[str] = set()
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        query = _Writer(random, STREAMS + tuple(sorted(published)) * 2).query()
        read |= {block.stream for block in query.blocks}
        publish = random.choice((*PUBLISHED, None, None, None))
        # A stream is complete before it is read, so nothing goes round in a circle.
        if publish is not None and publish not in read:
            published.add(publish)
            query = replace(query, publish=publish)
        made.append(query)
    return tuple(made)


@dataclass(slots=True)
class _Writer:
    random: Random
    streams: tuple[str, ...]
    named: int = 0
    present: list[str] = field(default_factory=list)
    """The variables of the blocks so far that a result still has."""
    leaves: set[str] = field(default_factory=set)

    oddity: float = 1.0
    """How often there is something that makes results rare: half of the queries have little."""

    def is_lucky(self, chance: float) -> bool:
        return self.random.random() < chance

    def is_odd(self, chance: float) -> bool:
        return self.random.random() < chance * self.oddity

    def query(self) -> Query:
        self.oddity = self.random.choice((0.2, 1.0))
        first = self.block()
        self.present = variables_of(first)
        operators = tuple(
            self.operator() for _ in range(self.random.choice((0, 1, 1, 1, 1, 1, 2, 2, 3)))
        )
        return Query(self.selection(), first, operators)

    def selection(self) -> tuple[str, ...] | Element | None:
        choice = self.random.random()
        if choice < 0.4:
            return None if self.is_lucky(0.7) else ()
        chosen = self.random.sample(self.present, min(len(self.present), self.random.randint(1, 2)))
        return tuple(chosen) if choice < 0.7 else self.element(chosen, 0)

    def element(self, chosen: list[str], depth: int) -> Element:
        """Return a constructor of some variables, with namespaces of its own now and then."""
        attributes: dict[str, tuple[str | Insert, ...]] = {}
        if self.is_lucky(0.3):
            attributes["xmlns"] = (self.random.choice(("urn:o", "urn:p", "")),)
        if self.is_lucky(0.4):
            attributes["v"] = (
                ("<&'}", Insert(chosen[0], True))
                if self.is_lucky(0.3)
                else (Insert(chosen[0], True),)
            )
        content: list[str | Insert | Element] = []
        for variable in chosen:
            content.append(Insert(variable, self.is_lucky(0.3)))
            if self.is_lucky(0.2):
                content.append("t & <{}>\r")
        if depth < 2 and self.is_lucky(0.4):
            content.append(self.element(chosen, depth + 1))
        return Element(self.random.choice(("o", "a")), tuple(attributes.items()), tuple(content))

    def operator(self) -> Operator:
        block = self.block()
        here = variables_of(block)
        kind = self.random.choice(KINDS)
        is_absence = kind == "NOT FOLLOWED BY"
        terms = [self.across(here, "=", is_absence)]
        while self.is_odd(0.3):
            terms.append(self.across(here, "=", is_absence))
        if self.is_odd(0.15):
            terms.append(self.across(here, self.random.choice(INEQUALITIES), is_absence))
        terms += self.filters(here)
        self.random.shuffle(terms)
        if not is_absence:
            self.present = self.present + here
        return Operator(kind, tuple(terms), self.random.choice(WINDOWS), block)

    def across(self, here: list[str], sign: str, is_absence: bool) -> Term:
        """Return a comparison of both sides, in either order."""
        left = self.operand(self.joined(self.present), 0.0 if is_absence else 0.15)
        right = self.operand(self.joined(here), 0.15)
        return Term(left, sign, right) if self.is_lucky(0.7) else Term(right, sign, left)

    def joined(self, variables: list[str]) -> str:
        """Return a variable, a leaf as a rule: the values of others are seldom equal."""
        leaves = [name for name in variables if name in self.leaves]
        return self.random.choice(leaves if leaves and self.is_lucky(0.85) else variables)

    def filters(self, here: list[str]) -> Iterator[Term]:
        """Yield terms about one side, or with a constant."""
        if self.is_odd(0.15):
            side = self.random.choice((here, self.present))
            constant = self.random.choice((1.0, 2.0, 1.5, "1", "2", "u", ""))
            operand = self.operand(self.random.choice(side), 0.2)
            sign = self.random.choice(("=", "=", "=", *INEQUALITIES))
            sides = [operand, Operand(None, constant=constant)]
            self.random.shuffle(sides)
            yield Term(sides[0], sign, sides[1])
        if self.is_odd(0.1):
            side = self.random.choice((here, self.present))
            one, other = (self.operand(self.random.choice(side), 0.2) for _ in range(2))
            yield Term(one, self.random.choice(("=", "<=", "!=")), other)

    def operand(self, variable: str, chance: float) -> Operand:
        if not self.is_odd(chance):
            return Operand(variable)
        name = self.random.choice(NAMES)
        axis = self.random.choice(("/", "//"))
        test = self.random.choice((name, name, "*", "@n", "node()", "text()", "@*"))
        conditions = (self.condition(),) if test == name and self.is_lucky(0.3) else ()
        step = Step(axis, test, conditions)
        return Operand(
            variable, (Step(".", "", (self.random.choice(NAMES),)),) if test == "@*" else (step,)
        )

    def block(self) -> Block:
        stream = self.random.choice(self.streams)
        if self.is_lucky(0.04):
            return Block(stream, self.name(), ())
        if stream in PUBLISHED and self.is_lucky(0.7):
            # Nobody knows what a published event looks like, but it has elements.
            return Block(stream, None, (Step("//", "*", (), self.name()),))
        document = self.name() if self.is_lucky(0.04) else None
        # A block has a variable to join on, so its path ends with one, or has one in a branch.
        path = [self.step("//" if self.is_lucky(0.8) else "/", 0)]
        if self.is_lucky(0.15):
            path.append(self.step(self.random.choice(("/", "//")), 1))
        elif self.is_lucky(0.12):
            path.append(Step("/", self.random.choice(("@n", "text()", "node()")), (), self.name()))
        block = Block(stream, document, tuple(path))
        if not variables_of(block):
            last = path[-1]
            named = Step(last.axis, last.test, last.conditions, self.name(), last.branches)
            block = Block(stream, document, (*path[:-1], named))
        return block

    def step(self, axis: str, depth: int) -> Step:
        test = self.random.choice((*NAMES, "*"))
        conditions = (self.condition(),) if self.is_odd(0.1) else ()
        variable = self.name() if self.is_lucky(0.6) else None
        branches: list[Path] = []
        while depth < 2 and len(branches) < 2 and self.is_lucky(0.3):
            branches.append(self.branch(depth + 1))
        if variable is not None and not branches:
            self.leaves.add(variable)
        return Step(axis, test, conditions, variable, tuple(branches))

    def branch(self, depth: int) -> Path:
        if self.is_lucky(0.15):
            return (Step("/", "@n", (), self.name()),)
        axis = "//" if self.is_lucky(0.6) else "/"
        step = self.step(axis, depth)
        if step.variable is None:
            step = Step(axis, step.test, step.conditions, self.name(), step.branches)
        return (step,)

    def condition(self) -> str:
        form = self.random.choice(CONDITIONS)
        return form.format(n=self.random.choice(NAMES), v=self.random.choice(VALUES))

    def name(self) -> str:
        self.named += 1
        return f"v{self.named}"
