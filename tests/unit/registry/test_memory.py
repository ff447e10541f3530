"""The registry in memory: names, versions, and one plan for all engines."""

import pytest

import penstock
from penstock.errors import QueryError, RegistryError


def test_subscriptions_are_found_by_name_in_order_of_arrival() -> None:
    registry = penstock.Registry()
    registry.add("b", "//b", owner="me", delivery={"to": "there"})
    registry.add("a", penstock.xpath("//a"), mode="filter")
    assert [one.name for one in registry] == ["b", "a"]
    assert len(registry) == 2
    assert "a" in registry
    assert "c" not in registry
    assert registry.get("c") is None
    found = registry.get("b")
    assert found is not None
    assert (found.owner, found.delivery, found.mode) == ("me", {"to": "there"}, "query")
    assert found.query.text == "//b"


def test_the_version_grows_with_every_change_and_only_then() -> None:
    registry = penstock.Registry()
    versions = [registry.version]
    registry.add("a", "//a")
    versions.append(registry.version)
    registry.replace("a", "//b")
    versions.append(registry.version)
    registry.remove("a")
    versions.append(registry.version)
    assert versions == sorted(set(versions))
    with pytest.raises(RegistryError):
        registry.remove("a")
    with pytest.raises(QueryError):
        registry.add("c", "//[")
    assert registry.version == versions[-1]


def test_a_name_is_taken_once() -> None:
    registry = penstock.Registry()
    registry.add("a", "//a")
    with pytest.raises(RegistryError) as caught:
        registry.add("a", "//b")
    assert caught.value.code == "PR0001"
    kept = registry.get("a")
    assert kept is not None
    assert kept.query.text == "//a"


@pytest.mark.parametrize("change", ["remove", "replace"])
def test_what_is_not_there_cannot_be_changed(change: str) -> None:
    registry = penstock.Registry()
    with pytest.raises(RegistryError) as caught:
        registry.remove("a") if change == "remove" else registry.replace("a", "//a")
    assert caught.value.code == "PR0002"


@pytest.mark.parametrize(("name", "mode", "code"), [("", "query", "PR0003"), ("a", "x", "PR0004")])
def test_names_and_modes_are_checked(name: str, mode: str, code: str) -> None:
    with pytest.raises(RegistryError) as caught:
        penstock.Registry().add(name, "//a", mode=mode)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_a_plan_is_built_once_per_version() -> None:
    registry = penstock.Registry()
    registry.add("a", "//a")
    first = registry.snapshot()
    assert registry.snapshot() is first
    registry.add("b", "//b")
    assert registry.snapshot() is not first
    assert first.names == ("a",)


def test_an_empty_registry_finds_nothing() -> None:
    assert list(penstock.Engine(penstock.Registry()).run("<a/>")) == []
