"""Servers decide about documents: from the header where it suffices, by parsing otherwise."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.limits import Limits
from penstock.routing.configuration import KNOWN, Configuration
from penstock.routing.costs import Selectivities
from penstock.routing.covering import UNKNOWN
from penstock.routing.evaluation import Evaluator
from penstock.routing.following import CurrentQueries
from penstock.routing.queries import Queries, Query
from penstock.routing.statistics import Counts, Shares, Statistics
from penstock.routing.tables import Table

if TYPE_CHECKING:
    from typing_extensions import Buffer

Verify = Literal["ranges", "full"]
"""How a header is checked: the bytes it points at, or the whole document."""

_CONFIGURATION = slice(3, 11)  # in a header
_TRUE = 1

Owner = tuple[str, str]
"""A server and the name of one of its queries."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a server does with a document.

    ``matches`` names the queries that hold. ``bytes_touched`` counts the bytes of the document
    that were looked at: on a miss all of them. ``reason`` says why a miss is one: ``uncovered``,
    or why the header was refused. ``header`` is a better one for the servers after this one, if
    the server was told to make one.
    """

    matches: tuple[str, ...]
    is_hit: bool
    bytes_touched: int
    reason: str | None = None
    header: bytes | None = None


@dataclass(frozen=True, slots=True)
class Routed:
    """What several servers do with a document: who matches, and who had to have it parsed."""

    matches: tuple[tuple[str, str], ...]
    """Server and query, in their order."""
    misses: frozenset[str]
    bytes_touched: int
    reason: str | None = None
    header: bytes | None = None


class Server:
    """The queries of one place in the network.

    ``queries`` are named texts or conditions, texts alone, or a registry of filters, whose changes
    count from the next document on.
    ``configurations`` are those whose headers are used; if none are given, all that were made
    in this process. ``verify="full"`` compares the whole document with the checksum in its
    header. With ``restamp`` a miss computes a header of that configuration in the same pass.

    Raises:
        QueryError: A query is none.
        RegistryError: A subscription of a registry is no filter.
    """

    def __init__(
        self,
        queries: Queries,
        configurations: Iterable[Configuration] | None = None,
        *,
        namespaces: NamespaceMap | None = None,
        verify: Verify = "ranges",
        restamp: Configuration | None = None,
        selectivities: Selectivities | None = None,
        shares: Shares | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._queries = CurrentQueries(queries, namespaces)
        self._router = Router(
            {"": self},
            configurations,
            verify=verify,
            restamp=restamp,
            selectivities=selectivities,
            shares=shares,
            limits=limits,
        )

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries; those of a registry as it is now."""
        return self._queries.get()

    def decide(
        self, header: bytes | None, document: Buffer, encoding: str | None = None
    ) -> Decision:
        """Return which queries hold for a document, from its header if that suffices.

        A header that is missing, damaged, of another configuration or of another document is a
        miss. So is a document that is not in UTF-8.

        Raises:
            DocumentError: It is a miss, and the document is not well-formed.
            LimitError: It is a miss, and the document passed a limit.
            RegistryError: A subscription that was added is no filter.
        """
        routed = self._router.route(header, document, encoding)
        matches = tuple(query for _, query in routed.matches)
        is_hit = not routed.misses
        return Decision(matches, is_hit, routed.bytes_touched, routed.reason, routed.header)

    @property
    def counts(self) -> Counts:
        """How many documents were decided about, and how many were parsed."""
        return self._router.statistics().servers[""]


