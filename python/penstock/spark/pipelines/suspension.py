"""Who is suspended in which micro-batch of a pipeline's stream.

The driver decides when a micro-batch has been counted, and keeps the decision for the next one in
a file before Spark commits the batch. So a micro-batch that comes again finds what it found
before, whoever was slow or died in between; ``docs/notes/limits.md`` has the reasons.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from penstock.errors import RegistryError, StateError
from penstock.registry import AnyRegistry
from penstock.registry.durable import DurableRegistry
from penstock.registry.subscriptions import Subscription
from penstock.results.columns import Fault
from penstock.sinks.folders import Folders
from penstock.spark.checkpoints import LOGS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SUSPENDED_CODE = "PL0018"
NAMES_MAX = 1_000
"""So many subscriptions at most are looked at after a micro-batch: those that failed most often."""
LOOKED_UP_MAX = 10_000
"""Of more subscriptions, looking at all is quicker than at one after the other."""
STANDINGS_KEPT = 10
"""Files of a stream that are kept; Spark repeats the last micro-batch at most."""


@dataclass(frozen=True, slots=True)
class Failing:
    """How often a subscription failed alone in a micro-batch, and what happened first, by id."""

    documents: int
    document: str
    stream: str
    fault: Fault


@dataclass(frozen=True, slots=True)
class Strike:
    """At how many documents a subscription has failed, in micro-batches in a row."""

    identity: str
    documents: int


@dataclass(frozen=True, slots=True)
class Suspended:
    """A subscription that gets nothing; an error row of the micro-batch ``since`` says so."""

    identity: str
    since: int
    stream: str
    fault: Fault


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds from a micro-batch on, by the names of subscriptions."""

    strikes: Mapping[str, Strike] = field(default_factory=dict)
    suspended: Mapping[str, Suspended] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """Everybody in it."""
        return {*self.strikes, *self.suspended}

    def known(self, identities: Mapping[str, str]) -> Standing:
        """Return it without those who were replaced or removed."""
        strikes = {
            name: one for name, one in self.strikes.items() if identities.get(name) == one.identity
        }
        suspended = {
            name: one
            for name, one in self.suspended.items()
            if identities.get(name) == one.identity
        }
        return Standing(strikes, suspended)

    def after(
        self,
        batch: int,
        failing: Mapping[str, Failing],
        identities: Mapping[str, str],
        documents_max: int,
    ) -> Standing:
        """Return what holds after a micro-batch with documents.

        A subscription is suspended that failed alone at ``documents_max`` documents or more, in
        micro-batches in a row, in each of which it failed.
        """
        known = self.known(identities)
        strikes: dict[str, Strike] = {}
        suspended = dict(known.suspended)
        for name, found in failing.items():
            if name not in identities or name in suspended:
                continue
            before = known.strikes.get(name)
            documents = found.documents + (0 if before is None else before.documents)
            if documents < documents_max:
                strikes[name] = Strike(identities[name], documents)
            else:
                fault = _fault(name, documents, found)
                suspended[name] = Suspended(identities[name], batch + 1, found.stream, fault)
        return Standing(strikes, suspended)


class Standings:
    """The standings of one stream, in files beside its checkpoint."""

    def __init__(self, folders: Folders, checkpoint: str, stream: str) -> None:
        self._folders = folders
        self._checkpoint = checkpoint
        self._folder = f"{checkpoint}-suspensions/{stream}"
        batches = sorted(int(name) for name in folders.names(self._folder) if name.isdigit())
        self._standings = {batch: self._read(batch) for batch in batches[-STANDINGS_KEPT:]}

    def at(self, batch: int) -> Standing:
        """Return what holds in a micro-batch."""
        return self._standings.get(max(self._before(batch), default=-1), Standing())

    def settle(self, batch: int, standing: Standing) -> None:
        """Keep what holds after a micro-batch, unless that was decided before."""
        if batch + 1 not in self._standings and standing != self.at(batch):
            self._write(batch + 1, standing)

    def resume(self, names: Iterable[str]) -> None:
        """Let subscriptions go on, in the next micro-batch that has not begun.

        Raises:
            RegistryError: One of them is not suspended.
        """
        begun = self._folders.names(f"{self._checkpoint}/{LOGS[0]}")
        first = max((int(name) + 1 for name in begun if name.isdigit()), default=0)
        batch = max([first, *self._standings])
        standing = self.at(batch)
        suspended = dict(standing.suspended)
        for name in names:
            if suspended.pop(name, None) is None:
                raise not_suspended(name)
        # If the micro-batch before comes again, it adds no strikes to what is written here.
        self._write(batch, Standing(standing.strikes, suspended))

    def _before(self, batch: int) -> list[int]:
        return [one for one in self._standings if one <= batch]

    def _write(self, batch: int, standing: Standing) -> None:
        body = json.dumps(asdict(standing), separators=(",", ":")).encode()
        checksum = zlib.crc32(body)
        self._folders.write(self._file(batch), body + f"\n{checksum}\n".encode())
        self._standings[batch] = standing
        for old in sorted(self._standings)[:-STANDINGS_KEPT]:
            self._folders.remove(self._file(old))
            del self._standings[old]

    def _read(self, batch: int) -> Standing:
        data = self._folders.read(self._file(batch)) or b""
        try:
            body, checksum = data.rstrip(b"\n").rsplit(b"\n", 1)
            if zlib.crc32(body) == int(checksum):
                return _standing(json.loads(body))
        except (ValueError, TypeError, KeyError, AttributeError):
            pass
        message = (
            f"{self._file(batch)} is damaged, or was written by a later version of Penstock; "
            "remove it, and it suspends no subscription"
        )
        raise StateError("PL0020", message)

    def _file(self, batch: int) -> str:
        return f"{self._folder}/{batch}"


