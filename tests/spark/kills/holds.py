"""Hold points: a victim stops at a named place, reports it, and waits there to be killed.

The victim's own code is unchanged. `sitecustomize` in its Python processes wraps the functions of
``_POINTS`` as their modules are imported. The harness names the place in the environment; a
process that arrives there leaves a marker file and goes no further until the marker's release
appears.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.spark.kills.checkpoints import committed

VARIABLE = "PENSTOCK_TEST_HOLD"
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Hold:
    """The place where a victim stops, once its checkpoint has so many committed batches."""

    point: str
    batches: int
    checkpoint: Path
    marker: Path

    def environment(self) -> dict[str, str]:
        """Return what makes a process stop here."""
        told = {
            "point": self.point,
            "batches": self.batches,
            "checkpoint": str(self.checkpoint),
            "marker": str(self.marker),
        }
        return {VARIABLE: json.dumps(told)}

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Hold | None:
        """Return where this process stops, or None."""
        if VARIABLE not in environment:
            return None
        told = json.loads(environment[VARIABLE])
        return cls(told["point"], told["batches"], Path(told["checkpoint"]), Path(told["marker"]))

    @property
    def is_reached(self) -> bool:
        """Whether a process stopped here."""
        return self.marker.exists()

    def release(self) -> None:
        """Let the process go on."""
        self._released.touch()

    @property
    def _released(self) -> Path:
        return self.marker.with_suffix(".released")

    def stop_at(self, point: str) -> None:
        """Report the arrival at a point and wait, if it is the one."""
        if point != self.point or committed(self.checkpoint) < self.batches or self.is_reached:
            return
        part = self.marker.with_suffix(f".{os.getpid()}")
        part.write_text(f"{point} in process {os.getpid()}\n", "utf-8")
        part.rename(self.marker)
        while not self._released.exists():
            time.sleep(_POLL_SECONDS)


Wrap = Callable[[Hold, str, Callable[..., Any]], Callable[..., Any]]


def _around(hold: Hold, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Hold before a call and after it."""

    @wraps(function)
    def held(*arguments: Any, **options: Any) -> Any:
        hold.stop_at(f"before {name}")
        made = function(*arguments, **options)
        hold.stop_at(f"after {name}")
        return made

    return held


def _around_sink(hold: Hold, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Hold before a sink has a batch and after it; files are told by their format."""

    @wraps(function)
    def held(sink: Any, *arguments: Any, **options: Any) -> Any:
        kind = getattr(sink, "format", name)
        return _around(hold, kind, function)(sink, *arguments, **options)

    return held


def _inside(hold: Hold, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Hold when a generator has something to yield, and before it is handed over."""

    @wraps(function)
    def held(*arguments: Any, **options: Any) -> Iterator[Any]:
        for item in function(*arguments, **options):
            hold.stop_at(f"inside {name}")
            yield item

    return held


_POINTS: Sequence[tuple[str, str, str, Wrap]] = (
    ("pyspark.sql.session", "SparkSession.Builder.getOrCreate", "session", _around),
    ("pyspark.sql.session", "SparkSession.stop", "session stop", _around),
    ("pyspark.sql.streaming.readwriter", "DataStreamWriter.start", "query", _around),
    ("pyspark.sql.classic.dataframe", "DataFrame.toLocalIterator", "rows", _inside),
    ("penstock.spark.sources.xml", "XmlStreamReader.latestOffset", "listing", _around),
    ("penstock.spark.sources.xml", "XmlStreamReader.read", "reading", _inside),
    ("penstock.spark.worker", "evaluate_with", "task", _inside),
    ("penstock.spark.joins.worker", "read_record", "record", _around),
    ("penstock.spark.joins.changes", "pin_changes", "changes", _around),
    ("penstock.spark.joins.rounds", "Rounds.join", "rounds", _around),
    ("penstock.spark.joins.state", "State.commit", "state", _around),
    ("penstock.spark.pipelines.joining", "StreamJoins._begin", "first state", _around),
    ("penstock.sinks.files", "FilesSink.write_batch", "files", _around_sink),
    ("penstock.sinks.sqlite", "SqliteSink.write_batch", "sqlite", _around_sink),
    ("penstock.sinks.merging", "MergingSink.write_batch", "lake", _around_sink),
    ("penstock.sinks.kafka", "KafkaSink.write_batch", "kafka", _around_sink),
)
"""Module, function, the name of the place, and how it is held."""


class _Finder(MetaPathFinder):
    """Finds the modules of the points where they are, to be loaded with their functions wrapped."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_held = any(module == fullname for module, *_ in _POINTS)
        spec = PathFinder.find_spec(fullname, path, target) if is_held else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._hold)
        return spec


class _Loader(Loader):
    """Loads a module as usual, then wraps its functions.

    The loader behind it may be that of a whole archive, so it is not changed itself.
    """

    def __init__(self, loader: Loader, hold: Hold) -> None:
        self._loader = loader
        self._hold = hold

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        for where, function, name, wrap in _POINTS:
            if where == module.__name__:
                *owners, last = function.split(".")
                owner: Any = module
                for one in owners:
                    owner = getattr(owner, one)
                setattr(owner, last, wrap(self._hold, name, getattr(owner, last)))


def install() -> None:
    """Wrap the functions of the points in this process, if it is to be held anywhere."""
    import sys

    hold = Hold.of(os.environ)
    if hold is not None:
        sys.meta_path.insert(0, _Finder(hold))
