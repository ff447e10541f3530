"""Documents and expressions made up at random, the same for the same seed."""

from penstock.testing.generate.documents import DocumentKnobs, random_document
from penstock.testing.generate.expressions import ExpressionKnobs, random_expression
from penstock.testing.generate.names import NAMESPACES

__all__ = [
    "NAMESPACES",
    "DocumentKnobs",
    "ExpressionKnobs",
    "random_document",
    "random_expression",
]
