"""Stream views: a producer says where the interesting nodes of a document are, and servers decide
from that header, without parsing, what to do with the document."""

from penstock.routing.configuration import Configuration, View
from penstock.routing.headers import Stamper, read, stamp, verify
from penstock.routing.queries import Condition
from penstock.routing.server import Decision, Routed, Router, Server
from penstock.routing.statistics import Statistics, measure

__all__ = [
    "Condition",
    "Configuration",
    "Decision",
    "Routed",
    "Router",
    "Server",
    "Stamper",
    "Statistics",
    "View",
    "measure",
    "read",
    "stamp",
    "verify",
]
