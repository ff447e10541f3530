"""``penstock profile``: what is in these files?"""

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from lxml import etree

from penstock.cli import main
from penstock.engine.inference.shapes import DEPTH_MAX, NAMES_MAX, OTHERS, Profile, read_shape
from penstock.sources import inputs
from penstock_testing.generate import random_document

Capture = pytest.CaptureFixture[str]


def profile(data: bytes, bytes_max: int = 1 << 40) -> Profile:
    (document,) = inputs(data)
    return read_shape(document, bytes_max)


def paths(found: Profile) -> Counter[tuple[str, ...]]:
    return Counter({path: shape.count for path, shape in found.shape.paths()})


def expected_paths(data: bytes) -> Counter[tuple[str, ...]]:
    counted: Counter[tuple[str, ...]] = Counter()

    def visit(element: etree._Element, above: tuple[str, ...]) -> None:
        path = (*above, str(element.tag))
        counted[path] += 1
        for name in element.attrib:
            counted[*path, f"@{name}"] += 1
        for child in element.iterchildren(tag=etree.Element):
            visit(child, path)

    visit(etree.fromstring(data, etree.XMLParser(attribute_defaults=True)), ())
    return counted


class Dribble(io.BytesIO):
    """Bytes that arrive a few at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(7)


def test_paths_are_those_of_a_tree_however_the_bytes_arrive() -> None:
    random = Random(7)
    for _ in range(200):
        data = random_document(random)
        assert paths(profile(data)) == expected_paths(data), data
        (slowly,) = inputs(Dribble(data))
        assert paths(read_shape(slowly, 1 << 40)) == expected_paths(data), data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "one.xml").write_text(
        '<a:feed xmlns:a="urn:atom" xmlns:m="urn:media"><a:entry id="1" m:kind="x"/>'
        "<a:entry/><plain/></a:feed>"
    )
    (tmp_path / "sub" / "two.xml.gz").write_bytes(gzip.compress(b"<order><line/><line/></order>"))
    (tmp_path / ".hidden").write_text("no XML")
    return tmp_path


def test_a_folder_is_summed_up_for_people(folder: Path, capsys: Capture) -> None:
    assert main(["profile", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 documents, ")
    assert "; depth 2\n" in out
    assert "  a   urn:atom  3 elements\n" in out
    assert "  b   urn:media  0 elements, 1 attribute\n" in out
    assert "      (none)  4 elements, 1 attribute\n" in out
    assert "  a:feed  1 document, " in out
    assert "          2          1  /a:feed/a:entry\n" in out
    assert "          1          1  /a:feed/a:entry/@b:kind\n" in out
    assert "          2          1  /order/line\n" in out


def test_json_holds_everything_with_expanded_names(folder: Path, capsys: Capture) -> None:
    assert main(["profile", str(folder), "--json", "--paths", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["files"], found["documents"], found["depth"], found["cut"]) == (2, 2, 2, 0)
    assert {"uri": "urn:atom", "elements": 3, "attributes": 0} in found["namespaces"]
    assert [one["name"] for one in found["types"]] == ["order", "{urn:atom}feed"]
    assert len(found["paths"]) == 2
    assert {"path": ["order", "line"], "count": 2, "documents": 1} in found["paths"]


def test_a_failed_document_is_known_as_far_as_it_goes(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "bad.xml").write_text('<r xmlns="urn:r"><a><b/><b/><c></a></r>')
    assert main(["profile", str(tmp_path), "--json"]) == 3
    captured = capsys.readouterr()
    assert "PD0007" in captured.err
    found = json.loads(captured.out)
    (failure,) = found["failed"].values()
    assert failure["code"] == "PD0007"
    counts = {tuple(one["path"]): one["count"] for one in found["paths"]}
    assert counts["{urn:r}r", "{urn:r}a", "{urn:r}b"] == 2


def test_only_the_beginning_of_a_large_file_is_read() -> None:
    data = b'<p:r xmlns:p="urn:r"><p:list>' + b"<p:item><x/></p:item>" * 40_000 + b"</p:list></p:r>"
    found = profile(data, 300_000)
    assert found.is_cut
    assert found.failure is None
    assert found.bytes < 600_000
    counts = paths(found)
    assert counts[("{urn:r}r",)] == 1
    assert counts["{urn:r}r", "{urn:r}list", "{urn:r}item"] > 10_000


def test_depth_and_names_are_bounded() -> None:
    deep = profile(b"<a>" * 100 + b"</a>" * 100)
    assert deep.depth == DEPTH_MAX + 1
    (last,) = [shape for path, shape in deep.shape.paths() if path[-1] == OTHERS]
    assert last.count == 100 - DEPTH_MAX
    many = profile(b"<r>" + b"".join(b"<n%d/>" % n for n in range(2 * NAMES_MAX)) + b"</r>")
    below = many.shape.below["r"].below
    assert len(below) == NAMES_MAX + 1
    assert below[OTHERS].count == NAMES_MAX


def test_of_many_files_a_sample_is_read(tmp_path: Path, capsys: Capture) -> None:
    for number in range(50):
        (tmp_path / f"{number:02}.xml").write_text(f"<t{number // 10}/>")
    assert main(["profile", str(tmp_path), "--files", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["files"], found["documents"]) == (50, 5)
    assert [one["name"] for one in found["types"]] == ["t0", "t1", "t2", "t3", "t4"]


def test_a_path_that_is_not_there_is_told(tmp_path: Path, capsys: Capture) -> None:
    assert main(["profile", str(tmp_path / "none.xml")]) == 4
    assert "none.xml" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["profile", str(tmp_path), "--files", "0"])
