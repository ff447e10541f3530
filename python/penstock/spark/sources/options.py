"""The options of the data sources, checked before anything is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from penstock.limits import Limits
from penstock.sources.feeds import FeedPoller
from penstock.sources.feeds.fetching import require_http
from penstock.sources.feeds.states import States
from penstock.sources.paths import RecordPath

MODES = ("PERMISSIVE", "DROPMALFORMED", "FAILFAST")
XML_OPTIONS = (
    *("path", "paths", "recordPath", "namespaces", "ancestors", "mode", "limits"),
    *("maxPartitionBytes", "maxDocumentBytes", "pathGlobFilter", "recursiveFileLookup"),
    *("maxFilesPerTrigger", "maxBytesPerTrigger"),
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
    limits: Limits

    @classmethod
    def of(cls, options: Mapping[str, str]) -> XmlOptions:
        """Read Spark's options; names do not tell upper from lower case.

        Raises:
            ValueError: An option is missing or not what it should be.
            QueryError: The record path, or a path of an ancestor, is no query.
        """
        require_known(options, XML_OPTIONS)
        given = {name.lower(): value for name, value in options.items()}
        paths = _strings(given, "paths") if "paths" in given else ()
        if given.get("path"):
            paths = (*paths, given["path"])
        if not paths:
            raise ValueError("the option `path` is missing: .load(path) or .option('path', …)")
        record_path = None
        if given.get("recordpath"):
            namespaces = _mapping(given, "namespaces")
            ancestors = _mapping(given, "ancestors")
            record_path = RecordPath(given["recordpath"], namespaces, ancestors)
        elif "ancestors" in given:
            raise ValueError("the option `ancestors` needs `recordPath`")
        mode = given.get("mode", MODES[0]).upper()
        if mode not in MODES:
            raise ValueError(f"the option `mode` is {mode!r}; use one of {', '.join(MODES)}")
        return cls(
            paths=paths,
            record_path=record_path,
            mode=mode,
            partition_bytes_max=_bytes(given, "maxPartitionBytes", 128 << 20),
            document_bytes_max=_bytes(given, "maxDocumentBytes", 256 << 20),
            is_recursive=_flag(given, "recursiveFileLookup", True),
            name_glob=given.get("pathglobfilter"),
            files_per_trigger_max=_count(given, "maxFilesPerTrigger"),
            bytes_per_trigger_max=(
                _bytes(given, "maxBytesPerTrigger", 0) if "maxbytespertrigger" in given else None
            ),
            limits=Limits(**_mapping(given, "limits")),
        )


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
        require_known(options, FEED_OPTIONS)
        given = {name.lower(): value for name, value in options.items()}
        try:
            urls = json.loads(given.get("urls", "[]"))
        except json.JSONDecodeError as error:
            raise ValueError(f"the option `urls` is no JSON list: {error}") from None
        urls = [*urls, *([given["path"]] if given.get("path") else [])]
        if not urls:
            raise ValueError("the option `urls` is missing: a JSON list of addresses")
        for url in urls:
            require_http(str(url))
        return cls(
            tuple(urls),
            given.get("statelocation"),
            _number(given, "pollSeconds", 300),
            _number(given, "timeoutSeconds", 20),
            int(_number(given, "maxFeedBytes", 16 << 20)),
        )

    def poller(self, states: States | None = None) -> FeedPoller:
        """Return what polls the feeds."""
        return FeedPoller(
            self.urls,
            states,
            timeout_seconds=self.timeout_seconds,
            feed_bytes_max=self.feed_bytes_max,
        )


_UNITS = {"": 0, "b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30}


def _bytes(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name.lower())
    if text is None:
        return default
    digits = text.strip().rstrip("bBkKmMgG")
    unit = text.strip()[len(digits) :].lower()
    if not digits.strip().isdigit() or unit not in _UNITS or int(digits) == 0:
        raise ValueError(f"the option `{name}` is {text!r}; use bytes, or 64m, or 1g")
    return int(digits) << _UNITS[unit]


def _count(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    if not text.isdigit() or int(text) == 0:
        raise ValueError(f"the option `{name}` is {text!r}; use a positive number")
    return int(text)


def _flag(given: Mapping[str, str], name: str, default: bool) -> bool:
    text = given.get(name.lower(), str(default)).lower()
    if text not in ("true", "false"):
        raise ValueError(f"the option `{name}` is {text!r}; use true or false")
    return text == "true"


def _mapping(given: Mapping[str, str], name: str) -> dict[str, Any]:
    value = _json(given, name, "{}", 'a JSON object, as in {"p": "urn:p"}')
    if not isinstance(value, dict):
        raise ValueError(f'the option `{name}` is no JSON object, as in {{"p": "urn:p"}}')
    return value


def _strings(given: Mapping[str, str], name: str) -> tuple[str, ...]:
    value = _json(given, name, "[]", "a JSON list of paths")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"the option `{name}` is no JSON list of paths")
    return tuple(value)


def _json(given: Mapping[str, str], name: str, default: str, what: str) -> object:
    try:
        return json.loads(given.get(name.lower(), default))
    except json.JSONDecodeError as error:
        raise ValueError(f"the option `{name}` is not {what}: {error}") from None


def _number(given: Mapping[str, str], name: str, default: float) -> float:
    text = given.get(name.lower())
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not value >= 0:
        raise ValueError(f"the option `{name}` is {text!r}; use a number")
    return value
