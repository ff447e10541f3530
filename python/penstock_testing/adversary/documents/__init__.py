"""Damaged and hostile documents, held against the verdicts of libxml2 and expat."""

from penstock_testing.adversary.documents.attack import attack

__all__ = ["attack"]
