"""The files of earlier revisions, and what may be refused of them."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import PenstockError
from tests.formats.make import FILES

REVISIONS = sorted(path.name.removesuffix(".tar.gz") for path in FILES.glob("*.tar.gz"))
REFUSED: dict[tuple[str, str], tuple[str, str]] = {}
"""By revision and kind of file: the code of the refusal, and a part of its way out.

What is not in here has to open, with the answers that its own revision gave.
"""


def unpacked(revision: str, folder: Path) -> Path:
    """Return a folder with the files of a revision."""
    with tarfile.open(FILES / f"{revision}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def answers_of(folder: Path) -> dict[str, Any]:
    """Return what the revision of a folder's files answered, by kind of file."""
    found: dict[str, Any] = json.loads((folder / "answers.json").read_text())
    return found


def check(revision: str, kind: str, answer: Callable[[], Any], wanted: Any) -> None:
    """Compare what a file gives today with what it gave its own revision."""
    if (revision, kind) in REFUSED:
        code, way_out = REFUSED[revision, kind]
        with pytest.raises(PenstockError, match=way_out) as caught:
            answer()
        assert caught.value.code == code
        return
    assert answer() == wanted
