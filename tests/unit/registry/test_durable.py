"""The registry in a folder: what was said stays said, in every process and after every crash."""

import multiprocessing
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock import Registry
from penstock.errors import QueryError, RegistryError
from penstock.registry.durable import PLANS_KEPT, DurableRegistry
from penstock.registry.plans import files
from penstock.registry.storage import buckets
from penstock.registry.storage.folder import DATABASE
from penstock.registry.storage.verify import verify
from tests.registry_files import rewrite_rows

NAMES = ("a", "b", "c", "d")
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("add", "remove", "replace")),
        st.sampled_from(NAMES),
        st.sampled_from(("//x", "//x[@y = 1]", "count(//x)", "//x[")),
        st.sampled_from(("query", "filter")),
    ),
    max_size=12,
)
DOCUMENT = '<r><x y="1"/><x/></r>'


def described(registry: Registry) -> list[tuple[object, ...]]:
    return [(one.name, one.query, one.mode, one.owner, one.delivery) for one in registry]


def change(registry: Registry, what: tuple[str, str, str, str]) -> str:
    """Make a change and return the code of its refusal."""
    kind, name, text, mode = what
    try:
        match kind:
            case "add":
                registry.add(name, text, mode)  # type: ignore[arg-type]
            case "replace":
                registry.replace(name, text, mode)  # type: ignore[arg-type]
            case _:
                registry.remove(name)
    except (QueryError, RegistryError) as error:
        return error.code
    return ""


def test_subscriptions_are_there_after_reopening_with_everything_they_had(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path / "r")
    query = penstock.xpath("//p:b[@n < $most]", namespaces={"p": ["urn:*"]}, variables={"most": 2})
    registry.add("b", query, owner="me", delivery={"to": ["there"]})
    registry.add("a", penstock.xpath("a/count()", dialect="xsq"), mode="query", delivery="there")
    beside = penstock.xpath("b", select={"n": "@n", "up": ".."}, context="/*/*")
    registry.add("c", beside)
    registry.close()
    again = Registry.open(tmp_path / "r")
    assert described(again) == [
        ("b", query, "query", "me", {"to": ["there"]}),
        ("a", penstock.xpath("count(//a)"), "query", None, "there"),
        ("c", beside, "query", None, None),
    ]
    assert again.version == 3
    assert "a" in again
    assert 7 not in again
    assert again.get("none") is None
    rows = penstock.Engine(again).run('<b xmlns="urn:x" n="1"/>')
    assert [(row.subscription, row.value) for row in rows if row.kind == "element"] == [
        ("b", '<b xmlns="urn:x" n="1"/>')
    ]


