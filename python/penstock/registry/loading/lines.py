"""Subscriptions as lines of a file, and their compilation.

A line of JSON is one object, a line of CSV has the same fields by its first line:

``name``, ``query``      required
``language``             ``xpath``, ``xquery``, ``xscl`` or ``table``; ``xpath`` if it is left out
``mode``                 ``query``, ``filter`` or ``running``; ``query`` if it is left out
``owner``, ``delivery``  of the subscription; in CSV a delivery that is JSON is taken as that
``namespaces``           prefixes and URIs; in CSV as JSON
``variables``            values of ``$name``; in CSV as JSON
``select``               names and paths of values beside each result; in CSV as JSON
``dialect``              ``xpath`` or ``xsq``
``context``              the path at whose first node the query starts
``untyped``, ``empty``   of a query in XQuery
``within``               the window of a query in XQuery over several streams
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.errors import PenstockError, QueryError, RegistryError
from penstock.planning.programs import LANGUAGES, OPTIONS, compile_program
from penstock.registry.columns import Columns

OPTION_FIELDS = tuple(dict.fromkeys(option for own in OPTIONS.values() for option in own))
FIELDS = ("name", "query", "language", "mode", "owner", "delivery", *OPTION_FIELDS)
_MAPS = ("namespaces", "select", "variables")
_TEXTS = frozenset(FIELDS) - {"delivery", "within", *_MAPS}
_DECODE = json.JSONDecoder().decode
_AS_JSON = ("delivery", *_MAPS)
JSON_STARTS = '{"['
"""A delivery in a cell that starts with one of these is JSON, any other is text."""


class LineError(NamedTuple):
    """Why a line was not loaded; ``span`` is the invalid part of its query, if there is one."""

    line: int
    code: str
    message: str
    span: tuple[int, int] | None
    text: str

    @staticmethod
    def of(line: int, error: PenstockError) -> LineError:
        """Return the error of a line."""
        if isinstance(error, QueryError):
            return LineError(line, error.code, str(error), error.span, error.text)
        return LineError(line, error.code, str(error), None, "")

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class Chunk(NamedTuple):
    """Lines that are compiled together: JSON, or cells with the names of their columns."""

    numbers: Sequence[int]
    lines: Sequence[bytes | str | list[str]]
    columns: Sequence[str] | None


class CompiledChunk(NamedTuple):
    """A compiled chunk; ``numbers`` are the line numbers of its subscriptions."""

    numbers: list[int]
    lines: list[Columns]
    errors: list[LineError]


def compile_chunk(chunk: Chunk) -> CompiledChunk:
    """Return the subscriptions of a chunk, and the errors of the other lines."""
    compiled = CompiledChunk([], [], [])
    for number, line in zip(chunk.numbers, chunk.lines, strict=True):
        try:
            record = _record(line, chunk.columns)
            if record is not None:
                compiled.lines.append(_compile(record))
                compiled.numbers.append(number)
        except PenstockError as error:
            compiled.errors.append(LineError.of(number, error))
    return compiled


def _record(line: bytes | str | list[str], columns: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the fields of a line, or None for an empty one."""
    if isinstance(line, list):
        return _cells(line, columns or ())
    if not line or line.isspace():
        return None
    try:
        record = _DECODE(line if isinstance(line, str) else line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _refusal(f"this is no JSON: {error}") from None
    if not isinstance(record, dict):
        raise _refusal("this is no object with a name and a query")
    return record


def _cells(cells: list[str], columns: Sequence[str]) -> dict[str, Any] | None:
    if not any(cells):
        return None
    if len(cells) > len(columns):
        raise _refusal(f"there are {len(cells)} cells, and {len(columns)} columns")
    cells_by_column = zip(columns, cells, strict=False)
    record: dict[str, Any] = {column: cell for column, cell in cells_by_column if cell}
    for column in _AS_JSON:
        cell = record.get(column)
        if cell and (column != "delivery" or cell[0] in JSON_STARTS):
            try:
                record[column] = json.loads(cell)
            except ValueError as error:
                raise _refusal(f"`{column}` is no JSON: {error}") from None
    return record


def _compile(record: dict[str, Any]) -> Columns:
    if unknown_fields := record.keys() - FIELDS:
        unknown = min(map(str, unknown_fields))
        raise _refusal(f"`{unknown}` is no field; there are {', '.join(sorted(FIELDS))}")
    for field, value in record.items():
        if type(value) is not str and value is not None and field in _TEXTS:
            raise _refusal(f"`{field}` is text, not {value!r}")
    get = record.get
    name, text, language = get("name"), get("query"), get("language") or "xpath"
    if not name or not text:
        raise _refusal(f"there is no {'query' if name else 'name'}")
    if language not in LANGUAGES:
        raise _refusal(f"the language `{language}` is none of {', '.join(sorted(LANGUAGES))}")
    options = {
        field: record[field]
        for field in OPTION_FIELDS
        if field in record and record[field] not in (None, "", {})
    }
    mode: Any = get("mode") or "query"
    delivery = get("delivery")
    if options:
        _check_options(language, options)
    compiled = Columns(
        name,
        language,
        text,
        json.dumps(options) if options else "{}",
        mode,
        get("owner") or None,
        None if delivery is None else json.dumps(delivery),
        compile_program(text, mode, language, options),
    )
    for value in (name, text, compiled.owner):
        if value is not None and not value.isascii():
            _check_encoding(value)
    return compiled


def _check_options(language: str, options: dict[str, Any]) -> None:
    if others := options.keys() - OPTIONS[language]:
        raise _refusal(f"`{min(others)}` is no field of a query in {language}")
    for field in _MAPS:
        if not isinstance(options.get(field, {}), dict):
            raise _refusal(f"`{field}` is an object, not {options[field]!r}")


def _check_encoding(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise RegistryError("PR0008", f"{value!a} cannot be written down: {error}") from None


def _refusal(message: str) -> RegistryError:
    return RegistryError("PR0020", message)
