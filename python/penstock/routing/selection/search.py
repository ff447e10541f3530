"""A better heuristic than greedy: several starts, then exchanges, then small upheavals.

Discarding one view at a time never sees that two views are only useful together, so a second start
adds the needs of whole servers, the best for its bytes first. From each start views are exchanged
as long as that helps. Upheavals take some views out at random and fill up again. The result is
never worse than greedy's, which is one of the starts.
"""

from __future__ import annotations

from random import Random

from penstock.routing.selection.greedy import greedy
from penstock.routing.selection.instance import Demand, Instance, bits

UPHEAVALS = 24
_LEAST = 1e-9


def search(instance: Instance, budget: float, seed: int = 0) -> int:
    """Return a set of views whose sizes fit into a budget; the same for the same seed."""
    random = Random(seed)
    starts = (greedy(instance, budget), fill(instance, budget, 0))
    best = max((improve(instance, budget, start) for start in starts), key=instance.value)
    for _ in range(UPHEAVALS if best not in (0, instance.everything) else 0):
        held = list(bits(best))
        dropped = random.sample(held, min(len(held), random.randint(1, 3)))
        kept = best & ~sum(1 << view for view in dropped)
        banned = 1 << random.choice(dropped)
        again = improve(instance, budget, fill(instance, budget, kept, banned))
        if instance.change(best, again) > _LEAST:
            best = again
    return best


def fill(instance: Instance, budget: float, chosen: int, banned: int = 0) -> int:
    """Return more views: what a whole server still needs, the best gain for its bytes first."""
    wants = {views for demand in instance.demands for views in _wants(demand)}
    while True:
        room = budget - instance.size(chosen)
        best, best_rate = chosen, 0.0
        for added in sorted({views & ~chosen for views in wants if not views & banned} - {0}):
            size = instance.size(added)
            if size > room:
                continue
            rate = instance.change(chosen, chosen | added) / size
            if rate > best_rate:
                best, best_rate = chosen | added, rate
        if best == chosen:
            return _top_up(instance, budget, chosen, banned)
        chosen = best


def _wants(demand: Demand) -> list[int]:
    """Return sets of views that make a server hit: the first way of each need, and the last."""
    sets = []
    for place in (0, -1):
        views = 0
        for query in demand.queries:
            for need in query:
                if need.ways:
                    views |= need.ways[place].views
        sets.append(views)
    return sets


def _top_up(instance: Instance, budget: float, chosen: int, banned: int) -> int:
    """Return the same with further views where there is room, so that exchanges have material."""
    rest = bits(instance.everything & ~chosen & ~banned)
    for view in sorted(rest, key=lambda view: -_demanded(instance, view)):
        after = chosen | 1 << view
        if instance.size(after) <= budget:
            chosen = after
    return chosen


def _demanded(instance: Instance, view: int) -> float:
    required = instance.required
    if required is not None:
        return sum(weight for views, weight in required.items() if views >> view & 1)
    return instance.value(instance.everything) - instance.value(instance.everything ^ 1 << view)


def improve(instance: Instance, budget: float, chosen: int) -> int:
    """Return what exchanges of one view for another make of a choice."""
    while True:
        best, best_gain = chosen, _LEAST
        for out in [*bits(chosen), None]:
            kept = chosen if out is None else chosen ^ 1 << out
            for view in bits(instance.everything & ~chosen):
                after = kept | 1 << view
                if instance.size(after) > budget:
                    continue
                gain = instance.change(chosen, after)
                if gain > best_gain:
                    best, best_gain = after, gain
        if best == chosen:
            return chosen
        chosen = best
