"""The bytes of one compiled query: what it requests, and tables of small numbers.

A program is ``MAGIC``, its request, and the body of that. The body of rows is *patterns* and an
output; ``records`` writes the other one, with patterns of its own for each variable. Everything is
a varint except the bytes of strings and the eight bytes of numbers. Tables come before their users,
and an entry refers only to earlier entries of its own table. The reader is
``crates/kernel/src/plan/program.rs``; the two change together.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from penstock.twigs import Axis, NodeKind, NodeTest, ValueType
from penstock.twigs.blanks import BLANKS, Atom, Blank, NameBlank, type_of_atom

MAGIC = b"PSP3"


class Request(Enum):
    """What a program asks to be handed out: its code in the program."""

    ROWS = 0
    """Rows of results, decided while a document is read."""
    RECORDS = 1
    """Records of witnesses, which are joined."""
    MESSAGES = 2
    """Rows that are evaluated from parts of documents: messages, nodes and values."""
    BINDINGS = 3
    """Bindings of several streams, which are joined as they arrive."""

    @property
    def head(self) -> bytes:
        """The first bytes of a program."""
        return MAGIC + varint(self.value)


def request_of(program: bytes) -> Request:
    """Return what a program requests.

    Raises:
        ValueError: The bytes are not a program.
    """
    if not program.startswith(MAGIC) or len(program) == len(MAGIC):
        raise ValueError("these bytes are not a program")
    return Request(program[len(MAGIC)])


AXES = {
    Axis.SELF: 0,
    Axis.CHILD: 1,
    Axis.DESCENDANT: 2,
    Axis.DESCENDANT_OR_SELF: 3,
    Axis.ATTRIBUTE: 4,
    Axis.PARENT: 5,
    Axis.ANCESTOR: 6,
    Axis.ANCESTOR_OR_SELF: 7,
    Axis.FOLLOWING_SIBLING: 8,
    Axis.PRECEDING_SIBLING: 9,
    Axis.FOLLOWING: 10,
    Axis.PRECEDING: 11,
    Axis.NAMESPACE: 12,
}
"""The first five are those of twigs; an expression has them all."""

KINDS = {
    NodeKind.ANY: 0,
    NodeKind.DOCUMENT: 1,
    NodeKind.ELEMENT: 2,
    NodeKind.ATTRIBUTE: 3,
    NodeKind.TEXT: 4,
    NodeKind.COMMENT: 5,
    NodeKind.INSTRUCTION: 6,
    NodeKind.NAMESPACE: 7,
}

COMPARISONS = {"=": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}

OPERATORS = {
    name: code
    for code, name in enumerate(
        "string number boolean concat contains starts-with string-length normalize-space "
        "substring substring-before substring-after translate floor ceiling round "
        "+ - * div mod negate = != < <= > >=".split(),
        start=4,
    )
}
TEXT, NUMBER, BOOLEAN, OPERAND = range(4)

TRUE, FALSE, AND, OR, NOT, EDGE, IS, TEXT_ATOM, NUMBER_ATOM, CONTAINS, STARTS_WITH, COMPUTED = (
    range(12)
)
(
    TEXT_NODE,
    NUMBER_NODE,
    BOOLEAN_NODE,
    CALL_NODE,
    AND_NODE,
    OR_NODE,
    NOT_NODE,
    POSITION,
    LAST,
    EXISTS,
    COMPARE_PAIRS,
    COMPARE_SOME,
    COUNT,
    SUM,
    STRING,
    NAME,
    STRINGS,
    HERE,
    ROOT,
    STEP,
    FILTER_NODE,
    UNION,
    IDENTIFIED,
    _BESIDE,
    ABOVE,
    LIST,
) = range(26)
FRAGMENTS, AGGREGATE, BOOLEAN_OUTPUT, VALUE, FILTER, SPANS = range(6)
SELECT, SELECT_VALUE, SELECT_FILTER, SELECT_AGGREGATE, END = range(6, 11)
AGGREGATES = {"count": 0, "sum": 1, "avg": 2, "min": 3, "max": 4}
VALUE_KINDS = {"string": 0, "number": 1, "boolean": 2}
STRING_VALUE, TRUTH = 0, 4
NAME_PARTS = {"name": 1, "local-name": 2, "namespace-uri": 3}

# (axis, test, formula), as an operand's path lists its steps.
OperandStep = tuple[Axis, NodeTest, int]


@dataclass(frozen=True)
class Operand:
    """What an expression reads: a part of the first node of a path, or a condition's truth."""

    part: int
    steps: tuple[OperandStep, ...] = ()
    condition: tuple[int, ...] = ()
    """For the part TRUTH: a formula and its negation."""


Part = bytes | Blank | NameBlank
"""A piece of a program: bytes, or a constant or name that is still to be filled in."""


