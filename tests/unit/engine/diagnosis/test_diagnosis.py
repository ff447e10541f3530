"""What survives each step and predicate, and what is there instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from penstock import xpath
from penstock.engine.diagnosis import Advice, Diagnosis, Samples, diagnose
from penstock.sources import inputs

PLAY = """<play><act><speech n="1"><speaker>HAMLET</speaker><line>To be</line></speech>
<speech n="2"><speaker>OPHELIA</speaker><line>Good my lord</line></speech></act>
<act><speech n="3"><speaker>HAMLET</speaker></speech></act></play>"""

_CASE = 'values of `speaker` seen: "HAMLET", "OPHELIA"; the case differs; write "HAMLET"'


def diagnosed(text: str, *documents: str, **options: object) -> Diagnosis:
    found = documents or (PLAY,)
    samples = Samples(lambda: inputs(list(found)))
    return diagnose(xpath(text, **options), samples, Advice.PROGRAM)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "survivors"),
    [
        ("//speech[speaker = 'hamlet']", "`//speech` 3 → `[speaker = 'hamlet']` 0"),
        ("/play/act[2]/speech/line", "`/play` 1 → `/act` 2 → `[2]` 1 → `/speech` 1 → `/line` 0"),
        ("(//speech)[2]/@n", "`//speech` 3 → `[2]` 1 → `/@n` 1"),
        ("count(//speech[line])", "`//speech` 3 → `[line]` 2"),
        ("//act//line[ ( . = 'x' ) ]", "`//act` 2 → `//line` 2 → `[ ( . = 'x' ) ]` 0"),
        ("//line/../@m", "`//line` 2 → `/..` 2 → `/@m` 0"),
        ("//scene[1]/line", "`//scene` 0"),
        ("child::play / child::act [ 1 ]", "`child::play` 1 → ` / child::act` 2 → ` [ 1 ]` 1"),
    ],
)
def test_survivors_are_counted_per_step_and_predicate(text: str, survivors: str) -> None:
    (found,) = diagnosed(text).survivors
    assert str(found).replace("` [", "`[") == survivors.replace("` [", "`[")


def test_each_part_of_a_union_has_survivors_of_its_own() -> None:
    found = diagnosed("//speech[9] | //act[line]")
    assert [one.decisive() for one in found.survivors] == [
        "`//speech` 3 → `[9]` 0",
        "`//act` 2 → `[line]` 0",
    ]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("//speech[speaker = 'hamlet']", _CASE),
        (
            "//speech[line = ' To  be']",
            'values of `line` seen: "To be", "Good my lord"; '
            "white space differs; compare `normalize-space(line)`",
        ),
        (
            "//speech[speaker > 5]",
            'an order compares numbers, and `speaker` has none: "HAMLET", "OPHELIA"',
        ),
        (
            "//speech[@n > '2024-01-01']",
            "an order compares numbers, and '2024-01-01' is not a number",
        ),
        ("/speech", "the root is `play`; `//speech` finds 3"),
        ("/scene/line", "the root is `play`"),
        ("//speech['ofelia' = string(speaker)]", 'values of `speaker` seen: "OPHELIA", "HAMLET"'),
        ("//speech[@n > 5]", "values of `@n` seen: 1 to 3"),
        ("//speech[speaker = $who]", _CASE),
        ("//line[contains(., 'Be')]", 'values of `.` seen: "To be", "Good my lord"'),
        ("//act[line = 'x']", "there is no `line` at `//act`"),
        ("//act/line", "elements there: speech"),
        ("//speech/@m", "attributes there: n"),
        ("//line/@m", "there are no attributes there"),
    ],
)
def test_details_say_what_is_there_instead(text: str, detail: str) -> None:
    assert detail in diagnosed(text, variables={"who": "hamlet"}).details


def test_the_parts_of_a_conjunction_are_told_apart() -> None:
    found = diagnosed("//speech[speaker = 'HAMLET' and @n = '2']")
    assert found.details == ("each alone: `speaker = 'HAMLET'` 2, `@n = '2'` 1",)
    found = diagnosed("//speech[speaker = 'HAMLET' and @n = '7']")
    assert found.details == (
        "each alone: `speaker = 'HAMLET'` 2, `@n = '7'` 0",
        'values of `@n` seen: "1", "2", "3"',
    )


def test_the_decisive_lines_are_two() -> None:
    assert diagnosed("//speech[speaker = 'hamlet']").decisive() == [
        "`//speech` 3 → `[speaker = 'hamlet']` 0",
        _CASE,
    ]
    assert diagnosed("//speech/lines").decisive() == [
        "`//speech` 3 → `/lines` 0",
        "no element is called `lines`; similar: line",
    ]
    first, second = diagnosed("//speech", "<speech xmlns='urn:p'/>").decisive()
    assert first.startswith("`speech` exists only in namespace urn:p")
    assert second == "bind a prefix and use it: namespaces={'p': 'urn:p'} and p:speech"


def test_samples_are_counted_together_and_bad_ones_up_to_their_error() -> None:
    (found,) = diagnosed("//a[b]", "<r><a/><a/></r>", "<r><a/><c", "<a/>").survivors
    assert str(found) == "`//a` 4 → `[b]` 0"


def test_a_long_sample_is_read_in_part() -> None:
    text = "<r>" + "<a/>" * 1_000_000 + "</r>"
    samples = Samples(lambda: inputs([text]), bytes_max=1000)
    (found,) = diagnose(xpath("//a[b]"), samples, Advice.PROGRAM).survivors
    assert samples.is_cut
    assert 0 < found.stages[0][1] < 1_000_000


NAMES = st.sampled_from(["a", "b", "c", "*"])
PREDICATES = st.sampled_from(["", "[1]", "[b]", "[@x]", "[. = 'v']", "[last()]", "[c or @x = '1']"])
STEPS = st.tuples(st.sampled_from(["/", "//"]), NAMES, PREDICATES, PREDICATES)


@given(st.lists(STEPS, min_size=1, max_size=4))
def test_survivors_are_those_that_another_processor_counts(
    steps: list[tuple[str, str, str, str]],
) -> None:
    document = "<a x='1'><b>v<c/></b><a><b/><b x='1'>v</b></a><c><a><c>v</c></a></c></a>"
    tree = etree.fromstring(document)
    text = "".join("".join(step) for step in steps)
    (found,) = diagnosed(text, document).survivors
    prefix = ""
    for shown, count in found.stages:
        prefix += shown
        assert count == len(tree.getroottree().xpath(prefix)), prefix  # type: ignore[arg-type]
    assert found.stages[-1][1] == 0 or prefix == text
