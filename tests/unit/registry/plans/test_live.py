"""A registry that changes under an engine answers as one that was built with what it has."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock import Registry
from penstock.errors import RegistryError
from penstock.registry.plans import live
from penstock.registry.plans.tiers import PlannedSubscription
from penstock.twigs import Query
from penstock_testing.generate import random_document, random_expression, random_xpath

Rows = list[tuple[object, ...]]


def rows_of(results: Iterable[penstock.Result]) -> Rows:
    """Return rows, those of each subscription in their order."""
    found: Rows = [
        (
            row.subscription,
            row.ordinal,
            row.kind,
            row.name,
            row.value,
            row.xml,
            row.decided_at,
            row.bindings,
        )
        for row in results
    ]
    return sorted(found, key=lambda row: str(row[0]))


def fresh(registry: Registry) -> Registry:
    """Return a registry that was built at once."""
    built = Registry()
    for one in registry:
        built.add(one.name, one.query, "query" if one.mode == "running" else one.mode)
    return built


def question(random: Random) -> Query | str:
    """Return twigs, an expression, or nodes with values beside them."""
    draw = random.choice((random_expression, random_xpath))
    text = draw(random)
    if random.random() < 0.6:
        return text
    return penstock.xpath(text, select={"x": "@x", f"up{random.randrange(3)}": "..", "b": "b[2]"})


def change(random: Random, registry: Registry, names: int) -> None:
    name = f"s{random.randrange(names)}"
    mode = random.choice(("query", "query", "filter"))
    try:
        if name not in registry:
            registry.add(name, question(random), mode)  # type: ignore[arg-type]
        elif random.random() < 0.5:
            registry.remove(name)
        else:
            registry.replace(name, question(random), mode)  # type: ignore[arg-type]
    except penstock.QueryError:
        pass  # a prefix without a namespace, or values beside a value


def wait(registry: Registry) -> None:
    """Let merges end, so that their tiers are used."""
    registry.snapshot()
    plan = getattr(registry, "_live", None) or registry._current._live  # type: ignore[attr-defined]
    plan.wait()


def check(random: Random, registry: Registry, count: int) -> None:
    order = random.choice(("decided", "document"))
    pushing = penstock.Engine(registry)
    expected: list[Rows] = []

    def documents() -> Iterator[bytes]:
        for _ in range(count):
            for _ in range(random.choice((0, 1, 1, 2, 9))):
                change(random, registry, 24)
            if random.random() < 0.2:
                wait(registry)
            document = random_document(random)
            expected.append(rows_of(penstock.Engine(fresh(registry)).run(document, order=order)))
            with pushing.open(id="d") as opened:
                pushed = opened.feed(document)
            in_order = rows_of(penstock.Engine(fresh(registry)).run(document))
            assert rows_of(pushed + opened.results) == in_order
            yield document

    found: list[list[penstock.Result]] = [[] for _ in range(count)]
    for row in penstock.Engine(registry).run(documents(), order=order):  # type: ignore[arg-type]
        found[int(row.document or 0)].append(row)
    for rows, wanted in zip(found, expected, strict=True):
        assert rows_of(rows) == wanted


@pytest.fixture
def small_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few subscriptions be as many tiers as a million otherwise."""
    monkeypatch.setattr(live, "SMALL_MAX", 2)
    monkeypatch.setattr(live, "RATIO", 1)


