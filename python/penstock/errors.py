"""Everything that can go wrong, as exceptions with fields.

A code is stable: it names one kind of mistake for good, whatever the sentence beside it says.
All of them pickle, so they cross process boundaries whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

QUERY_CODES = {
    # The text is not a query.
    "PQ0101": "a character that no query contains",
    "PQ0102": "a literal without its closing quote",
    "PQ0103": "a token that cannot stand here",
    "PQ0104": "the query ends too early",
    "PQ0105": "the query is nested too deeply",
    "PQ0106": "the query is too long",
    "PQ0107": "an unknown axis",
    # The text is a query, but it does not fit its surroundings.
    "PQ0111": "an undeclared prefix",
    "PQ0112": "an unknown function",
    "PQ0113": "a wrong number of arguments",
    "PQ0114": "a value where nodes are needed",
    "PQ0115": "a variable without a value",
    "PQ0116": "a variable whose value is not a string, number or boolean",
    "PQ0117": "an unknown dialect",
    "PQ0118": "a namespace binding that is not one",
    "PQ0119": "a record path that selects something else than elements",
    "PQ0120": "values beside a result that is no node",
    "PQ0121": "a select that is no map of names to expressions",
    # A construct that is not evaluated.
    "PQ0208": "avg(), min() or max() inside a larger expression",
    "PQ0301": "a normal form that the kernel does not run",
    # XSCL: the blocks, variables and operators do not fit together.
    "PQ0401": "a block without its stream",
    "PQ0402": "a variable that is bound twice",
    "PQ0403": "a variable that no block before binds",
    "PQ0404": "a variable bound where there may be no node for it",
    "PQ0405": "a predicate without an equality between its sides",
    "PQ0406": "a window that is none",
    "PQ0407": "a constructor that is not well-formed",
    "PQ0408": "a variable of a block that is absent",
    "PQ0409": "an operand that is neither a variable, a path from one, nor a constant",
    "PQ0411": "a path in SELECT",
    "PQ0412": "or between terms",
    "PQ0413": "a path on the left of NOT FOLLOWED BY",
    "PQ0414": "a block that is no forward twig",
    "PQ0415": "a block whose normal form would be too large",
    # XQuery: a construct that is not supported, or that a static rule forbids.
    "PQ0501": "a construct outside the supported part of XQuery",
    "PQ0502": "a direct constructor that is not well-formed",
    "PQ0503": "a reference that stands for no character",
    "PQ0504": "an unknown type",
    "PQ0505": "something that is declared twice",
    "PQ0506": "a name in a namespace that it may not have",
    "PQ0507": "a variable whose value depends on itself",
    "PQ0508": "the context item where there is none",
    "PQ0509": "a prefix of several namespaces where one is needed",
    "PQ0510": "a number outside the range of its type",
    "PQ0511": "a stream whose name is known only at evaluation",
    "PQ0512": "a setting of the query with an unknown value",
    "PQ0531": "a standing query that reads a document of a variable",
    "PQ0532": "a standing query that reads several streams, not each by a loop of its own",
    "PQ0533": "a query that reads a document where there is none",
    "PQ0534": "a query that joins too many streams",
    "PQ0535": "a query over several streams without an equality between them",
    "PQ0536": "an order of what several streams give",
    "PQ0537": "a loop over a stream whose items cannot be joined",
    "PQ0538": "a message that needs more than what is joined",
    "PQ0539": "loops that join all documents of one stream, without a bound",
    # Views and the queries of servers.
    "PQ0601": "a view that is no path to nodes",
    "PQ0602": "a constant that is no date, or no regular expression",
    "PQ0603": "a view that is listed twice",
    "PQ0604": "a condition that is none",
    # Tables.
    "PQ0701": "columns that are none",
    "PQ0702": "an unknown type of a column",
    "PQ0703": "an expression that columns cannot have",
    "PQ0704": "an unknown value of on_error",
    "PQ0705": "a text that is no table",
}
"""The codes of ``QueryError`` and what each names."""


class PenstockError(Exception):
    """The base of all errors that Penstock raises on purpose; each has a stable ``code``."""

    code: str


class PenstockWarning(UserWarning):
    """A query gave nothing, and the likely reason."""


class QueryError(PenstockError):
    """The text is not a query, or not one that is evaluated.

    ``span`` is the half-open range of characters in ``text`` that is at fault; ``help`` is one
    way out. ``str()`` shows the line with the span underlined. ``xquery_code`` is the code that
    XQuery has for the mistake, such as XPST0003; None for other languages.
    """

    def __init__(
        self,
        code: str,
        message: str,
        span: tuple[int, int],
        help: str = "",  # noqa: A002  # the word that users read
        text: str = "",
        xquery_code: str | None = None,
    ) -> None:
        super().__init__(code, message, span, help, text, xquery_code)
        self.code = code
        self.message = message
        self.span = span
        self.help = help
        self.text = text
        self.xquery_code = xquery_code

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        if self.text:
            lines += underline(self.text, self.span)
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class DocumentError(PenstockError):
    """A document is not well-formed, or could not be read.

    ``byte`` and ``line`` say where, ``path`` which elements were open. ``results`` are those
    that were decided before. ``subscription`` is the name of the one that failed, if all others
    got what the document has for them.
    """

    subscription: str | None = None
    ordinal: int = 0
    """That of its row: below 0 for a subscription, whose results have 0 and more."""

    def __init__(
        self,
        code: str,
        reason: str,
        byte: int,
        line: int,
        path: str,
        results: Sequence[Any] = (),
    ) -> None:
        super().__init__(code, reason, byte, line, path, results)
        self.code = code
        self.reason = reason
        self.byte = byte
        self.line = line
        self.path = path
        self.results = results

    def of_subscription(self, name: str, ordinal: int = -1) -> Self:
        """Return the error as that of one subscription."""
        self.subscription = name
        self.ordinal = ordinal
        return self

    def blaming(self, name: str) -> Self:
        """Return the error with the name of the subscription that most of the work was done for."""
        self.reason = f"{self.reason}, most of it for the subscription `{name}`"
        self.args = (self.args[0], self.reason, *self.args[2:])
        return self

    def after_bindings(self, count: int) -> Self:
        """Return the error with how many bindings of the document were joined before it."""
        self.reason = f"{self.reason}, after {count} bindings that were joined"
        self.args = (self.args[0], self.reason, *self.args[2:])
        return self

    def with_results(self, results: Sequence[Any]) -> Self:
        """Return the error with what was decided before it; pickling keeps both."""
        self.results = results
        self.args = (*self.args[:5], results, *self.args[6:])
        return self

    def __str__(self) -> str:
        if not self.line:  # it was never read
            return f"{self.code}: {self.reason}"
        place = f"at byte {self.byte}, line {self.line}"
        return f"{self.code}: {self.reason} {place} ({self.path or '/'})"


class LimitError(DocumentError):
    """A document passed a limit; ``limit`` is the name of the field in ``Limits``."""

    def __init__(
        self,
        code: str,
        reason: str,
        byte: int,
        line: int,
        path: str,
        results: Sequence[Any] = (),
        limit: str = "",
    ) -> None:
        super().__init__(code, reason, byte, line, path, results)
        self.args = (code, reason, byte, line, path, results, limit)
        self.limit = limit


class EvaluationError(DocumentError):
    """A query has no value for a document; ``xquery_code`` is the code of XQuery, as FORG0001."""

    def __init__(
        self,
        code: str,
        reason: str,
        byte: int,
        line: int,
        path: str,
        results: Sequence[Any] = (),
        xquery_code: str = "",
    ) -> None:
        super().__init__(code, reason, byte, line, path, results)
        self.args = (code, reason, byte, line, path, results, xquery_code)
        self.xquery_code = xquery_code


class CancelledError(PenstockError):
    """Work ended because somebody asked for it, as ``Engine.cancel`` does."""

    code = "PL0017"


class _MessageError(PenstockError):
    """An error that has nothing but a message beside its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class SettingError(_MessageError, ValueError):
    """A setting has no place where it was given."""


