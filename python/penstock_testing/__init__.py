"""Slow and obviously right: what the fast parts of Penstock are tested against.

``tree`` reads a document into memory, ``reference`` evaluates queries over such trees, ``kleene``
says for every event what can be known after it, ``generate`` makes documents and queries up.
"""
