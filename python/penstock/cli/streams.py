"""Which files are documents of which streams, and when they happened."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from penstock.cli.options import bindings, pair
from penstock.planning.bindings import is_over_streams
from penstock.planning.streams import named_streams, published_stream
from penstock.results import Document
from penstock.sources import Source
from penstock.sources.times import TimePath
from penstock.twigs import Event, Query
from penstock.twigs.sequences import Sequences

_DEFAULT = "default"


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """Add what says of which stream, and of when, a file is."""
    parser.add_argument(
        "--stream",
        action="append",
        default=[],
        type=_stream,
        metavar="NAME=GLOB",
        help="files that fit the glob are documents of the stream; the first that fits counts, "
        f"and what fits none is of the stream `{_DEFAULT}`",
    )
    parser.add_argument(
        "--time",
        metavar="PATH",
        help="the XPath of a document's event time: ISO 8601, or seconds since 1970; without it, "
        "a document's event time is that of its reading",
    )
    parser.add_argument(
        "--lateness",
        type=seconds,
        metavar="SECONDS",
        help="let joins drop what they need not wait for any longer; documents that come later "
        "than so long after a younger one fail",
    )
    # Where queries may be very many, their streams are not looked at.
    parser.set_defaults(named_files=())


def require_streams(
    options: argparse.Namespace, queries: Sequence[Query], files: Iterable[str]
) -> None:
    """End with a message about usage where a query would wait for documents in vain.

    A stream may have the name of a file: ``doc("x.xml")`` reads the input ``x.xml``.
    """
    streams = {name for query in queries for name in named_streams(query)}
    options.named_files = tuple(streams)
    if options.follow:
        return
    files = [*files]
    published = {published_stream(query) for query in queries}
    missing = streams - published - {_DEFAULT, *(name for name, _ in options.stream)}
    if missing:
        missing -= {stream_of(file, options) for file in files}
    for stream in sorted(missing):
        message = f"a query reads the stream `{stream}`; say which files are of it, as in --stream"
        options.parser.error(f"{message} '{stream}=*.xml', or give the file of that name")
    reads_all = any(not named_streams(query) for query in queries)
    if _DEFAULT in streams or reads_all or not any(map(joins_streams, queries)):
        return
    for file in files:
        if stream_of(file, options) == _DEFAULT:
            message = f"{file} fits no --stream, and no query reads the stream `{_DEFAULT}`"
            options.parser.error(message)


def joins_streams(query: Query) -> bool:
    """Return whether a query joins documents or streams."""
    output = query.output
    return isinstance(output, Event) or (isinstance(output, Sequences) and is_over_streams(output))


def with_streams(documents: Iterable[Document], options: argparse.Namespace) -> Source:
    """Return the documents with their streams and event times.

    Raises:
        QueryError: The path of event times is not valid XPath.
    """
    source = _in_streams(documents, options)
    if options.time is None:
        return source
    return TimePath(options.time, bindings(options)).timed(source)


def stream_of(file: str, options: argparse.Namespace) -> str:
    """Return the stream of a file, or of a member of an archive.

    A glob is compared with as many parts of the path as it has itself, from the right; so is the
    name of a file that a query reads, which counts where no glob fits.
    """
    globs: list[tuple[str, str]] = options.stream
    paths = [PurePath(file), PurePath(file.rpartition("!")[2])]
    fitting = (name for name, glob in globs if any(path.match(glob) for path in paths))
    named = (name for name in options.named_files if any(_ends_in(path, name) for path in paths))
    return next(fitting, None) or next(named, _DEFAULT)


def _ends_in(path: PurePath, name: str) -> bool:
    parts = PurePath(name).parts
    return bool(parts) and path.parts[-len(parts) :] == parts


def _in_streams(documents: Iterable[Document], options: argparse.Namespace) -> Iterator[Document]:
    for document in documents:
        yield replace(document, stream=stream_of(document.id or "", options))


def _stream(text: str) -> tuple[str, str]:
    name, glob = pair(text)
    if not name:
        raise argparse.ArgumentTypeError(f"`{text}` names no stream")
    return name, glob


def seconds(text: str) -> float:
    """Return a number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds from 0 on")
    return value
