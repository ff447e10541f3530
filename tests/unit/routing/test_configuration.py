"""Configurations are named by their content."""

import pickle

import pytest

from penstock.errors import QueryError, SettingError
from penstock.routing import Configuration, View
from penstock.routing.configuration import VIEWS_MAX


def test_equal_content_has_equal_ids() -> None:
    assert Configuration(["/a/b", "/a/c"]).id == Configuration(["/a/b", View("/a/c")]).id
    assert len(Configuration(["/a/b"]).id) == 8


@pytest.mark.parametrize(
    "other",
    [
        Configuration(["/a/c", "/a/b"]),
        Configuration(["/a/b"]),
        Configuration(["/a/b", View("/a/c", parts=True)]),
        Configuration(["/a/b", "/a/c"], namespaces={"p": "urn:p"}),
    ],
)
def test_order_parts_and_namespaces_are_content(other: Configuration) -> None:
    assert Configuration(["/a/b", "/a/c"]).id != other.id


def test_an_id_is_the_same_on_every_machine() -> None:
    """A change of this id makes all headers of older producers misses."""
    assert Configuration(["/news/agency"]).id.hex() == "d96850a8f5fa68cb"


def test_a_configuration_survives_json_and_pickling() -> None:
    made = Configuration(["//p:a", View("/b", parts=True)], namespaces={"p": ["urn:1", "urn:2"]})
    for copy in (Configuration.from_json(made.to_json()), pickle.loads(pickle.dumps(made))):
        assert copy == made
        assert (copy.views, copy.bindings) == (made.views, made.bindings)


def test_a_path_that_is_written_differently_is_the_same_view() -> None:
    made = Configuration(["/a/child::b"])
    assert made.place(Configuration(["/a/b"]).paths[0]) == 0
    with pytest.raises(QueryError, match="PQ0603"):
        Configuration(["/a/b", "/a/child::b"])


@pytest.mark.parametrize("view", ["count(/a)", "/a = 1", "'a'", "/", "string(/a)"])
def test_a_view_is_a_path(view: str) -> None:
    with pytest.raises(QueryError, match="PQ0601"):
        Configuration([view])


def test_unknown_prefixes_are_refused() -> None:
    with pytest.raises(QueryError, match="PQ0111"):
        Configuration(["/p:a"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"views": [1]}', '{"views": "ab", "format": 2}'])
def test_what_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="PV0001"):
        Configuration.from_json(text)


def test_an_id_that_is_not_that_of_the_views_is_refused() -> None:
    text = Configuration(["/a"]).to_json().replace("/a", "/b")
    with pytest.raises(SettingError, match="PV0003"):
        Configuration.from_json(text)


def test_there_are_not_too_many_views() -> None:
    Configuration([f"/a{n}" for n in range(VIEWS_MAX)])
    with pytest.raises(SettingError, match="PV0002"):
        Configuration([f"/a{n}" for n in range(VIEWS_MAX + 1)])
