"""Which subscriptions of a folder join documents, and what changed among them, with proof."""

import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

import penstock
from penstock import Registry
from penstock.errors import DamageError
from penstock.registry.durable import DurableRegistry
from penstock.registry.standing import START
from penstock.registry.storage.folder import DATABASE

SAME = "S//a->x[k->y] FOLLOWED BY{y = z, INF} S//b->w[k->z]"


@pytest.fixture
def registry(tmp_path: Path) -> DurableRegistry:
    registry = Registry.open(tmp_path)
    for name in ("first", "second"):
        registry.add(name, penstock.xscl(SAME))
    registry.add("path", "//a")
    return registry


def test_what_changed_is_listed_and_nothing_else(registry: DurableRegistry) -> None:
    known = registry.joining_since(START)
    assert (list(known.listed), known.is_complete) == (["first", "second"], True)
    registry.remove("first")
    registry.add("third", penstock.xscl(SAME))
    registry.add("fleeting", penstock.xscl(SAME))
    registry.remove("fleeting")
    registry.remove("path")
    changes = registry.joining_since(known.read)
    assert changes.listed == {
        "first": None,
        "third": registry.joining_since(START).listed["third"],
    }
    assert registry.joining_since(changes.read).listed == {}


def test_a_query_that_becomes_a_path_joins_no_more(registry: DurableRegistry) -> None:
    known = registry.joining_since(START)
    registry.replace("first", "//a")
    assert registry.joining_since(known.read).listed == {"first": None}


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM subscriptions WHERE name = 'third'",
        "UPDATE subscriptions SET text = 'S//b' WHERE name = 'third'",
        "UPDATE subscriptions SET removed = NULL, ending = NULL WHERE name = 'first'",
        "UPDATE subscriptions SET removed = removed + 1 WHERE name = 'first'",
        "UPDATE subscriptions SET language = 'xpath' WHERE name = 'third'",
    ],
)
def test_a_damaged_change_is_not_taken_over(
    registry: DurableRegistry, tmp_path: Path, damage: str
) -> None:
    known = registry.joining_since(START)
    registry.remove("first")
    registry.add("third", penstock.xscl(SAME))
    registry.close()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        assert connection.execute(damage).rowcount == 1
    connection.close()
    with pytest.raises(DamageError):
        registry.joining_since(known.read)


def test_what_was_read_of_changes_that_are_undone_is_read_again(registry: DurableRegistry) -> None:
    read = registry.joining_since(START).read
    with suppress(RuntimeError), registry.changes():
        registry.remove("first")
        inside = registry.joining_since(read)
        raise RuntimeError
    registry.remove("second")
    assert (list(inside.listed), inside.is_complete) == (["second"], True)
    after = registry.joining_since(inside.read)
    assert (list(after.listed), after.is_complete) == (["first"], True)
