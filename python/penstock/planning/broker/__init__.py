"""Queries that the message broker serves: one loop over a path, conditions, an output.

A query in XQuery is *brokered* if it binds the elements of one path, leaves those for which
comparisons of relative paths with constants hold, and constructs a message from each of them alone.
Many such queries share almost everything: the kernel asks a small document all of them at once
(``crates/broker``). A program keeps its code for documents that are large or fed in pieces.
"""

from penstock.planning.broker.encoding import encode_brokered
from penstock.planning.broker.queries import Brokered
from penstock.planning.broker.recognition import as_brokered

__all__ = ["Brokered", "as_brokered", "encode_brokered"]
