"""Stream views: a producer says where the interesting nodes of a document are, and servers decide
from that header, without parsing, what to do with the document."""

from penstock.routing.catalog import Catalog, root_name
from penstock.routing.configuration import Configuration, View
from penstock.routing.explaining import explain
from penstock.routing.headers import Stamper, read, stamp, verify
from penstock.routing.proposals import Proposal, propose
from penstock.routing.queries import Condition
from penstock.routing.selection import Selection, Workload, reach, select, select_each
from penstock.routing.server import Decision, Routed, Router, Server
from penstock.routing.statistics import Statistics, measure, measure_selectivities, paths_of

__all__ = [
    "Catalog",
    "Condition",
    "Configuration",
    "Decision",
    "Proposal",
    "Routed",
    "Router",
    "Selection",
    "Server",
    "Stamper",
    "Statistics",
    "View",
    "Workload",
    "explain",
    "measure",
    "measure_selectivities",
    "paths_of",
    "propose",
    "reach",
    "read",
    "root_name",
    "select",
    "select_each",
    "stamp",
    "verify",
]
