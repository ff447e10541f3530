"""Attacks on stream views: random documents, configurations, queries, and headers of all kinds.

Headers are right, damaged, cut, of other configurations and of other documents; whatever they are,
a server has to give the answer of the definitions.
"""

from penstock_testing.adversary.views.attacking import attack

__all__ = ["attack"]