def not_suspended(name: str) -> RegistryError:
    """Return the error for a subscription that is not suspended."""
    message = f"the subscription `{name}` is not suspended in this pipeline"
    return RegistryError("PR0012", message)


def _standing(entry: Mapping[str, Any]) -> Standing:
    suspended = {
        name: Suspended(**one | {"fault": Fault(**one["fault"])})
        for name, one in entry["suspended"].items()
    }
    return Standing({name: Strike(**one) for name, one in entry["strikes"].items()}, suspended)


def _fault(name: str, documents: int, found: Failing) -> Fault:
    where = f"at {documents:,} documents, `{found.document}` among them"
    reason = (
        f"the subscription is suspended, since it failed {where}: {found.fault.reason}; "
        f"replacing it lets it go on, and so does `penstock run --resume {name}`"
    )
    fault = found.fault
    return Fault(SUSPENDED_CODE, reason, fault.byte, fault.line, fault.path)


def identities_of(
    registry: AnyRegistry, names: set[str], stream: str, batch: int
) -> dict[str, str]:
    """Return what tells subscriptions from others of their names, in the micro-batch's version."""
    if not names:
        return {}
    return {one.name: _identity(one) for one in pinned(registry, names, stream, batch)}


def pinned(registry: AnyRegistry, names: set[str], stream: str, batch: int) -> list[Subscription]:
    """Return the subscriptions with these names in the version of a micro-batch."""
    found = current(registry, names)
    if isinstance(registry, DurableRegistry):
        version = registry.pin(stream, batch)
        if registry.version != version:
            return [one for one in registry.at(version) if one.name in names]
    return found


def current(registry: AnyRegistry, names: set[str]) -> list[Subscription]:
    """Return the subscriptions with these names."""
    if len(names) > LOOKED_UP_MAX:
        return [one for one in registry if one.name in names]
    found = [registry.get(name) for name in names]
    return [one for one in found if one is not None]


def _identity(one: Subscription) -> str:
    told = json.dumps([one.mode, one.owner, one.delivery], sort_keys=True, default=str)
    return blake2b(told.encode() + one.program, digest_size=16).hexdigest()


def failing_of(rows: DataFrame) -> dict[str, Failing]:
    """Return the subscriptions that failed alone in a batch of rows, the most frequent ones."""
    from pyspark.sql import functions as f

    failed = rows.where(
        f"kind = 'error' AND subscription IS NOT NULL AND error.code <> '{SUSPENDED_CODE}'"
    )
    # A subscription fails once at most at a document.
    counted = failed.groupBy("subscription").agg(
        f.count("*").alias("documents"), f.min(f.struct("document", "stream", "error")).alias("one")
    )
    ordered = counted.orderBy(f.desc("documents"), "subscription").limit(NAMES_MAX)
    return {
        row.subscription: Failing(
            row.documents,
            row.one.document or "",
            row.one.stream or "",
            Fault(**row.one.error.asDict()),
        )
        for row in ordered.collect()
    }


def told_rows(rows: DataFrame, standing: Standing, batch: int) -> DataFrame:
    """Return the rows of a micro-batch, and those that say who is suspended from it on.

    Such a row has no document: its id would be that of the row that says what happened there.
    """
    new = [(name, one) for name, one in standing.suspended.items() if one.since == batch]
    if not new:
        return rows
    entries = [_row(rows.columns, name, one) for name, one in sorted(new, key=lambda one: one[0])]
    return rows.unionByName(rows.sparkSession.createDataFrame(entries, rows.schema))


def _row(columns: Sequence[str], name: str, suspended: Suspended) -> tuple[Any, ...]:
    values = {
        "subscription": name,
        "stream": suspended.stream,
        "ordinal": 0,
        "kind": "error",
        "name": "",
        "decided_at": suspended.fault.byte,
        "error": tuple(suspended.fault.as_dict().values()),
    }
    return tuple(values.get(column) for column in columns)
