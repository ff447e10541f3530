"""A pipeline's file may take values from the environment and from files of secrets."""

import re
from pathlib import Path

import pytest

from penstock.sinks import KafkaSink
from penstock.spark.pipelines import ConfigurationError, load

SMALL = """\
sources:
  - kind: files
    path: .
registry:
  subscriptions:
    - {name: a, query: //a}
sinks:
  - kind: console
"""


def test_variables_and_secrets_are_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("pa}ss\n")
    monkeypatch.setenv("TOPIC", "found")
    options = f"{{a: '${{file:{tmp_path}/secret}}'}}"
    sink = (
        "{kind: kafka, servers: 'one:9092', topic: '${TOPIC}-$${TOPIC}', options: " + options + "}"
    )
    (tmp_path / "p.yaml").write_text(SMALL.replace("- kind: console", f"- {sink}"))
    (setting,) = load(tmp_path / "p.yaml").sinks
    assert isinstance(setting.sink, KafkaSink)
    assert setting.sink.topic == "found-${TOPIC}"
    assert setting.sink.options == {"a": "pa}ss"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("${NOT_SET}", "the variable `NOT_SET` is not set"),
        ("${file:nothing}", "the file `nothing` cannot be read: No such file"),
        ("${}", "the variable `` is not set"),
    ],
)
def test_what_cannot_be_filled_in_is_reported(tmp_path: Path, value: str, message: str) -> None:
    (tmp_path / "p.yaml").write_text(SMALL.replace("path: .", f"path: '{value}'"))
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        load(tmp_path / "p.yaml")
    assert caught.value.code == "PC0009"


def test_a_query_with_braces_is_still_a_query(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(SMALL.replace("//a", "\"//a[. = '$${x}']\""))
    assert load(tmp_path / "p.yaml").registry["a"].text == "//a[. = '${x}']"
