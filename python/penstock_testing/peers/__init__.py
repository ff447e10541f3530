"""Other XPath processors, asked the same questions, with answers in one comparable form."""

from penstock_testing.peers.answers import Answer, is_empty, same
from penstock_testing.peers.deviations import (
    as_libxml2,
    saxon_divides,
    saxon_fails,
    saxon_refuses,
    without_entities,
)
from penstock_testing.peers.libxml2 import Libxml2, without_document
from penstock_testing.peers.saxon import Saxon, by_value

__all__ = [
    "Answer",
    "Libxml2",
    "Saxon",
    "as_libxml2",
    "by_value",
    "is_empty",
    "same",
    "saxon_divides",
    "saxon_fails",
    "saxon_refuses",
    "without_document",
    "without_entities",
]
