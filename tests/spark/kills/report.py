"""What all kills struck and left, as JSON and as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.spark.kills.strikes import PHASES, Kill


@dataclass(frozen=True, slots=True)
class Life:
    """A project from its first start to its end, with all kills in between."""

    project: str
    sinks: tuple[str, ...]
    kills: tuple[Kill, ...]
    rows: int
    """What the engine finds in process."""
    differences: dict[str, tuple[int, int]]
    """Rows lost and rows that are there too often, by sink."""

    def write(self, folder: Path) -> None:
        """Keep the life in a file of its own."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        (folder / f"{self.project}.json").write_text(text + "\n", "utf-8")


def read_lives(folder: Path) -> list[dict[str, Any]]:
    """Return the lives that are kept in a folder."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]


def is_whole(lives: Sequence[dict[str, Any]]) -> bool:
    """Return whether nothing was lost and nothing doubled."""
    return all(pair == [0, 0] for life in lives for pair in life["differences"].values())


def describe(lives: Sequence[dict[str, Any]]) -> str:
    """Return the kills as a table, and under it what they add up to."""
    lines = [
        "| life | phase | place | completed | by this process | under way | held by | left |",
        "| --- | --- | --- | ---: | ---: | --- | --- | --- |",
    ]
    for life in lives:
        for kill in life["kills"]:
            under_way = "" if kill["under_way"] is None else kill["under_way"]
            left = ", ".join(_short(name) for name in kill["left"])
            phase = kill["phase"] if not kill["doubt"] else f"not {kill['phase']}: {kill['doubt']}"
            lines.append(
                f"| {life['project']} | {phase} | {kill['place']} | {kill['completed']} "
                f"| {kill['completed_by_process']} | {under_way} | {', '.join(kill['holders'])} "
                f"| {left} |"
            )
    return "\n".join([*lines, "", *_totals(lives)])


def _totals(lives: Sequence[dict[str, Any]]) -> list[str]:
    kills = [kill for life in lives for kill in life["kills"] if not kill["doubt"]]
    phases = Counter(kill["phase"] for kill in kills)
    spread = ", ".join(f"{phase} {phases[phase]}" for phase in PHASES)
    after = sum(kill["completed"] > 0 for kill in kills)
    own = sum(kill["completed_by_process"] > 0 for kill in kills)
    found = [pair for life in lives for pair in life["differences"].values()]
    return [
        f"{len(kills)} kills at a proven place: {spread}",
        f"{after} after completed batches, {own} of them after batches of the killed process",
        f"{sum(life['rows'] for life in lives)} rows expected in each sink of their life: "
        f"{sum(lost for lost, _ in found)} lost, {sum(doubled for _, doubled in found)} doubled",
    ]


def _short(name: str) -> str:
    """Return a file's name without what is different each time."""
    parts = name.split("/")
    if parts[-1].endswith(".tmp"):
        _, number, *_ = parts[-1].split(".")
        return f"{parts[0]}/.{number}.*.tmp"
    return f"{parts[0]}/{parts[-1].partition('-')[0]}-*"
