"""View selection: which views to send ahead, from servers, queries, network and documents."""

from penstock.routing.selection.choosing import Selection, select, select_each
from penstock.routing.selection.workload import Workload, reach

__all__ = ["Selection", "Workload", "reach", "select", "select_each"]
