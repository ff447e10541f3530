"""Joins between documents: compiled queries over the native state, in and out of memory."""

from penstock.joins.joiner import Joiner, JoinOptions, is_joining
from penstock.joins.programs import (
    JoinOutput,
    compile_program,
    compile_rows,
    is_program,
    is_publishing,
    output_of,
)
from penstock.joins.reading import WitnessReader
from penstock.joins.results import Joined
from penstock.joins.subscribing import Found, Published, Subscriber, Subscribers

__all__ = [
    "Found",
    "JoinOptions",
    "JoinOutput",
    "Joined",
    "Joiner",
    "Published",
    "Subscriber",
    "Subscribers",
    "WitnessReader",
    "compile_program",
    "compile_rows",
    "is_joining",
    "is_program",
    "is_publishing",
    "output_of",
]
