"""The documentation is true: its Python runs, and its commands print what it says.

The blocks of one file run top to bottom in one namespace and one folder. A `console` block holds
commands after `$ penstock` and what they print; a line `…` stands for any number of lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_console(text: str, folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        if not command.startswith("penstock "):
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "python")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        pieces = re.split(r"^…\n", expected, flags=re.MULTILINE)
        pattern = "(?:.*\n)*".join(map(re.escape, pieces))
        assert re.fullmatch(pattern, done.stdout), f"{command}\n{done.stdout}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_code_blocks_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = file.read_text("utf-8")
    namespace: dict[str, object] = {"__name__": "documentation"}
    for block in _BLOCK.finditer(text):
        language, code = block.groups()
        if language == "python":
            # Blank lines before the code give errors the line of the documentation.
            padding = "\n" * text.count("\n", 0, block.start(2))
            exec(compile(padding + code, str(file), "exec"), namespace)
        else:
            run_console(code, tmp_path)


def test_there_is_something_to_run() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(_BLOCK.findall(readme)) >= 3
