"""What opening looks at, what repair saves, and that nothing stops it half-way for good."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest

import penstock
from penstock import Registry
from penstock.errors import DamageError, RegistryError
from penstock.registry.durable import DurableRegistry
from penstock.registry.requests import requests_of
from penstock.registry.storage import repair as repairing
from penstock.registry.storage.database import Database
from penstock.registry.storage.folder import BASES, DAMAGED, DATABASE, LOG, REPAIRED
from penstock.registry.storage.head import HEAD, Head
from penstock.registry.storage.repair import repair
from penstock.registry.storage.table import name_of_version
from penstock.registry.storage.verify import verify


def filled(folder: Path, count: int = 200) -> DurableRegistry:
    registry = Registry.open(folder)
    lines = [f'{{"name": "s{n}", "query": "//x[@y = {n}]"}}' for n in range(count)]
    registry.load(lines, workers=0)
    registry.add("last", "//x")
    registry.remove("s7")
    registry.snapshot()
    return registry


def names(folder: Path) -> set[str]:
    registry = Registry.open(folder)
    found = {one.name for one in registry}
    registry.close()
    return found


def code_of_opening(folder: Path) -> str:
    with pytest.raises(DamageError) as caught:
        Registry.open(folder)
    return caught.value.code


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_a_missing_database_is_not_an_empty_registry(tmp_path: Path, how: str) -> None:
    filled(tmp_path).close()
    (tmp_path / DATABASE).unlink()
    if how == "emptied":
        (tmp_path / DATABASE).touch()
    for present in (True, False):
        if not present:
            (tmp_path / HEAD).unlink()
        assert code_of_opening(tmp_path) == "PR0030"
    report = repair(tmp_path)
    assert (report.subscriptions, report.losses.rows) == (0, 200)
    assert "s8" in report.losses.names
    assert names(tmp_path) == set()


def test_an_older_copy_of_the_database_is_known(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    registry.close()
    copy = (tmp_path / DATABASE).read_bytes()
    registry.add("later", "//later")
    registry.close()
    (tmp_path / DATABASE).write_bytes(copy)
    assert code_of_opening(tmp_path) == "PR0031"
    assert repair(tmp_path).losses.versions == [4]
    assert len(names(tmp_path)) == 200


def test_the_database_of_another_registry_is_known(tmp_path: Path) -> None:
    for name in ("one", "two"):
        filled(tmp_path / name).close()
    shutil.copy(tmp_path / "two" / DATABASE, tmp_path / "one" / DATABASE)
    assert code_of_opening(tmp_path / "one") == "PR0031"


def test_opening_reads_a_few_rows_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, 2_000).close()
    steps = []
    identify = Database.identify

    def watch(database: Database) -> None:
        database.set_progress_handler(lambda: steps.append(1), 1)
        identify(database)

    monkeypatch.setattr(Database, "identify", watch)
    registry = Registry.open(tmp_path)
    assert len(registry) == 2_000
    assert len(steps) < 1_000


def test_a_free_name_is_proved_and_a_damaged_proof_is_an_error(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    assert "none" not in registry
    registry.close()
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute("UPDATE buckets SET entries = substr(entries, 25)")
    database.commit()
    database.close()
    again = Registry.open(tmp_path)
    for question in (lambda: "s8" in again, lambda: again.get("s8"), lambda: again.remove("s8")):
        with pytest.raises(DamageError):
            question()
    with pytest.raises(DamageError):
        again.add("none", "//x")
    again.close()
    assert repair(tmp_path).is_complete
    assert len(names(tmp_path)) == 200


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE subscriptions SET name = 'other' WHERE number = 9",
        "UPDATE subscriptions SET text = '//y' WHERE number = 9",
        "UPDATE subscriptions SET removed = 3 WHERE number = 9",
        "UPDATE subscriptions SET removed = NULL, ending = NULL WHERE name = 's7'",
        "DELETE FROM subscriptions WHERE number = 9",
        "UPDATE versions SET active = active - 1 WHERE version = 3",
        "DELETE FROM versions WHERE version = 3",
    ],
)
def test_no_change_behind_the_back_gives_a_wrong_answer(tmp_path: Path, statement: str) -> None:
    filled(tmp_path).close()
    shutil.rmtree(tmp_path / BASES)
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute(statement)
    database.commit()
    database.close()
    with pytest.raises(DamageError):
        penstock.Engine(Registry.open(tmp_path)).explain()
    assert [one.file for one in verify(tmp_path).findings] == [DATABASE]
    report = repair(tmp_path)
    lost = {"s8"} if "number = 9" in statement and "removed" not in statement else set()
    expected = {f"s{n}" for n in range(200) if n != 7} | {"last"}
    if "NULL" in statement:
        assert names(tmp_path) == expected  # the version says that it was removed
    else:
        assert names(tmp_path) == expected - lost
    assert report.losses.rows == len(lost)
    assert verify(tmp_path).findings == []


def test_rows_that_come_out_of_order_are_not_planned(tmp_path: Path) -> None:
    filled(tmp_path).close()
    shutil.rmtree(tmp_path / BASES)
    content = (tmp_path / DATABASE).read_bytes()
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    leaves = [place for place, page in enumerate(pages) if page.count(b"//x[@y") > 4]
    one, two = leaves[1:3]
    pages[one], pages[two] = pages[two], pages[one]
    (tmp_path / DATABASE).write_bytes(b"".join(pages))
    registry = Registry.open(tmp_path)
    for question in (registry.snapshot, lambda: list(registry)):
        with pytest.raises(DamageError):
            question()
    registry.close()
    assert repair(tmp_path).is_complete
    assert len(names(tmp_path)) == 200


def test_text_that_is_not_utf_8_is_found_and_named(tmp_path: Path) -> None:
    filled(tmp_path).close()
    content = (tmp_path / DATABASE).read_bytes()
    (tmp_path / DATABASE).write_bytes(content.replace(b"//x[@y = 9]", b"//x[@y = \xff]"))
    with pytest.raises(DamageError):
        Registry.open(tmp_path).get("s9")
    assert [one.file for one in verify(tmp_path).findings] == [DATABASE]
    assert repair(tmp_path).losses.names == ["s9"]
    assert len(names(tmp_path)) == 199


def test_a_schema_that_is_not_utf_8_is_found_and_named(tmp_path: Path) -> None:
    filled(tmp_path).close()
    content = (tmp_path / DATABASE).read_bytes()
    (tmp_path / DATABASE).write_bytes(content.replace(b"TABLE buckets", b"TAB\xd4E buckets"))
    assert code_of_opening(tmp_path) == "PR0030"
    assert [one.file for one in verify(tmp_path).findings] == [DATABASE]
    assert repair(tmp_path).is_complete
    assert len(names(tmp_path)) == 200


def test_heads_with_the_mark_of_a_version_name_are_read(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    name = name_of_version(registry._current.version_row(2))
    text = f"{2:020d} {name.mark} {registry._identity}".encode()
    registry.close()
    (tmp_path / HEAD).write_bytes(b"%s %08x\n" % (text, crc32(text)))
    assert verify(tmp_path).findings == []
    Registry.open(tmp_path).add("new", "//x")
    assert verify(tmp_path).findings == []


def test_rows_behind_a_damaged_part_of_the_log_are_saved(tmp_path: Path) -> None:
    registry = filled(tmp_path / "live")
    for number in range(30):
        registry.add(f"more{number}", "//x")
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    registry.close()
    log = tmp_path / "killed" / LOG
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    assert code_of_opening(tmp_path / "killed") == "PR0031"
    report = repair(tmp_path / "killed")
    assert {f"more{number}" for number in range(30)} <= names(tmp_path / "killed")
    assert report.losses.rows == 0


def test_rows_of_a_damaged_page_are_saved_from_its_older_versions_in_the_log(
    tmp_path: Path,
) -> None:
    registry = Registry.open(tmp_path / "live")
    for number in range(5):
        registry.add(f"more{number}", f"//more{number}")
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    registry.close()
    log = tmp_path / "killed" / LOG
    content = bytearray(log.read_bytes())
    frame = (content.rindex(b"//more3") - 32) // 4120
    page = 32 + 4120 * frame + 24
    content[page : page + 4096] = bytes(4096)
    log.write_bytes(content)
    report = repair(tmp_path / "killed")
    assert names(tmp_path / "killed") == {f"more{number}" for number in range(4)}
    assert report.losses.names == ["more4"]


@pytest.mark.parametrize("head", ["damaged", "missing"])
@pytest.mark.parametrize("witness", ["base", "current"])
def test_a_lost_log_is_noticed_without_a_head(tmp_path: Path, head: str, witness: str) -> None:
    registry = filled(tmp_path / "live")
    if witness == "current":
        registry.follow()
    registry.close()
    for number in range(3):
        registry.add(f"more{number}", "//x")
    if witness == "base":
        registry.compact()
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    registry.close()
    killed = tmp_path / "killed"
    (killed / LOG).unlink()
    (killed / HEAD).unlink() if head == "missing" else (killed / HEAD).write_text("?")
    assert code_of_opening(killed) == ("PR0031" if head == "missing" else "PR0030")
    assert DATABASE in [one.file for one in verify(killed).findings]
    assert repair(killed).losses.versions == [4, 5, 6]
    assert len(names(killed)) == 200
    assert verify(killed).findings == []


def test_a_log_that_names_pages_beyond_all_is_no_work(tmp_path: Path) -> None:
    filled(tmp_path).close()
    head = tmp_path / HEAD
    (tmp_path / LOG).write_bytes(head.read_bytes())
    head.write_text("?")
    with (tmp_path / DATABASE).open("r+b") as file:
        file.truncate(4096 * 3)
    assert not repair(tmp_path).is_complete
    assert verify(tmp_path).findings == []


class Cut(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.mark.parametrize("damage", ["database", "log", "caches"])
def test_a_repair_that_is_cut_short_anywhere_is_ended_by_the_next(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path / "live", 60)
    registry.follow()
    registry.pin("q", 0)
    registry.add("more", "//x")
    if damage != "log":
        registry.close()
    shutil.copytree(tmp_path / "live", tmp_path / "whole")
    registry.close()
    if damage != "caches":
        file = tmp_path / "whole" / (LOG if damage == "log" else DATABASE)
        content = bytearray(file.read_bytes())
        content[-5_000:-4_000] = bytes(1_000)
        file.write_bytes(content)
    else:
        whole = tmp_path / "whole"
        for file in (whole / HEAD, whole / "current", *(whole / BASES).glob("*.base")):
            file.write_bytes(b"?")
    expected = repaired_names(tmp_path)
    steps = 0
    while not cut_and_end(tmp_path, steps, expected, monkeypatch):
        steps += 1
    assert steps > 5


def repaired_names(folder: Path) -> set[str]:
    shutil.copytree(folder / "whole", folder / "used")
    repair(folder / "used")
    found = names(folder / "used")
    shutil.rmtree(folder / "used")
    return found


def cut_and_end(
    folder: Path, steps: int, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Cut a repair off after some steps, end it, and return whether there were fewer."""
    shutil.copytree(folder / "whole", folder / "used")
    left = steps

    def counted(act):  # type: ignore[no-untyped-def]
        def run(*given, **named):  # type: ignore[no-untyped-def]
            nonlocal left
            if left == 0:
                raise Cut
            left -= 1
            return act(*given, **named)

        return run

    is_whole = True
    with monkeypatch.context() as patch:
        for place, name in (
            (os, "replace"),
            (os, "rmdir"),
            (Path, "unlink"),
            (Path, "mkdir"),
            (shutil, "copytree"),
            (Head, "write"),
            (repairing, "rebuild"),
            (repairing, "sync"),
        ):
            patch.setattr(place, name, counted(getattr(place, name)))
        try:
            repair(folder / "used")
        except Cut:
            is_whole = False
    repair(folder / "used")
    assert names(folder / "used") == expected
    assert verify(folder / "used").findings == []
    assert not (folder / "used" / REPAIRED).exists()
    assert list((folder / "used" / DAMAGED).glob("[0-9]*")), "there is a copy"
    shutil.rmtree(folder / "used")
    return is_whole