@dataclass
class _Table:
    """Distinct entries in order of arrival."""

    places: dict[Hashable, int] = field(default_factory=dict)
    entries: list[Part] = field(default_factory=list)

    def place(self, key: Hashable, entry: Part) -> int:
        found = self.places.setdefault(key, len(self.entries))
        if found == len(self.entries):
            self.entries.append(entry)
        return found

    def parts(self) -> list[Part]:
        return [varint(len(self.entries)), *self.entries]


class ProgramWriter:
    """Collects the tables of a program; every method returns the entry's number."""

    def __init__(self) -> None:
        self._strings = _Table()
        self._numbers = _Table()
        self._tests = _Table()
        self._expressions = _Table()
        self._formulas = _Table()
        self._nodes = _Table()

    def string(self, text: str) -> int:
        """A string of the structure that is no name: a namespace."""
        return self._strings.place(text, constant_bytes(text))

    def name(self, name: str) -> int:
        """A name, which has a place of its own, whatever else it equals."""
        part = name if isinstance(name, NameBlank) else constant_bytes(name)
        return self._strings.place(("name", name), part)

    def constant(self, index: int, value: Atom | Blank) -> int:
        """The constant of a slot, a string or a number.

        It has a place of its own, whatever it equals: the rest of a program does not depend on
        the values of its constants.
        """
        table = self._strings if type_of_atom(value) is ValueType.STRING else self._numbers
        return table.place(index, value if isinstance(value, BLANKS) else constant_bytes(value))

    def test(self, test: NodeTest) -> int:
        """A node test."""
        local = 0 if test.local is None else 1 + self.name(test.local)
        uris = None if test.uris is None else [self.string(uri) for uri in test.uris]
        encoded = varints(KINDS[test.kind], local) + (b"\0" if uris is None else b"\1" + many(uris))
        return self._tests.place(encoded, encoded)

    def leaf(self, operator: int, argument: int) -> int:
        """A constant or an operand of an expression."""
        encoded = varints(operator, argument)
        return self._expressions.place(encoded, encoded)

    def operation(self, operator: str, arguments: Iterable[int]) -> int:
        """A function or operator of an expression."""
        encoded = varint(OPERATORS[operator]) + many(arguments)
        return self._expressions.place(encoded, encoded)

    def formula(self, kind: int, *fields: int) -> int:
        """A formula with a fixed number of fields."""
        return self._formula(varints(kind, *fields))

    def connective(self, kind: int, parts: Iterable[int]) -> int:
        """A conjunction or disjunction."""
        return self._formula(varint(kind) + many(parts))

    def computed(self, expression: int, operands: Iterable[Operand]) -> int:
        """An expression over operands."""
        encoded = []
        for operand in operands:
            path = [varints(AXES[axis], self.test(test), f) for axis, test, f in operand.steps]
            head = varints(operand.part, *operand.condition, len(path))
            encoded.append(head + b"".join(path))
        return self._formula(varints(COMPUTED, expression, len(encoded)) + b"".join(encoded))

    def node(self, kind: int, *fields: int, parts: Iterable[int] | None = None) -> int:
        """A part of an expression: its fields, then a counted list where it has one."""
        encoded = varints(kind, *fields) + (b"" if parts is None else many(parts))
        return self._nodes.place(encoded, encoded)

    def _formula(self, encoded: bytes) -> int:
        return self._formulas.place(encoded, encoded)

    def finish(self, paths: Iterable[bytes], output: bytes) -> list[Part]:
        """The program in pieces; ``paths`` come from :func:`path`."""
        return [Request.ROWS.head, *self.patterns(paths), output]

    def patterns(self, paths: Iterable[bytes]) -> list[Part]:
        """The patterns alone."""
        listed = list(paths)
        tables = (
            self._strings,
            self._numbers,
            self._tests,
            self._expressions,
            self._formulas,
            self._nodes,
        )
        parts = [part for table in tables for part in table.parts()]
        return [*parts, varint(len(listed)), *listed]


def constant_bytes(value: Atom) -> bytes:
    """A string or a number as a program holds it."""
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
        return varint(len(encoded)) + encoded
    return struct.pack("<d", value)


def path(root: int, steps: Iterable[tuple[Axis, int, int]]) -> bytes:
    """One alternative: a formula at the document node, then (axis, test, formula) steps."""
    encoded = [varints(AXES[axis], test, formula) for axis, test, formula in steps]
    return varints(root, len(encoded)) + b"".join(encoded)


def many(numbers: Iterable[int]) -> bytes:
    """A counted list."""
    listed = list(numbers)
    return varints(len(listed), *listed)


def varints(*numbers: int) -> bytes:
    """Several numbers, seven bits to a byte."""
    # Nearly all numbers are small, and programs are full of them.
    if max(numbers, default=0) <= 0x7F:
        return bytes(numbers)
    return b"".join([varint(number) for number in numbers])


def varint(number: int) -> bytes:
    """A number, seven bits to a byte, the lowest first."""
    if number <= 0x7F:
        return bytes((number,))
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
