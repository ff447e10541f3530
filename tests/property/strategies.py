"""Random documents and expressions as hypothesis strategies."""

from hypothesis import strategies as st

from penstock_testing.generate import (
    DocumentKnobs,
    ExpressionKnobs,
    random_document,
    random_expression,
)

_RANDOMS = st.randoms(use_true_random=False)


def documents(knobs: DocumentKnobs | None = None) -> st.SearchStrategy[bytes]:
    """Return well-formed documents in UTF-8."""
    return _RANDOMS.map(lambda random: random_document(random, knobs))


def expressions(knobs: ExpressionKnobs | None = None) -> st.SearchStrategy[str]:
    """Return expressions over the names of the documents."""
    return _RANDOMS.map(lambda random: random_expression(random, knobs))
