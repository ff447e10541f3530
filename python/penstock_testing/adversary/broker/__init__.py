"""Random queries for the broker over recursive documents: together, alone, in pieces, live."""

from penstock_testing.adversary.broker.attack import attack

__all__ = ["attack"]
