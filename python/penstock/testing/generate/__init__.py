"""Documents and expressions made up at random, the same for the same seed."""

from penstock.testing.generate.documents import DocumentKnobs, random_document
from penstock.testing.generate.expressions import ExpressionKnobs, random_expression
from penstock.testing.generate.names import NAMESPACES
from penstock.testing.generate.whole import WholeKnobs, random_xpath

__all__ = [
    "NAMESPACES",
    "DocumentKnobs",
    "ExpressionKnobs",
    "WholeKnobs",
    "random_document",
    "random_expression",
    "random_xpath",
]
