"""A server in front of a store that says for a while that it is busy."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.spark.helpers.store_servers import Place, S3Place

_BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class Flaky:
    """Answers two requests of three with 503, so many times, and passes all else on.

    Without a number it answers nothing but 503.
    """

    def __init__(self, place: Place, failures: int | None = None) -> None:
        self._place = place
        self._failures = failures
        self.failed = 0
        self._asked = 0
        self._lock = threading.Lock()
        is_s3 = isinstance(place, S3Place)
        key = "fs.s3a.endpoint" if is_s3 else "dfs.namenode.http-address"
        target = place.settings[key]
        self._target = urlsplit(target).netloc if is_s3 else target
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        address = f"127.0.0.1:{self._server.server_port}"
        self.root = place.root
        self.settings: Mapping[str, str] = {key: f"http://{address}" if is_s3 else address}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _is_busy(self) -> bool:
        with self._lock:
            self._asked += 1
            is_busy = self._failures is None or (
                self.failed < self._failures and self._asked % 3 != 0
            )
            self.failed += is_busy
            return is_busy

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        flaky = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if flaky._is_busy():
                    self._answer(503, [], b"" if self.command == "HEAD" else _BUSY)
                    return
                connection = http.client.HTTPConnection(flaky._target)
                # Signatures cover the name of the host that the client knows.
                connection.putrequest(
                    self.command, self.path, skip_host=True, skip_accept_encoding=True
                )
                for name, value in self.headers.items():
                    connection.putheader(name, value)
                connection.endheaders()
                answer = connection.getresponse()
                data = answer.read()
                kept = [
                    (name, value)
                    for name, value in answer.getheaders()
                    if name.lower() not in ("transfer-encoding", "connection", "content-length")
                ]
                length = answer.getheader("Content-Length") if self.command == "HEAD" else None
                self._answer(answer.status, kept, data, length)
                connection.close()

            do_HEAD = do_GET  # noqa: N815  # the names are those of http.server

            def _answer(
                self,
                status: int,
                headers: list[tuple[str, str]],
                data: bytes,
                length: str | None = None,
            ) -> None:
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", length or str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler
