"""What a pipeline is, and how it is read from YAML. Nothing here starts Spark.

Paths are taken from the folder of the file, unless they are absolute or name a file system
(``s3a://…``).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from penstock.definitions.nodes import Fields, Node, parse, read_text
from penstock.definitions.variables import Secrets
from penstock.engine.suspension import SUSPEND_AFTER
from penstock.joins.joiner import MICROSECONDS
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark.bounds import WAY_OUT
from penstock.spark.pipelines.configured_registry import (
    HINTS,
    holds_joins,
    read_registry,
    refuse_published,
)
from penstock.spark.pipelines.configured_sinks import (
    PlacedSinks,
    check_subscriptions,
    holds,
    read_sinks,
)
from penstock.spark.pipelines.configured_sources import read_source
from penstock.spark.pipelines.includes import MAIN_KEYS, SHARED_KEYS, Parts
from penstock.spark.pipelines.paths import disk_reader, path_reader
from penstock.spark.pipelines.settings import FeedSource, SinkSetting, SourceSetting, Trigger
from penstock.storage import disk_path

NEVER = "never"
TRIGGERS = ("batch", "available_now", "once")
KEYS = (*MAIN_KEYS, *SHARED_KEYS, "include")

_DURATION = re.compile(r"\d+\s*(?:milliseconds?|seconds?|minutes?|hours?)")
_LATENESS = re.compile(r"(\d+(?:\.\d+)?)\s*(milliseconds?|seconds?|minutes?|hours?|days?)?")
_SECONDS = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_OF_STREAMS = {
    "suspend_after": "a batch suspends nobody",
    "lateness": "a batch joins all its documents, and none is late",
    "state": "a batch keeps no state",
}
"""What a batch has no use for, and why."""
_COUNT = r"(?:\*|[1-9][0-9]*)"
_MASTER = re.compile(
    rf"local(?:\[{_COUNT}(?:,\s*[1-9][0-9]*)?\])?|local-cluster\[\d+,\s*\d+,\s*\d+\]"
    r"|spark://[^\s,/:]+:\d+(?:,[^\s,/:]+:\d+)*|yarn|k8s://\S+"
)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything that ``penstock run`` needs to know."""

    name: str
    sources: tuple[SourceSetting, ...]
    registry: AnyRegistry
    sinks: tuple[SinkSetting, ...]
    trigger: Trigger = field(default_factory=Trigger)
    checkpoint: str | None = None
    limits: Limits = field(default_factory=Limits)
    suspend_after: int | None = SUSPEND_AFTER
    """At so many documents a subscription may fail alone in a stream; None suspends nobody."""
    lateness: float | None = None
    """By so many seconds the watermark of joins lies behind; without it nothing is late."""
    state: str | None = None
    """Where a stream keeps the state of joins, if not beside its checkpoint."""
    metrics: str | None = None
    """The file that has the numbers of the run, for Prometheus."""
    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_shipped: bool = True
    """Whether workers of a cluster get this package from the driver."""
    secrets: Secrets = field(default_factory=Secrets, repr=False, compare=False)
    """What was filled in and shall not be seen."""


def load(path: str | os.PathLike[str]) -> Pipeline:
    """Return the pipeline of a YAML file and of those that it includes, checked.

    Raises:
        ConfigurationError: The file is not a pipeline; it says where and why, for all mistakes.
        OSError: The file cannot be read.
    """
    file = Path(path)
    root, text = parse(read_text(file.read_bytes(), str(path)), str(path))
    pipeline = _pipeline(root, file)
    text.require_no_mistakes()
    return pipeline


def _pipeline(root: Node, file: Path) -> Pipeline:
    found = root.fields(KEYS, required=("sources",), hints=HINTS)
    parts = Parts(found, file)
    for key in SHARED_KEYS:
        parts.require(key)
    folder = file.absolute().parent
    trigger = Trigger() if "trigger" not in found else found.read("trigger", _trigger, None)
    checkpoint = found.read("checkpoint", path_reader(folder), "") or None
    no_sources: tuple[SourceSetting, ...] = ()
    sources = found.read("sources", lambda node: _sources(node, folder), no_sources)
    if trigger is not None and trigger.is_streaming:
        _check_feeds(found, sources, checkpoint)
        sources = tuple(_with_state(source, checkpoint) for source in sources)
    sinks = read_sinks(parts.named("sinks"))
    if trigger is not None:
        _check_checkpoint(found, trigger, checkpoint)
        _check_batch(found, trigger)
    state = found.read("state", disk_reader(folder), "") or None
    for key, path in (("checkpoint", checkpoint), ("state", state)):
        if path is not None:
            _check_places(found, key, path, sinks)
    registry = read_registry(parts.named("registry"))
    refuse_published(parts.named("registry"), registry)
    _check_state(found, checkpoint, state, registry)
    check_subscriptions(sinks, registry)
    suspend_after: int | None = SUSPEND_AFTER
    no_lateness: float | None = None
    spark = found.read("spark", lambda node: node.fields(("master", "settings", "ship")), None)
    return Pipeline(
        found.text("name", file.stem),
        sources,
        registry,
        tuple(setting for _, setting in sinks),
        trigger or Trigger(),
        checkpoint,
        found.read("limits", _limits, Limits()),
        found.read("suspend_after", _suspend_after, suspend_after),
        found.read("lateness", _lateness, no_lateness),
        state,
        found.read("metrics", disk_reader(folder), "") or None,
        "local[*]" if spark is None else spark.read("master", _master, "local[*]"),
        {} if spark is None else spark.settings("settings"),
        True if spark is None else spark.read("ship", _truth, True),
        root.holder.secrets,
    )


