"""What the tests of the rules look at: normal forms, and results before and after."""

from __future__ import annotations

from random import Random

from penstock.languages.xpath import xpath
from penstock.languages.xpath.forward import looks_back
from penstock.languages.xpath.frontend import parse
from penstock.planning.normalise import normalise
from penstock.twigs import Selection
from penstock.twigs.queries import as_expression
from penstock_testing.generate import NAMESPACES, WholeKnobs, random_xpath
from tests.unit.planning.results import DOCUMENTS, found, shapes

_KNOBS = WholeKnobs(
    positions=0.02,
    filters=0.05,
    identifiers=0,
    namespace_nodes=0,
    values=0.15,
    predicate=0.6,
    nesting_max=3,
)
_BACK = {"following-sibling": "parent", "preceding-sibling": "ancestor"}


def forward_paths(text: str) -> list[str]:
    """Return the forward paths that a text becomes, in normal form."""
    query = xpath(text)
    assert not isinstance(query.output, Selection), "there is no twig"
    return sorted(shapes(normalise(query)))


def assert_kept(*texts: str) -> None:
    """Check that the forward paths of texts select what the texts say, on all documents."""
    for text in texts:
        query = xpath(text, namespaces=NAMESPACES)
        assert not isinstance(query.output, Selection), text
        general = as_expression(query)
        for tree in DOCUMENTS:
            assert found(query, tree) == found(general, tree), (text, tree.source)


def random_texts(seed: int, count: int) -> list[str]:
    """Return expressions with reverse axes for which there are twigs."""
    random = Random(seed)
    texts: list[str] = []
    while len(texts) < count:
        text = random_xpath(random, _KNOBS)
        for axis, back in _BACK.items():
            text = text.replace(axis, back)
        text = text.replace("following::", "ancestor::").replace("preceding::", "parent::")
        if looks_back(parse(text)):
            query = xpath(text, namespaces=NAMESPACES)
            if not isinstance(query.output, Selection):
                texts.append(text)
    return texts
