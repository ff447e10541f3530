"""The pages on Spark are true: their blocks run, top to bottom, in one session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    "spark.md": "messages|(?:live-)?checkpoint|found|subscriptions|bank-(?:inbox|state|events)",
    "metrics.md": "metrics-inbox",
    "deployment.md": "no files",
}
"""Pages with the names of files in them: Spark resolves such against the folder of its Java."""
# `tests/docs` runs the blocks of plain `python`; these need a session.
_BLOCK = re.compile(r"^```python spark\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_the_page_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    text = (DOCS / page).read_text("utf-8")
    code = re.sub(rf'(?<!\[)"({PAGES[page]})"', rf'"{tmp_path}/\1"', text)
    namespace: dict[str, object] = {"__name__": "documentation", "spark": spark}
    blocks = list(_BLOCK.finditer(code))
    assert len(blocks) >= 2
    for block in blocks:
        padding = "\n" * code.count("\n", 0, block.start(1))
        exec(compile(padding + block[1], page, "exec"), namespace)
