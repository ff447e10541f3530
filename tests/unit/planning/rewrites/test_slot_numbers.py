"""Constants are numbered as the printed form mentions them."""

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.constants import fold_constants
from penstock.planning.rewrites.slot_numbers import number_slots
from tests.unit.planning.results import assert_random_results_kept, assert_results_kept


def test_constants_follow_the_printed_form() -> None:
    query = xpath("/a[b = '1']/c[d = '2'] | /e[. = '3']")
    assert number_slots(query).constants == ("1", "2", "3")


def test_constants_that_nothing_mentions_disappear() -> None:
    query = fold_constants(xpath("/a[b = concat('x', 'y')][1 = 1]"))
    assert len(query.constants) > 1
    assert number_slots(query).constants == ("xy",)


def test_equal_constants_keep_slots_of_their_own() -> None:
    assert number_slots(xpath("/a[(b | c) = 'x']")).constants == ("x", "x")


def test_results_are_kept() -> None:
    assert_results_kept(number_slots, "/*[a = 'x']/b[. = '1' or . = 'x']", "concat('a', /*)")
    assert_random_results_kept(number_slots, seed=8)
