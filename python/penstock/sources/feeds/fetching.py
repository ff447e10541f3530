"""One conditional request for one feed, bounded in time and size."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from penstock.errors import DocumentError

_PIECE_BYTES = 64 << 10
_AGENT = "penstock"
_ACCEPT = "application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.1"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered; ``body`` None means that nothing changed."""

    body: bytes | None
    etag: str | None
    modified: str | None


def require_http(url: str) -> None:
    """Check that an address is one of the web.

    Raises:
        ValueError: It is not.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"a feed has an http or https address, and {url!r} is none")


def fetch(
    url: str,
    etag: str | None,
    modified: str | None,
    *,
    timeout_seconds: float,
    body_bytes_max: int,
) -> Fetched:
    """Return what a server answers to a conditional request.

    Redirections are followed within http and https only. ``timeout_seconds`` bounds the whole
    request, however slowly the bytes come.

    Raises:
        DocumentError: There is no answer in time, it is too large, or it is an error.
        ValueError: The address is none of the web.
    """
    require_http(url)
    request = urllib.request.Request(url, headers=_headers(etag, modified))
    deadline = time.monotonic() + timeout_seconds
    try:
        with _opener().open(request, timeout=timeout_seconds) as answer:
            body = _read(answer, deadline, body_bytes_max)
            return Fetched(body, answer.headers.get("ETag"), answer.headers.get("Last-Modified"))
    except urllib.error.HTTPError as error:
        with error:
            if error.code == http.HTTPStatus.NOT_MODIFIED:
                return Fetched(None, etag, modified)
            raise failed(f"the server answers {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise failed(f"the server cannot be reached: {error.reason}") from None
    except TimeoutError:
        raise failed(f"no answer within {timeout_seconds:g} seconds") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise failed(f"the answer cannot be read: {error}") from None


def failed(reason: str) -> DocumentError:
    """Return the error for a feed that cannot be had."""
    return DocumentError("PS0009", reason, 0, 0, "")


def _headers(etag: str | None, modified: str | None) -> Mapping[str, str]:
    headers = {"User-Agent": _AGENT, "Accept": _ACCEPT, "Accept-Encoding": "gzip"}
    if etag:
        headers["If-None-Match"] = etag
    if modified:
        headers["If-Modified-Since"] = modified
    return headers


def _read(answer: http.client.HTTPResponse, deadline: float, bytes_max: int) -> bytes:
    parts = []
    count = 0
    while piece := answer.read1(_PIECE_BYTES):
        parts.append(piece)
        count += len(piece)
        if count > bytes_max:
            raise failed(f"the feed has more than {bytes_max} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(parts)


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follows redirections to addresses of the web, and nothing else."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        require_http(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    # Without the handlers for file:, ftp: and data: that the default opener has.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirections(),
    ):
        opener.add_handler(handler)
    return opener
