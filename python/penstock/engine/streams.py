"""Documents of several streams, each read as the schema of its stream says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from penstock.engine.driver import Driver, Portion
from penstock.errors import SettingError
from penstock.results import Heartbeat
from penstock.schemas import Schema
from penstock.sources import Input


class Streams:
    """Gives each document to the driver of its stream, in the order of their arrival.

    ``drivers`` are those of streams with a schema; that of None reads all other streams.
    """

    def __init__(self, drivers: Mapping[str | None, Driver]) -> None:
        self._drivers = drivers
        self._last: str | None = None

    def run(self, items: Iterable[Input | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide, in portions."""
        for stream, group in groupby(items, self._stream):
            yield from self._drivers[stream].read(group)
        yield from self._drivers[None].end()

    def _stream(self, item: Input | Heartbeat) -> str | None:
        # A heartbeat belongs to whoever reads just then.
        if isinstance(item, Input):
            self._last = item.stream if item.stream in self._drivers else None
        return self._last


def used_schemas(schemas: Mapping[str, Schema] | None) -> dict[str, Schema]:
    """Return the schemas of streams that are not off.

    Raises:
        SettingError: A value is no schema.
    """
    for stream, one in (schemas or {}).items():
        if not isinstance(one, Schema):
            message = (
                f"the schema of the stream {stream!r} is what penstock.schema() returns, "
                f"not {one!r}"
            )
            raise SettingError("PM0011", message)
    return {stream: one for stream, one in (schemas or {}).items() if one.mode != "off"}
