"""Options of the data sources, checked before anything is read."""

import pytest

from penstock.sources.intake import Intake
from penstock.sources.paths import RecordPath
from penstock.spark.sources.options import XmlOptions


def test_options_keep_the_names_of_spark_in_any_case() -> None:
    given = {
        "PATH": "a",
        "paths": '["b", "c"]',
        "recordpath": "//p:r",
        "namespaces": '{"p": ["urn:1", "urn:2"]}',
        "ancestors": '{"h": "//p:h"}',
        "mode": "failfast",
        "maxPartitionBytes": "64m",
        "maxDocumentBytes": "1 gb",
        "recursiveFileLookup": "FALSE",
        "pathGlobFilter": "*.xml",
        "maxFilesPerTrigger": "7",
        "maxBytesPerTrigger": "10k",
        "limits": '{"depth_max": 9}',
    }
    options = XmlOptions.of(given)
    assert options.paths == ("b", "c", "a")
    assert options.record_path is not None
    assert options.record_path.ancestors == {"h": "//p:h"}
    assert (options.mode, options.is_recursive) == ("FAILFAST", False)
    assert (options.partition_bytes_max, options.document_bytes_max) == (64 << 20, 1 << 30)
    assert (options.files_per_trigger_max, options.bytes_per_trigger_max) == (7, 10 << 10)
    assert (options.name_glob, options.limits.depth_max) == ("*.xml", 9)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"recordPath": "//["}, "PQ0"),
        ({"recordPath": "//p:a"}, "prefix `p`"),
        ({"recordPath": "//@a"}, "PQ0119"),
        ({"namespaces": "{", "recordPath": "//a"}, "`namespaces` is not a JSON object"),
        ({"namespaces": "[]", "recordPath": "//a"}, "`namespaces` is not a JSON object"),
        ({"paths": '"x"'}, "`paths` is not a JSON list"),
        ({"ancestors": "{}"}, "needs `recordPath`"),
        ({"mode": "SOMETIMES"}, "PERMISSIVE"),
        ({"maxPartitionBytes": "many"}, "maxPartitionBytes"),
        ({"maxPartitionBytes": "0"}, "maxPartitionBytes"),
        ({"maxFilesPerTrigger": "-1"}, "maxFilesPerTrigger"),
        ({"recursiveFileLookup": "maybe"}, "recursiveFileLookup"),
        ({"path": ""}, "`path` is missing"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, str], says: str) -> None:
    with pytest.raises(Exception, match=says):
        XmlOptions.of({"path": "a"} | options)


def test_damage_and_many_documents_are_options() -> None:
    assert XmlOptions.of({"path": "a"}).intake == Intake()
    options = XmlOptions.of(
        {"path": "a", "recordPath": "//r", "damaged": "SKIP", "documents": "many"}
    )
    assert options.intake == Intake("many", "skip", RecordPath("//r"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"damaged": "skip"}, "needs `recordPath`"),
        ({"damaged": "drop", "recordPath": "//r"}, "use stop, reject or skip"),
        ({"damaged": "skip", "recordPath": "//*"}, "give the records a name"),
        ({"documents": "two"}, "use one or many"),
    ],
)
def test_mistakes_about_damage_are_said(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        XmlOptions.of({"path": "a", **given})
