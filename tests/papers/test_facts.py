"""The claims about tuples hold in documents."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from lxml import etree

from benchmarks.broker.dtds import BIB, BOOK
from papers.yfilter.facts import (
    NO_FACTS,
    Facts,
    facts_of,
    has_no_duplicates,
    has_no_pair_duplicates,
    is_free_of_nesting,
    is_in_order,
)
from penstock.schemas import schema
from penstock_testing.generate.names import ELEMENTS
from penstock_testing.generate.schemas import random_dtd, random_valid_document

Path_ = list[tuple[bool, str]]


def tuples(tree: etree._Element, path: Path_) -> list[tuple[int, ...]]:
    """Return the tuples of a path, in the order of their last nodes."""
    numbers = {node: number for number, node in enumerate(tree.iter())}

    def matches(node: etree._Element | None, rest: Path_) -> Iterator[tuple[int, ...]]:
        if not rest:
            yield ()
            return
        (is_deep, name), *further = rest
        if node is None:
            below = list(tree.iter()) if is_deep else [tree]
        else:
            below = list(node.iterdescendants()) if is_deep else list(node)
        for one in below:
            if one.tag == name:
                for other in matches(one, further):
                    yield (numbers[one], *other)

    return sorted(matches(None, path), key=lambda one: one[-1])


def test_the_paper_s_queries_have_the_operators_of_the_paper() -> None:
    book = facts_of(schema(BOOK.path))
    figures = [(True, "section"), (True, "figure")]
    assert not has_no_duplicates(figures, book)
    assert is_in_order([*figures, (False, "title")], 1, book)
    sections = [(True, "section")]
    assert has_no_duplicates(sections, book)
    assert has_no_pair_duplicates([*sections, (True, "figure")], 0, book)
    assert not has_no_pair_duplicates([*sections, (True, "section"), (True, "title")], 0, book)
    assert not is_in_order([*sections, (False, "title")], 0, book)


def test_without_recursion_everything_holds() -> None:
    bib = facts_of(schema(BIB.path))
    path = [(True, "book"), (True, "author"), (True, "last")]
    assert has_no_duplicates(path, bib)
    assert all(is_in_order(path, place, bib) for place in range(3))
    assert not has_no_duplicates(path, NO_FACTS)
    assert bib.is_single("book", "price")
    assert not bib.is_single("book", "author")
    assert ("book", "title") in bib.required


@pytest.mark.parametrize("seed", range(60))
def test_claims_hold_in_random_documents(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    dtd = random_dtd(random, recursion=0.5, is_open=0)
    file = tmp_path / "a.dtd"
    file.write_text(str(dtd))
    known: Facts = facts_of(schema(file, root="r"))
    trees = [etree.fromstring(random_valid_document(random, dtd, 60)) for _ in range(4)]
    for _ in range(30):
        path = [
            (random.random() < 0.6, random.choice(ELEMENTS)) for _ in range(random.randint(1, 4))
        ]
        place = random.randrange(len(path))
        for tree in trees:
            found = tuples(tree, path)
            for facts in (known, NO_FACTS):
                if has_no_duplicates(path, facts):
                    assert len({one[-1] for one in found}) == len(found)
                if place < len(path) - 1 and has_no_pair_duplicates(path, place, facts):
                    assert len({(one[place], one[-1]) for one in found}) == len(found)
                if is_in_order(path, place, facts):
                    assert [one[place] for one in found] == sorted(one[place] for one in found)
            if is_free_of_nesting(path, known):
                nodes = [*tree.iter()]
                bound = {nodes[one[-1]] for one in found}
                assert not any(up in bound for node in bound for up in node.iterancestors())
