"""View selection as users call it: a configuration for a budget, the best size, or by group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from penstock.errors import SettingError
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.routing.configuration import Configuration, View
from penstock.routing.selection.exact import exact
from penstock.routing.selection.greedy import greedy
from penstock.routing.selection.instance import Instance, bits
from penstock.routing.selection.search import search
from penstock.routing.selection.workload import Workload
from penstock.routing.statistics import paths_of

Method = Literal["search", "greedy", "exact"]
METHODS: dict[Method, Callable[[Instance, float], int]] = {
    "search": search,
    "greedy": greedy,
    "exact": exact,
}


@dataclass(frozen=True)
class Selection:
    """A configuration, the share of documents that it saves a parse, and its header's size."""

    configuration: Configuration
    hit_rate: float
    header_bytes: float


def select(
    workload: Workload,
    *,
    size: int | None = None,
    header_bytes: float | None = None,
    byte_cost: float = 0.0,
    method: Method = "search",
    namespaces: NamespaceMap | None = None,
) -> Selection:
    """Return the views that make servers hit most often.

    Either ``size`` says how many views there may be, or ``header_bytes`` how long a header may be
    on average; with neither, the best size is found, where ``byte_cost`` is what one byte of
    a header costs, as a share of a parse, each time that a document is sent to a server.

    Raises:
        SettingError: There are both bounds; or the exact method cannot solve a problem so large.
        ImportError: The exact method needs the extra ``[routing]``.
    """
    if size is not None and header_bytes is not None:
        raise SettingError("PV0005", "give size or header_bytes, not both")
    if method not in METHODS:
        raise SettingError("PV0005", f"the method is one of {', '.join(METHODS)}, not {method!r}")
    instance = workload.instance(by_count=size is not None)
    if size is not None:
        chosen = METHODS[method](instance, float(size))
    elif header_bytes is not None:
        chosen = METHODS[method](instance, header_bytes)
    else:
        chosen = _best_size(instance, byte_cost, method)
    measured = workload.instance()
    used = [view for view in bits(chosen) if _is_used(instance, chosen, view)]
    views = _merged([instance.views[view] for view in used])
    configuration = Configuration(views, namespaces=namespaces or _bindings(workload))
    rate = instance.value(chosen) / instance.weight if instance.weight else 0.0
    return Selection(configuration, rate, measured.size(sum(1 << view for view in used)))


def select_each(
    workloads: Mapping[str, Workload],
    *,
    size: int | None = None,
    header_bytes: float | None = None,
    byte_cost: float = 0.0,
    method: Method = "search",
) -> dict[str, Selection]:
    """Return a selection for each type of documents, or for each region of a network.

    Raises:
        SettingError: As ``select`` does.
    """
    return {
        name: select(
            workload, size=size, header_bytes=header_bytes, byte_cost=byte_cost, method=method
        )
        for name, workload in workloads.items()
    }


def _best_size(instance: Instance, byte_cost: float, method: Method) -> int:
    """Return the best choice of any size: every budget is tried that one more view fits into."""
    price = byte_cost * instance.weight
    if method == "exact" and instance.required is not None:
        return exact(instance, instance.size(instance.everything), price)
    best, best_net = 0, instance.value(0)
    for budget in sorted(_budgets(instance)):
        chosen = METHODS[method](instance, budget)
        net = instance.value(chosen) - price * instance.size(chosen)
        if net > best_net:
            best, best_net = chosen, net
    return best


def _budgets(instance: Instance) -> set[float]:
    total, budgets = 0.0, set()
    for size in sorted(instance.sizes, reverse=True):
        total += size
        budgets.add(total)
    return budgets


def _is_used(instance: Instance, chosen: int, view: int) -> bool:
    """Whether a view is worth anything beside the others; what is not need not be sent."""
    return instance.change(chosen ^ 1 << view, chosen) > 0


def _merged(views: list[View]) -> list[View]:
    """Return views without doubles: a path that is chosen twice has the parts of one of them."""
    parts: dict[str, bool] = {}
    for view in views:
        parts[view.path] = parts.get(view.path, False) or view.parts
    return [View(path, parted) for path, parted in parts.items()]


def _bindings(workload: Workload) -> dict[str, tuple[str, ...]]:
    found = {path.bindings for queries in workload.servers.values() for path in paths_of(queries)}
    if len(found) > 1:
        message = "queries bind prefixes differently; give the namespaces of the views"
        raise SettingError("PV0005", message)
    return dict(found.pop()) if found else {}