@given(CHANGES)
def test_any_sequence_of_changes_gives_the_registry_in_memory(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("registry")
    memory, durable = Registry(), Registry.open(folder)
    history = [described(memory)]
    for one in changes:
        assert change(durable, one) == change(memory, one)
        assert durable.version == memory.version
        if memory.version == len(history):
            history.append(described(memory))
    reopened = pickle.loads(pickle.dumps(durable))
    for registry in (durable, reopened):
        assert described(registry) == described(memory)
        assert len(registry) == len(memory)
        assert registry.snapshot().names == memory.snapshot().names
        assert list(penstock.Engine(registry).run(DOCUMENT)) == list(
            penstock.Engine(memory).run(DOCUMENT)
        )
    for version, expected in enumerate(history):
        assert described(reopened.at(version)) == expected


def test_refusals_are_those_of_the_registry_in_memory(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//a")
    for wrong, code in [
        (lambda: registry.add("a", "//b"), "PR0001"),
        (lambda: registry.replace("b", "//b"), "PR0002"),
        (lambda: registry.remove("b"), "PR0002"),
        (lambda: registry.add("", "//b"), "PR0003"),
        (lambda: registry.add("\ud800", "//b"), "PR0008"),
        (lambda: registry.add("b", "//b", delivery={"to": object()}), "PR0008"),
        (lambda: registry.at(2), "PR0006"),
        (lambda: registry.snapshot_at(2), "PR0006"),
    ]:
        with pytest.raises(RegistryError) as caught:
            wrong()  # type: ignore[no-untyped-call]
        assert caught.value.code == code
    assert registry.version == 1


def change_and_fail(registry: Registry) -> None:
    with registry.changes():
        registry.remove("a")
        registry.add("c", "//c")
        raise KeyError


def test_a_block_of_changes_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    for registry in (Registry(), Registry.open(tmp_path)):
        with registry.changes():
            registry.add("a", "//a")
            registry.add("b", "//b")
            with pytest.raises(RegistryError):
                registry.remove("c")
        assert registry.version == 2
        with pytest.raises(KeyError):
            change_and_fail(registry)
        assert registry.version == 2
        assert [one.name for one in registry] == ["a", "b"]
        assert sorted(registry.compact().names) == ["a", "b"]


def undo(registry: Registry, what: tuple[str, str, str, str]) -> None:
    """Make a change that an error undoes."""
    with registry.changes():
        change(registry, what)
        raise KeyError


@given(
    changes=st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from(("add", "remove", "replace", "load", "undone")),
            st.integers(0, 40),
        ),
        max_size=40,
    )
)
def test_what_a_writer_knows_of_names_is_true_after_changes_of_others_and_undone_ones(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[bool, str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("registry")
    one, two = Registry.open(folder, flush=False), Registry.open(folder, flush=False)
    held: dict[str, str] = {}
    for is_first, kind, number in changes:
        registry, name, text = one if is_first else two, f"n{number}", f"//x[{number}]"
        if kind == "load":
            lines = [f'{{"name": "n{at}", "query": "//y"}}' for at in range(number, number + 3)]
            registry.load(lines, workers=0)
            held |= {f"n{at}": "//y" for at in range(number, number + 3) if f"n{at}" not in held}
        elif kind == "undone":
            with pytest.raises(KeyError):
                undo(registry, ("remove" if name in held else "add", name, text, "query"))
        elif not change(registry, (kind, name, text, "query")):
            held |= {name: text}
            if kind == "remove":
                del held[name]
        assert (name in one, name in two) == (name in held, name in held)
    assert {each.name: each.text for each in two} == held
    one.close()
    two.close()
    assert verify(folder).findings == []


def test_more_buckets_than_are_kept_give_the_same_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "_READ_MAX", 2)
    registry = Registry.open(tmp_path, flush=False)
    for number in range(300):
        registry.add(f"n{number}", "//x")
        if number % 3 == 0:
            registry.remove(f"n{number // 2 if number % 2 else number}")
    expected = {f"n{number}" for number in range(300)}
    expected -= {f"n{at // 2 if at % 2 else at}" for at in range(0, 300, 3)}
    assert {one.name for one in registry} == expected
    registry.close()
    assert verify(tmp_path).findings == []


def test_a_registry_that_is_closed_inside_a_block_undoes_it_and_goes_on(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    block = registry.changes()
    block.__enter__()
    registry.add("a", "//x")
    registry.close()
    with pytest.raises(RegistryError):
        block.__exit__(None, None, None)
    registry.add("b", "//x")
    assert [one.name for one in Registry.open(tmp_path)] == ["b"]


def test_an_earlier_version_answers_as_it_did(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//x")
    registry.add("b", "//x")
    registry.replace("a", "//x[@y]")
    registry.remove("b")
    counts = [len(list(penstock.Engine(registry.at(v)).run(DOCUMENT))) for v in range(5)]
    assert counts == [0, 2, 4, 3, 1]
    pinned = registry.at(1)
    assert (pinned.version, len(pinned), "a" in pinned, "b" in pinned) == (1, 1, True, False)
    assert pinned.get("b") is None
    with pytest.raises(RegistryError) as caught:
        pinned.add("c", "//c")
    assert caught.value.code == "PR0007"


def test_engines_see_changes_of_another_process_from_the_next_document_on(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//x")
    found = []

    def documents() -> object:
        yield DOCUMENT
        script = f"import penstock; penstock.Registry.open({str(tmp_path)!r}).add('b', '//r')"
        subprocess.run([sys.executable, "-c", script], check=True)
        yield DOCUMENT

    for row in penstock.Engine(registry).run(documents()):  # type: ignore[arg-type]
        found.append((row.document, row.subscription))
    assert found == [("0", "a"), ("0", "a"), ("1", "a"), ("1", "a"), ("1", "b")]


def add_many(path: Path, prefix: str, count: int) -> None:
    registry = Registry.open(path)
    for number in range(count):
        registry.add(f"{prefix}{number}", "//a")


def test_two_processes_write_without_losing_a_change(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=add_many, args=(tmp_path, one, 30)) for one in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    registry = Registry.open(tmp_path)
    assert registry.version == len(registry) == 60
    assert registry.at(30).version == len(registry.at(30)) == 30


def test_a_registry_works_after_a_fork(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//a")
    pid = os.fork()
    if pid == 0:
        registry.add("b", "//b")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert [one.name for one in registry] == ["a", "b"]


WRITER = """
import sys, penstock
registry = penstock.Registry.open(sys.argv[1])
for number in range(registry.version, 100_000):
    if number % 7 == 3:
        registry.remove(next(iter(registry)).name)
    else:
        registry.add(f"s{number}", f"//a[@n = {number}]")
    print(registry.version, flush=True)
    if number % 5 == 0:
        registry.snapshot()
"""


def test_a_killed_writer_leaves_a_whole_version(tmp_path: Path) -> None:
    randomness = random.Random(4)
    for turn in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(randomness.randint(1, 60))]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.read().splitlines()
        assert writer.wait() == -signal.SIGKILL, "it was in the middle of its work"
        writer.stdout.close()
        told = int([line for line in lines if line.strip()][-1])
        assert told > turn
        registry = Registry.open(tmp_path)
        # What was said to be done is done; at most the change under way came through as well.
        assert told <= registry.version <= told + 1
        added = removed = 0
        for number in range(registry.version):
            added, removed = added + (number % 7 != 3), removed + (number % 7 == 3)
        assert len(registry) == added - removed
        everything = "".join(f'<a n="{number}"/>' for number in range(registry.version))
        found = {row.subscription for row in penstock.Engine(registry).run(f"<r>{everything}</r>")}
        assert found == {one.name for one in registry}
        registry.close()


def plan_files(folder: Path) -> list[Path]:
    return sorted((folder / "plans").iterdir())


def test_a_plan_is_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//x")
    names = registry.snapshot_at(1).names
    assert registry.snapshot_at(1) is registry.snapshot_at(1)
    assert plan_files(tmp_path) == [registry.plan_file(1)]
    monkeypatch.setattr(DurableRegistry, "_build", None)
    again = Registry.open(tmp_path)
    assert again.snapshot_at(1).names == names
    assert len(list(penstock.Engine(again.at(1)).run(DOCUMENT))) == 2


@pytest.mark.parametrize("damage", ["missing", "cut", "empty", "flipped", "other", "longer"])
def test_a_damaged_plan_file_is_built_again(tmp_path: Path, damage: str) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//x")
    file = registry.plan_file(1)
    whole = file.read_bytes()
    match damage:
        case "missing":
            file.unlink()
        case "flipped":
            file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        case "other":
            file.write_bytes(b"SOMETHING" + whole[9:])
        case "longer":
            file.write_bytes(whole + b"\0")
        case _:
            file.write_bytes(whole[: len(whole) // 2 if damage == "cut" else 0])
    again = Registry.open(tmp_path)
    assert len(list(penstock.Engine(again.at(1)).run(DOCUMENT))) == 2
    assert file.read_bytes() == whole


def test_old_plan_files_go_away_and_old_versions_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    registry = Registry.open(tmp_path)
    leftover = tmp_path / "plans" / "broken.tmp"
    leftover.write_bytes(b"x")
    os.utime(leftover, (0, 0))
    for number in range(PLANS_KEPT + 4):
        registry.add(f"s{number}", f"//x[@y = {number}]")
        registry.plan_file(registry.version)
    assert len(plan_files(tmp_path)) == PLANS_KEPT
    assert not leftover.exists()
    assert len(Registry.open(tmp_path).at(1).snapshot().names) == 1
    registry.add("last", "//x")
    registry.plan_file(registry.version)
    assert len(plan_files(tmp_path)) == PLANS_KEPT


def test_programs_of_another_compiler_are_compiled_again(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//x")
    registry.close()
    rewrite_rows(tmp_path, compiler="old", program=b"\0")
    again = Registry.open(tmp_path)
    assert len(list(penstock.Engine(again).run(DOCUMENT))) == 2
    assert again.get("a") == registry.get("a")


def test_what_is_no_registry_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder, content in (("text", b"no database" * 100), ("newer", b"")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / DATABASE).write_bytes(content)
    newer = sqlite3.connect(tmp_path / "newer" / DATABASE)
    newer.executescript("PRAGMA application_id = 1346719315; PRAGMA user_version = 99;")
    newer.close()
    for name in ("file", "text", "newer"):
        with pytest.raises(RegistryError) as caught:
            Registry.open(tmp_path / name)
        assert caught.value.code == "PR0005", name
