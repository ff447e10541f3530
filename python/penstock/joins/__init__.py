"""Joins between documents: compiled queries over the native state, in and out of memory."""

from penstock.joins.feeding import BindingFeeder, Failed, Origin, TupleBinding
from penstock.joins.joiner import Joiner, JoinOptions
from penstock.joins.progressive import (
    Comparison,
    Equality,
    JoinGraph,
    Part,
    ProgressiveJoiner,
    ProgressiveStatistics,
    Side,
    StreamStatistics,
)
from penstock.joins.reading import WitnessReader
from penstock.joins.results import Joined
from penstock.joins.subscribing import Found, Outcome, Published, Subscriber, Subscribers

__all__ = [
    "BindingFeeder",
    "Comparison",
    "Equality",
    "Failed",
    "Found",
    "JoinGraph",
    "JoinOptions",
    "Joined",
    "Joiner",
    "Origin",
    "Outcome",
    "Part",
    "ProgressiveJoiner",
    "ProgressiveStatistics",
    "Published",
    "Side",
    "StreamStatistics",
    "Subscriber",
    "Subscribers",
    "TupleBinding",
    "WitnessReader",
]
