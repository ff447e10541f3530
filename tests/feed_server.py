"""A server of feeds on loopback, for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FeedServer:
    """Answers with what the test puts at each path, and remembers what it was asked.

    A page has an entity tag that is its content's, so a conditional request is answered as it
    should be. A page that is a number is answered with that status, one that is a text is a
    redirection there.
    """

    def __init__(self) -> None:
        self.pages: dict[str, bytes | int | str] = {}
        self.requests: list[tuple[str, str | None, int]] = []
        self.has_tags = True
        self.wait = threading.Event()
        self.wait.set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True

    def url(self, path: str) -> str:
        """Return the address of a page."""
        return f"http://127.0.0.1:{self._http.server_port}{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        self.wait.wait()
        page = self.pages.get(request.path, 404)
        asked = request.headers.get("If-None-Match") or request.headers.get("If-Modified-Since")
        tag, date = f'"{hash(page)}"', formatdate(hash(page) % 10**9, usegmt=True)
        status = page if isinstance(page, int) else 302 if isinstance(page, str) else 200
        if asked in (tag, date):
            status = 304
        self.requests.append((request.path, asked, status))
        request.send_response(status)
        if isinstance(page, str):
            request.send_header("Location", page)
        if isinstance(page, bytes):
            request.send_header(*(("ETag", tag) if self.has_tags else ("Last-Modified", date)))
        body = page if isinstance(page, bytes) and status == 200 else b""
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    @contextmanager
    def running(self) -> Iterator[FeedServer]:
        """Serve until the block ends."""
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self.wait.set()
            self._http.shutdown()
            self._http.server_close()
            thread.join()


def rss(*guids: str) -> bytes:
    """Return a feed in RSS 2.0 with one item for each guid."""
    items = "".join(
        f"<item><title>{guid}</title><guid>{guid}</guid>"
        f"<pubDate>Mon, 02 Jan 2023 03:04:05 GMT</pubDate><dc:creator>c</dc:creator></item>"
        for guid in guids
    )
    space = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return f'<rss version="2.0" {space}><channel>{items}</channel></rss>'.encode()


def atom(*ids: str) -> bytes:
    """Return a feed in Atom with one entry for each id."""
    entries = "".join(
        f"<entry><id>{one}</id><link href='http://x/{one}'/>"
        f"<updated>2023-01-02T03:04:05Z</updated></entry>"
        for one in ids
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'.encode()
