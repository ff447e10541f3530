"""The package in an archive, unpacked where it is imported, and what a worker says of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.spark.deployment import bootstrap
from penstock.spark.deployment.sessions import _sentence_of, is_local
from penstock.spark.deployment.shipping import package_archive

IMPORT = """
import sys
sys.path.insert(1, sys.argv[1])
import penstock, penstock.kernel, json
from penstock.versions import own_version
print(json.dumps([penstock.__file__, penstock.kernel._native.__file__, own_version()]))
"""


def imported(archive: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    """Import the package from an archive in a Python that has no other."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", IMPORT, str(archive)],
        env={"TMPDIR": str(temporary)},
        cwd=temporary,
        capture_output=True,
        text=True,
        check=False,
    )


def test_archive_is_a_package_where_no_other_is(tmp_path: Path) -> None:
    from penstock.versions import own_version

    temporary = tmp_path / "with space"
    temporary.mkdir()
    archive = tmp_path / "penstock shipped.zip"
    archive.symlink_to(package_archive())
    for _ in range(2):
        done = imported(archive, temporary)
        assert done.returncode == 0, done.stderr
        file, native, version = json.loads(done.stdout)
        (target,) = (temporary / f"penstock-packages-{os.getuid()}").iterdir()
        assert file == str(target / "penstock" / "__init__.py")
        assert Path(native).parent == target / "penstock"
        assert version == own_version()


def test_processes_that_unpack_at_once_leave_one_package(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", "-c", IMPORT, str(package_archive())]
    running = [
        subprocess.Popen(command, env={"TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    said = {process.communicate()[0] for process in running}
    assert len(said) == 1
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(list((tmp_path / f"penstock-packages-{os.getuid()}").iterdir())) == 1


def test_folder_that_others_can_write_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / f"penstock-packages-{os.getuid()}").mkdir()
    (tmp_path / f"penstock-packages-{os.getuid()}").chmod(0o777)
    done = imported(package_archive(), tmp_path)
    assert "ImportError: PV0005: a worker (" in done.stderr.splitlines()[-1]
    assert "open to others" in done.stderr


@pytest.mark.parametrize(
    ("python", "platform", "said"),
    [((3, 99), None, "needs 3.99 or newer"), ((3, 11), ("plan9", "pdp11"), "is for plan9-pdp11")],
)
def test_another_platform_is_refused(
    python: tuple[int, int], platform: tuple[str, str] | None, said: str
) -> None:
    here = (sys.platform, os.uname().machine)
    with pytest.raises(ImportError, match=rf"^PV0004: a worker .*{said}"):
        bootstrap.require_platform({"python": python, "platform": platform or here})


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        *(("local", True), ("local[2]", True), ("local[*,4]", True)),
        *(("local-cluster[2,1,1024]", False), ("spark://host:7077", False), ("yarn", False)),
    ],
)
def test_local_masters_are_known(master: str, expected: bool) -> None:
    assert is_local(master) is expected


def test_what_a_worker_said_is_found_in_the_error_of_spark() -> None:
    trace = "Traceback (most recent call last):\n  File\nRuntimeError: PV0002: a worker has none\n"
    found = _sentence_of(trace)
    assert found is not None
    assert (found.code, found.message) == ("PV0002", "a worker has none")
    mismatch = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12\n"
    found = _sentence_of(mismatch)
    assert found is not None
    assert found.code == "PV0004"
    assert _sentence_of("something else") is None


def test_guard_says_what_is_missing_without_the_package(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from pyspark import cloudpickle

    from penstock.spark.deployment.guard import guarded

    (tmp_path / "work").write_bytes(cloudpickle.dumps(guarded(iter)))
    script = (
        "import pickle, sys\n"
        f"sys.path.insert(1, {str(Path(cloudpickle.__file__).parents[2])!r})\n"
        "import importlib.abc\n"
        "class Missing(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'penstock':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        f"work = pickle.load(open({str(tmp_path / 'work')!r}, 'rb'))\n"
        "list(work(iter([])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False
    )
    said = done.stderr.splitlines()[-1]
    assert said.startswith("RuntimeError: PV0002: a worker ("), done.stderr
    assert "does not have penstock" in said


def test_guard_compares_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    from penstock import versions
    from penstock.spark.deployment import guard

    work = guard.guarded(iter)
    assert list(work(iter([1, 2]))) == [1, 2]
    monkeypatch.setattr(versions, "own_version", lambda: "0.0.1")
    with pytest.raises(RuntimeError, match=r"PV0003: a worker .* has penstock 0\.0\.1, and the"):
        list(work(iter([])))
