"""The XSCL that the attack writes: a small tree of its own, and its text.

Brute force reads the tree, the product reads the text, so a mistake of the product's parser is
found as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_WRITTEN = {"&": "&amp;", "<": "&lt;", "'": "&apos;", "\r": "&#13;", "{": "{{", "}": "}}"}
NAMESPACES = {"p": "urn:p"}
"""The prefixes of all queries."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: an axis, a test, XPath conditions, a variable, and paths that must be there.

    ``axis`` is `/`, `//` or `.` (the node itself, where an operand begins). ``test`` is a name, a
    wildcard or a kind, with `@` in front for attributes.
    """

    axis: str
    test: str
    conditions: tuple[str, ...] = ()
    variable: str | None = None
    branches: tuple[Path, ...] = ()


Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A stream and a path; ``document`` names the document node."""

    stream: str
    document: str | None
    path: Path


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable with a path from its node, or a constant."""

    variable: str | None
    path: Path = ()
    constant: str | float | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A comparison of a predicate."""

    left: Operand
    sign: str
    right: Operand


@dataclass(frozen=True, slots=True)
class Operator:
    """What joins the blocks before it with one more."""

    kind: str
    terms: tuple[Term, ...]
    window: str
    block: Block


@dataclass(frozen=True, slots=True)
class Insert:
    """A variable in braces, as a node or as a string."""

    variable: str
    as_value: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """A constructed element; values and content are literals, inserts and elements."""

    name: str
    attributes: tuple[tuple[str, tuple[str | Insert, ...]], ...] = ()
    content: tuple[str | Insert | Element, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A query: ``select`` is None (omitted), variables (none: `*`), or a constructor."""

    select: tuple[str, ...] | Element | None
    first: Block
    operators: tuple[Operator, ...] = ()
    publish: str | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in order."""
        return (self.first, *(operator.block for operator in self.operators))

    @property
    def is_bare(self) -> bool:
        """Whether the results are nodes, with no event around them."""
        return not (self.select or self.operators or self.publish)


def variables_of(block: Block) -> list[str]:
    """Return the variables of a block."""
    named = [] if block.document is None else [block.document]
    return named + list(_variables(block.path))


def _variables(path: Path) -> Iterator[str]:
    for step in path:
        if step.variable is not None:
            yield step.variable
        for branch in step.branches:
            yield from _variables(branch)


def inserted_in(element: Element) -> Iterator[str]:
    """Yield the variables of a constructor in the order in which they stand."""
    for _, value in element.attributes:
        yield from (part.variable for part in value if isinstance(part, Insert))
    for part in element.content:
        if isinstance(part, Element):
            yield from inserted_in(part)
        elif isinstance(part, Insert):
            yield part.variable


def write_query(query: Query) -> str:
    """Return the text of a query."""
    parts = []
    if isinstance(query.select, Element):
        parts.append(f"SELECT {_element(query.select)} FROM")
    elif query.select is not None:
        parts.append(f"SELECT {', '.join(query.select) or '*'} FROM")
    parts.append(_block(query.first))
    for operator in query.operators:
        terms = " AND ".join(
            f"{_operand(term.left)} {term.sign} {_operand(term.right)}" for term in operator.terms
        )
        parts.append(f"{operator.kind}{{{terms}, {operator.window}}} {_block(operator.block)}")
    if query.publish is not None:
        parts.append(f"PUBLISH {query.publish}")
    return " ".join(parts)


def _block(block: Block) -> str:
    return block.stream + _binding(block.document) + _path(block.path)


def _binding(variable: str | None) -> str:
    if variable is None:
        return ""
    # Both spellings occur, and a variable has one of them for good.
    return f" AS {variable}" if variable.endswith(("3", "7")) else f"->{variable}"


def _path(path: Path) -> str:
    return "".join(_step(step) for step in path)


def _step(step: Step) -> str:
    before = "".join(f"[{condition}]" for condition in step.conditions)
    branches = "".join(f"[{_branch(branch)}]" for branch in step.branches)
    start = "" if step.axis == "." else step.axis + step.test
    return start + before + _binding(step.variable) + branches


def _branch(path: Path) -> str:
    text = _path(path)
    return f".{text}" if text.startswith("//") else text[1:]


def _operand(operand: Operand) -> str:
    match operand.constant:
        case None:
            return f"{operand.variable}{_path(operand.path)}"
        case str() as text:
            return f"'{text}'"
        case number:
            return f"{number:g}"


def _element(element: Element) -> str:
    attributes = "".join(
        f" {name}='{''.join(map(_part, value))}'" for name, value in element.attributes
    )
    content = "".join(
        _element(part) if isinstance(part, Element) else _part(part) for part in element.content
    )
    return f"<{element.name}{attributes}>{content}</{element.name}>"


def _part(part: str | Insert) -> str:
    if isinstance(part, Insert):
        return f"{{string({part.variable})}}" if part.as_value else f"{{{part.variable}}}"
    for character, written in _WRITTEN.items():
        part = part.replace(character, written)
    return part
