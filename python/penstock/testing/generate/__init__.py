"""Documents, expressions and joins made up at random, the same for the same seed."""

from penstock.testing.generate.documents import DocumentKnobs, random_document
from penstock.testing.generate.expressions import ExpressionKnobs, random_expression
from penstock.testing.generate.flwor import FlworKnobs, random_xquery
from penstock.testing.generate.joins import JoinKnobs, random_subscriptions, random_xscl
from penstock.testing.generate.names import NAMESPACES
from penstock.testing.generate.positions import random_positions, random_siblings
from penstock.testing.generate.shared import random_shared_comparison
from penstock.testing.generate.streams import StreamKnobs, random_stream
from penstock.testing.generate.summaries import SummaryKnobs, random_numbers, random_summary
from penstock.testing.generate.whole import WholeKnobs, random_xpath

__all__ = [
    "NAMESPACES",
    "DocumentKnobs",
    "ExpressionKnobs",
    "FlworKnobs",
    "JoinKnobs",
    "StreamKnobs",
    "SummaryKnobs",
    "WholeKnobs",
    "random_document",
    "random_expression",
    "random_numbers",
    "random_positions",
    "random_shared_comparison",
    "random_siblings",
    "random_stream",
    "random_subscriptions",
    "random_summary",
    "random_xpath",
    "random_xquery",
    "random_xscl",
]
