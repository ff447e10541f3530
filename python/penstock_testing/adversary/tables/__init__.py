"""Random tables over random documents: the engine gives the rows of libxml2 and of plain Python."""

from penstock_testing.adversary.tables.attack import attack

__all__ = ["attack"]
