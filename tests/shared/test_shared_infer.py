"""Tables proposed from real files load these files."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import penstock
from penstock.cli import main

FILES_MIN = 40


def real_files(shared: Path) -> list[Path]:
    """Return the real files that are large enough to have records."""
    with (shared / "data" / "MANIFEST.tsv").open(encoding="utf-8") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t")]
    names = [row["path"] for row in rows if int(row["elements"]) >= 40]
    # Snapshots of one feed resemble each other.
    return [shared / "data" / name for name in names if not name.startswith("feed-snapshots")]


def numbers_and_texts(table: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of a table with numbers as text, under the same names."""
    columns = {
        name: one
        for name, one in table["columns"].items()
        if isinstance(one, list) and isinstance(one[1], str)
    }
    numeric = ("integer", "double", "decimal")
    found = {name: one for name, one in columns.items() if one[1].startswith(numeric)}
    return found, {name: (path, "string") for name, (path, _) in found.items()}


def run(table: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    registry = penstock.Registry()
    registry.add("t", penstock.table(**table))
    rows = [*penstock.Engine(registry).run(path)]
    assert not any(row.is_error for row in rows)
    return [json.loads(row.value or "") for row in rows]


def test_proposed_tables_load_whole_files_without_a_type_error(
    shared: Path, tmp_path: Path
) -> None:
    files = real_files(shared)
    assert len(files) >= FILES_MIN
    typed = 0
    for path in files:
        proposed = tmp_path / "table.yaml"
        assert main(["infer", str(path), "--output", str(proposed)]) == 0
        table = yaml.safe_load(proposed.read_text("utf-8"))
        rows = run(table, path)
        assert rows, path
        assert [row["errors"] for row in rows if row.get("errors")] == [], path
        numbers, texts = numbers_and_texts(table)
        typed += len(numbers)
        if not texts:
            continue
        for row in run({**table, "columns": texts}, path):
            values = [value.strip().lstrip("+-") for value in row.values() if value]
            zeros = [value for value in values if value[0] == "0" and value[1:2].isdigit()]
            assert zeros == [], path
    assert typed > 100


@pytest.mark.parametrize("kind", ["osm/grid-all.osm", "iso20022/camt053_001_02.xml"])
def test_proposed_tables_become_parquet(shared: Path, tmp_path: Path, kind: str) -> None:
    import pyarrow.parquet as pq

    source, table, out = shared / "data" / kind, tmp_path / "t.yaml", tmp_path / "t.parquet"
    assert main(["infer", str(source), "--output", str(table)]) == 0
    command = ["table", str(table), str(source), "--format", "parquet", "--output", str(out)]
    assert main(command) == 0
    assert pq.read_table(out).num_rows > 10
