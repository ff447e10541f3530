"""Which subscriptions request records, and what changed among them, with proof."""

import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

import penstock
from penstock import Registry
from penstock.errors import DamageError, RegistryError
from penstock.planning.program import Request
from penstock.registry import AnyRegistry
from penstock.registry.changeable import ChangeableRegistry
from penstock.registry.durable import DurableRegistry
from penstock.registry.requests import requests_of, requests_since, require_requests
from penstock.registry.storage.folder import DATABASE
from penstock.registry.subscriptions import Snapshot

SAME = "S//a->x[k->y] FOLLOWED BY{y = z, INF} S//b->w[k->z]"


def fill(registry: ChangeableRegistry) -> None:
    for name in ("first", "second"):
        registry.add(name, penstock.xscl(SAME))
    registry.add("path", "//a")


@pytest.fixture
def durable(tmp_path: Path) -> DurableRegistry:
    registry = Registry.open(tmp_path)
    fill(registry)
    return registry


@pytest.fixture(params=["memory", "durable"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> ChangeableRegistry:
    registry = Registry() if request.param == "memory" else Registry.open(tmp_path)
    fill(registry)
    return registry


def names(registry: AnyRegistry) -> list[str]:
    return list(requests_of(registry.snapshot()))


def changed(older: Snapshot, registry: AnyRegistry) -> dict[str, bool]:
    """Return which names are listed, and whether they are there."""
    changes = requests_since(older, registry.snapshot())
    before = requests_of(older)
    return {name: one is not None for name, one in changes.items() if one != before.get(name)}


def test_what_changed_is_listed_and_nothing_else(registry: ChangeableRegistry) -> None:
    older = registry.snapshot()
    assert list(requests_of(older)) == ["first", "second"]
    registry.remove("first")
    registry.add("third", penstock.xscl(SAME))
    registry.add("fleeting", penstock.xscl(SAME))
    registry.remove("fleeting")
    registry.remove("path")
    assert changed(older, registry) == {"first": False, "third": True}
    assert requests_since(registry.snapshot(), registry.snapshot()) == {}


def test_a_query_that_becomes_a_path_joins_no_more(registry: ChangeableRegistry) -> None:
    older = registry.snapshot()
    registry.replace("first", "//a")
    assert changed(older, registry) == {"first": False}


def test_one_that_is_added_again_is_another_and_a_replaced_one_is_not(
    registry: ChangeableRegistry,
) -> None:
    older = registry.snapshot()
    registry.replace("first", penstock.xscl(SAME), owner="somebody")
    assert changed(older, registry) == {}
    registry.remove("second")
    registry.add("second", penstock.xscl(SAME))
    assert changed(older, registry) == {"second": True}


def test_what_moves_to_another_tier_does_not_change(registry: ChangeableRegistry) -> None:
    older = registry.snapshot()
    registry.add("other", "//b")
    assert registry.compact().plan.tier_count() == 1
    assert changed(older, registry) == {}
    assert set(requests_since(older, registry.snapshot())) == {"first", "second"}


def test_an_earlier_version_has_the_requests_that_it_had(durable: DurableRegistry) -> None:
    durable.remove("first")
    assert names(durable.at(3)) == ["first", "second"]
    assert names(durable.at(1)) == ["first"]
    assert names(durable) == ["second"]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM subscriptions WHERE name = 'third'",
        "UPDATE subscriptions SET text = 'S//b' WHERE name = 'third'",
        "UPDATE subscriptions SET removed = NULL, ending = NULL WHERE name = 'first'",
        "UPDATE subscriptions SET language = 'xpath' WHERE name = 'third'",
    ],
)
def test_a_damaged_change_is_not_taken_over(
    durable: DurableRegistry, tmp_path: Path, damage: str
) -> None:
    assert names(durable) == ["first", "second"]
    durable.remove("first")
    durable.add("third", penstock.xscl(SAME))
    durable.close()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        assert connection.execute(damage).rowcount == 1
    connection.close()
    with pytest.raises(DamageError):
        durable.snapshot()


def test_changes_that_are_undone_are_undone_for_who_saw_them(registry: ChangeableRegistry) -> None:
    with suppress(RuntimeError), registry.changes():
        registry.remove("first")
        registry.add("fourth", penstock.xscl(SAME))
        inside = registry.snapshot()
        raise RuntimeError
    assert list(requests_of(inside)) == ["second", "fourth"]
    registry.remove("second")
    assert changed(inside, registry) == {"first": True, "second": False, "fourth": False}


def test_who_cannot_serve_a_request_names_it_and_a_way_out(registry: ChangeableRegistry) -> None:
    snapshot = registry.snapshot()
    require_requests(snapshot, set(Request), "this", "that")
    with pytest.raises(RegistryError, match=r"`first` joins documents, .* use Engine\.run") as told:
        require_requests(snapshot, {Request.ROWS}, "Engine.matches", "Engine.run")
    assert told.value.code == "PR0011"
    registry.remove("first")
    registry.remove("second")
    require_requests(registry.snapshot(), {Request.ROWS}, "Engine.matches", "Engine.run")


def test_a_circle_is_found_inside_a_block_of_changes(registry: ChangeableRegistry) -> None:
    there = penstock.xscl("S//a->x JOIN{x = y, 1} S//b->y PUBLISH P")
    back = penstock.xscl("P//a->x JOIN{x = y, 1} R//b->y PUBLISH S")
    with registry.changes():
        registry.add("there", there)
        with pytest.raises(RegistryError, match="PR0010"):
            registry.add("back", back)
        registry.remove("there")
        registry.add("back", back)
        with pytest.raises(RegistryError, match="PR0010"):
            registry.add("there", there)
    with pytest.raises(RegistryError, match="PR0010"):
        registry.add("there", there)
    registry.remove("back")
    registry.add("there", there)
