"""A sink of a pipeline may take the rows of some subscriptions, by name, glob or owner."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.spark.pipelines import ConfigurationError, load
from penstock.spark.pipelines.choices import Choice, names_like
from penstock.spark.pipelines.describing import describe
from penstock.spark.pipelines.suspension import LOOKED_UP_MAX, pinned

SMALL = """\
sources: [{kind: files, path: .}]
registry:
  subscriptions:
    - {name: books cheap, query: //a, owner: ann}
    - {name: books dear, query: //b, owner: bob}
    - {name: orders, query: //c}
sinks:
  - {kind: console}
"""


def written(folder: Path, sink: str, text: str = SMALL) -> Path:
    path = folder / "p.yaml"
    path.write_text(text.replace("{kind: console}", sink))
    return path


@pytest.mark.parametrize(
    ("keys", "choice", "told"),
    [
        ("", Choice(), "results"),
        ("subscriptions: orders", Choice(("orders",)), "results of orders"),
        (
            "subscriptions: [books*, orders]",
            Choice(("books*", "orders")),
            "results of books*, orders",
        ),
        ("owner: ann", Choice((), ("ann",)), "results of owner ann"),
        (
            "subscriptions: '*ea?', owner: [ann, bob]",
            Choice(("*ea?",), ("ann", "bob")),
            "results of *ea? of owner ann, bob",
        ),
        ("rows: errors, owner: bob", Choice((), ("bob",)), "errors of owner bob"),
    ],
)
def test_a_sink_has_a_choice(tmp_path: Path, keys: str, choice: Choice, told: str) -> None:
    pipeline = load(written(tmp_path, f"{{kind: console, {keys}}}"))
    assert pipeline.sinks[0].choice == choice
    assert describe(pipeline)[-1] == f"  writes {told} to the console"


@pytest.mark.parametrize(
    ("keys", "code", "place", "message", "way_out"),
    [
        ("subscriptions: order", "PC0007", (8, 36), "has the name `order`", "mean `orders`?"),
        ("subscriptions: [orders, x*]", "PC0007", (8, 36), "name `x*`", "allowed here: books"),
        ("owner: an", "PC0007", (8, 28), "has the owner `an`", "did you mean `ann`?"),
        ("subscriptions: []", "PC0005", (8, 36), "the list is empty", ""),
        ("owner: {a: b}", "PC0004", (8, 28), "text is needed here", ""),
        ("rows: quarantine, owner: ann", "PC0007", (8, 27), "belong to no subscription", "owner"),
    ],
)
def test_a_choice_of_nothing_is_refused(
    tmp_path: Path, keys: str, code: str, place: tuple[int, int], message: str, way_out: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(written(tmp_path, f"{{kind: console, {keys}}}"))
    error = caught.value
    assert (error.code, error.line, error.column) == (code, *place), str(error)
    assert message in error.message
    assert way_out in error.help
    assert not error.others


def test_a_table_has_no_choice(tmp_path: Path) -> None:
    sink = "{kind: parquet, path: out, table: t, subscriptions: orders}"
    with pytest.raises(ConfigurationError, match="the rows and the columns of that table"):
        load(written(tmp_path, sink))


def test_in_a_folder_a_subscription_may_come_later(tmp_path: Path) -> None:
    penstock.Registry.open(tmp_path / "subscriptions")
    text = "sources: [{kind: files, path: .}]\nregistry: subscriptions\nsinks: [{kind: console}]\n"
    sink = "{kind: console, subscriptions: later, owner: eve}"
    assert load(written(tmp_path, sink, text)).sinks[0].choice == Choice(("later",), ("eve",))


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("ab", ["ab"]),
        ("a*", ["ab", "a%b", "a\nb", "a"]),
        ("a?b", ["a%b", "a\nb"]),
        ("a%b", ["a%b"]),
        ("[ab]", ["[ab]"]),
        ("*", ["ab", "a%b", "a\nb", "a", "[ab]", "Ab"]),
        ("", []),
    ],
)
def test_a_glob_has_two_signs(glob: str, expected: list[str]) -> None:
    assert names_like(glob, ["ab", "a%b", "a\nb", "a", "[ab]", "Ab"]) == expected


@pytest.mark.parametrize("others", [0, LOOKED_UP_MAX])
def test_owners_are_those_of_the_version_of_a_batch(tmp_path: Path, others: int) -> None:
    names = {"a", "none", *map(str, range(others))}
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.add("a", "//a", owner="ann")
    registry.add("b", "//b", owner="ann")
    registry.pin("stream", 0)
    registry.replace("a", "//a", owner="bob")
    registry.pin("stream", 1)
    owners = [
        [(one.name, one.owner) for one in pinned(registry, names, "stream", batch)]
        for batch in (0, 1)
    ]
    assert owners == [[("a", "ann")], [("a", "bob")]]
