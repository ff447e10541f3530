"""A full disk and a killed process, in the middle of a query over several streams."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, resource, signal, sys
import penstock
from penstock.joins import JoinOptions

kind = sys.argv[1]
if kind == "full":
    # Writing beyond it fails as on a full disk.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
registry = penstock.Registry()
registry.add("q", penstock.xquery(
    "for $a in stream('s')//a, $b in stream('t')//b where $a/@k = $b/@k "
    "return <m>{$a/@k}{$b/text()}</m>"
))
options = JoinOptions(state_bytes_max=20_000)

def documents():
    for number in range(3_000):
        stream, name = ("s", "a") if number % 2 else ("t", "b")
        text = "x" * 50
        data = f"<r><{name} k='{number // 2 % 700}'>{text}</{name}></r>"
        yield penstock.Document(data, stream=stream)
        if kind == "kill" and number == 2_500:
            print(count, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

count = 0
try:
    for row in penstock.Engine(registry, joins=options).run(documents()):
        count += row.error is None
except penstock.errors.StateError as error:
    print(error.code, count, flush=True)
else:
    print("complete", count, flush=True)
"""


def run(kind: str, folder: Path) -> tuple[list[str], int]:
    environment = dict(os.environ, TMPDIR=str(folder))
    command = [sys.executable, "-c", PROGRAM, kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout.split(), done.returncode


def test_a_full_disk_ends_the_run_with_an_error(tmp_path: Path) -> None:
    said, code = run("full", tmp_path)
    assert (said[0], code) == ("PJ0006", 0)
    complete, _ = run("enough", tmp_path)
    assert complete[0] == "complete"
    # 1,500 of each stream over 700 keys: 100 keys are there three times, 600 twice.
    assert int(complete[1]) == 100 * 9 + 600 * 4
    assert 0 < int(said[1]) < int(complete[1])
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_leaves_no_file(tmp_path: Path) -> None:
    said, code = run("kill", tmp_path)
    assert int(said[0]) > 0
    assert code < 0
    assert list(tmp_path.iterdir()) == []
