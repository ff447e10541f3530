"""The options of the data sources, checked before anything is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from penstock.errors import SettingError
from penstock.limits import Limits
from penstock.results.columns import Bindings, Fault
from penstock.sources.feeds import FeedPoller
from penstock.sources.feeds.fetching import require_http
from penstock.sources.feeds.states import States
from penstock.sources.intake import Damaged, Documents, Intake
from penstock.sources.paths import RecordPath
from penstock.sources.stores import LOCAL, Stores
from penstock.spark.bounds import checked_limits
from penstock.storage import disk_path

D = TypeVar("D")
T = TypeVar("T")

XML_COLUMNS: dict[str, Any] = {
    **{"id": str, "xml": bytes, "path": str, "member": str, "offset": int, "length": int},
    **{"ancestors": Bindings, "ts": datetime, "fault": Fault},
}
"""The columns of ``penstock-xml``."""
AS_THEY_ARE = Intake()
"""Documents as files hold them: one in each, up to its first error."""
MODES = ("PERMISSIVE", "DROPMALFORMED", "FAILFAST")
XML_OPTIONS = (
    *("path", "paths", "recordPath", "namespaces", "ancestors", "mode", "limits"),
    *("maxPartitionBytes", "maxDocumentBytes", "pathGlobFilter", "recursiveFileLookup"),
    *("maxFilesPerTrigger", "maxBytesPerTrigger", "oneBatchPerRun", "columns"),
    *("documents", "damaged"),
)
FEED_OPTIONS = ("path", "urls", "stateLocation", "pollSeconds", "timeoutSeconds", "maxFeedBytes")
KAFKA_OPTIONS = (
    *("startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp"),
    *("startingOffsetsByTimestampStrategy", "endingOffsets", "endingTimestamp"),
    *("endingOffsetsByTimestamp", "failOnDataLoss", "kafkaConsumer.pollTimeoutMs"),
    *("fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "maxOffsetsPerTrigger"),
    *("minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions", "maxRecordsPerPartition"),
    *("groupIdPrefix", "includeHeaders"),
)
"""The options of Spark's Kafka source; those of the consumer begin with ``kafka.``."""


def require_known(names: Iterable[str], known: Sequence[str]) -> None:
    """Return if all names are those of options, in upper or lower case.

    Raises:
        ValueError: One is unknown; the message says what may be meant.
    """
    by_lower = {name.lower(): name for name in known}
    for name in names:
        is_consumers = known is KAFKA_OPTIONS and name.startswith("kafka.")
        if name.lower() in by_lower or is_consumers:
            continue
        close = get_close_matches(name.lower(), by_lower, 1)
        meant = (
            f"did you mean `{by_lower[close[0]]}`?" if close else f"there are {', '.join(known)}"
        )
        raise ValueError(f"there is no option `{name}`; {meant}")


@dataclass(frozen=True, slots=True)
class XmlOptions:
    """What ``penstock-xml`` was asked for."""

    paths: tuple[str, ...]
    record_path: RecordPath | None
    mode: str
    partition_bytes_max: int
    document_bytes_max: int
    is_recursive: bool
    name_glob: str | None
    files_per_trigger_max: int | None
    bytes_per_trigger_max: int | None
    is_one_batch_per_run: bool
    limits: Limits
    columns: tuple[str, ...]
    intake: Intake = AS_THEY_ARE
    stores: Stores = LOCAL

    @classmethod
    def of(cls, options: Mapping[str, str]) -> XmlOptions:
        """Read Spark's options; names do not tell upper from lower case.

        Raises:
            ValueError: An option is missing or not what it should be.
            QueryError: The record path, or a path of an ancestor, is no query.
        """
        given = _Given(options, XML_OPTIONS)
        paths = given.strings("paths", "a JSON list of paths")
        if not paths:
            raise ValueError("the option `path` is missing: .load(path) or .option('path', …)")
        record_path = None
        if text := given.text("recordPath"):
            around = given.mapping("namespaces"), given.mapping("ancestors")
            record_path = RecordPath(text, *around)
        elif given.text("ancestors") is not None:
            raise ValueError("the option `ancestors` needs `recordPath`")
        mode = (given.text("mode") or MODES[0]).upper()
        if mode not in MODES:
            raise ValueError(f"the option `mode` is {mode!r}; use one of {', '.join(MODES)}")
        return cls(
            paths=paths,
            record_path=record_path,
            mode=mode,
            partition_bytes_max=given.size("maxPartitionBytes", 128 << 20),
            document_bytes_max=given.size("maxDocumentBytes", 256 << 20),
            is_recursive=given.read("recursiveFileLookup", True, _flag, "true or false"),
            name_glob=given.text("pathGlobFilter"),
            files_per_trigger_max=given.read(
                "maxFilesPerTrigger", None, _count, "a positive number"
            ),
            bytes_per_trigger_max=given.size("maxBytesPerTrigger", None),
            is_one_batch_per_run=given.read("oneBatchPerRun", False, _flag, "true or false"),
            limits=checked_limits(Limits(**given.mapping("limits"))),
            columns=chosen_columns(options),
            intake=_intake(given, record_path),
        )


