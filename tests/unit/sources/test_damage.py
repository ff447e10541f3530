"""Damage that is skipped: what goes on where, and what is said of it."""

from io import BytesIO
from pathlib import Path

import pytest

from penstock.errors import DocumentError, SettingError
from penstock.limits import Limits
from penstock.results import Document
from penstock.sources import Input, inputs
from penstock.sources.damage import Mending
from penstock.sources.paths import RecordPath
from penstock.sources.records import records

LIST = "/list/item"


def skip(
    text: str | bytes, path: str = LIST, limits: Limits | None = None
) -> tuple[str, list[str]]:
    """Return what is left of a document, and what is left out."""
    data = text.encode() if isinstance(text, str) else text
    mending = Mending(RecordPath(path), limits)
    mended = b"".join(mending.pieces([data[at : at + 1] for at in range(len(data))])).decode()
    whole = Mending(RecordPath(path), limits)
    assert b"".join(whole.pieces([data])).decode() == mended
    said = [[(s.start, s.end, str(s.error)) for s in one.stretches] for one in (mending, whole)]
    assert said[0] == said[1]
    return mended, [(stretch.data or b"").decode("utf-8", "replace") for stretch in whole.stretches]


@pytest.mark.parametrize(
    ("text", "kept", "left_out"),
    [
        # A record is lost from its start tag on, up to the next.
        (
            "<list><item>1</item><item>&no;</item><item>3</item></list>",
            "<list><item>1</item> <item>3</item></list>",
            ["<item>&no;</item>"],
        ),
        # A lost end tag costs one record, though all others lie in it.
        (
            "<list><item>1<item>2</item> <item>3</item></list>",
            "<list> <item>2</item> <item>3</item></list>",
            ["<item>1"],
        ),
        # So do several.
        (
            "<list><item>1<item>2<item>3</item><item>4<item>5</item></list>",
            "<list> <item>3</item> <item>5</item></list>",
            ["<item>1<item>2", "<item>4"],
        ),
        # Outside records only the token is lost that is at fault.
        (
            "<list> & <head/><item>1</item></list>",
            "<list>  <head/><item>1</item></list>",
            ["& "],
        ),
        ("<list><head>x</hea><item>1</item></list>", None, ["</hea>"]),
        # The end of a root that goes on was none.
        (
            "<list><item>1</item></list><item>2</item></list>",
            "<list><item>1</item> <item>2</item></list>",
            ["</list>"],
        ),
        # What is cut off is closed.
        ("<list><item>1</item><item>2", "<list><item>1</item> </list>", ["<item>2"]),
        ("<list><item>1</item>", "<list><item>1</item></list>", [""]),
        # A comment or a section that does not end hides nothing.
        (
            "<list><item><!-- </item><item>2</item><item>3</item></list>",
            "<list> <item>2</item><item>3</item></list>",
            ["<item><!-- </item>"],
        ),
        (
            "<list><item><![CDATA[ </item><item>2</item></list>",
            "<list> <item>2</item></list>",
            ["<item><![CDATA[ </item>"],
        ),
        # One that does end hides what is in it.
        (
            "<list><item>&no;</item><!-- <item>0</item> --><item>2</item></list>",
            "<list> <item>2</item></list>",
            ["<item>&no;</item><!-- <item>0</item> -->"],
        ),
    ],
)
def test_a_document_goes_on_behind_damage(text: str, kept: str | None, left_out: list[str]) -> None:
    mended, found = skip(text)
    assert found == left_out
    if kept is not None:
        assert mended.split() == kept.split() or " ".join(mended.split()) == " ".join(kept.split())


def test_groups_go_on_with_their_own_start_tags() -> None:
    text = (
        "<list><group n='1'><item>1</item></gr&oup><group n='2'><item>2</item></group>"
        "<gro&up n='3'><item>3</item></group><group n='4'><item>4</item></group></list>"
    )
    mended, _ = skip(text, "/list/group/item")
    assert [part for part in mended.split() if part] == [
        "<list><group",
        "n='1'><item>1</item>",
        "</group><group",
        "n='2'><item>2</item></group>",
        "<group",
        "n='4'><item>4</item></group></list>",
    ]
    # Nobody knows what is around the third record.
    assert "<item>3</item>" not in skip(text, "//item")[0]


def test_a_root_without_its_start_tag_leaves_nothing_that_is_known() -> None:
    with pytest.raises(DocumentError) as caught:
        skip("<li&st><item>1</item></list>")
    assert caught.value.code == "PD0008"


