"""A proposed table as a mapping of columns, and as YAML with its evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from penstock.engine.inference.columns import Proposed

if TYPE_CHECKING:
    from penstock.engine.inference.proposal import Proposal

_PLAIN = re.compile(r"(?:\.\./|/)*[A-Za-z_](?:[A-Za-z0-9_./@-]|:(?=[A-Za-z_]))*")
_WORDS_OF_YAML = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}


def named_columns(columns: Iterable[Proposed]) -> dict[str, Any]:
    """Return columns as `penstock.table` takes them."""
    return {column.name: _written(column, named_columns, type_of(column)) for column in columns}


def numbered_columns(columns: Iterable[Proposed]) -> dict[str, Any]:
    """Return columns under numbers, whatever their names are."""
    return {
        str(number): _written(column, numbered_columns, type_of(column))
        for number, column in enumerate(columns)
    }


def text_columns(columns: Iterable[Proposed]) -> dict[str, Any]:
    """Return columns under numbers, all as text."""
    return {
        str(number): _written(column, text_columns, "string")
        for number, column in enumerate(columns)
    }


def _written(
    column: Proposed, write: Callable[[Iterable[Proposed]], dict[str, Any]], type_: str
) -> Any:
    if column.is_struct:
        return (column.path, [write(column.columns)])
    path = path_of(column, type_)
    return (path, f"list[{type_}]" if column.is_list else type_)


def type_of(column: Proposed) -> str:
    """Return the type of a column's values."""
    return column.type or column.values.type()


def path_of(column: Proposed, type_: str) -> str:
    """Return the path of a column; an empty element is no number, so it is left out."""
    if type_ in ("string", "xml") or not column.values.empty:
        return column.path
    path = "self::node()" if column.path == "." else column.path
    return f"{path}[normalize-space()]"


def yaml_lines(proposal: Proposal) -> Iterator[str]:
    """Yield the lines of a proposed table."""
    if proposal.documents:
        records = _counted(proposal.records, "record")
        yield f"# {records} in {_counted(proposal.documents, 'document')}"
    for note in proposal.notes:
        yield f"# {note}"
    yield f"record: {_scalar(proposal.record)}"
    if proposal.namespaces:
        yield "namespaces:"
        for prefix, uri in proposal.namespaces.items():
            yield f"  {_scalar(prefix)}: {json.dumps(uri, ensure_ascii=False)}"
    yield "columns:"
    yield from _column_lines(proposal.columns, "  ")
    if proposal.headers:
        yield "  # Around the record; remove the # of what you need:"
        for line in _column_lines(proposal.headers, ""):
            yield f"  # {line}"


def _column_lines(columns: Iterable[Proposed], indent: str) -> Iterator[str]:
    for column in columns:
        name = f"{indent}{_scalar(column.name)}:"
        if column.is_struct:
            yield name
            yield f"{indent}  - {_scalar(column.path)}"
            inner = list(_column_lines(column.columns, f"{indent}      "))
            yield f"{indent}  - - {inner[0].lstrip()}"
            yield from inner[1:]
            continue
        type_ = type_of(column)
        shown = f"list[{type_}]" if column.is_list else type_
        path = _scalar(path_of(column, type_))
        line = f"{name} {path}" if shown == "string" else f"{name} [{path}, {_scalar(shown)}]"
        is_seen = column.type is None
        yield f"{line}  # {column.values.evidence()}" if is_seen else line


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _scalar(text: str) -> str:
    """Return text as YAML reads it back."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    return json.dumps(text, ensure_ascii=False)
