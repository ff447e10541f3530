"""Which type all values of a column fit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock.engine.inference.values import Values

NUMBERS = {"integer", "double"}

texts = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda value: f"{value:f}"),
    st.floats().map(repr),
    st.dates().map(str),
    st.datetimes().map(lambda value: value.isoformat()),
    st.sampled_from(["true", "false", "1", "0", "007", "-01", "+49", "", " ", "0.50", ".5", "5."]),
    st.sampled_from(["2024-02-30", "2024-01-01T24:00:00", "0000-01-01", "INF", "NaN", "1e5"]),
    st.text("0123456789+-.eETZ: ", max_size=12),
)


def of(*values: str) -> Values:
    found = Values()
    for value in values:
        found.add(value)
    return found


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-2", "0"], "integer"),
        (["1", "2.50"], "decimal(18,2)"),
        (["1", "2", "10000000000000000000"], "decimal(38,0)"),
        (["1e5", "2"], "double"),
        (["0.1234567890123"], "double"),
        (["true", "false"], "boolean"),
        (["0", "1"], "integer"),
        (["2024-02-29"], "date"),
        (["2023-02-29"], "string"),
        (["2024-02-29T10:00:00Z", "2024-02-29T10:00:00.5+01:00"], "timestamp"),
        (["2024-02-29", "2024-02-29T10:00:00Z"], "string"),
        (["1", "007"], "string"),
        (["1", "00.5"], "string"),
        (["+4912345"], "string"),
        (["", " "], "string"),
        (["NaN"], "string"),
    ],
)
def test_the_type_is_the_narrowest_that_all_values_fit(values: list[str], type_: str) -> None:
    assert of(*values).type() == type_


def test_the_evidence_says_why() -> None:
    assert of("1", "2", "").evidence() == "2 values, all fit, 1 empty"
    assert of("1", "2", "x").evidence() == "2 of 3 values fit integer, not x"
    assert of("1", "007").evidence() == "2 values; text keeps 007 as it is"
    assert of("").evidence() == "1 value, all empty"
    assert of().evidence() == "no value in the samples"


@given(st.lists(texts, min_size=1, max_size=6))
def test_the_engine_reads_all_values_as_the_type_that_was_found(values: list[str]) -> None:
    found = of(*values)
    type_ = found.type()
    record = "//v[normalize-space()]" if found.empty else "//v"
    table = penstock.table(record, {"v": (".", type_)})
    document = "<d>" + "".join(f"<v>{value}</v>" for value in values) + "</d>"
    registry = penstock.Registry()
    registry.add("t", table)
    rows = [json.loads(row.value or "") for row in penstock.Engine(registry).run(document)]
    assert not any(row.get("errors") for row in rows)
    if type_ in NUMBERS or type_.startswith("decimal"):
        written = [value.strip().lstrip("+-") for value in values]
        assert not any(len(one) > 1 and one[0] == "0" and one[1].isdigit() for one in written)
