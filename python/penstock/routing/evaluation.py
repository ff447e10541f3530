"""The answer to queries from the document itself: one pass of the kernel.

A query that XPath can say is one filter. Of others, the values of their paths are collected, and
their tests are evaluated over these. The views of a configuration can be read in the same pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from penstock import kernel
from penstock.languages.xpath import xpath
from penstock.limits import Limits
from penstock.planning.compile import compile_query
from penstock.routing.configuration import Configuration
from penstock.routing.formulas import (
    All,
    Any,
    Check,
    Constant,
    First,
    Formula,
    Negation,
    Opaque,
    Some,
    leaves,
    passes,
)
from penstock.routing.paths import Path
from penstock.routing.queries import Query

if TYPE_CHECKING:
    from typing_extensions import Buffer

_VALUE = "value"
# Views are asked event by event: only there is a view with many nodes left after the second.
_NO_QUESTIONS = (1 << 32) - 1
_TOO_MANY = "PL0016"


class Evaluator:
    """Evaluates queries over documents, and stamps them with a configuration if there is one.

    It may be used from several threads, one document at a time.
    """

    def __init__(
        self,
        queries: Sequence[Query],
        configuration: Configuration | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.queries = tuple(queries)
        self.configuration = configuration
        self._programs: dict[bytes, int] = {}
        self._values: dict[Path, int] = {}
        self._firsts: dict[Path, int] = {}
        """Paths of which the first node counts; nodes come when they are complete, inner first."""
        views = () if configuration is None else configuration.paths
        for place, path in enumerate(views):
            self._programs[path.key] = place
        self._view_count = len(views)
        for query in self.queries:
            self._add(query)
        # A view needs no more than one node, and a filter has no more than one row.
        limits = limits or Limits()
        if not self._values and not self._firsts:
            limits = replace(limits, results_max=1)
        plan = kernel.Plan.build(list(self._programs))
        questions = _NO_QUESTIONS if views else None
        self._session = kernel.Session(plan, limits, questions_min=questions)
        self._lock = Lock()

    def _add(self, query: Query) -> None:
        if query.program is not None:
            self._place(query.program)
            return
        for leaf in leaves(query.formula):
            if isinstance(leaf, Opaque):
                self._place(leaf.program)
            elif isinstance(leaf, First):
                self._firsts[leaf.path] = self._place(value_program(leaf.path, is_first=True))
            else:
                self._values[leaf.path] = self._place(value_program(leaf.path))

    def _place(self, program: bytes) -> int:
        # A view's program returns places and a query's does not, so the two never are the same.
        return self._programs.setdefault(program, len(self._programs))

    def answer(
        self, document: Buffer, encoding: str | None = None
    ) -> tuple[list[bool], bytes | None]:
        """Return which queries hold, and the header of the document if it is to be stamped.

        Raises:
            DocumentError: The document is not well-formed.
            LimitError: The document passed a limit.
        """
        return self.answer_pieces([document], document, encoding)

    def answer_pieces(
        self, pieces: Sequence[Buffer], document: Buffer, encoding: str | None = None
    ) -> tuple[list[bool], bytes | None]:
        """Return the same for a document that is read in pieces; ``document`` has them all.

        Raises:
            DocumentError: The document is not well-formed.
            LimitError: The document passed a limit.
        """
        with self._lock:
            try:
                self._read(pieces, encoding)
                batch = self._session.take()
                failing = self._session.take_failing()
            finally:
                self._session.clear()
        many: list[int] = []
        hidden: list[int] = []
        for _, number, error in failing:
            if number >= self._view_count:
                raise error
            (many if error.code == _TOO_MANY else hidden).append(number)
        header = None
        if self.configuration is not None:
            header = kernel.write_header(
                batch,
                document,
                self.configuration.id,
                parted=[view.parts for view in self.configuration.views],
                many=many,
                hidden=hidden,
                encoding=encoding,
            )
        if not self.queries:
            return [], header
        rows, _, bindings = batch.rows()
        holding = {row[0] for row in rows}
        values: dict[int, list[str]] = {}
        for place, found in bindings.items():
            number = rows[place][0]
            values.setdefault(number, []).append(found[_VALUE] or "")
        return [self._holds(query, holding, values) for query in self.queries], header

    def _read(self, pieces: Sequence[Buffer], encoding: str | None) -> None:
        if len(pieces) == 1:
            count, errors = self._session.read([(pieces[0], encoding, "default")])
            for _, error in errors:
                raise error
            if count:
                return
        for _ in self._session.read_pieces(pieces, encoding):
            pass  # what waits is taken at the end

    def _holds(self, query: Query, holding: set[int], values: dict[int, list[str]]) -> bool:
        if query.program is not None:
            return self._programs[query.program] in holding
        return self._truth(query.formula, holding, values)

    def _truth(self, formula: Formula, holding: set[int], values: dict[int, list[str]]) -> bool:
        match formula:
            case Constant(value=value):
                return value
            case All(parts=parts):
                return all(self._truth(part, holding, values) for part in parts)
            case Any(parts=parts):
                return any(self._truth(part, holding, values) for part in parts)
            case Negation(part=part):
                return not self._truth(part, holding, values)
            case Some(path=path, where=where):
                found = values.get(self._values[path], ())
                return any(satisfies(where, value) for value in found)
            case First(path=path, test=test):
                found = values.get(self._firsts[path], ())
                return passes(test, found[0] if found else "")
            case Opaque(program=program):
                return self._programs[program] in holding
            case Check():
                raise AssertionError("a test is about a node")


def value_program(path: Path, *, is_first: bool = False) -> bytes:
    """Return the program that reports the string value of each node of a path, or of the first."""
    text = f"({path.text})[1]" if is_first else path.text
    query = xpath(text, namespaces=path.namespaces, select={_VALUE: "."})
    return compile_query(query)


def satisfies(where: Formula, value: str) -> bool:
    """Return whether the value of a node satisfies a condition."""
    match where:
        case Constant(value=holds):
            return holds
        case All(parts=parts):
            return all(satisfies(part, value) for part in parts)
        case Any(parts=parts):
            return any(satisfies(part, value) for part in parts)
        case Negation(part=part):
            return not satisfies(part, value)
        case Check():
            return passes(where, value)
        case _:
            raise AssertionError("a condition is about one node")
