"""The broker's benchmark measures equal messages, and programs are those of the texts."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.broker.dtds import dtd_of
from benchmarks.broker.figures import Part, Scale
from benchmarks.broker.measuring import DEFAULT, Workload, measure
from benchmarks.broker.programs import form_of, split
from benchmarks.broker.queries import BINDING_DEPTHS, QueryParameters, unique_queries
from benchmarks.broker.record import page, write
from benchmarks.experiments.broker import main, ratios, run_of
from papers.yfilter.options import BrokerOptions
from penstock.planning.programs import compile_program


def test_forms_are_those_of_the_texts() -> None:
    for name, depth in BINDING_DEPTHS.items():
        for predicates in (1, 3):
            parameters = QueryParameters(depth, predicates=predicates)
            for query in unique_queries(dtd_of(name), parameters, 15):
                program = compile_program(query.text(), "query", "xquery")
                start, end = split(program)
                assert program[start:end] == form_of(query), query.text()


def test_strategies_give_equal_messages_and_their_costs_are_taken() -> None:
    workload = Workload("book", 200, documents=6, warm_up=2)
    queries = workload.queries()
    own = measure(queries, workload, DEFAULT, repeat=1)
    assert own.rows > 0
    assert own.operators["query"] == len(queries)
    for strategy in ("f", "fw", "fwr", "shared"):
        options = BrokerOptions(strategy, is_profiled=True)  # type: ignore[arg-type]
        one = measure(queries, workload, options, repeat=1)
        assert one.digest == own.digest, strategy
        assert one.operators["plan"] == len(queries)
        assert one.asking > 0
        assert one.costs["path matching"] > 0
    subscribed = measure(queries, workload, repeat=1, subscribers=3)
    assert (subscribed.rows, subscribed.distinct) == (3 * own.rows, own.distinct)


def test_table_3_has_the_paper_s_extremes() -> None:
    workload = Scale(part=50, documents=3, warm_up=1).workload("bib", 5_000)
    queries = workload.queries()
    nothing = measure(queries, workload, BrokerOptions("fwr", "nothing"), repeat=1).operators
    assert nothing["semijoin (hash)"] == nothing["outer-join-select (hash)"] == len(queries)
    removed = nothing["duplicate elimination (scan)"], nothing["duplicate elimination (hash)"]
    assert removed == (len(queries), 2 * len(queries))
    schema = measure(queries, workload, BrokerOptions("fwr"), repeat=1).operators
    assert schema["semijoin (hash)"] == schema["outer-join-select (hash)"] == 0
    assert schema["duplicate elimination (scan)"] == schema["duplicate elimination (hash)"] == 0


def test_the_page_names_every_ratio() -> None:
    workload = Workload("book", 100, values=100, documents=4, warm_up=1)
    queries = workload.queries()
    strategies = ("keyed", "fwr", "shared")
    own = {one: measure(queries, workload, BrokerOptions(one), repeat=1) for one in strategies}  # type: ignore[arg-type]
    shown = [*ratios([(workload, own)], None, None)]
    assert [least for *_, least in shown] == [30.0, 12.0, 8.0, 4.0]
    run = run_of("command", [(workload, own)], shown)
    text = page([run])
    assert all(words in text for words, *_ in shown)


def test_runs_are_merged_into_one_record(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    parts = [Part(f"Figure {n}: x", "y", ["", "F", "FWR"], [["1", "0.5", "0.2"]]) for n in range(6)]
    first = run_of("first", [], [("so many times", 3.0, 2.0)])
    second = run_of("second", [], []) | {"figures": [asdict(part) for part in parts]}
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file, run in zip(files, (first, second), strict=True):
        write([run], file)
    merged = tmp_path / "merged.json"
    assert main(["--merge", *map(str, files), "--json", str(merged)]) == 0
    assert [run["command"] for run in json.loads(merged.read_text())["runs"]] == ["first", "second"]
    text = merged.with_suffix(".md").read_text()
    assert "| so many times | 3.00     | 2.0      |" in text
    assert "## Figure 5: x" in text
    assert merged.with_suffix(".png").stat().st_size > 1_000
