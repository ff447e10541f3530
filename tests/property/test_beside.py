"""Values beside results are those of the reference, whatever is asked and however it arrives."""

from random import Random

from penstock.errors import PenstockError
from penstock_testing.generate import random_document, random_xpath
from tests.engines import beside_kernel, beside_reference

PAIRS = 400
BESIDE = ["count(*)", "string(.//@*)", "sum(following::*)", "name(..)", "concat('<', .//*, '>')"]
LISTS = ["*", "@*", "ancestor::*", "preceding-sibling::*", "//*[2]", "text()", ".."]


def test_expressions_and_lists_are_those_of_the_reference() -> None:
    random = Random(17)
    answered = filled = 0
    for _ in range(PAIRS):
        document = random_document(random)
        select = {
            "value": random.choice(BESIDE),
            "list": [random.choice(LISTS)],
            "any": random_xpath(random).removeprefix("/"),
        }
        query = f"//*[{random_xpath(random)}]"
        try:
            expected = beside_reference(query, document, select)
        except PenstockError:
            continue
        assert beside_kernel(query, document, select) == expected, (query, select, document)
        answered += 1
        filled += any(row["list"] != "[]" for row in expected)
    assert answered > PAIRS // 4
    assert filled > PAIRS // 10