@pytest.fixture
def no_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave tiers as they are, however much time there is to merge them."""
    monkeypatch.setattr(live.LivePlan, "merge_in_background", lambda *_: None)


@pytest.mark.usefixtures("small_tiers")
@pytest.mark.parametrize("seed", range(6))
def test_changes_under_load_give_what_a_fresh_build_gives(seed: int) -> None:
    check(Random(seed), Registry(), 25)


@pytest.mark.usefixtures("small_tiers")
@pytest.mark.parametrize("seed", range(3))
def test_changes_of_a_durable_registry_do_too(seed: int, tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    check(Random(seed), registry, 15)
    wait(registry)
    document = random_document(Random(seed))
    expected = rows_of(penstock.Engine(fresh(registry)).run(document))
    assert rows_of(penstock.Engine(Registry.open(tmp_path)).run(document)) == expected


@pytest.mark.slow
@pytest.mark.usefixtures("small_tiers")
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_many_changes_under_load_give_what_a_fresh_build_gives(seed: int) -> None:
    check(Random(seed), Registry(), 80)


@pytest.mark.usefixtures("small_tiers", "no_merges")
def test_where_pieces_end_changes_no_row_of_several_tiers() -> None:
    registry = Registry()
    for number in range(9):
        registry.add(f"s{number}", f"//a[@n >= {number}]")
        registry.snapshot()
    assert registry.snapshot().plan.tier_count() > 1
    document = b"<r>" + b"".join(b'<a n="%d"><a n="4"/></a>' % n for n in range(9)) + b"</r>"
    engine = penstock.Engine(registry)
    whole = [(row.subscription, row.ordinal, row.start) for row in engine.run(document)]
    for size in (1, 7, 64):
        with engine.open() as opened:
            found = [
                (row.subscription, row.ordinal, row.start)
                for start in range(0, len(document), size)
                for row in opened.feed(document[start : start + size])
            ]
        assert found == whole


@pytest.mark.usefixtures("small_tiers")
def test_a_merge_keeps_what_was_removed_meanwhile_out() -> None:
    registry = Registry()
    for number in range(12):
        registry.add(f"s{number}", "//a")
        registry.snapshot()
    plan, read = registry._live, registry._live._read
    plan.wait()

    def read_and_remove(first: int, last: int) -> list[PlannedSubscription]:
        rows = list(read(first, last))
        registry.remove("s1")
        return rows

    plan._read = read_and_remove
    plan.merge(0, 1)
    registry._forget_snapshot()
    found = {row.subscription for row in penstock.Engine(registry).run("<a/>")}
    assert found == {f"s{number}" for number in range(12) if number != 1}


def test_a_failed_block_leaves_the_plan_as_it_was() -> None:
    registry = Registry()
    for number in range(200):
        registry.add(f"s{number}", f"//a[@n = {number}]")
    registry.snapshot()

    def change_and_fail() -> None:
        with registry.changes():
            registry.remove("s3")
            registry.replace("s4", "//b")
            registry.add("new", "//a")
            with registry.changes():
                registry.remove("s5")
            registry.add("s6", "//a")

    with pytest.raises(RegistryError):
        change_and_fail()
    document = "<r>" + "".join(f'<a n="{n}"/>' for n in range(200)) + "</r>"
    found = {row.subscription for row in penstock.Engine(registry).run(document)}
    assert [one.name for one in registry] == [f"s{n}" for n in range(200)]
    assert found == {f"s{n}" for n in range(200)}


@pytest.mark.usefixtures("small_tiers")
def test_sizes_of_tiers_grow_geometrically() -> None:
    registry = Registry()
    for number in range(300):
        registry.add(f"s{number}", f"//a[@n = {number}]")
        wait(registry)
    assert registry.snapshot().plan.tier_count() <= 10
    for number in range(290):
        registry.remove(f"s{number}")
        wait(registry)
    assert len(registry.snapshot().names) < 60


@pytest.mark.usefixtures("small_tiers", "no_merges")
def test_values_beside_results_find_their_rows_in_all_tiers() -> None:
    pytest.importorskip("pyarrow")
    registry = Registry()
    for number in range(9):
        select = {f"n{number}": "@n", "up": "../@n"} if number % 2 else None
        registry.add(f"s{number}", penstock.xpath("//a", select=select))
        registry.snapshot()
    registry.remove("s3")
    assert registry.snapshot().plan.tier_count() > 1
    document = "<a n='1'><b/><a n='2'/></a>"
    expected = {
        f"s{number}": [
            {f"n{number}": "2", "up": "1"} if number % 2 else None,
            {f"n{number}": "1", "up": None} if number % 2 else None,
        ]
        for number in range(9)
        if number != 3
    }

    def by_name(rows: Iterable[tuple[object, object]]) -> dict[object, list[object]]:
        found: dict[object, list[object]] = {}
        for name, beside in rows:
            found.setdefault(name, []).append(beside)
        return found

    engine = penstock.Engine(registry)
    rows = [(row.subscription, row.bindings) for row in engine.run([document, document])]
    assert by_name(rows) == {name: beside * 2 for name, beside in expected.items()}
    batches = engine.batches([document, document])
    listed = [row for batch in batches for row in batch.to_pylist()]
    found = [(row["subscription"], row["bindings"] and dict(row["bindings"])) for row in listed]
    assert by_name(found) == by_name(rows)
    ordered = [(row.subscription, row.bindings) for row in engine.run(document, order="document")]
    assert by_name(ordered) == {name: beside[::-1] for name, beside in expected.items()}


@pytest.mark.usefixtures("small_tiers", "no_merges")
def test_batches_name_the_subscriptions_of_all_tiers() -> None:
    pytest.importorskip("pyarrow")
    registry = Registry()

    def documents() -> Iterator[str]:
        for number in range(10):
            registry.add(f"s{number}", "//a")
            yield "<a/>"

    found = [
        (row["document"], row["subscription"])
        for batch in penstock.Engine(registry).batches(documents())  # type: ignore[arg-type]
        for row in batch.to_pylist()
    ]
    assert sorted(found) == [(str(d), f"s{s}") for d in range(10) for s in range(d + 1)]
