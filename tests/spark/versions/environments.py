"""A virtual environment for each version of Spark, from locked requirements.

Only Spark and what it brings differ: `requirements/spark/VERSION.txt` locks two packages, and all
others come from `requirements/dev.txt`. What only checks the sources is left out.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

OTHERS = frozenset(
    "ast-serialize grimp import-linter librt lxml-stubs maturin mypy mypy-extensions py4j "
    "pyspark ruff saxonche types-pyyaml".split()
)
"""Packages of dev.txt that the tests of a version do not need, or have in another version."""


def common(locked: str) -> str:
    """Return the part of a lock file that all versions share."""
    return "".join(block for name, block in _blocks(locked) if name not in OTHERS)


def _blocks(locked: str) -> Iterator[tuple[str, str]]:
    for block in re.split(r"^(?=[a-z0-9])", locked, flags=re.MULTILINE)[1:]:
        yield re.split(r"[^a-z0-9-]", block, maxsplit=1)[0], block


def environment(version: str, folder: Path) -> Path:
    """Return the Python of a version's environment, which is made if the locks changed."""
    home = folder / version
    python, stamp = home / "bin" / "python", home / ".stamp"
    texts = [
        common((ROOT / "requirements/dev.txt").read_text("utf-8")),
        (ROOT / f"requirements/spark/{version}.txt").read_text("utf-8"),
    ]
    wanted = hashlib.sha256("".join(texts).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    locks = []
    for number, text in enumerate(texts):
        lock = home / f"requirements-{number}.txt"
        lock.write_text(text, "utf-8")
        locks += ["-r", str(lock)]
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([str(python), *install, "--require-hashes", *locks], check=True)
    stamp.write_text(wanted)
    return python
