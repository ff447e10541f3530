"""Columns as they are written: a mapping of names to paths, types and further mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import QueryError
from penstock.languages.tables.types import read_type
from penstock.languages.xpath.expressions import ExpressionLowering, Focus
from penstock.languages.xpath.frontend import DEPTH_MAX, parse, too_deep
from penstock.languages.xpath.functions import Type
from penstock.languages.xpath.namespaces import Namespaces
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import Axis
from penstock.twigs.parts import all_parts, parts_of
from penstock.twigs.slots import SlotTable
from penstock.twigs.tables import Column, ColumnType

COLUMNS_MAX = 1000
"""Columns of a table, those of its structs included."""
_NESTED_MAX = 16
_EXAMPLE = "columns={'id': '@id', 'price': ('price', 'decimal(10,2)')}"

STRING = ColumnType("string")
_HERE = x.Here()


class ColumnReader:
    """Reads columns; all share one table of constants."""

    def __init__(
        self, namespaces: Namespaces, variables: Mapping[str, object], slots: SlotTable
    ) -> None:
        self._namespaces = namespaces
        self._variables = variables
        self._slots = slots
        self._count = 0

    def columns(self, columns: object, around: str = "", depth: int = 0) -> tuple[Column, ...]:
        """Return the columns of a mapping.

        Raises:
            QueryError: It is none, or a path or type in it is none.
        """
        if not isinstance(columns, Mapping) or not columns:
            raise _no_columns(around, f"is {columns!r}, not a mapping of names to paths")
        if depth > _NESTED_MAX:
            raise _no_columns(around, "is nested too deeply")
        self._count += len(columns)
        if self._count > COLUMNS_MAX:
            raise _no_columns(around, f"has more than {COLUMNS_MAX} columns")
        return tuple([self._column(name, one, around, depth) for name, one in columns.items()])

    def _column(self, name: object, written: object, around: str, depth: int) -> Column:
        if not isinstance(name, str) or not name:
            raise _no_columns(around, f"has a column named {name!r}")
        place = f"{around}{name}"
        match written:
            case str():
                return Column(name, self._source(written), STRING)
            case Mapping():
                return Column(name, None, None, self.columns(written, f"{place}.", depth + 1))
            case [str() as path, str() as written_type]:
                type_, is_list = read_type(written_type)
                source = self._source(path)
                if type_.name == "xml" and not isinstance(source, x.Nodes):
                    message = f"column `{place}` is XML of `{path}`, which is a value"
                    span = (0, len(path))
                    raise QueryError("PQ0114", message, span, "write a path to nodes", path)
                return Column(name, source, type_, is_list=is_list)
            case [str() as path, Mapping() as inner]:
                columns = self.columns(inner, f"{place}.", depth + 1)
                return Column(name, self._set(path), None, columns)
            case [str() as path, [Mapping() as inner]]:
                columns = self.columns(inner, f"{place}.", depth + 1)
                return Column(name, self._set(path), None, columns, is_list=True)
        raise _no_columns(place, f"is {written!r}: a path, (path, type), or a mapping")

    def record(self, path: str) -> x.Nodes:
        """Return the nodes of a record path, from the document."""
        return self._set(path, x.Root())

    def _set(self, path: str, here: x.Nodes = _HERE) -> x.Nodes:
        lowered = self._lowered(path, here, is_set=True)
        assert isinstance(lowered, x.Nodes), "the lowering checks it"
        return lowered

    def _source(self, path: str) -> x.Expression:
        return self._lowered(path, _HERE, is_set=False)

    def _lowered(self, path: str, here: x.Nodes, *, is_set: bool) -> x.Expression:
        """Return what a path is lowered to, if the kernel evaluates it at records."""
        bound = Namespaces(self._namespaces.bindings, path)
        lowering = ExpressionLowering(path, bound, self._variables, self._slots)
        focus = Focus(here, False)
        try:
            parsed = parse(path)
            is_set = is_set or lowering.type_of(parsed) is Type.NODES
            lowered = lowering.nodes(parsed, focus) if is_set else lowering.value(parsed, focus)
        except RecursionError:
            raise too_deep(path) from None
        _check(lowered, path)
        return lowered


def _check(lowered: x.Expression, path: str) -> None:
    if _depth(lowered) > DEPTH_MAX:
        raise too_deep(path)
    for part in all_parts(lowered):
        if isinstance(part, x.Identified | x.JoinedStrings):
            raise _unsupported(path, "`id()` needs the declarations of a document")
        if isinstance(part, x.Step) and part.axis is Axis.NAMESPACE:
            raise _unsupported(path, "the namespace axis leads to no values of records")


def _depth(expression: x.Expression) -> int:
    deepest, waiting = 0, [(expression, 1)]
    while waiting:
        part, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(inner, level + 1) for inner in parts_of(part)]
    return deepest


def _unsupported(path: str, message: str) -> QueryError:
    way_out = "compare an attribute instead, or use name() and namespace-uri()"
    return QueryError("PQ0703", message, (0, len(path)), way_out, path)


def _no_columns(place: str, message: str) -> QueryError:
    what = f"column `{place.rstrip('.')}`" if place else "the table"
    return QueryError("PQ0701", f"{what} {message}", (0, 0), _EXAMPLE, "")


def as_json(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns as JSON holds them: lists for tuples."""
    return {name: _as_json(one) for name, one in columns.items()}


def _as_json(written: Any) -> Any:
    if isinstance(written, Mapping):
        return as_json(written)
    if isinstance(written, Sequence) and not isinstance(written, str):
        return [_as_json(part) for part in written]
    return written
