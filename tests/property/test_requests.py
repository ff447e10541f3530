"""Whoever follows the requests of a registry knows what a registry filled anew has."""

from __future__ import annotations

from random import Random

import pytest

import penstock
from penstock.planning.programs import compile_program
from penstock.registry.plans import live
from penstock.registry.requests import Requested, requests_of, requests_since

TEXTS = [f"S//a{n}->x JOIN{{x = y, {n} s}} T//b->y" for n in range(1, 4)]
PATHS = ["//a", "//b[c = 1]"]


@pytest.mark.parametrize("seed", range(20))
def test_followed_changes_add_up_to_what_is_there(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SMALL_MAX", 3)
    random, registry = Random(seed), penstock.Registry()
    programs: dict[str, bytes] = {}
    added_in: dict[str, int] = {}
    steps_of_places: dict[tuple[str, int], int] = {}
    known: dict[str, Requested] = {}
    snapshot, tiers = registry.snapshot(), 0
    for step in range(150):
        name, is_join = f"s{random.randrange(12)}", random.random() < 0.6
        query = penstock.xscl(random.choice(TEXTS)) if is_join else random.choice(PATHS)
        programs.pop(name, None)
        if name in registry and random.random() < 0.5:
            registry.remove(name)
        else:
            if name in registry:
                registry.replace(name, query)
            else:
                registry.add(name, query)
                added_in[name] = step
            if is_join:
                programs[name] = compile_program(query)
        if random.random() < 0.1:
            registry.compact()
        if random.random() < 0.2:
            registry._live.wait()
        if random.random() < 0.4:
            continue
        older, snapshot = snapshot, registry.snapshot()
        tiers = max(tiers, snapshot.plan.tier_count())
        for changed, requested in requests_since(older, snapshot).items():
            known.pop(changed, None)
            if requested is not None:
                known[changed] = requested
        assert known == requests_of(snapshot)
        assert {name: one.program for name, one in known.items()} == programs
        for name, requested in known.items():
            # The same place, the same subscription.
            first = steps_of_places.setdefault((name, requested.place), added_in[name])
            assert first == added_in[name]
    assert tiers > 2
