"""Whoever follows the requests of a registry knows what a registry filled anew has."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import penstock
from penstock.planning.programs import compile_program
from penstock.registry.plans import live
from penstock.registry.plans.tiers import Tier
from penstock.registry.requests import Requested, requests_of, requests_since
from tests.volume import short

TEXTS = [f"S//a{n}->x JOIN{{x = y, {n} s}} T//b->y" for n in range(1, 4)]
PATHS = ["//a", "//b[c = 1]"]
STEPS = 150


class Follower:
    """A registry that changes at random, and what somebody knows who follows its requests."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.registry = penstock.Registry()
        self.tiers_max = 0
        self.merges_taken = 0
        """Merges during which the registry changed, and whose tier was used."""
        self._steps = 0
        self._programs: dict[str, bytes] = {}
        self._added_in: dict[str, int] = {}
        self._steps_of_places: dict[tuple[str, int], int] = {}
        self._known: dict[str, Requested] = {}
        self._snapshot = self.registry.snapshot()

    def step(self) -> None:
        """Change the registry, and look at what changed, or later."""
        self._steps += 1
        self._change()
        if self.random.random() < 0.1:
            self.registry.compact()
        if self.random.random() < 0.6:
            self._follow()

    def merge(self, meanwhile: Callable[[], None]) -> None:
        """Merge tiers if some are due; ``meanwhile`` is called before the merged tier is used."""
        plan, merged = self.registry._live, list[Tier]()

        def hold(tier: Tier) -> None:
            plan._prepare = None
            merged.append(tier)
            meanwhile()

        if (due := plan._due()) is not None:
            before = self.registry.version
            plan._prepare = hold
            plan.merge(*due)
            self.registry._forget_snapshot()
            is_changed = self.registry.version > before
            self.merges_taken += is_changed and merged[0] in plan._tiers

    def _change(self) -> None:
        random, registry = self.random, self.registry
        name, is_join = f"s{random.randrange(12)}", random.random() < 0.6
        query = penstock.xscl(random.choice(TEXTS)) if is_join else random.choice(PATHS)
        self._programs.pop(name, None)
        if name in registry and random.random() < 0.5:
            registry.remove(name)
            return
        if name in registry:
            registry.replace(name, query)
        else:
            registry.add(name, query)
            self._added_in[name] = self._steps
        if is_join:
            self._programs[name] = compile_program(query)

    def _follow(self) -> None:
        older, snapshot = self._snapshot, self.registry.snapshot()
        self._snapshot = snapshot
        self.tiers_max = max(self.tiers_max, snapshot.plan.tier_count())
        known = self._known
        for changed, requested in requests_since(older, snapshot).items():
            known.pop(changed, None)
            if requested is not None:
                known[changed] = requested
        assert known == requests_of(snapshot)
        assert {name: one.program for name, one in known.items()} == self._programs
        for name, requested in known.items():
            # The same place, the same subscription.
            added_in = self._added_in[name]
            place = (name, requested.place)
            assert self._steps_of_places.setdefault(place, added_in) == added_in


@pytest.mark.parametrize("seed", short(range(20), 5))
def test_followed_changes_add_up_to_what_is_there(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SMALL_MAX", 3)
    # Merges come where the seed says, not where a thread gets to them.
    monkeypatch.setattr(live.LivePlan, "merge_in_background", lambda *_: None)
    random = Random(seed)
    follower = Follower(random)

    def meanwhile() -> None:
        for _ in range(random.randrange(8)):
            follower.step()

    for _ in range(STEPS):
        follower.step()
        if random.random() < 0.4:
            follower.merge(meanwhile)
    assert follower.tiers_max > 2
    assert follower.merges_taken > 0
