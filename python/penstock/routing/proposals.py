"""A new configuration from what servers report: how many documents each one saw and parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.routing.configuration import Configuration
from penstock.routing.queries import Query
from penstock.routing.selection import Workload, select
from penstock.routing.selection.workload import DOCUMENT_BYTES
from penstock.routing.server import Router, Server
from penstock.routing.statistics import Statistics


@dataclass(frozen=True)
class Proposal:
    """A configuration, the share of hits that it promises, and the share that was seen."""

    configuration: Configuration
    expected: float
    observed: float


def propose(
    statistics: Statistics,
    servers: Router | Mapping[str, Server | Iterable[Query]],
    *,
    size: int | None = None,
    header_bytes: float | None = None,
    byte_cost: float = 0.0,
    nested: bool = False,
) -> Proposal:
    """Return the configuration that would suit the documents that servers saw.

    A server counts for as many documents as it saw. Producers may change to the new configuration
    at any time: a header names its own, and servers that know both use both.

    Raises:
        SettingError: ``size`` and ``header_bytes`` are both given.
    """
    named = servers.servers if isinstance(servers, Router) else servers
    queries = {
        name: server.queries if isinstance(server, Server) else tuple(server)
        for name, server in named.items()
    }
    seen = {name: counts.documents for name, counts in statistics.servers.items()}
    workload = Workload(
        queries,
        weights={name: float(seen.get(name, 0)) for name in queries} if any(seen.values()) else {},
        shares=statistics.shares,
        document_bytes=statistics.document_bytes or DOCUMENT_BYTES,
        nested=nested,
    )
    chosen = select(workload, size=size, header_bytes=header_bytes, byte_cost=byte_cost)
    documents = sum(seen.values())
    hits = sum(counts.hits for counts in statistics.servers.values())
    observed = hits / documents if documents else 0.0
    return Proposal(chosen.configuration, chosen.hit_rate, observed)
