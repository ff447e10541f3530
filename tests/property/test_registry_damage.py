"""A damaged registry answers right or with a RegistryError, is found out, and can be repaired."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from penstock import Registry
from penstock.registry.storage.folder import DATABASE, LOG
from penstock.registry.storage.repair import RepairReport, repair
from penstock.registry.storage.verify import verify
from tests.property.registry_damage import (
    COUNTS,
    Damage,
    Past,
    ask_everything,
    build_past,
    damage,
    describe,
)

SHORT, LONG = 60, 2_500


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return a folder in memory, where flushing costs nothing, or any other."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def pasts(folder: Path) -> list[tuple[Past, Past]]:
    """Return a registry of each size, and another one that has copies to exchange."""
    other = build_past(folder / "other", 1)
    return [(build_past(folder / str(count), 0, count), other) for count in COUNTS]


def test_an_undamaged_registry_answers_everything(
    folder: Path, pasts: list[tuple[Past, Past]]
) -> None:
    for past, image in ((one, image) for one, _ in pasts for image in one.images):
        copy = folder / "whole"
        shutil.copytree(image, copy)
        assert verify(copy).findings == []
        answers = ask_everything(copy, past)
        assert (answers.errors, answers.right > 60) == ([], True)
        assert verify(copy).findings == []
        assert repair(copy).copy is None
        shutil.rmtree(copy)


def test_damage_gives_the_right_answer_or_a_registry_error(
    folder: Path, pasts: list[tuple[Past, Past]]
) -> None:
    outcomes = run_trials(range(SHORT), folder, pasts)
    # Otherwise the trials show nothing.
    assert outcomes["error"] > SHORT / 10
    assert outcomes["right"] > SHORT / 10


@pytest.mark.slow
def test_much_damage_gives_the_right_answer_or_a_registry_error(
    folder: Path, pasts: list[tuple[Past, Past]]
) -> None:
    outcomes = run_trials(range(1_000, 1_000 + LONG), folder, pasts)
    print(dict(outcomes))
    assert outcomes["error"] > LONG / 10
    assert outcomes["rows lost"] > 10
    assert outcomes["versions lost"] > 10


def run_trials(seeds: range, folder: Path, pasts: list[tuple[Past, Past]]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        damaged, used = folder / "damaged", folder / "used"
        random = Random(seed)
        past, other = pasts[seed % len(pasts)]
        shutil.copytree(random.choice(past.images), damaged)
        done = damage(random, damaged, past, other)
        shutil.copytree(damaged, used)
        try:
            run_trial(damaged, used, done, past, outcomes)
        except BaseException as error:
            error.add_note(f"seed {seed}: {done}")
            raise
        shutil.rmtree(damaged)
        shutil.rmtree(used)
    return outcomes


def run_trial(damaged: Path, used: Path, done: Damage, past: Past, outcomes: Counter[str]) -> None:
    found = verify(damaged)
    answers = ask_everything(used, past)
    outcomes["error" if answers.errors else "right"] += 1
    assert found.findings or not answers.errors, "verify found nothing"
    files = [path for path in (damaged / DATABASE, damaged / LOG) if path.exists()]
    content = [path.read_bytes() for path in files]
    report = repair(damaged)
    assert verify(damaged).findings == []
    assert (report.copy is None) == (not found.findings)
    assert repair(damaged).copy is None, "there was something left to repair"
    check_repaired(damaged, report, done, past, content)
    outcomes["rows lost"] += bool(report.losses.rows)
    outcomes["versions lost"] += bool(report.losses.versions)


def check_repaired(
    folder: Path, report: RepairReport, done: Damage, past: Past, content: list[bytes]
) -> None:
    registry = Registry.open(folder)
    held = describe(registry)
    registry.close()
    assert len(held) == report.subscriptions
    if report.losses.versions:
        # Later changes are lost; what is there was there once.
        for name, described in held.items():
            assert described in [version.get(name) for version in past.history.values()]
        return
    for name, described in held.items():
        assert described == past.held.get(name), f"`{name}` is not what it was"
    missing = past.held.keys() - held.keys()
    assert len(missing) <= report.losses.rows
    assert report.is_complete == (report.losses.rows == 0)
    if done.hits is not None:
        intact = [name for name in missing if is_intact(past.held[name], content)]
        assert len(intact) <= done.hits, "rows were lost that are intact"


def is_intact(described: tuple[object, ...], content: list[bytes]) -> bool:
    """Whether the longest part of a subscription's row is in the damaged files."""
    text, mode, _, _, program = described
    assert isinstance(text, str)
    assert isinstance(program, bytes)
    row = text.encode() + b"{}" + str(mode).encode() + program
    return any(row in one for one in content)
