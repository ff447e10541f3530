"""What an element graph knows of ways, loops and parents."""

import pickle
from pathlib import Path

import pytest

from penstock.errors import SchemaError, SettingError
from penstock.limits import Limits
from penstock.schemas import Name, Schema, schema

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks" / "broker"


def name(local: str) -> Name:
    """Return a name without a namespace."""
    return Name("", local)


@pytest.fixture(scope="module")
def book() -> Schema:
    return schema(FOLDER / "book.dtd")


@pytest.fixture(scope="module")
def bib() -> Schema:
    return schema(FOLDER / "bib.dtd")


def test_a_chain_is_the_only_way_down(book: Schema, bib: Schema) -> None:
    assert bib.chain([None], name("affiliation")) == tuple(
        map(name, ("bib", "book", "editor", "affiliation"))
    )
    assert bib.chain([None], name("last")) is None
    assert bib.chain([name("author"), name("editor")], name("last")) == (name("last"),)
    assert book.chain([None], name("section")) is None
    assert book.chain([name("figure")], name("image")) == (name("image"),)
    assert book.chain([name("figure")], name("p")) is None


def test_contexts_from_which_nothing_leads_there_do_not_count(bib: Schema) -> None:
    assert bib.chain([name("price"), name("author")], name("last")) == (name("last"),)


def test_loops_and_parents_are_known(book: Schema) -> None:
    assert book.recursive == {name("section")}
    assert book.on_one_loop(name("section"), name("section"))
    assert not book.on_one_loop(name("section"), name("figure"))
    assert book.parents[name("title")] == {name("book"), name("section"), name("figure")}
    assert book.parents[name("book")] == frozenset()
    assert name("image") in book.below[name("section")]


def test_an_open_element_leaves_no_way_certain(tmp_path: Path) -> None:
    path = tmp_path / "open.dtd"
    path.write_text("<!ELEMENT a (b, c)><!ELEMENT b ANY><!ELEMENT c (d)><!ELEMENT d EMPTY>")
    found = schema(path, root="a")
    assert found.chain([None], name("d")) is None
    assert found.chain([name("c")], name("d")) == (name("d"),)


def test_a_mode_is_a_field(book: Schema) -> None:
    assert book.mode == "verify"
    assert book.with_mode("trust").mode == "trust"
    with pytest.raises(SettingError):
        book.with_mode("hope")  # type: ignore[arg-type]


def test_a_graph_can_be_pickled(book: Schema) -> None:
    again = pickle.loads(pickle.dumps(book))
    assert again.elements == book.elements
    assert again.roots == book.roots


def test_files_are_bounded_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.dtd"
    path.write_text("<!ELEMENT a EMPTY>")
    size = path.stat().st_size
    assert schema(path, limits=Limits(doctype_bytes_max=size))
    for bad, options, code in (
        (path, {"limits": Limits(doctype_bytes_max=size - 1)}, "PM0003"),
        (path, {"root": "b"}, "PM0005"),
        (tmp_path / "missing.dtd", {}, "PM0001"),
        (tmp_path / "a.rng", {}, "PM0001"),
    ):
        with pytest.raises(SchemaError) as caught:
            schema(bad, **options)  # type: ignore[arg-type]
        assert caught.value.code == code
        assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