def _sources(node: Node, folder: Path) -> tuple[SourceSetting, ...]:
    return tuple(source for _, source in node.read_items(lambda item: read_source(item, folder)))


def _check_checkpoint(found: Fields, trigger: Trigger, checkpoint: str | None) -> None:
    if trigger.is_streaming and not found.is_given("checkpoint"):
        message = f"the trigger `{trigger.kind}` needs a checkpoint, to go on where it stopped"
        way_out = "add a key: checkpoint: out/checkpoint"
        found.node.report(found["trigger"].error("PC0007", message, way_out))
    if checkpoint is not None and not trigger.is_streaming:
        message = "a batch has no checkpoint"
        way_out = "remove it, or add a key: trigger: available_now"
        found.node.report(found["checkpoint"].error("PC0007", message, way_out))


def _check_batch(found: Fields, trigger: Trigger) -> None:
    for key, message in _OF_STREAMS.items():
        if key in found and not trigger.is_streaming:
            way_out = "remove it, or add a key: trigger: available_now"
            found.node.report(found[key].error("PC0007", message, way_out))


def _check_places(found: Fields, key: str, path: str, sinks: PlacedSinks) -> None:
    for _, setting in sinks:
        if holds(setting.sink, path):
            message = f"the {key} and the files of the sink `{setting.name}` lie in each other"
            found.node.report(found[key].error("PC0007", message, "give each a folder"))


def _check_state(
    found: Fields, checkpoint: str | None, state: str | None, registry: AnyRegistry
) -> None:
    """Report a checkpoint beside which the state of joins cannot be, if anything joins by now."""
    is_placed = state is not None or checkpoint is None or disk_path(checkpoint) is not None
    if not is_placed and "state" not in found and holds_joins(registry):
        message = "the state of joins lies beside the checkpoint, and needs a disk"
        way_out = "name a folder that driver and workers share: state: /shared/joins"
        found.node.report(found["checkpoint"].error("PC0007", message, way_out))


def _check_feeds(found: Fields, sources: tuple[SourceSetting, ...], checkpoint: str | None) -> None:
    is_unplaced = any(isinstance(one, FeedSource) and one.state is None for one in sources)
    if is_unplaced and checkpoint is not None and disk_path(checkpoint) is None:
        message = "what a stream remembers of feeds lies beside the checkpoint, and needs a disk"
        way_out = "give the source of feeds a key: state: a/folder"
        found.node.report(found["checkpoint"].error("PC0007", message, way_out))


def _with_state(source: SourceSetting, checkpoint: str | None) -> SourceSetting:
    """Return a source that has a place for what it remembers, beside the checkpoint."""
    if not isinstance(source, FeedSource) or source.state is not None:
        return source
    named = hashlib.blake2b("\n".join(source.urls).encode(), digest_size=4).hexdigest()
    return replace(source, state=f"{checkpoint}-feeds-{named}")


def _trigger(node: Node) -> Trigger:
    if node.kind != "map":
        return Trigger(node.choice(TRIGGERS))
    found = node.fields(("processing_time",), required=("processing_time",))
    interval = found.text("processing_time", "1 second")
    if not _DURATION.fullmatch(interval):
        message = f"`{interval}` is no duration"
        raise found["processing_time"].error("PC0005", message, "write it like: 10 seconds")
    return Trigger("processing_time", interval)


def _limits(node: Node) -> Limits:
    found = node.fields(one.name for one in fields(Limits))
    if "seconds_max" in found:
        message = "a pipeline does not limit seconds: what runs again must give the same rows"
        node.report(found["seconds_max"].error("PC0005", message, WAY_OUT))
        return Limits()
    defaults = Limits()
    return Limits(
        **{
            name: found.read(name, Node.integer, int(getattr(defaults, name)))
            for name, _ in found.items()
        }
    )


def _lateness(node: Node) -> float:
    written = node.text()
    found = _LATENESS.fullmatch(written)
    seconds = float(found[1]) * _SECONDS[(found[2] or "second").rstrip("s")] if found else -1.0
    if not 0 <= seconds * MICROSECONDS < 1 << 63:
        message = f"`{written}` is no duration"
        raise node.error("PC0005", message, "write seconds, or as in: 10 minutes")
    return seconds


def _suspend_after(node: Node) -> int | None:
    if node.kind == "str":
        node.choice((NEVER,))
        return None
    return node.integer()


def _truth(node: Node) -> bool:
    return node.choice(("true", "false")) == "true"


def _master(node: Node) -> str:
    master = node.text()
    if not _MASTER.fullmatch(master):
        message = f"`{master}` is no master of Spark"
        way_out = "write it like: local[2], spark://host:7077, yarn or k8s://https://host:443"
        raise node.error("PC0005", message, way_out)
    return master
