"""``penstock views``: choose views, stamp documents, and see what servers do with headers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli import exits
from penstock.errors import DocumentError, SettingError

if TYPE_CHECKING:
    from penstock.routing import Configuration, Router


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "views",
        examples=("penstock views select --servers servers.json --size 15 sample.xml",),
        help="choose stream views, stamp documents with headers, and explain hits and misses",
        description="Stream views: a header says where the interesting nodes of a document are, "
        "so that servers answer their queries without parsing it.",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add_select(actions)
    stamp = actions.add_parser(
        "stamp",
        examples=(
            "penstock views stamp --configuration views.json feed/*.xml",
            "penstock views stamp --configuration views.json --frames a.xml b.xml > stamped",
        ),
        help="write the headers of documents",
        description="Write the header of each document beside it (FILE.views), or write frames of "
        "header and document to stdout.",
    )
    _add_configuration(stamp)
    stamp.add_argument("file", metavar="FILE", nargs="+", help="a document")
    stamp.add_argument("--frames", action="store_true", help="frames on stdout, no side files")
    stamp.set_defaults(run=run_stamp)
    explain = actions.add_parser(
        "explain",
        examples=(
            "penstock views explain --configuration views.json --servers servers.json sample.xml",
        ),
        help="say which queries are covered, in which order they are tried, and the hit rate",
        description="For each server: which queries a configuration covers, in which order their "
        "conditions are tried, and the share of documents that it answers from the header.",
    )
    _add_configuration(explain)
    explain.add_argument("--servers", metavar="FILE", required=True, help="servers as JSON")
    explain.add_argument("--server", metavar="NAME", help="this one alone")
    explain.add_argument("sample", metavar="SAMPLE", nargs="*", help="documents to measure with")
    explain.add_argument("--json", action="store_true", help="one JSON object to a line")
    explain.set_defaults(run=run_explain)
    verify = actions.add_parser(
        "verify",
        examples=("penstock views verify --configuration views.json feed/*.xml",),
        help="compare the headers beside documents with the documents",
        description="Parse documents and compare the headers beside them (FILE.views).",
    )
    _add_configuration(verify)
    verify.add_argument("file", metavar="FILE", nargs="+", help="a document")
    verify.set_defaults(run=run_verify)


def _add_select(actions: Any) -> None:
    select = actions.add_parser(
        "select",
        examples=(
            "penstock views select --servers servers.json --size 15 sample.xml > views.json",
        ),
        help="choose the views that make servers hit most often",
        description="Print the view configuration that makes servers hit most often.",
    )
    select.add_argument("--servers", metavar="FILE", required=True, help="servers as JSON")
    bound = select.add_mutually_exclusive_group()
    bound.add_argument("--size", type=int, metavar="K", help="so many views at most")
    bound.add_argument("--header-bytes", type=float, metavar="N", help="headers of so many bytes")
    bound.add_argument(
        "--byte-cost", type=float, default=0.0, metavar="C", help="of a byte, in parses"
    )
    select.add_argument("--method", choices=("search", "greedy", "exact"), default="search")
    select.add_argument("--nested", action="store_true", help="ancestors may stand for their parts")
    select.add_argument("sample", metavar="SAMPLE", nargs="*", help="documents to measure with")
    select.set_defaults(run=run_select)


def _add_configuration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--configuration", metavar="FILE", required=True, help="views as JSON")


def run_select(options: argparse.Namespace) -> int:
    """Print a configuration, and on stderr what it promises.

    Raises:
        QueryError: A query is none.
        SettingError: The file describes no servers.
    """
    from penstock.routing import Statistics, Workload, measure, paths_of, reach, select

    content, router = _servers(options.servers)
    queries = [query for server in router.servers.values() for query in server]
    samples = [Path(name).read_bytes() for name in options.sample]
    known = measure(samples, paths_of(queries)) if samples else Statistics()
    weights = {}
    if "sources" in content:
        weights = reach(content["sources"], content.get("links", {}))
    workload = Workload(router.servers, weights, known.shares, nested=options.nested)
    if known.document_bytes:
        workload.document_bytes = known.document_bytes
    chosen = select(
        workload,
        size=options.size,
        header_bytes=options.header_bytes,
        byte_cost=options.byte_cost,
        method=options.method,
    )
    print(chosen.configuration.to_json(), end="")
    views = len(chosen.configuration)
    print(
        f"{views} views, about {chosen.header_bytes:.0f} bytes beside the fixed part, "
        f"{chosen.hit_rate:.0%} expected hits",
        file=sys.stderr,
    )
    return exits.DONE


def run_stamp(options: argparse.Namespace) -> int:
    """Write headers; documents that fail are reported."""
    from penstock.routing import Stamper
    from penstock.routing.carriers import write_frame, write_side_file

    stamper = Stamper(_configuration(options.configuration))
    code = exits.DONE
    for name in options.file:
        document = Path(name).read_bytes()
        try:
            header = stamper.stamp(document)
        except DocumentError as error:
            print(f"{name}: {error}", file=sys.stderr)
            code = exits.DOCUMENTS_FAILED
            continue
        if options.frames:
            write_frame(sys.stdout.buffer, header, document)
        else:
            path = write_side_file(name, header)
            print(f"{path}: {len(header)} bytes", file=sys.stderr)
    return code


def run_explain(options: argparse.Namespace) -> int:
    """Print what servers do with headers of a configuration."""
    from dataclasses import asdict

    from penstock.routing import explain

    configuration = _configuration(options.configuration)
    samples = [Path(name).read_bytes() for name in options.sample]
    _, router = _servers(options.servers, samples)
    found = explain(router, configuration, samples)
    if options.server is not None:
        found = [server for server in found if server.name == options.server]
        if not found:
            raise SettingError("PV0006", f"there is no server `{options.server}`")
    for server in found:
        print(json.dumps(asdict(server), ensure_ascii=False) if options.json else server)
    return exits.DONE


def run_verify(options: argparse.Namespace) -> int:
    """Compare side files with documents; 3 if one is wrong or missing."""
    from penstock.routing import verify
    from penstock.routing.carriers import read_side_file

    configuration = _configuration(options.configuration)
    code = exits.DONE
    for name in options.file:
        header = read_side_file(name)
        try:
            wrong = (
                ["there is no header beside it"]
                if header is None
                else verify(header, Path(name).read_bytes(), configuration)
            )
        except DocumentError as error:
            wrong = [str(error)]
        print(f"{name}: {'; '.join(wrong) or 'right'}")
        code = exits.DOCUMENTS_FAILED if wrong else code
    return code


def _configuration(path: str) -> Configuration:
    from penstock.routing import Configuration

    return Configuration.from_json(Path(path).read_text("utf-8"))


def _servers(path: str, samples: Sequence[bytes] = ()) -> tuple[dict[str, Any], Router]:
    """Return what a file says of servers, and these, planned for sample documents.

    Raises:
        SettingError: It is no JSON of servers.
        QueryError: A query is none.
    """
    from penstock.routing import Router, measure, measure_selectivities, paths_of

    try:
        content = json.loads(Path(path).read_text("utf-8"))
        servers = content["servers"]
        if not all(isinstance(queries, dict | list) for queries in servers.values()):
            raise ValueError("a server is a list of queries, or an object of named ones")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingError("PV0006", f"`{path}` describes no servers: {error!r}") from None
    router = Router(servers, namespaces=content.get("namespaces"))
    if samples:
        queries = [query for server in router.servers.values() for query in server]
        known = measure(samples, paths_of(queries))
        selective = measure_selectivities(samples, queries)
        router = Router(router.servers, selectivities=selective, shares=known.shares)
    return content, router
