"""The table of versions of Spark is that of the record of the last run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.spark.versions.__main__ import PAGE, RECORD, with_table
from tests.spark.versions.matrix import CAPABILITIES, VERSIONS, asked_of
from tests.spark.versions.report import cells, is_green, table

JUNIT = """<testsuites><testsuite>
<testcase classname="tests.spark.test_match" name="test_large_plan_travels_as_a_file"/>
<testcase classname="tests.spark.test_xml_source" name="test_a[1]"><failure/></testcase>
<testcase classname="tests.spark.test_xml_source" name="test_a[2]"/>
<testcase classname="tests.spark.test_xml_source" name="test_b"><skipped/></testcase>
</testsuite></testsuites>"""


def test_table_in_the_documentation_is_made_from_the_record() -> None:
    record = json.loads(RECORD.read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert with_table(page, record) == page


def test_what_is_recorded_is_green() -> None:
    record = json.loads(RECORD.read_text("utf-8"))
    assert [version for version in VERSIONS if version in record] == list(record)
    for version, entry in record.items():
        assert entry["release"].startswith(f"{version}.")
        assert list(entry["cells"]) == list(CAPABILITIES)
        assert all(is_green(cell) for cell in entry["cells"].values()), version


def test_what_failed_or_was_skipped_is_not_green(tmp_path: Path) -> None:
    (tmp_path / "outcomes.xml").write_text(JUNIT)
    found = cells("4.3", tmp_path / "outcomes.xml")
    assert found["large plan"] == {"passed": 1}
    assert found["penstock-xml"] == {"failed": 1, "passed": 1, "skipped": 1}
    assert found["join"] == {}
    assert [name for name, cell in found.items() if is_green(cell)] == ["large plan"]
    shown = table({"4.3": {"release": "4.3.0", "cells": found}})
    assert "1 failed, 1 passed, 1 skipped" in shown
    assert "not run" in shown


def test_every_capability_names_tests_that_exist() -> None:
    from tests.conftest import ROOT

    for version in VERSIONS:
        for tests in asked_of(version).values():
            for test in tests:
                file, _, name = test.partition("::")
                text = (ROOT / file).read_text("utf-8")
                assert f"def {name}(" in text or not name, test
