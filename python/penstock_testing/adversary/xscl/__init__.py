"""Attacks on XSCL: random subscriptions and streams, against brute force from the definitions.

What is random is in ``queries`` and ``arrivals``, what is expected in ``brute``; ``shrink`` makes a
case that fails smaller.
"""

from penstock_testing.adversary.xscl.attacking import attack

__all__ = ["attack"]
