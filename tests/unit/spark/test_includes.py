"""A pipeline's file may include others, with subscriptions and sinks of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.sinks import FilesSink
from penstock.spark.pipelines import ConfigurationError, load

MAIN = """\
include: [teams/books.yaml, shared.yaml]
sources:
  - {kind: files, path: .}
registry:
  subscriptions:
    - {name: own, query: //a}
sinks:
  - {kind: parquet, path: out/own}
"""
BOOKS = """\
include: more/rare.yaml
registry:
  subscriptions:
    - {name: books, query: //b, owner: ann}
sinks:
  - {kind: json, path: out}
"""
RARE = """\
registry:
  subscriptions:
    - {name: rare, query: //c}
    - {name: rows, table: rows.yaml}
"""
SHARED = """\
sinks:
  - {kind: console}
"""
FILES = {
    "p.yaml": MAIN,
    "teams/books.yaml": BOOKS,
    "teams/more/rare.yaml": RARE,
    "teams/more/rows.yaml": "record: //r\ncolumns: {id: '@id'}",
    "shared.yaml": SHARED,
}


def written(folder: Path, changes: dict[str, str] | None = None) -> Path:
    """Write all files, some of them changed; return the pipeline's."""
    for name, text in (FILES | (changes or {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "p.yaml"


def mistakes(path: Path) -> list[tuple[str, int, int, str, str]]:
    """Return where the mistakes of a pipeline are, and what they are."""
    with pytest.raises(ConfigurationError) as caught:
        load(path)
    every = (caught.value, *caught.value.others)
    return [(Path(one.file).name, one.line, one.column, one.code, one.message) for one in every]


def test_subscriptions_and_sinks_of_all_files_come_together(tmp_path: Path) -> None:
    pipeline = load(written(tmp_path))
    assert [one.name for one in pipeline.registry] == ["own", "books", "rare", "rows"]
    assert [one.name for one in pipeline.sinks] == [
        "parquet results",
        "json results",
        "console results",
    ]


def test_paths_are_taken_from_the_file_that_names_them(tmp_path: Path) -> None:
    own, books, _ = load(written(tmp_path)).sinks
    assert isinstance(own.sink, FilesSink)
    assert isinstance(books.sink, FilesSink)
    assert own.sink.path == str(tmp_path / "out/own")
    assert books.sink.path == str(tmp_path / "teams/out")


def test_a_file_may_consist_of_what_it_includes(tmp_path: Path) -> None:
    main = "include: teams/books.yaml\nsources:\n  - {kind: files, path: .}\n"
    pipeline = load(written(tmp_path, {"p.yaml": main}))
    assert [one.name for one in pipeline.registry] == ["books", "rare", "rows"]


def test_a_folder_of_subscriptions_may_be_included(tmp_path: Path) -> None:
    penstock.Registry.open(tmp_path / "teams/subscriptions")
    main = MAIN.replace("registry:\n  subscriptions:\n    - {name: own, query: //a}\n", "")
    books = "registry: subscriptions\n"
    registry = load(written(tmp_path, {"p.yaml": main, "teams/books.yaml": books})).registry
    assert isinstance(registry, penstock.Registry.open(tmp_path / "other").__class__)


@pytest.mark.parametrize(
    ("name", "old", "new", "place", "code", "message"),
    [
        ("p.yaml", "shared.yaml]", "none.yaml]", (1, 29), "PC0008", "none.yaml cannot be read: No"),
        ("p.yaml", "shared.yaml]", "teams]", (1, 29), "PC0008", "cannot be read: Is a directory"),
        ("p.yaml", "shared.yaml]", "p.yaml]", (1, 29), "PC0010", "itself: p.yaml → p.yaml"),
        (
            *("p.yaml", "shared.yaml]", "./teams/more/../books.yaml]"),
            *((1, 29), "PC0010", "books.yaml is included twice"),
        ),
        (
            *("rare.yaml", "registry:", "include: [../../p.yaml]\nregistry:"),
            *((1, 11), "PC0010", "p.yaml → books.yaml → rare.yaml → p.yaml"),
        ),
        ("p.yaml", "[teams/books.yaml, shared.yaml]", "{}", (1, 10), "PC0004", "text is needed"),
        ("p.yaml", "shared.yaml]", "'${NOT_SET}']", (1, 29), "PC0009", "`NOT_SET` is not set"),
        ("shared.yaml", "sinks:", "trigger: once\nsinks:", (1, 1), "PC0002", "no key `trigger`"),
        ("shared.yaml", "sinks:", "sinks: [", (2, 3), "PC0001", "no YAML"),
        ("shared.yaml", SHARED, "", (1, 1), "PC0001", "the file is empty"),
        ("shared.yaml", "console", "consol", (2, 12), "PC0005", "`consol`"),
        ("rare.yaml", "name: rare", "name: own", (3, 14), "PC0005", "own"),
        ("rare.yaml", "table: rows", "table: no", (4, 27), "PC0008", "the table cannot be read"),
        ("rare.yaml", "//c", "'//c['", (3, 27), "PC0005", "PQ0104"),
        ("shared.yaml", "kind: console", "kind: json, path: new", (2, 5), "PC0005", "called"),
        (
            *("shared.yaml", "kind: console", "kind: json, path: out/own, name: x"),
            *((2, 5), "PC0007", "both write to"),
        ),
    ],
)
def test_a_mistake_has_its_file_and_its_place(
    tmp_path: Path,
    name: str,
    old: str,
    new: str,
    place: tuple[int, int],
    code: str,
    message: str,
) -> None:
    key = next(key for key in FILES if Path(key).name == name)
    assert old in FILES[key]
    path = written(tmp_path, {key: FILES[key].replace(old, new, 1)})
    (found,) = mistakes(path)
    assert found[:4] == (name, *place, code), found
    assert message in found[4]


def test_mistakes_are_reported_file_by_file(tmp_path: Path) -> None:
    changes = {
        "p.yaml": MAIN.replace("kind: parquet", "kind: parkett"),
        "teams/books.yaml": BOOKS.replace("owner:", "ovner:").replace("kind: json", "kind: jso"),
        "shared.yaml": SHARED.replace("console", "consol"),
    }
    found = mistakes(written(tmp_path, changes))
    assert [(name, line) for name, line, *_ in found] == [
        *(("p.yaml", 8), ("books.yaml", 4), ("books.yaml", 6), ("shared.yaml", 2)),
    ]


def test_two_registries_do_not_go_together(tmp_path: Path) -> None:
    penstock.Registry.open(tmp_path / "subscriptions")
    main = MAIN.replace("\n  subscriptions:\n    - {name: own, query: //a}", " subscriptions")
    (found,) = mistakes(written(tmp_path, {"p.yaml": main}))
    assert found[:4] == ("p.yaml", 4, 11, "PC0007")


@pytest.mark.parametrize("key", ["registry", "sinks"])
def test_a_key_may_be_missing_in_all_files(tmp_path: Path, key: str) -> None:
    main = "include: shared.yaml\nsources:\n  - {kind: files, path: .}\n"
    shared = {"registry": SHARED, "sinks": RARE.replace("    - {name: rows, table: rows.yaml}", "")}
    (found,) = mistakes(written(tmp_path, {"p.yaml": main, "shared.yaml": shared[key]}))
    assert found == ("p.yaml", 1, 1, "PC0003", f"the key `{key}` is missing here")


def test_what_an_unreadable_file_may_have_is_not_missing(tmp_path: Path) -> None:
    main = "include: none.yaml\nsources:\n  - {kind: files, path: .}\n"
    assert [code for *_, code, _ in mistakes(written(tmp_path, {"p.yaml": main}))] == ["PC0008"]


def test_a_chain_of_files_may_be_long(tmp_path: Path) -> None:
    count = 2_000
    for number in range(count):
        onwards = f"include: {number + 1}.yaml\n" if number + 1 < count else ""
        text = f"{onwards}registry: {{subscriptions: [{{name: s{number}, query: //a}}]}}\n"
        (tmp_path / f"{number}.yaml").write_text(text)
    main = MAIN.replace("[teams/books.yaml, shared.yaml]", "0.yaml")
    assert len(load(written(tmp_path, {"p.yaml": main})).registry) == count + 1
