"""The policies of Twig'n Join change which tuples come early, and none of the whole result."""

from __future__ import annotations

from random import Random

import pytest

from papers.twignjoin.joining import FLUSHES, PROBES, Flush, Policies, PolicyJoiner, Probe
from penstock.joins import Equality, JoinGraph, JoinOptions, ProgressiveJoiner, Side
from tests.unit.joins.test_progressive import (
    CHAIN,
    PAIR,
    Binding,
    bindings_of,
    brute_force,
    fragment_of,
)

SELECTIVITIES = (1.0, 0.9, 0.5, 0.1)
BUDGETS = (4_000, 20_000, 1 << 30)


def star(streams: int) -> JoinGraph:
    """Every pair of streams has the same value."""
    pairs = [(left, right) for right in range(streams) for left in range(right)]
    edges = [Equality(Side(left, 0), Side(right, 0)) for left, right in pairs]
    return JoinGraph([1] * streams, edges)


def tuples(joiner: ProgressiveJoiner, bindings: list[Binding]) -> list[tuple[int, ...]]:
    """Return the arrival numbers of all tuples; the join settles in the middle."""
    rows = []
    with joiner:
        for at, (stream, values, time) in enumerate(bindings, start=1):
            rows += joiner.push(stream, values, fragment_of(at), time)
            if at == len(bindings) // 2:
                rows += joiner.settle()
        rows += joiner.finish()
    assert all(part.fragment == fragment_of(part.arrival) for row in rows for part in row)
    return sorted(tuple(part.arrival for part in row) for row in rows)


def check(flush: Flush, probe: Probe, seed: int) -> int:
    """Compare a policy with the product and with brute force, in every budget."""
    graph = (PAIR, CHAIN, star(3))[seed % 3]
    bindings = bindings_of(graph, 90, 12, seed)
    want = sorted(brute_force(graph, bindings))
    policies = Policies(
        flush, partitions=16, page_bytes=500, probe=probe, selectivities=SELECTIVITIES
    )
    for state_bytes_max in BUDGETS:
        options = JoinOptions(state_bytes_max=state_bytes_max)
        found = tuples(PolicyJoiner(graph, policies, options, seed=seed), bindings)
        assert found == tuples(ProgressiveJoiner(graph, options), bindings) == want
    return len(want)


@pytest.mark.parametrize("flush", FLUSHES)
@pytest.mark.parametrize("probe", PROBES)
def test_every_policy_gives_every_tuple_once(flush: Flush, probe: Probe) -> None:
    assert sum(check(flush, probe, seed) for seed in range(3)) > 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
def test_every_policy_gives_every_tuple_once_in_many_draws(seed: int) -> None:
    for flush in FLUSHES:
        check(flush, PROBES[seed % len(PROBES)], seed)


def early(arrivals: list[tuple[int, int]], flush: Flush, state_bytes_max: int) -> tuple[int, int]:
    """Return the results of memory at half of the arrivals, and its bytes at the end."""
    options = JoinOptions(state_bytes_max=state_bytes_max)
    lasts = {stream: at for at, (stream, _) in enumerate(arrivals)}
    count = half = 0
    with PolicyJoiner(PAIR, Policies(flush, partitions=64), options) as joiner:
        for at, (stream, value) in enumerate(arrivals):
            count += sum(1 for _ in joiner.push(stream, [[b"%d" % value]], b"x" * 200))
            if lasts[stream] == at:
                joiner.end(stream)
            if at + 1 == len(arrivals) // 2:
                half = count
        return half, joiner.statistics().memory_bytes


def test_the_product_keeps_what_has_many_results_better_than_partitions_do() -> None:
    # Orders of two customers of three, and customers, in turns until there are no more customers.
    random, arrivals = Random(4), []
    for at in range(4000):
        arrivals.append((0, random.randrange(400) // 3 * 3 + random.randrange(2)))
        if at < 400:
            arrivals.append((1, at))
    everything, memory_bytes = early(arrivals, "auto", 1 << 40)
    found = {flush: early(arrivals, flush, memory_bytes // 10)[0] for flush in FLUSHES}
    assert found["auto"] * 2 > everything
    assert found["auto"] * 10 > max(found[one] for one in ("rrpj", "rpj", "random")) * 13
    # RRPJ knows results of partitions, RPJ their sizes alone.
    assert found["rrpj"] >= found["random"]


def probes(streams: list[list[int]], probe: Probe) -> int:
    """Return the probes of 4,000 arrivals of stream 0 while others hold some values."""
    graph = star(len(streams) + 1)
    selectivities = [1.0, *(len(one) / 400 for one in streams)]
    random = Random(7)
    policies = Policies(probe=probe, partitions=1, selectivities=selectivities)
    with PolicyJoiner(graph, policies) as joiner:
        for stream, values in enumerate(streams, start=1):
            for value in values:
                list(joiner.push(stream, [[b"%d" % value]], b""))
        before = joiner.statistics().probes
        for _ in range(4000):
            list(joiner.push(0, [[b"%d" % random.randrange(400)]], b""))
        return joiner.statistics().probes - before


def test_orders_of_probing_that_know_or_learn_need_fewer_probes() -> None:
    streams = [[*range(400)], [*range(400)], [*range(0, 400, 10)]]
    found = {probe: probes(streams, probe) for probe in PROBES}
    assert found["sequential"] == 3 * 4000
    least = 4000 + 2 * 400
    assert least - 200 < found["apriori"] < least + 200
    assert least - 200 < found["rop"] < least + 300
    assert found["rop-written"] < found["sequential"]


@pytest.mark.parametrize("settings", [{"flush": "lru"}, {"probe": "best"}])
def test_a_policy_that_does_not_exist_is_refused(settings: dict[str, Flush]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        PolicyJoiner(PAIR, Policies(**settings))
