"""The chart of the README shows what the records say."""

from xml.etree import ElementTree

from benchmarks import chart


def test_the_chart_is_drawn_from_the_records() -> None:
    assert chart.CHART.read_text() == chart.draw(), "run `python -m benchmarks.chart`"
    ElementTree.fromstring(chart.draw())


def test_the_bars_are_those_of_the_tables() -> None:
    table = (chart.RECORDS / "2026-11-15-single.md").read_text()
    section = table[table.index("## 110 MB") :]
    for name, value in chart.single_bars():
        row = next(line for line in section.splitlines() if line.startswith(f"| {name} "))
        assert row.split("|")[-2].strip() == f"{value:.0f}"
