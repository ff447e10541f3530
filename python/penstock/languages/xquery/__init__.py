"""XQuery 1.0, from text to expressions over sequences."""

from penstock.languages.xquery.frontend import bind, parse, xquery
from penstock.languages.xquery.values import documents_of

__all__ = ["bind", "documents_of", "parse", "xquery"]
