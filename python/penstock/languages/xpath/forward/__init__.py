"""Reverse axes looked at from the front: paths that go up become paths that only go down.

The rewriting works on the syntax tree, before twigs are made of it, by rules in the manner of
Olteanu, Meuss, Furche and Bry, "XPath: Looking Forward". A path becomes the union of few forward
paths that select the same nodes. Predicates keep their order and stay whole, so that one with a
position is still there for the twigs to refuse.
"""

from penstock.languages.xpath.forward.rewriting import look_forward, looks_back

__all__ = ["look_forward", "looks_back"]
