"""Pairs of queries and documents that are built to cost much: every one has to end within bounds.

Each pair runs in a process of its own with 1 GiB of address space and the default limits. It has to
end with rows or with error rows: no abort, no panic, no lack of memory. Then the same engine has to
read a small document right, and subscriptions that did not fail have to get what they get alone.
"""

from penstock_testing.adversary.costs.attack import attack

__all__ = ["attack"]
