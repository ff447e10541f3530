"""The printed form of expressions can be read again, and says the same."""

from random import Random

from penstock.languages.xpath import xpath
from penstock.twigs import Selection, Slot
from penstock.twigs.expression_printing import print_expression
from penstock.twigs.printing import print_query
from penstock.twigs.queries import as_expression
from penstock_testing.generate import WholeKnobs, random_xpath


def test_a_printed_expression_is_xpath_that_asks_the_same() -> None:
    random = Random(4)
    # Ids of nodes are printed with a function of their own, and names in braces.
    knobs = WholeKnobs(identifiers=0, namespaces=0)
    for _ in range(300):
        query = as_expression(xpath(random_xpath(random, knobs)))
        assert isinstance(query.output, Selection)

        def constant(slot: Slot, values: tuple[object, ...] = query.constants) -> str:
            return repr(values[slot.index]).replace("True", "true()").replace("False", "false()")

        printed = print_expression(query.output.expression, constant)
        if "lang" in printed or "negate" in printed:
            continue
        again = as_expression(xpath(printed)).output
        assert again == query.output or is_equal_but_for_slots(again, query.output)


def is_equal_but_for_slots(left: object, right: object) -> bool:
    """Return whether two selections are the same, whatever the numbers of their slots."""
    assert isinstance(left, Selection)
    assert isinstance(right, Selection)

    def blank(slot: Slot) -> str:
        return slot.type.value

    return print_expression(left.expression, blank) == print_expression(right.expression, blank)


def test_a_selection_is_printed_with_what_is_beside() -> None:
    query = xpath("//a[2]", select={"id": "../@id"})
    assert print_query(query) == (
        "nodes /descendant-or-self::node()/child::a[position() = ?0]\n"
        "  id: parent::node()/attribute::id\n"
        "?0 = 2.0\n"
    )
    assert print_query(xpath("count(//a/preceding::b)")) == (
        "count of nodes /descendant::a/preceding::b\n"
    )
    assert print_query(xpath("name(a | b)")) == "string name(/child::a | /child::b)\n"
