"""Selection: greedy as the paper has it, exact as the yardstick, search never worse than greedy."""

from itertools import combinations
from random import Random

import pytest

from penstock.errors import SettingError
from penstock.routing import (
    Configuration,
    Router,
    Server,
    Statistics,
    Workload,
    measure,
    measure_selectivities,
    paths_of,
    propose,
    reach,
    select,
    select_each,
    stamp,
)
from penstock.routing.configuration import View
from penstock.routing.formulas import Check
from penstock.routing.queries import queries_of
from penstock.routing.selection.exact import exact
from penstock.routing.selection.greedy import greedy
from penstock.routing.selection.instance import Demand, Instance, Need, Way, bits
from penstock.routing.selection.search import search
from penstock.routing.statistics import Counts, Share


def instance_of(servers: list[list[int]], count: int) -> Instance:
    demands = tuple(Demand(tuple((Need((Way(1 << v),)),) for v in paths)) for paths in servers)
    return Instance(tuple(View(f"/v{n}") for n in range(count)), (1.0,) * count, demands)


def random_instance(random: Random) -> tuple[Instance, int]:
    count = random.randint(2, 8)
    servers = [
        random.sample(range(count), random.randint(1, min(3, count)))
        for _ in range(random.randint(1, 20))
    ]
    return instance_of(servers, count), random.randint(0, count)


def best_by_force(instance: Instance, size: int) -> float:
    places = range(len(instance.views))
    sets = (sum(1 << p for p in chosen) for chosen in combinations(places, size))
    return max(map(instance.value, sets))


def paper_greedy(servers: list[set[int]], count: int, size: int) -> set[int]:
    """Algorithm 1, as it is written."""
    left = set(range(count))
    need = {p: {n for n, server in enumerate(servers) if p in server} for p in left}
    for _ in range(count - size):
        gone = min(left, key=lambda p: (len(need[p]), -p))
        left.remove(gone)
        for other in left:
            need[other] -= need[gone]
    return left


@pytest.mark.parametrize("seed", range(40))
def test_greedy_is_algorithm_1(seed: int) -> None:
    random = Random(seed)
    count = random.randint(2, 10)
    servers = [
        set(random.choices(range(count), k=random.randint(1, 4)))
        for _ in range(random.randint(1, 30))
    ]
    size = random.randint(0, count)
    chosen = greedy(instance_of([sorted(server) for server in servers], count), size)
    assert set(bits(chosen)) == paper_greedy(servers, count, size)


@pytest.mark.parametrize("seed", range(40))
def test_exact_is_best_and_search_lies_between(seed: int) -> None:
    pytest.importorskip("highspy")
    instance, size = random_instance(Random(seed))
    best = best_by_force(instance, size)
    assert instance.value(exact(instance, size)) == pytest.approx(best)
    found = search(instance, size)
    assert len(list(bits(found))) <= size
    assert instance.value(greedy(instance, size)) <= instance.value(found) <= best + 1e-9


def test_search_sees_that_two_views_are_only_useful_together() -> None:
    # Discarding one at a time keeps the view that most need, and with it serves nobody.
    servers = [[0, 1]] * 3 + [[0, 2]] * 3 + [[0, 3]] * 3 + [[4, 5]] * 4
    instance = instance_of(servers, 6)
    assert instance.value(search(instance, 2)) == 4


def test_alternatives_chances_and_prices_count() -> None:
    direct, above = Way(0b01, chance=0.5), Way(0b10, price=0.2)
    instance = Instance(
        (View("/a/b"), View("/a", parts=True)),
        (1.0, 1.0),
        (Demand((((Need((direct, above))),),), 10),),
    )
    assert instance.value(0b01) == 5
    assert instance.value(0b10) == 8
    assert instance.value(0b11) == 8
    assert search(instance, 1) == exact(instance, 1) == 0b10


def test_short_circuit_makes_one_view_worth_something() -> None:
    need = (Need((Way(1),), false=0.9), Need((Way(2),), false=0.9))
    instance = Instance((View("/a"), View("/b")), (1.0, 1.0), (Demand((need,), 100),))
    assert instance.value(0) == 0
    assert instance.value(1) == pytest.approx(90)
    assert instance.value(3) == pytest.approx(100)


def servers(*texts: list[str]) -> dict[str, tuple]:  # type: ignore[type-arg]
    return {str(number): queries_of(one) for number, one in enumerate(texts)}


