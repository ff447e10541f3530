"""Tables that are proposed from samples find the values that the samples have."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import penstock
from penstock.engine.inference import infer
from penstock.engine.inference.columns import Proposed
from penstock.sources import inputs

_NAMES = "abcd"


def _header(random: Random, depth: int = 0) -> str:
    """Return an element around records: with attributes, text, or further elements."""
    name = f"h{random.randrange(6)}"
    attributes = "".join(f" {at}='{random.randrange(9)}'" for at in random.sample("xyz", 2))
    if depth < 2 and random.random() < 0.4:
        inner = "".join(_header(random, depth + 1) for _ in range(random.randint(1, 2)))
        return f"<{name}{attributes}>{inner}</{name}>"
    return f"<{name}{attributes}>{random.randrange(99)}</{name}>"


def _record(random: Random) -> str:
    fields = "".join(
        f"<{name} k='{random.randrange(9)}'>{random.randrange(99)}</{name}>"
        for name in _NAMES
        if random.random() < 0.8
    )
    return f"<rec id='{random.randrange(99)}'>{fields}<z>1</z></rec>"


def _document(random: Random) -> str:
    parts = [_header(random) for _ in range(random.randint(0, 4))]
    parts.append("".join(_record(random) for _ in range(random.randint(2, 6))))
    random.shuffle(parts)
    inner = "".join(parts)
    for level in range(random.randint(0, 2)):
        inner = f"<level{level}>{_header(random)}{inner}</level{level}>"
    return f"<root>{inner}</root>"


def _found(column: Proposed, records: list[etree._Element]) -> int:
    """Return how many values a column has by lxml: the first of each record, or all in a list."""
    counts = [len(record.xpath(column.path)) for record in records]  # type: ignore[arg-type]
    return sum(counts) if column.is_list else sum(map(bool, counts))


@given(st.randoms(use_true_random=False))
def test_each_proposed_path_finds_the_values_that_stand_behind_it(random: Random) -> None:
    text = _document(random)
    found = infer(lambda: inputs([penstock.Document(text)]), record="rec")
    records = etree.fromstring(text).xpath(found.record)
    assert isinstance(records, list)
    assert len(records) == found.records
    for column in [*found.columns, *found.headers]:
        if column.is_struct:
            continue
        assert column.values.count == _found(column, records), column.path
        assert column.values.count, f"{column.path} is proposed and finds nothing"
