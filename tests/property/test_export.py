"""A registry that is exported and loaded has the same subscriptions, with all they have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import penstock
from penstock.cli import main
from penstock.languages.tables.frontend import read_table
from penstock.planning.programs import LANGUAGES, OPTIONS
from penstock.registry.columns import Columns, columns_of

NAMESPACES: list[Mapping[str, Any]] = [
    {"p": "urn:p"},
    {"p": ["urn:p", "urn:q"]},
    {"p": "urn:*", "": "urn:none"},
    {"p": "urn:p", "unused": "urn:ü"},
]
PATHS = [
    ("//a[b = {}]", {}),
    ("//a[b = {}]/@c", {"select": {"one": "@id", "all": ["../b"]}}),
    ("count(//a[. = {}])", {}),
    ("x[y = {}]/count()", {"dialect": "xsq"}),
    ("//a[//b = word and c = {}]", {"dialect": "xsq"}),
    ("b[c = {}]", {"context": "/*/a"}),
    ("//p:a[b = {}]", {"namespaces": NAMESPACES}),
    ("//a[@b = $v and c = {}]", {"variables": [{"v": "1"}, {"v": 2.5}, {"v": True}, {"v": "ä\n"}]}),
]
JOINS = [
    ("news//a->x FOLLOWED BY{{x/b = y/b, 2 h}} blogs//a[c = {}]->y", {}),
    ("SELECT x FROM news//a[b = {}]->x JOIN{{x/c = y/c, 9}} blogs//b->y PUBLISH made", {}),
    ("news//p:a[c = {}]->x JOIN{{x/b = y/b, INF}} news//p:b->y", {"namespaces": NAMESPACES}),
    ("news//a[b = $v][c = {}]->x", {"variables": [{"v": "1"}, {"v": 2}]}),
    ("news//a/b->x NOT FOLLOWED BY{{x = y/b, 5 min}} news//b[c = {}]->y", {}),
]
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("for $a in //a where $a/b = {} return <m>{{$a}}</m>", {}),
    ("<m>{{for $v in //a[b < 5] return $v, {}}}</m>", {"untyped": "false"}),
    ("<m>{{//a[b = {}]}}</m>", {"empty": "send", "untyped": "false"}),
    ("for $a in //p:a return ($a, {})", {"namespaces": NAMESPACES}),
    (
        "for $a in //a where $a/b = $v return <m>{{$a/c, {}}}</m>",
        {
            "variables": [
                {"v": Decimal("9.90")},
                {"v": date(2024, 5, 1)},
                {"v": [timedelta(hours=1), "1"]},
                {"v": {"xs:untypedAtomic": "12"}},
                {"v": {"stream": "orders"}},
            ]
        },
    ),
    (
        "for $a in stream('s')//a, $b in stream('t')//b where $a/c = $b/c return ($a/d, {})",
        {"within": ["2 h", 90, "INF", 0, 0.5], "untyped": ["error", "false"]},
    ),
]
TABLES = [
    ('{{"record": "//a", "columns": {{"b": "b", "c": ["c", "double"], "d": "{}"}}}}', {}),
    ('{{"record": "//p:a", "columns": {{"d": "{}"}}}}', {"namespaces": NAMESPACES}),
    ('{{"record": "//a[b=$v]", "columns": {{"d": "{}"}}}}', {"variables": [{"v": 1}]}),
    ('{{"record": "//a", "columns": {{"d": "{}"}}, "on_error": "raise"}}', {}),
]
KINDS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "xpath": PATHS,
    "xscl": JOINS,
    "xquery": MESSAGES,
    "table": TABLES,
}
TEXTS = ["me", "", "a,b", 'say "x"', "two\nlines", "\r", "a\r\nb", "ünï", " x ", "[1", "{}", "null"]
DELIVERIES: list[Any] = [*TEXTS, None, '"quoted"', {"to": "there", "n": [1, None]}, {}]


def write_query(random: Random, language: str) -> penstock.Query:
    """Return a random query of a language, with some of its options."""
    form, choices = random.choice(KINDS[language])
    constant = str(random.randint(0, 99)) if language == "table" else f"'{random.choice('xyz')}'"
    options = {
        name: random.choice(values) if isinstance(values, list) else values
        for name, values in choices.items()
    }
    read: Callable[..., penstock.Query] = LANGUAGES[language]
    return read(form.format(constant), **options)


def mode_of(random: Random, query: penstock.Query) -> Any:
    """Return a mode that the query may have."""
    if query.language != "xpath":
        return "query"
    counts = query.text.startswith("count") or query.text.endswith("count()")
    return random.choice(["query", "filter", "running" if counts else "query"])


def columns(registry: penstock.Registry) -> list[Columns]:
    return [columns_of(subscription) for subscription in registry]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("seed", range(8))
def test_all_that_a_subscription_has_travels(form: str, seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    registry = penstock.Registry.open(tmp_path / "registry", flush=False)
    with registry.changes():
        for number in range(60):
            query = write_query(random, random.choice(list(KINDS)))
            registry.add(
                f"{number}{random.choice(TEXTS)}",
                query,
                mode_of(random, query),
                random.choice([None, *TEXTS]),
                random.choice(DELIVERIES),
            )
    file, copy = tmp_path / f"lines.{form}", tmp_path / "copy"
    folder = str(tmp_path / "registry")
    assert main(["registry", "export", folder, "--format", form, "--output", str(file)]) == 0
    assert main(["registry", "load", str(file), "--into", str(copy)]) == 0
    loaded = penstock.Registry.open(copy)
    assert columns(loaded) == columns(registry)
    assert [one.query for one in loaded] == [one.query for one in registry]


def test_every_option_of_a_language_is_kept() -> None:
    readers = {"xpath": penstock.xpath, "xquery": penstock.xquery, "xscl": penstock.xscl}
    for language, read in {**readers, "table": read_table}.items():
        parameters = set(inspect.signature(read).parameters) - {"text", "trace"}
        assert parameters == set(OPTIONS[language])


def test_every_option_of_a_language_is_drawn() -> None:
    for language, kinds in KINDS.items():
        assert {name for _, options in kinds for name in options} == set(OPTIONS[language])
