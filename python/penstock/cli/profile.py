"""``penstock profile PATH…``: what is in a sample of documents, before anything is asked."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from penstock.cli import exits
from penstock.cli.files import documents, file_names
from penstock.cli.parsing import positive
from penstock.cli.printing import complaint
from penstock.cli.progress import is_terminal_free, progress
from penstock.cli.sampling import at_even_distances
from penstock.engine.inference.shapes import Profile, Shape, read_shape
from penstock.results import Fault
from penstock.sources import inputs

_FILES = 100
_BYTES = 16 << 20
_PATHS = 40
_PREFIXES = "abcdefghijklmnopqrstuvwxyz"


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "profile",
        examples=("penstock profile statements/", "penstock profile --json 'data/*.zip'"),
        help="list namespaces, message types, common paths and sizes of a sample",
        description="Read a sample of files once and print what is in them. Folders, globs,\n"
        "archives and compressed files are read as `match` does; of many files, some are taken\n"
        "at even distances.",
    )
    parser.add_argument("path", nargs="+", metavar="PATH", help="a file, a folder or a glob")
    parser.add_argument(
        "--files", type=positive, default=_FILES, help=f"read at most so many (default {_FILES})"
    )
    parser.add_argument(
        "--bytes",
        type=positive,
        default=_BYTES,
        help=f"read at most so many of each file (default {_BYTES})",
    )
    parser.add_argument(
        "--paths", type=positive, default=_PATHS, help=f"print so many (default {_PATHS})"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object with everything")
    parser.add_argument("--quiet", action="store_true", help="no progress and no messages")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the profile.

    Raises:
        OSError: A path is not there.
    """
    names = file_names(options.path)
    chosen = at_even_distances(names, options.files)
    summary = Summary(files=len(names))
    is_shown = not options.quiet and is_terminal_free(is_printed_last=True)
    with progress(chosen, is_shown=is_shown) as advance:
        for document in inputs(documents(chosen, advance)):
            profile = read_shape(document, options.bytes)
            summary.add(document.document, profile)
            if profile.failure is not None and not options.quiet:
                print(complaint(document.document, Fault.of(profile.failure)), file=sys.stderr)
    if options.json:
        print(json.dumps(summary.as_dict(options.paths), ensure_ascii=False))
    else:
        print("\n".join(summary.lines(options.paths)))
    return exits.DOCUMENTS_FAILED if summary.failed else exits.DONE


