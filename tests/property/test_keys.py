"""Questions that hang on one of many constants are answered like any others."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel import Plan, Session
from tests.property.test_bulk import one_by_one, together
from tests.property.test_whole import compiled, feed, read

CONSTANTS = 150
"""More than enough for a trie for each."""
FORMS = (
    "/a/b[@x = '{0}']",
    "//b[c = '{0}']/c",
    "//c[. = '{0}']",
    "/a[@y = '{1}']//b[@x = '{0}'][c]",
    "//b[@x = '{0}' or @y = '{1}']",
    "//*[@x = '{0}']",
    "//b[not(@x = '{0}')]/c[@x = '{1}']",
)
TEXTS = [
    form.format(number, (7 * number) % CONSTANTS) for form in FORMS for number in range(CONSTANTS)
]
FILTERS = Plan.build(compiled(TEXTS, ["filter"] * len(TEXTS)))
QUERIES = Plan.build(compiled(TEXTS, ["query"] * len(TEXTS)))

values = st.integers(min_value=0, max_value=CONSTANTS + 20).map(str)
attributes = st.dictionaries(st.sampled_from("xy"), values, max_size=2).map(
    lambda found: "".join(f' {name}="{value}"' for name, value in found.items())
)
leaves = st.builds("<c{}>{}</c>".format, attributes, values)
branches = st.builds(
    lambda inside, children: f"<b{inside}>{''.join(children)}</b>",
    attributes,
    st.lists(leaves, max_size=3),
)
roots = st.builds(
    lambda inside, children: f"<a{inside}>{''.join(children)}</a>".encode(),
    attributes,
    st.lists(st.one_of(branches, leaves), max_size=5),
)


@given(roots)
def test_keyed_questions_give_the_rows_of_feeding(document: bytes) -> None:
    for plan in (FILTERS, QUERIES):
        assert read(Session(plan), document) == feed(Session(plan), document)


@given(roots, st.integers(min_value=0, max_value=200))
def test_a_value_that_never_ends_is_none(document: bytes, cut: int) -> None:
    broken = document[:cut] + b"<"
    for plan in (FILTERS, QUERIES):
        assert read(Session(plan), broken) == feed(Session(plan), broken)


@given(st.lists(roots, min_size=2, max_size=12))
def test_a_bundle_enters_the_tries_of_all_its_values(several: list[bytes]) -> None:
    alone = one_by_one(Session(FILTERS, questions_min=1 << 30), several)
    assert together(Session(FILTERS), several) == alone
