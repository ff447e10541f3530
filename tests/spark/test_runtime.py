"""Where Spark cannot start, one sentence says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.spark import runtime


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Take the machine's Java away."""
    for name in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(runtime, "find_spec", lambda _: object())


def install_java(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    java = folder / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)


def test_missing_java_is_said_in_one_sentence() -> None:
    reason = runtime.missing()
    assert reason is not None
    assert "Spark needs Java 17" in reason
    assert "\n" not in reason
    with pytest.raises(RuntimeError, match="Spark needs Java 17"):
        runtime.require()


def test_missing_pyspark_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "find_spec", lambda _: None)
    assert "penstock-xml[spark]" in (runtime.missing() or "")


def test_java_is_found_on_the_path_and_at_its_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_java(tmp_path)
    assert runtime.missing() is None
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert runtime.missing() is not None  # JAVA_HOME goes before the PATH, as for Spark
    (tmp_path / "jdk").mkdir()
    install_java(tmp_path / "jdk" / "bin")
    assert runtime.missing() is None


def test_connect_needs_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    assert runtime.missing() is None
    runtime.require()


def test_importing_the_package_imports_neither_pyspark_nor_pyarrow() -> None:
    import subprocess
    import sys

    script = (
        "import sys, penstock.spark, penstock.spark.worker\n"
        "assert not {'pyspark', 'pyarrow', 'pandas'} & set(sys.modules), 'imported too early'"
    )
    path = str(Path(runtime.__file__).resolve().parents[2])
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": path})