@dataclass(slots=True)
class Summary:
    """What is known of all documents of the sample."""

    files: int = 0
    shape: Shape = field(default_factory=Shape)
    sizes: list[int] = field(default_factory=list)
    types: dict[str, list[int]] = field(default_factory=dict)
    depth: int = 0
    cut: int = 0
    failed: dict[str, Fault] = field(default_factory=dict)

    def add(self, name: str, profile: Profile) -> None:
        """Take in a document."""
        if profile.failure is not None:
            self.failed[name] = Fault.of(profile.failure)
        self.cut += profile.is_cut
        self.sizes.append(profile.bytes)
        self.depth = max(self.depth, profile.depth)
        for root in profile.shape.below:
            self.types.setdefault(root, []).append(profile.bytes)
        self.shape.add(profile.shape)

    def namespaces(self) -> list[tuple[str, int, int]]:
        """Return namespaces with the number of elements and of attributes, most used first."""
        elements: Counter[str] = Counter()
        attributes: Counter[str] = Counter()
        for path, shape in self.shape.paths():
            name = path[-1]
            counted = attributes if name.startswith("@") else elements
            counted[_uri(name.removeprefix("@"))] += shape.count
        # An attribute without a prefix is in no namespace, which says nothing.
        uris = {uri for uri in {*elements, *attributes} if uri or elements[uri]}
        order = sorted(uris, key=lambda uri: (-elements[uri] - attributes[uri], uri))
        return [(uri, elements[uri], attributes[uri]) for uri in order]

    def as_dict(self, paths_max: int) -> dict[str, Any]:
        """Return everything, with names as ``{uri}local``."""
        return {
            "files": self.files,
            "documents": len(self.sizes),
            "failed": {
                name: {"code": fault.code, "reason": fault.reason, "byte": fault.byte}
                for name, fault in self.failed.items()
            },
            "cut": self.cut,
            "bytes": {"total": sum(self.sizes), **_spread(self.sizes)},
            "depth": self.depth,
            "namespaces": [
                {"uri": uri, "elements": elements, "attributes": attributes}
                for uri, elements, attributes in self.namespaces()
            ],
            "types": [
                {"name": name, "documents": len(sizes), "bytes": _spread(sizes)}
                for name, sizes in self._types()
            ],
            "paths": [
                {"path": list(path), "count": shape.count, "documents": shape.documents}
                for path, shape in self._common(paths_max)
            ],
        }

    def lines(self, paths_max: int) -> list[str]:
        """Return everything for people, with a prefix for each namespace."""
        prefixes = self._prefixes()
        lines = self._head()
        if prefixes:
            lines += ["", "namespaces, by the prefixes used below"]
            for uri, elements, attributes in self.namespaces():
                prefix = prefixes.get(uri, "")
                more = f", {_counted(attributes, 'attribute')}" if attributes else ""
                shown = f"{uri or '(none)'}  {_counted(elements, 'element')}{more}"
                lines.append(f"  {prefix:3} {shown}")
        lines += ["", "message types"]
        for name, sizes in self._types():
            spread = _spread(sizes)
            most = f"median {_size(spread['median'])}, largest {_size(spread['largest'])}"
            lines.append(f"  {_named(name, prefixes)}  {_counted(len(sizes), 'document')}, {most}")
        common = self._common(paths_max)
        lines += ["", f"paths{'' if len(common) < paths_max else ', the most common'}"]
        lines.append("      count  documents  path")
        for path, shape in common:
            shown = "".join(f"/{_named(name, prefixes)}" for name in path)
            lines.append(f"  {shape.count:9,}  {shape.documents:9,}  {shown}")
        return lines

    def _head(self) -> list[str]:
        spread = _spread(self.sizes)
        sizes = (
            f"{_size(sum(self.sizes))}: smallest {_size(spread['smallest'])}, "
            f"median {_size(spread['median'])}, largest {_size(spread['largest'])}"
        )
        lines = [f"{_counted(len(self.sizes), 'document')}, {sizes}; depth {self.depth}"]
        if self.files > len(self.sizes):
            lines.append(f"  a sample of {self.files:,} files; --files takes more")
        if self.cut:
            lines.append(f"  {self.cut:,} read in part; --bytes reads more of each")
        if self.failed:
            lines.append(f"  {len(self.failed):,} failed and known in part")
        return lines

    def _prefixes(self) -> dict[str, str]:
        uris = [uri for uri, _, _ in self.namespaces() if uri]
        return {
            uri: _PREFIXES[number] if number < len(_PREFIXES) else f"n{number}"
            for number, uri in enumerate(uris)
        }

    def _types(self) -> list[tuple[str, list[int]]]:
        return sorted(self.types.items(), key=lambda pair: (-len(pair[1]), pair[0]))

    def _common(self, paths_max: int) -> list[tuple[tuple[str, ...], Shape]]:
        """Return the most frequent paths, each behind the one it lies below."""
        every = list(self.shape.paths())
        chosen = sorted(every, key=lambda pair: -pair[1].count)[:paths_max]
        kept = {path for path, _ in chosen}
        return [pair for pair in every if pair[0] in kept]


def _spread(sizes: list[int]) -> dict[str, int]:
    if not sizes:
        return {"smallest": 0, "median": 0, "largest": 0}
    return {"smallest": min(sizes), "median": int(median(sizes)), "largest": max(sizes)}


def _uri(name: str) -> str:
    return name[1:].partition("}")[0] if name.startswith("{") else ""


def _named(name: str, prefixes: dict[str, str]) -> str:
    mark, bare = ("@", name[1:]) if name.startswith("@") else ("", name)
    uri, local = _uri(bare), bare.rpartition("}")[2]
    return f"{mark}{prefixes[uri]}:{local}" if uri else f"{mark}{local}"


def _size(count: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
