"""The functions of XPath 1.0, and Penstock's ``avg``, ``min`` and ``max``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Type(Enum):
    """The types of XPath 1.0; OBJECT is any of them."""

    NODES = "node-set"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function gives and takes. ``most`` None: the last parameter may repeat."""

    result: Type
    parameters: tuple[Type, ...]
    least: int
    most: int | None

    def accepts(self, count: int) -> bool:
        """Return whether the function can be called with so many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)

    def describe(self) -> str:
        """Return the number of arguments in words."""
        if self.most is None:
            return f"at least {self.least} arguments"
        if self.least == self.most:
            return "1 argument" if self.least == 1 else f"{self.least or 'no'} arguments"
        return f"{self.least} to {self.most} arguments"


_LETTERS = {
    "n": Type.NODES,
    "s": Type.STRING,
    "d": Type.NUMBER,
    "b": Type.BOOLEAN,
    "o": Type.OBJECT,
}


def _signature(line: str) -> tuple[str, Signature]:
    """Read `name parameters result`; `?` makes the one before it optional, `*` repeats it."""
    name, parameters, result = line.split()
    letters = [letter for letter in parameters if letter in _LETTERS]
    least = len(letters) - parameters.count("?")
    most = None if "*" in parameters else len(letters)
    return name, Signature(_LETTERS[result], tuple(_LETTERS[x] for x in letters), least, most)


FUNCTIONS = dict(
    map(
        _signature,
        """
        last - d
        position - d
        count n d
        id o n
        local-name n? s
        namespace-uri n? s
        name n? s
        string o? s
        concat ss* s
        starts-with ss b
        contains ss b
        substring-before ss s
        substring-after ss s
        substring sdd? s
        string-length s? d
        normalize-space s? s
        translate sss s
        boolean o b
        not b b
        true - b
        false - b
        lang s b
        number o? d
        sum n d
        floor d d
        ceiling d d
        round d d
        avg n d
        min n d
        max n d
        """.strip().splitlines(),
    )
)

AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})
NAME_PARTS = frozenset({"name", "local-name", "namespace-uri"})
CONDITIONS = frozenset({"boolean", "not", "true", "false"})
