"""The options of the data sources, checked before anything is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.limits import Limits
from penstock.sources.paths import RecordPath

MODES = ("PERMISSIVE", "DROPMALFORMED", "FAILFAST")


@dataclass(frozen=True, slots=True)
class XmlOptions:
    """What ``penstock-xml`` was asked for."""

    paths: tuple[str, ...]
    record_path: RecordPath | None
    mode: str
    partition_bytes_max: int
    document_bytes_max: int
    is_recursive: bool
    name_glob: str | None
    files_per_trigger_max: int | None
    bytes_per_trigger_max: int | None
    limits: Limits

    @classmethod
    def of(cls, options: Mapping[str, str]) -> XmlOptions:
        """Read Spark's options; names do not tell upper from lower case.

        Raises:
            ValueError: An option is missing or not what it should be.
            QueryError: The record path, or a path of an ancestor, is no query.
        """
        given = {name.lower(): value for name, value in options.items()}
        paths = _strings(given, "paths") if "paths" in given else ()
        if given.get("path"):
            paths = (*paths, given["path"])
        if not paths:
            raise ValueError("the option `path` is missing: .load(path) or .option('path', …)")
        record_path = None
        if given.get("recordpath"):
            namespaces = _mapping(given, "namespaces")
            ancestors = _mapping(given, "ancestors")
            record_path = RecordPath(given["recordpath"], namespaces, ancestors)
        elif "ancestors" in given:
            raise ValueError("the option `ancestors` needs `recordPath`")
        mode = given.get("mode", MODES[0]).upper()
        if mode not in MODES:
            raise ValueError(f"the option `mode` is {mode!r}; use one of {', '.join(MODES)}")
        return cls(
            paths=paths,
            record_path=record_path,
            mode=mode,
            partition_bytes_max=_bytes(given, "maxPartitionBytes", 128 << 20),
            document_bytes_max=_bytes(given, "maxDocumentBytes", 256 << 20),
            is_recursive=_flag(given, "recursiveFileLookup", True),
            name_glob=given.get("pathglobfilter"),
            files_per_trigger_max=_count(given, "maxFilesPerTrigger"),
            bytes_per_trigger_max=(
                _bytes(given, "maxBytesPerTrigger", 0) if "maxbytespertrigger" in given else None
            ),
            limits=Limits(**_mapping(given, "limits")),
        )


_UNITS = {"": 0, "b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30}


def _bytes(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name.lower())
    if text is None:
        return default
    digits = text.strip().rstrip("bBkKmMgG")
    unit = text.strip()[len(digits) :].lower()
    if not digits.strip().isdigit() or unit not in _UNITS or int(digits) == 0:
        raise ValueError(f"the option `{name}` is {text!r}; use bytes, or 64m, or 1g")
    return int(digits) << _UNITS[unit]


def _count(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    if not text.isdigit() or int(text) == 0:
        raise ValueError(f"the option `{name}` is {text!r}; use a positive number")
    return int(text)


def _flag(given: Mapping[str, str], name: str, default: bool) -> bool:
    text = given.get(name.lower(), str(default)).lower()
    if text not in ("true", "false"):
        raise ValueError(f"the option `{name}` is {text!r}; use true or false")
    return text == "true"


def _mapping(given: Mapping[str, str], name: str) -> dict[str, Any]:
    value = _json(given, name, "{}", 'a JSON object, as in {"p": "urn:p"}')
    if not isinstance(value, dict):
        raise ValueError(f'the option `{name}` is no JSON object, as in {{"p": "urn:p"}}')
    return value


def _strings(given: Mapping[str, str], name: str) -> tuple[str, ...]:
    value = _json(given, name, "[]", "a JSON list of paths")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"the option `{name}` is no JSON list of paths")
    return tuple(value)


def _json(given: Mapping[str, str], name: str, default: str, what: str) -> object:
    try:
        return json.loads(given.get(name.lower(), default))
    except json.JSONDecodeError as error:
        raise ValueError(f"the option `{name}` is not {what}: {error}") from None
