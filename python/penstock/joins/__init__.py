"""Joins between documents: compiled queries over the native state, in and out of memory."""

from penstock.joins.joiner import Joiner, JoinOptions, check_join, is_joining
from penstock.joins.results import Joined
from penstock.joins.subscribing import Found, Published, Subscriber, Subscribers, compile_query

__all__ = [
    "Found",
    "JoinOptions",
    "Joined",
    "Joiner",
    "Published",
    "Subscriber",
    "Subscribers",
    "check_join",
    "compile_query",
    "is_joining",
]
