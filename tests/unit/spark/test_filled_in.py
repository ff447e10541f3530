"""A pipeline's file may take values from the environment and from files of secrets."""

import re
from pathlib import Path

import pytest

import penstock
from penstock.definitions.variables import Secrets
from penstock.errors import SinkError
from penstock.sinks import KafkaSink
from penstock.spark.pipelines import ConfigurationError, load
from penstock.spark.pipelines.sessions import redaction

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


SECRET = "s3cret, w1th $igns"


@pytest.mark.parametrize("data", [f"{SECRET}\n", f"{SECRET}\r\n\n", f"\ufeff{SECRET}"])
def test_a_secret_lies_beside_the_file_and_ends_before_its_line_does(
    tmp_path: Path, data: str
) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/one").write_text(data, encoding="utf-8", newline="")
    sink = "{kind: kafka, servers: 'one:9092', topic: t, options: {a: '${file:secrets/one}'}}"
    (tmp_path / "p.yaml").write_text(SMALL.replace("- kind: console", f"- {sink}"))
    pipeline = load(tmp_path / "p.yaml")
    (setting,) = pipeline.sinks
    assert isinstance(setting.sink, KafkaSink)
    assert setting.sink.options == {"a": SECRET}
    assert "s3cret" not in repr(pipeline)
    assert pipeline.secrets.redacted(f"told <{SECRET}>") == "told <${file:secrets/one}>"


WRONG = (
    "sources: [{kind: ${file:secret}, path: .}]",
    "trigger: ${file:secret}",
    "trigger: {processing_time: '${file:secret}'}",
    "lateness: ${file:secret}",
    "sources: [{kind: files, path: '${file:secret}'}]",
    "sources: [{kind: files, path: ., options: {maxFilesPerTrigger: '${file:secret}'}}]",
    "sources: [{kind: feeds, urls: '${file:secret}'}]",
    "sources: [{kind: files, path: ., record: '//${file:secret}['}]",
    "spark: {master: '${file:secret}'}",
    "suspend_after: ${file:secret}",
    "limits: {depth_max: '${file:secret}'}",
    "registry: '${file:secret}'",
    "registry: {subscriptions: [{name: a, query: '${file:secret}['}]}",
    "registry: {subscriptions: [{name: a, query: //a, language: '${file:secret}'}]}",
    "registry: {subscriptions: [{name: a, query: //a, mode: '${API_TOKEN}'}]}",
    "sinks: [{kind: console, name: '${file:secret}'}, {kind: console, name: '${file:secret}'}]",
    "sinks: [{kind: console, subscriptions: '${file:secret}'}]",
    "sinks: [{kind: jdbc, url: '${file:secret}'}]",
    "sinks: [{kind: jdbc, url: 'jdbc:postgre:${file:secret}'}]",
    "sinks: [{kind: sqlite, path: a.db, table: '${file:secret}'}]",
    "sinks: [{kind: json, path: '${file:secret}'}, {kind: parquet, path: '${file:secret}'}]",
    "include: '${file:secret}'",
)


@pytest.mark.parametrize("line", WRONG)
def test_no_mistake_shows_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (tmp_path / "secret").write_text("hunter2-hunter2\n")
    monkeypatch.setenv("API_TOKEN", "hunter2-hunter2")
    key = line.split(":")[0]
    kept = re.sub(rf"^{key}:\n(?:  .*\n)+", "", SMALL, flags=re.M)
    (tmp_path / "p.yaml").write_text(f"{kept}{line}\n")
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path / "p.yaml")
    assert "hunter2" not in str(caught.value)
    assert "help: " in str(caught.value)


def test_a_value_of_variables_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANTED", "x")
    query = "{name: a, query: '//a[. = $w]', variables: {w: '${WANTED}'}}"
    (tmp_path / "p.yaml").write_text(SMALL.replace("{name: a, query: //a}", query))
    found = penstock.Engine(load(tmp_path / "p.yaml").registry).run(b"<r><a>x</a><a>y</a></r>")
    assert [row.value for row in found] == ["<a>x</a>"]


def test_errors_of_a_run_show_no_secret(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2-hunter2\n")
    secrets = Secrets()
    assert secrets.fill("${file:secret}", tmp_path) == "hunter2-hunter2"
    error = SinkError("PO0001", "user=me password=hunter2-hunter2 was refused")
    secrets.redact(error)
    assert "hunter2" not in f"{error} {error!r} {vars(error)}"
    assert "password=${file:secret} was" in str(error)


def test_spark_hides_settings_that_hold_secrets(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2-hunter2\n")
    settings = "{spark.my.phrase: '${file:secret}', spark.other: plain}"
    (tmp_path / "p.yaml").write_text(f"{SMALL}spark: {{settings: {settings}}}\n")
    pattern = redaction(load(tmp_path / "p.yaml"))["spark.redaction.regex"]
    assert re.search(pattern, "spark.my.phrase")
    assert re.search(pattern, "spark.hadoop.fs.s3a.secret.key")
    assert not re.search(pattern, "spark.other")
