"""Joins between documents: compiled queries over the native state, in and out of memory."""

from penstock.joins.joiner import Joiner, JoinOptions
from penstock.joins.reading import WitnessReader
from penstock.joins.results import Joined
from penstock.joins.subscribing import Found, Published, Subscriber, Subscribers

__all__ = [
    "Found",
    "JoinOptions",
    "Joined",
    "Joiner",
    "Published",
    "Subscriber",
    "Subscribers",
    "WitnessReader",
]