def test_a_selection_promises_what_servers_then_do() -> None:
    named = servers(["/n/a = 1"], ["/n/a = 1", "/n/b = 2"], ["/n/c = 1"])
    chosen = select(Workload(named), size=2)
    assert {view.path for view in chosen.configuration.views} == {"/n/a", "/n/b"}
    document = b"<n><a>1</a><b>2</b><c>3</c></n>"
    decisions = Router(named, [chosen.configuration]).decide(
        stamp(document, chosen.configuration), document
    )
    hits = [decision.is_hit for decision in decisions.values()]
    assert chosen.hit_rate == pytest.approx(sum(hits) / len(hits))


def test_the_network_weighs_servers() -> None:
    assert reach({"a": 100}, {"a": {"b": 0.5, "c": 0.1}, "b": {"c": 0.5}}) == {
        "a": 100,
        "b": 50,
        "c": 35,
    }
    named = servers(["/n/a = 1"], ["/n/b = 1"])
    weights = reach({"0": 1.0}, {"0": {"1": 3.0}})
    chosen = select(Workload(named, weights), size=1)
    assert [view.path for view in chosen.configuration.views] == ["/n/b"]
    assert chosen.hit_rate == pytest.approx(0.75)


def test_the_best_size_depends_on_the_cost_of_bytes() -> None:
    named = servers(*([["/n/a = 1"]] * 9), ["/n/b = 1"])
    assert len(select(Workload(named)).configuration) == 2
    assert len(select(Workload(named), byte_cost=0.02).configuration) == 1
    assert len(select(Workload(named), byte_cost=1.0).configuration) == 0
    assert len(select(Workload(named), header_bytes=9).configuration) == 1


def test_an_ancestor_takes_the_place_of_its_parts() -> None:
    named = servers(["/n/a/b = 1", "/n/a/c = 1", "/n/a/d = 1"])
    chosen = select(Workload(named, nested=True), size=1)
    assert chosen.configuration.views == (View("/n/a", parts=True),)
    # Three entries are better where there is room: nothing has to be parsed.
    assert len(select(Workload(named, nested=True), size=3).configuration) == 3


def test_positions_are_chosen_where_elements_repeat() -> None:
    named = servers(["/n/a = 1"])
    shares = {"/n/a": Share(0.0, 0.2, 0.8)}
    chosen = select(Workload(named, shares=shares, positions_max=2), size=3)
    assert {view.path for view in chosen.configuration.views} == {"/n/a[1]", "/n/a[2]", "/n/a[3]"}


def test_samples_say_how_often_views_have_a_node() -> None:
    documents = [b"<n><a>1</a></n>", b"<n/>", b"<n><a/><a/></n>", b"<n><a>3</a></n>"]
    known = measure(documents, paths_of(queries_of(["/n/a = 1"])))
    assert known.shares["/n/a"] == Share(0.25, 0.5, 0.25, 8.0)
    assert known.document_bytes == sum(map(len, documents)) / 4


def test_samples_say_how_selective_checks_are() -> None:
    queries = queries_of(["/n/a = 1 and matches(/n/a, '^1')", "/n/b = 1"])
    documents = [b"<n><a>1</a></n>", b"<n/>", b"<n><a>2</a><a>10</a></n>"]
    found = measure_selectivities(documents, queries)
    assert found == {
        ("/n/a", Check("=", 1.0)): 0.5,
        ("/n/a", Check("matches", "^1")): 1.0,
    }


def test_groups_have_configurations_of_their_own() -> None:
    found = select_each(
        {"eu": Workload(servers(["/n/a = 1"])), "us": Workload(servers(["/n/b = 1"]))}, size=1
    )
    paths = {name: [v.path for v in one.configuration.views] for name, one in found.items()}
    assert paths == {"eu": ["/n/a"], "us": ["/n/b"]}


def test_a_proposal_follows_what_servers_saw() -> None:
    current = Configuration(["/n/a"])
    router = Router({"a": ["/n/a = 1"], "b": ["/n/b = 1"]}, [current])
    document = b"<n><a>1</a><b>1</b></n>"
    router.route(stamp(document, current), document)
    seen = router.statistics()
    assert propose(seen, router, size=2).observed == 0.5
    seen.add(Statistics(servers={"b": Counts(documents=9, misses=9)}))
    proposal = propose(seen, router, size=1)
    assert [view.path for view in proposal.configuration.views] == ["/n/b"]
    assert proposal.expected == pytest.approx(10 / 11)
    assert Server(["/n/b = 1"]).decide(stamp(document, proposal.configuration), document).is_hit


def test_impossible_settings_are_refused() -> None:
    named = servers(["/n/a = 1"])
    with pytest.raises(SettingError, match="PV0005"):
        select(Workload(named), size=1, header_bytes=10)
    with pytest.raises(SettingError, match="PV0005"):
        select(Workload(named), size=1, method="magic")  # type: ignore[arg-type]
