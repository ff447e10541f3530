"""What needs a disk says so when it is given a path of a store, and makes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import penstock
from penstock.cli.main import main
from penstock.errors import RegistryError, StateError
from penstock.sinks import SqliteSink
from penstock.spark import join_progress
from penstock.spark.joins.state import State
from penstock.spark.sources.options import FeedOptions

STORE = "s3a://bucket/a folder"
FEEDS = {"path": "http://localhost", "stateLocation": STORE}


@pytest.mark.parametrize(
    ("use", "kind", "said"),
    [
        (lambda: penstock.Registry.open(STORE), RegistryError, "PR0037: .*on a disk"),
        (lambda: penstock.Registry.open(Path(STORE)), RegistryError, "PR0037"),
        (lambda: penstock.Registry.open(STORE, create=False), RegistryError, "PR0037"),
        (lambda: State(STORE), StateError, "PJ0008: .*on a disk"),
        (lambda: join_progress(STORE), StateError, "PJ0008"),
        (lambda: FeedOptions.of(FEEDS), ValueError, "stateLocation.*on a disk"),
        (lambda: SqliteSink(STORE), ValueError, "needs a disk"),
    ],
)
def test_what_needs_a_disk_is_rejected(
    use: Callable[[], object],
    kind: type[Exception],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=said):
        use()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("action", [["add", STORE, "a", "//a"], ["list", STORE]])
def test_the_command_rejects_a_registry_in_a_store(
    action: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["registry", *action]) != 0
    assert "PR0037" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_url_is_a_path_of_the_disk(tmp_path: Path) -> None:
    registry = penstock.Registry.open(f"{(tmp_path / 'a b').as_uri()}")
    assert registry.path == tmp_path / "a b"
