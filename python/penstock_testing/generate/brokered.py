"""Random queries for the message broker, and recursive documents with values that they compare."""

from __future__ import annotations

from random import Random

_NAMES = ("a", "b", "c")
_VALUES = ("1", "2", "3", "05", " 2 ", "x", "y", "2.0", "")
_NUMBERS = ("1", "2", "3", "5", "2.5", "1e0")


def random_nested(random: Random, *, numbers: float = 0.9) -> bytes:
    """Return a document whose elements nest in themselves; most values are numbers."""
    pieces: list[str] = []

    def value() -> str:
        return random.choice(_VALUES[:5] if random.random() < numbers else _VALUES)

    def element(depth: int) -> None:
        name = random.choice(_NAMES)
        attributes = "".join(
            f" {one}={quote}{value()}{quote}"
            for one, quote in (("m", '"'), ("n", "'"))
            if random.random() < 0.4
        )
        if random.random() < 0.05:
            attributes += ' xmlns:p="urn:p"'
        pieces.append(f"<{name}{attributes}>")
        for _ in range(random.randint(4 if depth == 0 else 0, 5 - depth if depth < 5 else 0)):
            kind = random.random()
            if kind < 0.3:
                pieces.append(value())
            elif kind < 0.35:
                pieces.append(random.choice(("<!--c-->", "<?p q?>", "<![CDATA[2]]>", "&lt;")))
            else:
                element(depth + 1)
        pieces.append(f"</{name}>")

    element(0)
    return "".join(pieces).encode()


def random_brokered(random: Random) -> str:
    """Return the text of a query that binds one path and looks at each bound node by itself."""
    return _Writer(random).query()


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random

    def query(self) -> str:
        random = self._random
        tag = random.choice(("r", "s"))
        start = random.choice((f"<{tag}>", f"<{tag} k='&lt;1'>", f"<{tag}>t "))
        if random.random() < 0.15:
            return f"{start}{{{self.binding()}}}</{tag}>"
        where = f"where {self.condition(0)} " if random.random() < 0.85 else ""
        clauses = f"for $x in {self.binding()} {where}"
        if random.random() < 0.1:
            clauses = f"for $x in {self.binding()} let $y := $x/{self.steps(1)} where $y = 2 "
        if random.random() < 0.15:
            clauses += f"order by string($x/@m), count($x/*) {random.choice(('', 'descending'))} "
        if random.random() < 0.1:
            clauses = clauses.replace("where", "where true() and", 1)
        return f"{start}{{{clauses}return {self.result()}}}</{tag}>"

    def binding(self) -> str:
        steps: list[str] = []
        for _ in range(self._random.choice((1, 1, 2, 2, 3))):
            predicate = f"[{self.condition(1, '')}]" if self._random.random() < 0.2 else ""
            axis = self._random.choice(("/", "//", "//")) if steps else "//"
            if not steps and self._random.random() < 0.1:
                axis = "/"
            steps.append(axis + self.name() + predicate)
        return "".join(steps)

    def name(self) -> str:
        return "*" if self._random.random() < 0.1 else self._random.choice(_NAMES)

    def steps(self, count: int) -> str:
        names = [self.name() for _ in range(count)]
        return "".join(
            (self._random.choice(("/", "//")) if place else "") + name
            for place, name in enumerate(names)
        )

    def path(self, start: str = "$x") -> str:
        random = self._random
        axis = random.choice(("/", "//")) if start else random.choice(("", ".//"))
        path = f"{start}{axis}{self.steps(random.randint(1, 2))}"
        end = random.random()
        if end < 0.25:
            return f"{start}/@{random.choice('mn')}" if start else f"@{random.choice('mn')}"
        if end < 0.35:
            return f"{path}/@{random.choice('mn')}"
        if end < 0.45:
            return f"{path}/text()"
        return path if end < 0.9 or not start else start

    def condition(self, depth: int, start: str = "$x") -> str:
        random = self._random
        kind = random.random()
        if depth < 2 and kind < 0.3:
            joined = random.choice((" and ", " and ", " or "))
            return "(" + joined.join(self.condition(depth + 1, start) for _ in range(2)) + ")"
        if depth < 2 and kind < 0.37:
            return f"not({self.condition(depth + 1, start)})"
        path = self.path(start)
        if kind < 0.5:
            return random.choice((path, f"exists({path})", f"empty({path})"))
        operator = random.choice(("=", "=", "=", "!=", "<", "<=", ">", ">="))
        is_text = random.random() < 0.5
        constant = f'"{random.choice(_VALUES)}"' if is_text else random.choice(_NUMBERS)
        if random.random() < 0.1:
            return f"{constant} {operator} {path}"
        return f"{path} {operator} {constant}"

    def result(self) -> str:
        random = self._random
        kind = random.random()
        if kind < 0.2:
            return random.choice(("$x", f"$x/{self.steps(1)}", f"$x//{self.steps(2)}"))
        if kind < 0.3:
            return f"($x/{self.steps(1)}, <e/>)"
        tag = random.choice(("u", "v"))
        attribute = random.choice(("", "", " k='1'", " k='{$x/@m}'", " k='v{$x/@n}w'"))
        content = "".join(self.content() for _ in range(random.randint(0, 3)))
        return f"<{tag}{attribute}>{content}</{tag}>"

    def content(self) -> str:
        random = self._random
        path = f"$x{random.choice(('/', '//'))}{self.steps(random.randint(1, 2))}"
        return random.choice(
            (
                f"{{{path}}}",
                f"{{{path}}}",
                f"{{{path}}}",
                "t&lt;",
                f"{{count({path})}}",
                f"{{{path}/text()}}",
                "{$x/@n}",
                f"{{for $z in {path} return <z>{{string($z/@m)}}</z>}}",
                f"{{sum({path}/@m)}}",
                "<i/>",
                f"<i>{{{path}}}</i>",
                f"{{{path}, 'q', 1}}",
            )
        )
