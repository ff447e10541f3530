"""A pipeline's file may have tables as subscriptions, and sinks that write them."""

from pathlib import Path

import pytest

import penstock
from penstock.spark.pipelines import ConfigurationError, load

TABLES = """\
sources: [{kind: files, path: .}]
registry:
  subscriptions:
    - {name: rows, table: rows.yaml, owner: me}
    - {name: a, query: //a}
sinks:
  - {kind: parquet, path: out, table: rows}
"""


def test_a_table_is_a_subscription_and_has_a_sink(tmp_path: Path) -> None:
    (tmp_path / "rows.yaml").write_text("record: //r\ncolumns: {id: '@id'}")
    (tmp_path / "p.yaml").write_text(TABLES)
    pipeline = load(tmp_path / "p.yaml")
    assert pipeline.registry["rows"].query == penstock.table("//r", {"id": "@id"})
    assert pipeline.registry["rows"].owner == "me"
    assert pipeline.sinks[0].table == "rows"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table: rows}", "table: a}", "writes `a`, which is no table here"),
        ("table: rows}", "table: b}", "writes `b`, which is no table here"),
        ("table: rows}", "table: rows, rows: all}", "the rows and the columns of that table"),
        ("rows.yaml,", "none.yaml,", "the table cannot be read: No such file"),
        ("rows.yaml,", "bad.yaml,", "`xstring` is no type"),
        ("owner: me", "query: //a", "a table has its query in its file"),
    ],
)
def test_mistakes_about_tables_are_reported(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "rows.yaml").write_text("record: //r\ncolumns: {id: '@id'}")
    (tmp_path / "bad.yaml").write_text("record: //r\ncolumns: {id: ['@id', xstring]}")
    (tmp_path / "p.yaml").write_text(TABLES.replace(old, new))
    with pytest.raises(ConfigurationError, match=message):
        load(tmp_path / "p.yaml")
