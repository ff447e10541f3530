"""Subscriptions, and snapshots of all of them at one version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import RegistryError, SettingError, UnknownNameError
from penstock.kernel import Plan
from penstock.planning.modes import Mode, query_in_mode
from penstock.planning.program import Request, request_of
from penstock.planning.programs import LANGUAGES, compile_program
from penstock.twigs import Query

Delivery = Mapping[str, Any] | str
"""Where results go: a name, or settings that JSON can hold."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing query with a name, an owner and a delivery; ``program`` is its compiled form.

    ``question`` is a query, or a text in a ``language`` with the ``options`` to parse it. It is
    not compared: subscriptions with equal programs ask the same.
    """

    name: str
    question: Query | str = field(compare=False)
    mode: Mode = "query"
    owner: str | None = None
    delivery: Delivery | None = None
    program: bytes = field(default=b"", repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    language: str = field(default="xpath", repr=False, compare=False)

    @property
    def query(self) -> Query:
        """The question as a query; a text is parsed again."""
        question = self.question
        if isinstance(question, str):
            question = LANGUAGES[self.language](question, **self.options)
        return query_in_mode(question, self.mode)

    @property
    def text(self) -> str:
        """The question as a text; empty if it has none."""
        return self.question if isinstance(self.question, str) else self.question.text


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions of one version: names by the kernel's numbers, and the plan."""

    version: int
    names: Sequence[str]
    plan: Plan


def query_of(
    query: Query | str, language: str | None = None, options: Mapping[str, Any] | None = None
) -> Query | str:
    """Return a query, or a text that is XPath without options; options that are None say nothing.

    Raises:
        QueryError: The text is not a query.
        SettingError: There is no such language, or a query that is none has options.
        TypeError: It is neither a query nor a text.
    """
    given = {name: value for name, value in (options or {}).items() if value is not None}
    if isinstance(query, Query):
        if given or language is not None:
            names = ", ".join([*(["language"] if language else []), *given])
            message = f"a query that is made already takes no {names}; give them to xpath()"
            raise SettingError("PR0013", message)
        return query
    if not isinstance(query, str):
        message = f"a query is XPath text, or what xpath() or xscl() returns, not {query!r}"
        raise TypeError(message)
    language = language or "xpath"
    if language not in LANGUAGES:
        raise SettingError("PR0013", f"there is no language {language!r}; use {_LANGUAGE_NAMES}")
    is_plain = language == "xpath" and not given
    return query if is_plain else LANGUAGES[language](query, **given)


_LANGUAGE_NAMES = " or ".join(sorted(LANGUAGES))


def compile_subscription(
    name: object,
    query: Query | str,
    mode: Mode = "query",
    owner: str | None = None,
    delivery: Delivery | None = None,
) -> Subscription:
    """Return a subscription with its program; a ``str`` is taken as XPath without namespaces.

    Raises:
        QueryError: The query is invalid or not supported.
        RegistryError: The name is empty; the mode is unknown, or not one for this query.
    """
    if not isinstance(name, str) or not name:
        raise RegistryError("PR0003", f"a subscription needs a name that is text, not {name!r}")
    program = compile_program(query, mode)
    if isinstance(query, Query) and query.text and request_of(program) is Request.RECORDS:
        # Its text takes much less memory.
        kept = (query.text, mode, owner or None, delivery, program, query.options, query.language)
        return Subscription(name, *kept)
    return Subscription(name, query, mode, owner or None, delivery, program)


def name_is_taken(name: str) -> RegistryError:
    """Return the error for a name that is taken."""
    message = f"there is a subscription `{name}` already; replace() changes it"
    return RegistryError("PR0001", message)


def name_is_unknown(name: str) -> RegistryError:
    """Return the error for a name that no subscription has."""
    return UnknownNameError("PR0002", f"there is no subscription `{name}`")
