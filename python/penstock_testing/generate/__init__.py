"""Documents, expressions and joins made up at random, the same for the same seed."""

from penstock_testing.generate.documents import DocumentKnobs, random_document
from penstock_testing.generate.expressions import ExpressionKnobs, random_expression
from penstock_testing.generate.flwor import FlworKnobs, random_xquery
from penstock_testing.generate.joins import JoinKnobs, random_subscriptions, random_xscl
from penstock_testing.generate.names import NAMESPACES
from penstock_testing.generate.positions import random_positions, random_siblings
from penstock_testing.generate.shared import random_shared_comparison
from penstock_testing.generate.streams import StreamKnobs, random_stream
from penstock_testing.generate.summaries import SummaryKnobs, random_numbers, random_summary
from penstock_testing.generate.whole import WholeKnobs, random_xpath

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
