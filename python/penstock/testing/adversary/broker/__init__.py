"""Random queries for the broker over recursive documents: together, alone, in pieces, live."""

from penstock.testing.adversary.broker.attack import attack

__all__ = ["attack"]