def test_a_registry_whose_repair_was_cut_short_does_not_open(tmp_path: Path) -> None:
    filled(tmp_path).close()
    (tmp_path / REPAIRED).mkdir()
    assert code_of_opening(tmp_path) == "PR0032"
    repair(tmp_path)
    assert len(names(tmp_path)) == 200


def test_a_registry_that_is_open_elsewhere_is_not_repaired(tmp_path: Path) -> None:
    filled(tmp_path).close()
    holder = "import sys, penstock; r = penstock.Registry.open(sys.argv[1]); print(1, flush=True)"
    command = [sys.executable, "-c", f"{holder}; sys.stdin.read()", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(RegistryError) as caught:
            repair(tmp_path)
        assert caught.value.code == "PR0035"
        process.communicate()
    repair(tmp_path)


OLD_SCHEMA = """
CREATE TABLE versions (
    version INTEGER PRIMARY KEY, change TEXT NOT NULL, name TEXT NOT NULL, time REAL NOT NULL
);
CREATE TABLE subscriptions (
    number INTEGER PRIMARY KEY, position INTEGER NOT NULL, name TEXT NOT NULL,
    language TEXT NOT NULL, text TEXT NOT NULL, options TEXT NOT NULL, mode TEXT NOT NULL,
    owner TEXT, delivery TEXT, program BLOB NOT NULL, compiler TEXT NOT NULL,
    added INTEGER NOT NULL, removed INTEGER
);
CREATE UNIQUE INDEX live ON subscriptions (name) WHERE removed IS NULL;
CREATE INDEX ended ON subscriptions (removed, added);
CREATE INDEX joining ON subscriptions (number) WHERE language = 'xscl';
PRAGMA application_id = 1346719315;
PRAGMA user_version = 1;
"""


def without_checksums(folder: Path) -> None:
    """Turn a registry into one of the release before checksums."""
    kept = "number, position, name, language, text, options, mode, owner, delivery, program"
    database = sqlite3.connect(folder / "old")
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(OLD_SCHEMA)
    database.execute("ATTACH ? AS new", (str(folder / DATABASE),))
    database.execute(
        f"INSERT INTO subscriptions SELECT {kept}, compiler, added, removed FROM new.subscriptions"
    )
    database.execute("INSERT INTO versions SELECT version, change, name, time FROM new.versions")
    database.commit()
    database.close()
    os.replace(folder / "old", folder / DATABASE)
    (folder / HEAD).unlink()


def test_a_registry_without_checksums_gets_them_when_it_is_opened(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    registry.replace("s9", penstock.xscl("S//a->x FOLLOWED BY{x=y, 5} S//a->y"))
    names_before = {v: {one.name for one in registry.at(v)} for v in range(5)}
    registry.pin("q", 0)
    registry.close()
    without_checksums(tmp_path)
    assert [one.file for one in verify(tmp_path).findings] == [HEAD, DATABASE]
    again = Registry.open(tmp_path)
    assert {v: {one.name for one in again.at(v)} for v in range(5)} == names_before
    assert set(requests_of(again.snapshot())) == {"s9"}
    assert again.pin("q", 0) == 4
    again.add("new", "//new")
    again.close()
    assert verify(tmp_path).findings == []
    without_checksums(tmp_path)
    assert repair(tmp_path).subscriptions == 201


def test_a_damaged_registry_without_checksums_is_refused_and_left_alone(tmp_path: Path) -> None:
    filled(tmp_path).close()
    without_checksums(tmp_path)
    content = bytearray((tmp_path / DATABASE).read_bytes())
    content[4096 * 3 : 4096 * 4] = bytes(4096)
    (tmp_path / DATABASE).write_bytes(content)
    for act in (Registry.open, repair):
        with pytest.raises(RegistryError):
            act(tmp_path)
    assert (tmp_path / DATABASE).read_bytes() == content


def with_counts(folder: Path) -> None:
    """Turn a registry into one of the release whose versions counted queries in XSCL."""
    database = sqlite3.connect(folder / DATABASE, factory=Database)
    database.identify()
    columns = "version, change, name, time, numbers, active, total"
    versions = database.execute(f"SELECT {columns} FROM versions").fetchall()
    database.execute("ALTER TABLE versions RENAME TO new")
    database.execute(
        "CREATE TABLE versions (version INTEGER PRIMARY KEY, change TEXT NOT NULL,"
        " name TEXT NOT NULL, time REAL NOT NULL, numbers INTEGER NOT NULL, active INTEGER NOT"
        " NULL, total INTEGER NOT NULL, joining INTEGER NOT NULL, checksum INTEGER NOT NULL)"
    )
    for version, change, name, moment, *sums in versions:
        text = f"{version} {moment!r} {sums[0]} {sums[1]} {sums[2]} 7\0{change}\0{name}"
        checksum = crc32(text.encode(), database.seed)
        row = (version, change, name, moment, *sums, 7, checksum)
        database.execute(f"INSERT INTO versions VALUES ({', '.join('?' * 9)})", row)
    database.execute("DROP TABLE new")
    database.execute("CREATE INDEX joining ON subscriptions (number) WHERE language = 'xscl'")
    database.execute("PRAGMA user_version = 2")
    database.commit()
    database.close()
    version, _, identity, _ = (folder / HEAD).read_text().split()
    content = f"{version} {checksum:016x} {identity}"
    (folder / HEAD).write_text(f"{content} {crc32(content.encode()):08x}\n")


def test_a_registry_that_counted_a_language_is_brought_up_to_this_release(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    registry.replace("s9", penstock.xscl("S//a->x FOLLOWED BY{x=y, 5} S//a->y"))
    names_before = {v: {one.name for one in registry.at(v)} for v in range(5)}
    registry.pin("q", 0)
    registry.close()
    with_counts(tmp_path)
    assert [one.file for one in verify(tmp_path).findings] == [DATABASE]
    again = Registry.open(tmp_path)
    assert {v: {one.name for one in again.at(v)} for v in range(5)} == names_before
    assert set(requests_of(again.snapshot())) == {"s9"}
    assert again.pin("q", 0) == 4
    again.close()
    assert verify(tmp_path).findings == []
    with_counts(tmp_path)
    Registry.open(tmp_path).add("new", "//new")
    assert verify(tmp_path).findings == []


def test_a_damaged_version_is_not_brought_up_to_this_release(tmp_path: Path) -> None:
    filled(tmp_path).close()
    with_counts(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as database:
        database.execute("UPDATE versions SET joining = 8 WHERE version = 2")
    database.close()
    content = (tmp_path / DATABASE).read_bytes()
    for act in (Registry.open, repair):
        with pytest.raises(DamageError):
            act(tmp_path)
    assert (tmp_path / DATABASE).read_bytes() == content
