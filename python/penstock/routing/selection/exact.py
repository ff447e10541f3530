"""The best choice, as a yardstick: an integer program for the restricted problem, else all sets."""

from __future__ import annotations

from itertools import combinations
from math import comb

from penstock.errors import SettingError
from penstock.routing.selection.instance import Instance, bits

SETS_MAX = 500_000
"""So many sets are tried where the problem is no integer program."""


def exact(instance: Instance, budget: float, byte_cost: float = 0.0) -> int:
    """Return a set of views of the highest value within a budget.

    ``byte_cost`` is what each byte of a header costs, in documents that are parsed.

    Raises:
        ImportError: The solver is not installed; it comes with the extra ``[routing]``.
        SettingError: The problem is too large.
    """
    if instance.required is None:
        return _best_of_all(instance, budget, byte_cost)
    return _solve(instance, instance.required, budget, byte_cost)


def _best_of_all(instance: Instance, budget: float, byte_cost: float) -> int:
    count = len(instance.views)
    if 2**count > SETS_MAX:
        fitting = [size for size in range(count + 1) if size * min(instance.sizes) <= budget]
        if sum(comb(count, size) for size in fitting) > SETS_MAX:
            message = f"{count} views are too many to try all sets of them; use `search`"
            raise SettingError("PV0005", message)
    best, best_value = 0, instance.value(0)
    for size in range(1, count + 1):
        for places in combinations(range(count), size):
            chosen = sum(1 << place for place in places)
            bytes_used = instance.size(chosen)
            if bytes_used > budget:
                continue
            value = instance.value(chosen) - byte_cost * bytes_used
            if value > best_value:
                best, best_value = chosen, value
    return best


def _solve(instance: Instance, required: dict[int, float], budget: float, byte_cost: float) -> int:
    """Maximise hits: a server hits no more than each view that it needs is chosen."""
    import highspy

    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.silent()
    chosen = [model.addBinary() for _ in instance.views]
    sizes = list(zip(instance.sizes, chosen, strict=True))
    model.addConstr(sum(size * variable for size, variable in sizes) <= budget)
    hits = []
    for views, weight in required.items():
        hit = model.addVariable(lb=0, ub=1)
        hits.append(weight * hit)
        for view in bits(views):
            model.addConstr(hit <= chosen[view])
    model.maximize(sum(hits) - byte_cost * sum(size * variable for size, variable in sizes))
    values = model.vals(chosen)
    return sum(1 << view for view, value in enumerate(values) if value > 0.5)
