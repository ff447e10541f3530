"""Random documents and heartbeats that random subscriptions find something in."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from penstock_testing.adversary.xscl.cases import Arrival
from penstock_testing.adversary.xscl.queries import STREAMS, VALUES
from penstock_testing.adversary.xscl.syntax import NAMESPACES, Block, Path, Query, Step

_NO_TIMES = (float("nan"), float("inf"), -float("inf"), 1e12, 1e300)
_MARKUP = ("<![CDATA[1]]>", "&lt;", "&#49;", "&#13;", "1<!--c-->", "<?x y?>")


def random_arrivals(random: Random, queries: Sequence[Query]) -> tuple[Arrival, ...]:
    """Return documents and heartbeats in order of arrival, more or less in order of time."""
    blocks = _blocks(random, queries)
    has_heartbeats, has_faults, has_doubles = (random.random() < 0.25 for _ in range(3))
    usual = random.choice(VALUES)
    made = []
    for number, block in enumerate(blocks):
        time = number / 4 if random.random() < 0.7 else random.randint(0, 8) / 2
        time += random.choice((0, 0, 0, 0.000001))
        if has_heartbeats and random.random() < 0.25:
            beat = time + random.randint(0, 4)
            if has_faults and random.random() < 0.1:
                beat = random.choice(_NO_TIMES)
            made.append(Arrival("", block.stream, beat, None))
        xml = _Document(random, usual).write(block.path)
        if has_faults and random.random() < 0.15:
            xml = random.choice((f"{xml}<", xml[:-3], f"<r>{xml}"))
        elif has_faults and random.random() < 0.1:
            time = random.choice(_NO_TIMES)
        name = random.choice(("d0", f"d{number}")) if has_doubles else f"d{number}"
        stream = block.stream if random.random() < 0.95 else random.choice(STREAMS)
        made.append(Arrival(name, stream, time, xml))
    if random.random() < 0.5:
        made.sort(key=lambda one: one.time + random.choice((0, 0, 0.5, 1)) if one.has_time else 4)
    elif random.random() < 0.5:
        random.shuffle(made)
    return tuple(made)


def _blocks(random: Random, queries: Sequence[Query]) -> list[Block]:
    """Return what documents are made after: the blocks of one query in order, and others."""
    nothing = Block("S", None, ())
    known = [block for query in queries for block in query.blocks if block.stream in STREAMS]
    chosen = [block for block in random.choice(queries).blocks if block.stream in STREAMS]
    if random.random() < 0.5:
        chosen *= 2
    for _ in range(random.randint(0, 3)):
        block = random.choice([*known, *known, nothing])
        chosen.insert(random.randint(0, len(chosen)), block)
    return chosen or [nothing]


class _Document:
    """Writes one document, after a path and with something beside it."""

    def __init__(self, random: Random, usual: str) -> None:
        self.random = random
        self.usual = usual
        self.nodes_left = random.randint(0, 4)
        self.number = 0
        # Numbers tell nodes apart in what is selected; without them, nodes are often alike.
        self.is_numbered = random.random() < 0.5
        self.is_plain = random.random() < 0.7

    def write(self, path: Path) -> str:
        """Return the document."""
        before = ""
        if not self.is_plain:
            before = self.random.choice(("<!--c-->", "<?xml version='1.0'?>", ""))
        elements = [step for step in path if not _is_leaf(step)]
        if path and path[0].axis == "//" and self.random.random() < 0.3:
            inside = "".join(self.below(path) for _ in range(self.random.choice((1, 1, 2))))
            return before + self.element("a", "", inside or self.text())
        if not elements:
            return before + self.element("a", "", self.extra(1) or self.text())
        return before + self.below(path)

    def below(self, path: Path) -> str:
        """Return an element for the first step of a path, and what is below it."""
        if not path:
            return ""
        step, rest = path[0], path[1:]
        if _is_leaf(step):
            return "" if step.test.startswith("@") else self.text()
        branches = [*step.branches, *([rest] if rest else [])]
        has_attribute = any(branch[0].test.startswith("@") for branch in branches)
        attributes = f" n='{self.value()}'" if has_attribute else ""
        content = [self.below(branch) for branch in branches]
        if self.random.random() < 0.2:
            content += [self.below(branch) for branch in branches]
        content = [part for part in content if part]
        if not content:
            content = [self.text()]
        if self.random.random() < (0.4 if branches else 0.1):
            content.insert(self.random.randint(0, len(content)), self.extra(2))
        inside = self.element(_name(step, self.random), attributes, "".join(content))
        if step.axis == "//" and self.random.random() < 0.2:
            return self.element(self.random.choice("abk"), "", inside)
        return inside

    def extra(self, depth: int) -> str:
        """Return some elements that nobody asked for, but may find."""
        made = []
        while self.nodes_left > 0 and depth < 4 and self.random.random() < 0.6:
            self.nodes_left -= 1
            inside = self.extra(depth + 1) or self.text()
            made.append(self.element(self.random.choice("aabk"), "", inside))
        return "".join(made)

    def element(self, name: str, attributes: str, content: str) -> str:
        prefix, _, local = name.rpartition(":")
        written = attributes
        if prefix:
            uri = NAMESPACES[prefix]
            is_default = self.random.random() < (0.2 if "<" in content else 0.5)
            written += f" xmlns='{uri}'" if is_default else f" xmlns:{prefix}='{uri}'"
            name = local if is_default else name
        elif self.random.random() < 0.04:
            written += self.random.choice((" xmlns=''", " xmlns:p='urn:p'"))
        if not attributes and self.random.random() < 0.1:
            written += f" n='{self.value()}'"
        if self.is_numbered:
            self.number += 1
            written += f" i='{self.number}'"
        if not content and self.random.random() < 0.5:
            return f"<{name}{written}/>"
        return f"<{name}{written}>{content}</{name}>"

    def text(self) -> str:
        if self.is_plain or self.random.random() < 0.8:
            return self.value()
        return self.random.choice(_MARKUP)

    def value(self) -> str:
        return self.usual if self.random.random() < 0.85 else self.random.choice(VALUES)


def _is_leaf(step: Step) -> bool:
    """Whether a step leads to something else than an element."""
    return step.test.startswith("@") or step.test.endswith("()")


def _name(step: Step, random: Random) -> str:
    return random.choice("abk") if step.test == "*" else step.test
