"""The page on Spark is true: its blocks run, top to bottom, in one session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = Path(__file__).resolve().parents[2] / "docs" / "spark.md"
# `tests/docs` runs the blocks of plain `python`; these need a session.
_BLOCK = re.compile(r"^```python spark\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_blocks_of_the_page_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = PAGE.read_text("utf-8")
    # Spark resolves names of files against the folder that its Java was started in.
    names = "messages|checkpoint|found|subscriptions|live-checkpoint|bank-(?:inbox|state|events)"
    code = re.sub(rf'"({names})"', rf'"{tmp_path}/\1"', text)
    namespace: dict[str, object] = {"__name__": "documentation", "spark": spark}
    blocks = list(_BLOCK.finditer(code))
    assert len(blocks) >= 4
    for block in blocks:
        padding = "\n" * code.count("\n", 0, block.start(1))
        exec(compile(padding + block[1], str(PAGE), "exec"), namespace)