def _intake(given: _Given, record_path: RecordPath | None) -> Intake:
    documents: Documents = given.read("documents", "one", _one_of(Documents), "one or many")
    damaged: Damaged = given.read("damaged", "stop", _one_of(Damaged), "stop, reject or skip")
    if damaged != "stop" and record_path is None:
        raise ValueError(f"the option `damaged` is {damaged!r}, which needs `recordPath`")
    try:
        return Intake(documents, damaged, record_path)
    except SettingError as error:
        raise ValueError(f"the option `damaged`: {error.message}") from None


def chosen_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that ``penstock-xml`` makes, in their order: all unless some are named.

    Raises:
        ValueError: A name is that of no column, or comes twice.
    """
    text = _Given(options, XML_OPTIONS).text("columns")
    if text is None:
        return tuple(XML_COLUMNS)
    names = tuple(name.strip() for name in text.split(","))
    require_columns(names)
    return names


def require_columns(names: Sequence[str]) -> None:
    """Return if all names are those of columns of ``penstock-xml``, each once.

    Raises:
        ValueError: One is not.
    """
    for place, name in enumerate(names):
        if name not in XML_COLUMNS:
            raise ValueError(f"there is no column `{name}`; there are {', '.join(XML_COLUMNS)}")
        if name in names[:place]:
            raise ValueError(f"the column `{name}` is asked for twice")


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """What ``penstock-feeds`` was asked for."""

    urls: tuple[str, ...]
    state_location: str | None
    poll_seconds: float
    timeout_seconds: float
    feed_bytes_max: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> FeedOptions:
        """Read Spark's options.

        Raises:
            ValueError: An option is missing or not what it should be.
        """
        given = _Given(options, FEED_OPTIONS)
        urls = given.strings("urls", "a JSON list of addresses")
        if not urls:
            raise ValueError("the option `urls` is missing: a JSON list of addresses")
        for url in urls:
            require_http(url)
        return cls(
            urls,
            given.read(
                "stateLocation", None, _disk, "a folder on a disk: stores have no atomic renames"
            ),
            given.read("pollSeconds", 300.0, _number, "a number"),
            given.read("timeoutSeconds", 20.0, _number, "a number"),
            int(given.read("maxFeedBytes", 16 << 20, _number, "a number")),
        )

    def poller(self, states: States | None = None) -> FeedPoller:
        """Return what polls the feeds."""
        return FeedPoller(
            self.urls,
            states,
            timeout_seconds=self.timeout_seconds,
            feed_bytes_max=self.feed_bytes_max,
        )


class _Given:
    """Options by name, in upper or lower case.

    Raises:
        ValueError: A name is unknown; each method, if a value is not what it should be.
    """

    def __init__(self, options: Mapping[str, str], known: Sequence[str]) -> None:
        require_known(options, known)
        self._values = {name.lower(): value for name, value in options.items()}

    def text(self, name: str) -> str | None:
        return self._values.get(name.lower())

    def read(self, name: str, default: D, parse: Callable[[str], T], use: str) -> D | T:
        text = self.text(name)
        try:
            return default if text is None else parse(text)
        except (KeyError, ValueError):
            raise ValueError(f"the option `{name}` is {text!r}; use {use}") from None

    def size(self, name: str, default: D) -> int | D:
        return self.read(name, default, _bytes, "bytes, or 64m, or 1g")

    def mapping(self, name: str) -> dict[str, Any]:
        return self._json(name, dict, 'a JSON object, as in {"p": "urn:p"}') or {}

    def strings(self, name: str, what: str) -> tuple[str, ...]:
        """Return the strings of a JSON list, and the path behind them."""
        strings = self._json(name, list, what) or []
        if not all(isinstance(value, str) for value in strings):
            raise ValueError(f"the option `{name}` is not {what}")
        return (*strings, *filter(None, [self.text("path")]))

    def _json(self, name: str, kind: type, what: str) -> Any:
        text = self.text(name)
        try:
            value = None if text is None else json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"the option `{name}` is not {what}: {error}") from None
        if text is not None and not isinstance(value, kind):
            raise ValueError(f"the option `{name}` is not {what}")
        return value


_UNITS = {"": 0, "b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30}


def _bytes(text: str) -> int:
    digits = text.strip().rstrip("bBkKmMgG")
    return _count(digits.strip()) << _UNITS[text.strip()[len(digits) :].lower()]


def _one_of(kind: Any) -> Callable[[str], Any]:
    """Return what reads a value of a ``Literal``."""

    def read(text: str) -> str:
        if text.lower() not in get_args(kind):
            raise ValueError
        return text.lower()

    return read


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise ValueError
    return int(text)


def _disk(text: str) -> str:
    path = disk_path(text)
    if path is None:
        raise ValueError
    return str(path)


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _number(text: str) -> float:
    value = float(text)
    if not value >= 0:
        raise ValueError
    return value