def test_a_record_that_is_too_long_is_left_out() -> None:
    text = f"<list><item>1</item><item>{'x' * 500}</item><item>3</item></list>"
    mended, left_out = skip(text, limits=Limits(buffer_bytes_max=100))
    assert mended.split() == ["<list><item>1</item>", "<item>3</item></list>"]
    assert left_out == [f"<item>{'x' * 500}</item>"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "iso-8859-1", "utf-8-sig"])
def test_other_encodings_are_read_as_utf_8(encoding: str) -> None:
    declared = (
        "iso-8859-1" if encoding == "iso-8859-1" else "utf-16" if "16" in encoding else "utf-8"
    )
    text = (
        f"<?xml version='1.0' encoding='{declared}'?>"
        "<list><item>\xe9</item><item>&</item><item>\xe8</item></list>"
    )
    rows = list(records(Document(text.encode(encoding), id="d"), LIST, damaged="skip"))
    texts = [row.data for row in rows if isinstance(row, Document)]
    assert texts == ["<item>\xe9</item>".encode(), "<item>\xe8</item>".encode()]
    assert len(rows) == 3


def test_bytes_that_mean_nothing_are_damage_in_any_encoding() -> None:
    text = "<list><item>1</item><item>\ud800</item><item>3</item></list>"
    data = text.encode("utf-16-le", "surrogatepass")
    rows = list(records(Document(data, id="d"), LIST, damaged="skip"))
    assert [row.id for row in rows if isinstance(row, Document)] == ["d#0", "d#1"]
    with pytest.raises(DocumentError, match="PS0012"):
        list(Mending(RecordPath(LIST)).pieces([b"<?xml version='1.0' encoding='x-no'?><list/>"]))


TEXT = "<list>" + "".join(f"<item>{n}</item>" for n in range(5)) + "</list>"
BROKEN = TEXT.replace("<item>2</item>", "<item>&#0;</item>")


def given(source: object, **options: str) -> list[tuple[str, str]]:
    """Return the id and the text, or the error, of each record."""
    found = []
    for one in inputs(records(source, LIST, **options)):  # type: ignore[arg-type]
        try:
            found.append((one.document, b"".join(map(bytes, one.pieces())).decode()))
        except DocumentError as error:
            found.append((one.document, error.code))
    return found


def test_records_are_stopped_rejected_or_skipped(tmp_path: Path) -> None:
    good = [(f"d#{n}", f"<item>{n}</item>") for n in range(5)]
    start = BROKEN.index("<item>&#0;")
    lost = (f"d@{start}-{start + 17}", "PD0013")
    left = [(f"d#{at}", text) for at, (_, text) in enumerate(good[:2] + good[3:])]
    expected = {
        "stop": [*good[:2], ("d", lost[1])],
        "reject": [("d", lost[1])],
        "skip": [*left[:2], lost, *left[2:]],
    }
    file = tmp_path / "d"
    file.write_text(BROKEN)
    for damaged, found in expected.items():
        assert given(Document(BROKEN, id="d"), damaged=damaged) == found
        assert given(Document(BytesIO(BROKEN.encode()), id="d"), damaged=damaged) == found
        assert given(Document(TEXT, id="d"), damaged=damaged) == good
        by_path = given(file, damaged=damaged)
        assert [(name.removeprefix(f"{tmp_path}/"), text) for name, text in by_path] == found


def test_many_documents_have_records_of_their_own() -> None:
    source = Document(TEXT + "\n" + BROKEN + TEXT, id="d")
    found = given(source, documents="many", damaged="reject")
    values = [f"<item>{n}</item>" for n in range(5)]
    assert [text for _, text in found] == [*values, "PD0013", *values]
    assert (found[0][0], found[5][0], found[6][0]) == ("d#0#0", "d#1", "d#2#0")


def test_records_that_wait_for_the_end_are_bounded() -> None:
    limits = Limits(memory_bytes_max=1200)
    (only,) = inputs(records(Document(TEXT, id="d"), LIST, limits=limits, damaged="reject"))
    assert isinstance(only, Input)
    with pytest.raises(DocumentError, match="PL0013"):
        list(only.pieces())


def test_a_path_to_anything_tells_no_record_from_others() -> None:
    with pytest.raises(SettingError, match="give the records a name"):
        list(records(TEXT, "//*", damaged="skip"))