class Router:
    """Several servers in one place: header and document are read once for all of them.

    Servers that miss are answered together, by one pass over the document. Options are those
    of ``Server``.
    """

    def __init__(
        self,
        servers: Mapping[str, Server | Queries],
        configurations: Iterable[Configuration] | None = None,
        *,
        namespaces: NamespaceMap | None = None,
        verify: Verify = "ranges",
        restamp: Configuration | None = None,
        selectivities: Selectivities | None = None,
        shares: Shares | None = None,
        limits: Limits | None = None,
    ) -> None:
        if verify not in ("ranges", "full"):
            raise ValueError(f"verify is 'ranges' or 'full', not {verify!r}")
        self._queries = {
            name: server._queries
            if isinstance(server, Server)
            else CurrentQueries(server, namespaces)
            for name, server in servers.items()
        }
        self._is_full = verify == "full"
        given = None if configurations is None else {one.id: one for one in configurations}
        self._configurations = KNOWN if given is None else given
        self._restamp = restamp
        self._selectivities = selectivities or {}
        self._shares = shares or {}
        self._limits = limits
        self._prepared = _Prepared(self._queries, self._current())
        self._is_changing = any(queries.is_changing for queries in self._queries.values())
        self._documents = 0
        self._misses = dict.fromkeys(self._queries, 0)

    @property
    def servers(self) -> dict[str, tuple[Query, ...]]:
        """The queries of each server; those of a registry as it is now."""
        return dict(zip(self._queries, self._prepare().queries, strict=True))

    def route(self, header: bytes | None, document: Buffer, encoding: str | None = None) -> Routed:
        """Return what all servers do with a document.

        Raises:
            DocumentError: A server misses, and the document is not well-formed.
            LimitError: A server misses, and the document passed a limit.
            RegistryError: A subscription that was added is no filter.
        """
        prepared = self._prepare()
        owners = prepared.owners
        self._documents += 1
        refusal, truths, touched = self._decide(prepared, header, document, encoding)
        if refusal is None and UNKNOWN not in truths:
            return Routed(_named(owners, truths), frozenset(), touched)
        reason = refusal or "uncovered"
        if refusal is None:
            misses = frozenset(owners[place][0] for place in _places(truths, UNKNOWN))
        else:
            misses = frozenset(self._queries)
        for name in misses:
            self._misses[name] += 1
        answers, better = self._parse(prepared, document, encoding)
        merged = bytes(answers) if refusal is not None else _merged(owners, truths, answers, misses)
        length = len(document)  # type: ignore[arg-type]  # every buffer of bytes has a length
        return Routed(_named(owners, merged), misses, length, reason, better)

    def decide(
        self, header: bytes | None, document: Buffer, encoding: str | None = None
    ) -> dict[str, Decision]:
        """Return what each server does with a document.

        Raises:
            DocumentError: As ``route`` does.
        """
        routed = self.route(header, document, encoding)
        found: dict[str, list[str]] = {name: [] for name in self._queries}
        for server, query in routed.matches:
            found[server].append(query)
        return {
            name: Decision(
                tuple(matches),
                name not in routed.misses,
                routed.bytes_touched,
                routed.reason if name in routed.misses else None,
                routed.header,
            )
            for name, matches in found.items()
        }

    def statistics(self) -> Statistics:
        """Return how often each server hit and missed so far."""
        counts = {name: Counts(self._documents, misses) for name, misses in self._misses.items()}
        return Statistics(servers=counts, shares=dict(self._shares))

    def table(self, configuration: Configuration) -> Table:
        """Return the queries prepared for headers of a configuration."""
        return self._table(self._prepare(), configuration)

    def _current(self) -> tuple[tuple[Query, ...], ...]:
        return tuple(queries.get() for queries in self._queries.values())

    def _prepare(self) -> _Prepared:
        """Return what was prepared for the queries as they are now."""
        prepared = self._prepared
        if not self._is_changing:
            return prepared
        current = self._current()
        if any(map(operator.is_not, prepared.queries, current)):
            self._prepared = prepared = _Prepared(self._queries, current)
        return prepared

    def _table(self, prepared: _Prepared, configuration: Configuration) -> Table:
        table = prepared.tables.get(configuration.id)
        if table is None:
            queries = prepared.queries
            table = Table(configuration, queries, self._selectivities, self._shares, self._limits)
            prepared.tables[configuration.id] = table
        return table

    def _decide(
        self, prepared: _Prepared, header: bytes | None, document: Buffer, encoding: str | None
    ) -> tuple[str | None, bytes, int]:
        if not header:
            return "missing", b"", 0
        if encoding is not None and encoding.lower() != "utf-8":
            return "encoding", b"", 0
        configuration = self._configurations.get(header[_CONFIGURATION])
        if configuration is None:
            return "configuration", b"", 0
        table = self._table(prepared, configuration)
        return table.decide(header, document, is_full=self._is_full)

    def _parse(
        self, prepared: _Prepared, document: Buffer, encoding: str | None
    ) -> tuple[list[bool], bytes | None]:
        if prepared.evaluator is None:
            queries = [query for server in prepared.queries for query in server]
            prepared.evaluator = Evaluator(queries, self._restamp, self._limits)
        return prepared.evaluator.answer(document, encoding)


class _Prepared:
    """Queries of all servers, and what was made of them for headers and for parsing."""

    def __init__(self, servers: Iterable[str], queries: tuple[tuple[Query, ...], ...]) -> None:
        self.queries = queries
        pairs = zip(servers, queries, strict=True)
        self.owners = [(name, query.name) for name, owned in pairs for query in owned]
        self.tables: dict[bytes, Table] = {}
        self.evaluator: Evaluator | None = None


def _merged(
    owners: Sequence[Owner], truths: bytes, answers: list[bool], misses: frozenset[str]
) -> bytes:
    pairs = zip(owners, truths, answers, strict=True)
    return bytes(int(answer) if server in misses else truth for (server, _), truth, answer in pairs)


def _named(owners: Sequence[Owner], truths: bytes) -> tuple[Owner, ...]:
    return tuple(owners[place] for place in _places(truths, _TRUE))


def _places(truths: bytes, truth: int) -> Iterator[int]:
    """Yield where a truth stands."""
    place = truths.find(truth)
    while place >= 0:
        yield place
        place = truths.find(truth, place + 1)
