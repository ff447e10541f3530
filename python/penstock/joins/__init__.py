"""Joins between documents: compiled queries over the native state, in and out of memory."""

from penstock.joins.joiner import Joiner, JoinOptions, check_join, compile_query, is_joining
from penstock.joins.results import Joined

__all__ = ["JoinOptions", "Joined", "Joiner", "check_join", "compile_query", "is_joining"]
