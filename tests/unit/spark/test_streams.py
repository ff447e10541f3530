"""Subscriptions that read streams which no column names are warned of."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import penstock
from penstock.spark.pipelines import ConfigurationError, load
from penstock.spark.streams import warn_of_streams

JOIN = penstock.xscl("SELECT x, y FROM s//a->x JOIN{x = y, 9} default//b->y PUBLISH made")
PAIRS = penstock.xquery("for $a in doc('s')//a, $b in doc('t')//b where $a = $b return $a")


def registry_of(query: penstock.Query | str) -> penstock.Registry:
    registry = penstock.Registry()
    registry.add("q", query)
    return registry


@pytest.mark.parametrize(("query", "names"), [(JOIN, "`s`"), (PAIRS, "`s`, `t`")])
def test_streams_without_a_column_are_named(query: penstock.Query, names: str) -> None:
    message = f"`q` gives no row: no document is of the stream {names}; .* stream='stream'"
    with pytest.warns(penstock.PenstockWarning, match=message):
        warn_of_streams(registry_of(query), None)


@pytest.mark.parametrize("query", [JOIN, PAIRS])
def test_a_column_may_name_any_stream(query: penstock.Query) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_streams(registry_of(query), "stream")


@pytest.mark.parametrize(
    "query",
    [
        "//a",
        penstock.xquery("for $a in //a return $a"),
        penstock.xquery("for $a in doc('default')//a return $a"),
        penstock.xscl("default//a->x JOIN{x = y, 9} default//b->y"),
    ],
)
def test_what_reads_documents_without_a_stream_is_fed(query: penstock.Query | str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_streams(registry_of(query), None)


def test_what_reads_a_published_stream_is_fed() -> None:
    registry = registry_of("//event")
    registry.add("p", penstock.xscl("SELECT x FROM default//a->x PUBLISH made"))
    registry.add("r", penstock.xquery("for $a in doc('made')//a return $a"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_streams(registry, None)


PIPELINE = """\
sources: [{{kind: files, path: data}}]
sinks: [{{kind: console}}]
registry:
  subscriptions:
    - {{name: pair, language: xscl, query: 'S//a->x JOIN{{x = y, 10}} T//b->y PUBLISH P'}}
    - {{name: reader, language: xquery, query: 'for $p in stream("{stream}")//a return $p'}}
"""


def test_published_events_that_no_join_would_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.yaml"
    (tmp_path / "data").mkdir()
    path.write_text(PIPELINE.format(stream="P"))
    with pytest.raises(ConfigurationError, match="`reader` reads the stream `P`") as caught:
        load(path)
    assert caught.value.code == "PC0007"
    path.write_text(PIPELINE.format(stream="S"))
    assert len(load(path).registry) == 2
