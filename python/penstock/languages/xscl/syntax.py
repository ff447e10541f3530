"""The syntax tree of XSCL; paths and predicates of blocks are XPath's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.languages.xpath.syntax import Expression, Path, Span
from penstock.twigs import JoinKind
from penstock.twigs.outputs import Content


@dataclass(frozen=True, slots=True)
class Name:
    """A name that the author chose, or mentions, and where."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class BlockSyntax:
    """A stream and a path into its documents; ``document`` names the document node."""

    stream: Name
    document: Name | None
    path: Path | None
    span: Span


@dataclass(frozen=True, slots=True)
class TermSyntax:
    """``left operator right`` of a predicate."""

    left: Expression
    operator: str
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class OperatorSyntax:
    """An operator with its predicate and window; ``span`` covers them all.

    ``window_span`` covers the number of the window; an infinite one has none.
    """

    kind: JoinKind
    terms: tuple[TermSyntax, ...]
    window_seconds: float | None
    window_span: Span | None
    span: Span


@dataclass(frozen=True, slots=True)
class Selection:
    """What SELECT mentions, and the constructor around it; without one, a list of variables."""

    names: tuple[Name, ...]
    content: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class XsclSyntax:
    """A whole query. ``bindings`` gives the variable of each step that has one, by its span."""

    selection: Selection | None
    blocks: tuple[BlockSyntax, ...]
    operators: tuple[OperatorSyntax, ...]
    publish: Name | None
    bindings: Mapping[Span, Name]
