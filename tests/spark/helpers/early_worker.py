"""Runs a Python worker of Spark that is connected before it loads anything.

A Connect server gives the Python of ``foreachBatch`` ten seconds to connect and ten to give its
secret, and no setting changes that. A worker loads pyspark first, which takes longer on a machine
that has much else to do. `python early_worker.py -m MODULE` runs what `python -m MODULE` runs,
with a connection that was made at once.
"""

import os
import runpy
import socket
import struct
import sys
from typing import Any

PORT = "PYTHON_WORKER_FACTORY_PORT"
SECRET = "PYTHON_WORKER_FACTORY_SECRET"


def connect(port: int, secret: bytes) -> socket.socket:
    """Return a connection to the server, which knows the secret."""
    connected = socket.create_connection(("127.0.0.1", port))
    connected.sendall(struct.pack("!i", len(secret)) + secret)
    (length,) = struct.unpack("!i", connected.recv(4, socket.MSG_WAITALL))
    assert connected.recv(length, socket.MSG_WAITALL) == b"ok"
    return connected


def hand_over(connected: socket.socket) -> None:
    """Let the worker take the connection where it would make one."""
    from pyspark import util

    connect_and_authenticate = util.local_connect_and_auth

    def take(conn_info: str | int | None, auth_secret: str | None) -> tuple[Any, ...]:
        if conn_info != connected.getpeername()[1]:
            return connect_and_authenticate(conn_info, auth_secret)
        return connected.makefile("rwb", int(os.environ.get("SPARK_BUFFER_SIZE", 65536))), connected

    util.local_connect_and_auth = take


def main(arguments: list[str]) -> None:
    """Run a worker, or any other command of Python as it is."""
    if PORT not in os.environ:
        os.execv(sys.executable, [sys.executable, *arguments])
    connected = connect(int(os.environ[PORT]), os.environ[SECRET].encode())
    option, module, *rest = arguments
    assert option == "-m", "a worker is a module"
    sys.path[0], sys.argv = os.getcwd(), [module, *rest]
    hand_over(connected)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
