"""Joins between documents: compiled queries over the native state, in and out of memory."""

from penstock.joins.joiner import Joiner, JoinOptions
from penstock.joins.reading import WitnessReader
from penstock.joins.results import Joined
from penstock.joins.subscribing import Found, Outcome, Published, Subscriber, Subscribers

__all__ = [
    "Found",
    "JoinOptions",
    "Joined",
    "Joiner",
    "Outcome",
    "Published",
    "Subscriber",
    "Subscribers",
    "WitnessReader",
]
