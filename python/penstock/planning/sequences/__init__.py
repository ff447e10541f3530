"""Queries over sequences become programs: what is read of a document, and what is evaluated.

``programs`` compiles; it also needs ``planning.broker``, which needs modules of this package, so
nothing is imported here.
"""
