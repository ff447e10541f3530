"""Workers that are connected with Spark before they load anything."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.spark.helpers import early_worker
from tests.waiting import SECONDS_MAX

LOADED = "import sys\nsys.stdin.read()\n"
UTIL = "def local_connect_and_auth(place, secret): return place, secret\n"
WORKER = f"""
import os, sys
from pyspark.util import local_connect_and_auth
assert local_connect_and_auth(1, "other") == (1, "other")
port, secret = (os.environ[name] for name in ({early_worker.PORT!r}, {early_worker.SECRET!r}))
file, connected = local_connect_and_auth(int(port), secret)
file.write((__name__ + " " + sys.argv[1]).encode())
file.flush()
assert file.read(5) == b"go on"
"""


def test_a_worker_is_connected_before_it_loads_pyspark(tmp_path: Path) -> None:
    (tmp_path / "pyspark").mkdir()
    for name, text in (
        ("pyspark/__init__.py", LOADED),
        ("pyspark/util.py", UTIL),
        ("worker.py", WORKER),
    ):
        (tmp_path / name).write_text(text, "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SECONDS_MAX)
        port = str(server.getsockname()[1])
        process = subprocess.Popen(
            [sys.executable, early_worker.__file__, "-m", "worker", "argument"],
            cwd=tmp_path,
            env=os.environ | {early_worker.PORT: port, early_worker.SECRET: "secret"},
            stdin=subprocess.PIPE,
        )
        connected, _ = server.accept()
        with process, connected:
            assert connected.recv(10, socket.MSG_WAITALL) == b"\0\0\0\6secret"
            connected.sendall(b"\0\0\0\2ok")
            # It loads pyspark until its input ends.
            assert process.stdin is not None
            process.stdin.close()
            assert connected.recv(17, socket.MSG_WAITALL) == b"__main__ argument"
            connected.sendall(b"go on")
            assert process.wait(SECONDS_MAX) == 0


def test_other_commands_of_python_run_as_they_are() -> None:
    script = [sys.executable, early_worker.__file__, "-c", "import sys; print(sys.argv[1])", "word"]
    environment = {key: value for key, value in os.environ.items() if key != early_worker.PORT}
    done = subprocess.run(script, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "word\n"
