"""Tables in files: every mistake with its place, and all of them together."""

from pathlib import Path

import pytest

import penstock
from penstock.definitions.mistakes import ConfigurationError
from penstock.languages.tables.files import read_definition

GOOD = """\
record: //p:book
columns:
  id: "@id"
  price: [price, "decimal(8,2)"]
  maker: {name: maker/name, city: maker/city}
  first: [author, {last: last}]
  authors: [author, [{last: last, born: ["@born", date]}]]
namespaces: {p: urn:p}
variables: {limit: 3}
on_error: quarantine
"""


def read(tmp_path: Path, text: str, name: str = "t.yaml") -> penstock.Query:
    path = tmp_path / name
    path.write_text(text)
    return read_definition(str(path))


def mistakes(tmp_path: Path, text: str) -> list[tuple[int, int, str, str]]:
    """Return line, column, code and message of each mistake of a file."""
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, text)
    found = (raised.value, *raised.value.others)
    assert all(one.file == str(tmp_path / "t.yaml") and one.help and one.shown for one in found)
    return [(one.line, one.column, one.code, one.message) for one in found]


def test_a_file_is_the_table_that_it_describes(tmp_path: Path) -> None:
    columns = {
        "id": "@id",
        "price": ("price", "decimal(8,2)"),
        "maker": {"name": "maker/name", "city": "maker/city"},
        "first": ("author", {"last": "last"}),
        "authors": ("author", [{"last": "last", "born": ("@born", "date")}]),
    }
    how = {"namespaces": {"p": "urn:p"}, "variables": {"limit": 3}}
    made = penstock.table("//p:book", columns, on_error="quarantine", **how)  # type: ignore[arg-type]
    assert read(tmp_path, GOOD) == made


@pytest.mark.parametrize(
    ("before", "after", "place", "code", "message"),
    [
        ("record: ", "records: ", (1, 1), "PC0002", "there is no key `records`"),
        ("record: //p:book\n", "", (1, 1), "PC0003", "the key `record` is missing"),
        ("//p:book", "[//p:book]", (1, 9), "PC0004", "text is needed here, not a list"),
        ("//p:book", "//p:book[", (1, 9), "PC0005", "PQ0104: "),
        ("//p:book", "//q:book", (1, 9), "PC0005", "`q`"),
        ('"@id"', '"@"', (3, 7), "PC0005", "PQ010"),
        ('"@id"', "@id", (3, 7), "PC0001", "this is no YAML"),
        ('"@id"', "", (3, 6), "PC0004", "text is needed here, not nothing"),
        ("  price: ", "  id: x\n  price: ", (4, 3), "PC0006", "the key `id` is given twice"),
        ("decimal(8,2)", "decimal", (4, 18), "PC0005", "PQ0702: `decimal` is no type"),
        ("[price, ", "[price, price, ", (4, 10), "PC0004", "a path and a type here, not 3 items"),
        ("city: maker/city", "city: ''", (5, 35), "PC0005", "the text is empty"),
        ("{last: last}", "{}", (6, 19), "PC0005", "there is no column here"),
        ("[author, {", "[count(x), {", (6, 11), "PC0005", "PQ0"),
        ("born: [", "born: [[], ", (7, 41), "PC0004", "not 3 items"),
        ("[{last", "[x, {last", (7, 21), "PC0004", "in these brackets"),
        ("quarantine", "quarantin", (10, 11), "PC0005", "`quarantin` is none of the possible"),
        ("{p: urn:p}", "p", (8, 13), "PC0004", "keys with values is needed here, not text"),
    ],
)
def test_mistakes_have_a_place(
    tmp_path: Path, before: str, after: str, place: tuple[int, int], code: str, message: str
) -> None:
    assert before in GOOD
    (line, column, found, told), *_ = mistakes(tmp_path, GOOD.replace(before, after, 1))
    assert (line, column) == place
    assert found == code
    assert message in told


def test_all_mistakes_are_named_in_the_order_of_their_places(tmp_path: Path) -> None:
    text = GOOD.replace('"@id"', '"a["').replace("decimal(8,2)", "dat").replace("quarantine", "x")
    assert [(line, code) for line, _, code, _ in mistakes(tmp_path, text)] == [
        (3, "PC0005"),
        (4, "PC0005"),
        (10, "PC0005"),
    ]


def test_what_is_wrong_with_all_columns_is_said_of_them(tmp_path: Path) -> None:
    text = "record: //a\ncolumns:\n  errors: x\n  n: [n, integer]\n"
    ((line, _, code, message),) = mistakes(tmp_path, text)
    assert (line, code) == (3, "PC0005")
    assert "the column `errors`" in message


def test_an_empty_file_says_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="a table has a record and columns"):
        read(tmp_path, "# nothing\n")


def test_words_and_numbers_are_taken_as_they_are_written(tmp_path: Path) -> None:
    columns = {"on": "no", "off": "yes", "1": "2", "text": "'${HOME}'"}
    text = "record: //a\ncolumns: {on: no, off: yes, 1: 2, text: \"'${HOME}'\"}\non_error: null\n"
    assert read(tmp_path, text) == penstock.table("//a", columns)


def test_json_has_tabs_escapes_and_places(tmp_path: Path) -> None:
    text = '{\n\t"record": "//a",\n\t"columns": {"x": "b",\n\t\t"y": ["c", "dat"]}\n}'
    assert [place[:2] for place in mistakes(tmp_path, text)] == [(4, 14)]
    escaped = '{"record": "\\/\\/a", "columns": {"\\ud83d\\ude00": "b"}}'
    assert read(tmp_path, escaped) == penstock.table("//a", {"\N{GRINNING FACE}": "b"})
