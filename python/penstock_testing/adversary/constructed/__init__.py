"""An attack on what queries make: trees, sequences and texts that double with every call.

The documents are small; what a query makes of them is not. A query either ends with an error of
its own and a code, or has its rows; memory stays within a small multiple of the limit, and all
other subscriptions get what they get alone.
"""

from penstock_testing.adversary.constructed.attack import attack

__all__ = ["attack"]
