"""``penstock check``: why does this query find nothing?"""

from pathlib import Path

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def sample(tmp_path: Path) -> str:
    path = tmp_path / "feed.xml"
    path.write_text(
        '<a:feed xmlns:a="urn:atom" xmlns:m="urn:media"><a:entry id="1"><a:title>T</a:title>'
        '<m:title m:kind="x"/><plain/></a:entry></a:feed>',
        "utf-8",
    )
    return str(path)


def checked(capsys: Capture, *arguments: str) -> tuple[int, str]:
    code = main(["check", *arguments])
    return code, capsys.readouterr().out


def test_what_is_found_is_shown(sample: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//plain", "--sample", sample)
    assert code == 0
    assert out.splitlines() == ["1 result in 1 document", "  <plain/>"]


def test_a_name_in_another_namespace_is_named_with_a_binding(sample: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//entry/plain", "--sample", sample)
    assert code == 1
    assert "`entry` exists only in namespace urn:atom; the query asks for no namespace" in out
    assert "-n p=urn:atom and p:entry" in out
    assert "-n =urn:atom" in out


def test_following_the_advice_helps(sample: str, capsys: Capture) -> None:
    code, _ = checked(capsys, "//entry", "-n", "=urn:atom", "--sample", sample)
    assert code == 0


def test_a_name_in_several_namespaces_lists_them(sample: str, capsys: Capture) -> None:
    _, out = checked(capsys, "//title", "--sample", sample)
    assert "namespace urn:atom or namespace urn:media" in out


def test_a_wrong_prefix_is_told_apart(sample: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//p:plain", "-n", "p=urn:atom", "--sample", sample)
    assert code == 1
    assert "`plain` exists only in no namespace; the query asks for namespace urn:atom" in out
    assert "without a prefix" in out


def test_a_glob_is_respected(sample: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//p:title", "-n", "p=urn:*", "--sample", sample)
    assert code == 0
    assert "exists only" not in out


def test_attributes_have_names_of_their_own(sample: str, capsys: Capture) -> None:
    _, out = checked(capsys, "//@kind", "--sample", sample)
    assert "`kind` exists only in namespace urn:media" in out
    assert "names without a prefix" not in out


def test_a_misspelt_name_gets_similar_ones(sample: str, capsys: Capture) -> None:
    _, out = checked(capsys, "//*[@ident]/tilte", "--sample", sample)
    assert "no element is called `tilte`; similar: title" in out
    assert "no attribute is called `ident`" in out


def test_names_inside_predicates_are_looked_at(sample: str, capsys: Capture) -> None:
    _, out = checked(capsys, "//plain[not(entry) or string-length(feed) > 2]", "--sample", sample)
    assert "`entry`, `feed` exist only in namespace urn:atom" in out


def test_an_unbound_prefix_is_bound_as_the_sample_does(sample: str, capsys: Capture) -> None:
    assert main(["check", "//m:title", "--sample", sample]) == 2
    assert "-n m=urn:media" in capsys.readouterr().err


def test_names_that_occur_but_not_like_this(sample: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//plain/plain", "--sample", sample)
    assert code == 1
    assert out.splitlines()[1:] == ["`//plain` 1 → `/plain` 0", "there are no elements there"]


def test_a_query_that_needs_the_whole_document_is_warned_of(sample: str, capsys: Capture) -> None:
    _, out = checked(capsys, "//plain[not(following::*)]", "--sample", sample)
    assert out.splitlines() == [
        "1 result in 1 document",
        "  <plain/>",
        "`//plain` 1 → `[not(following::*)]` 1",
        "warning: memory grows with the candidates until the document ends",
        "warning: not for endless streams: candidates wait for the end of the document",
    ]
    _, out = checked(capsys, "count(//plain)", "--sample", sample)
    assert "warning: not for endless streams: the value comes at the end" in out


def test_names_of_an_expression_are_looked_at(sample: str, capsys: Capture) -> None:
    _, out = checked(capsys, "//plain[following::entry][1]", "--sample", sample)
    assert "`entry` exists only in namespace urn:atom" in out


def test_a_sample_that_fails_is_exit_3(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "bad.xml"
    path.write_text("<a><b></a>", "utf-8")
    assert main(["check", "//c", "--sample", str(path)]) == 3
    captured = capsys.readouterr()
    assert "PD0007" in captured.err
    assert "no element is called `c`" in captured.out


def test_values_that_nearly_fit_are_named(tmp_path: Path, capsys: Capture) -> None:
    for number, name in enumerate(("HAMLET", "HAMLET", "OPHELIA")):
        (tmp_path / f"{number}.xml").write_text(f"<s><who>{name}</who></s>", "utf-8")
    code, out = checked(capsys, "//s[who = 'hamlet']", "--sample", str(tmp_path))
    assert code == 1
    assert out.splitlines() == [
        "0 results in 3 documents",
        "`//s` 3 → `[who = 'hamlet']` 0",
        'values of `who` seen: "HAMLET", "OPHELIA"; the case differs; write "HAMLET"',
    ]


@pytest.fixture
def schema(tmp_path: Path) -> str:
    path = tmp_path / "shop.dtd"
    path.write_text("<!ELEMENT shop (book)*><!ELEMENT book (title)><!ELEMENT title (#PCDATA)>")
    return str(path)


def test_a_schema_names_the_step_that_cannot_match(schema: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//book/titel", "--schema", schema)
    assert code == 1
    assert out == (
        "impossible: `child::titel` matches nothing below `book`; did you mean `title`?\n"
    )
    assert checked(capsys, "//book/title", "--schema", schema) == (
        0,
        "the schema allows every step\n",
    )


def test_a_schema_says_where_matches_end(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "page.dtd"
    path.write_text(
        "<!ELEMENT page (head, body)><!ELEMENT head (meta*)><!ELEMENT body (meta*, p*)>"
        "<!ELEMENT meta (#PCDATA)><!ELEMENT p (#PCDATA)>"
    )
    code, out = checked(capsys, "//head/meta", "--schema", str(path))
    assert (code, out) == (0, "no match after </head> (page/head)\nthe schema allows every step\n")
    _, out = checked(capsys, "//*", "--schema", str(path))
    assert out == "the schema allows every step\n"


def test_a_schema_goes_with_samples(schema: str, sample: str, capsys: Capture) -> None:
    code, out = checked(capsys, "//plain", "--schema", schema, "--sample", sample)
    assert code == 0
    assert out.splitlines()[0].startswith("impossible: `descendant::plain` matches nothing")
    assert out.splitlines()[1] == "1 result in 1 document"


def test_a_check_needs_a_sample_or_a_schema(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["check", "//a"])
    assert "--sample or --schema is needed" in capsys.readouterr().err


def test_a_schema_that_is_none_is_reported(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "bad.dtd"
    path.write_text("<nothing/>")
    assert main(["check", "//a", "--schema", str(path)]) == 4
    assert "PM0002" in capsys.readouterr().err
