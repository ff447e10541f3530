"""The offset of a stream of files."""

from penstock.sources.listing import Listed
from penstock.spark.sources import offsets

A, B, C = (Listed(f"/in/{name}.xml", 10, time) for name, time in (("a", 3), ("b", 1), ("c", 2)))


def test_files_come_oldest_first_and_once() -> None:
    start = offsets.initial()
    assert offsets.unseen(start, [A, B, C]) == [B, C, A]
    end = offsets.advance(start, [A, B, C], [B, C])
    assert offsets.files_of(end) == [B, C]
    assert offsets.unseen(end, [A, B, C]) == [A]
    last = offsets.advance(end, [A, B, C], [A])
    assert offsets.files_of(last) == [A]
    assert offsets.unseen(last, [A, B, C]) == []


def test_what_is_gone_is_forgotten() -> None:
    end = offsets.advance(offsets.initial(), [A, B], [A, B])
    later = offsets.advance(end, [B, C], [C])
    assert len(later["seen"]) == len(end["seen"])
    assert offsets.unseen(later, [A, B, C]) == [A]


def test_an_offset_holds_numbers_and_texts_alone() -> None:
    end = offsets.advance(offsets.initial(), [A], [A])
    assert {type(value) for value in end.values()} == {int, str}
