"""Streams whose checkpoints and state earlier revisions wrote go on with equal rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.formats import moving, streams
from tests.formats.kept import REVISIONS, answers_of, check, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

GO_ON: dict[str, Callable[[Path, Any], Any]] = {
    "pipeline": streams.go_on_with_pipeline,
    "joins": streams.go_on_with_joins,
}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("kind", GO_ON)
def test_a_stream_of_an_earlier_revision_goes_on(
    spark: SparkSession, tmp_path: Path, revision: str, kind: str
) -> None:
    kept = unpacked(revision, tmp_path / "kept")
    moving.put(kept / kind, tmp_path / kind)
    wanted = answers_of(kept)[kind]
    check(revision, kind, lambda: GO_ON[kind](tmp_path / kind, spark), wanted)