GONE = "PG0001"
"""The code of a name or a setting of an earlier version."""


def refuse_gone(given: Iterable[str], gone: Mapping[str, str]) -> None:
    """Refuse settings of earlier versions; ``gone`` says for each what takes its place.

    Raises:
        SettingError: One of them is given.
    """
    for name in given:
        if name in gone:
            raise SettingError(GONE, f"{name} is no longer a setting: {gone[name]}")


class RegistryError(_MessageError):
    """A change to a registry was refused: a duplicate name, an unknown one."""


class UnknownNameError(RegistryError, KeyError):
    """There is no subscription of this name."""


class DamageError(RegistryError):
    """Files of a registry are damaged, missing or of another past; ``repair`` is the way out."""


class SchemaError(PenstockError):
    """A schema could not be read, or is none.

    ``path`` and ``line`` say where; the line is 0 where there is none. ``help`` is one way out.
    """

    def __init__(
        self,
        code: str,
        message: str,
        path: str = "",
        line: int = 0,
        help: str = "",  # noqa: A002  # the word that users read
    ) -> None:
        super().__init__(code, message, path, line, help)
        self.code = code
        self.message = message
        self.path = path
        self.line = line
        self.help = help

    def __str__(self) -> str:
        place = f" ({self.path}{f', line {self.line}' if self.line else ''})" if self.path else ""
        way_out = f"\nhelp: {self.help}" if self.help else ""
        return f"{self.code}: {self.message}{place}{way_out}"


class StateError(_MessageError):
    """The state of a stream is missing or damaged, or was made by something else."""


class SinkError(_MessageError):
    """Results could not be delivered."""


class DeploymentError(_MessageError, RuntimeError):
    """Spark, or one of its workers, lacks what is needed to run this."""


class MissingExtraError(_MessageError, ImportError):
    """A library is missing that an extra of the package brings."""


def underline(text: str, span: tuple[int, int]) -> list[str]:
    """Return the line of ``text`` where ``span`` begins and a line that underlines it.

    A span over several lines is underlined to the end of its first line; an empty one, as at the
    end of a query, gets one mark.
    """
    start, end = span
    number = text.count("\n", 0, start) + 1
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    width = max(1, min(end, line_end) - start)
    # A tab keeps its width only if the line below has one at the same place.
    indent = "".join("\t" if c == "\t" else " " for c in text[line_start:start])
    gutter = f"  {number} | "
    margin = " " * (len(gutter) - 2) + "| "
    return [f"{gutter}{text[line_start:line_end]}".rstrip(), f"{margin}{indent}{'^' * width}"]
