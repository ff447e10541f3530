"""XQuery 1.0, from text to expressions over sequences."""

from penstock.languages.xquery.frontend import parse, xquery

__all__ = ["parse", "xquery"]
