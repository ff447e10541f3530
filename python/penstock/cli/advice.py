"""Advice for the command line, where an error's own is for programs."""

from __future__ import annotations

import re
from collections.abc import Callable

from penstock.errors import PenstockError, QueryError, RegistryError


def advised(error: PenstockError) -> str:
    """Return what an error says, with a way out that can be typed."""
    if isinstance(error, QueryError):
        way_out = _QUERY_HELP.get(error.code)
        help_ = error.help if way_out is None else way_out(error)
        return str(QueryError(error.code, error.message, error.span, help_, error.text))
    text = str(error)
    return typed(text) if isinstance(error, RegistryError) else text


def typed(text: str) -> str:
    """Return what a registry says, with commands instead of methods."""
    for api, words in _REGISTRY_WORDS:
        text = text.replace(api, words)
    return text


def _of_prefix(error: QueryError) -> str:
    if "namespaces={" not in error.help:
        return error.help
    start, end = error.span
    prefix = error.text[start:end].partition(":")[0]
    return f"bind it: -n {prefix}=URI"


def _of_brace(error: QueryError) -> str:
    return re.sub(r"namespaces=\{'p': uri\}", "-n p=URI", error.help)


def _of_variable(error: QueryError) -> str:
    start, end = error.span
    name = error.text[start:end].strip().removeprefix("$")
    return f"give it one: --variable {name}=TEXT"


_QUERY_HELP: dict[str, Callable[[QueryError], str]] = {
    "PQ0101": _of_brace,
    "PQ0111": _of_prefix,
    "PQ0115": _of_variable,
    "PQ0117": lambda error: "use --dialect xpath or --dialect xsq",
    "PQ0118": lambda error: "bind a prefix to a URI or a glob: -n p='urn:*'",
    "PQ0121": lambda error: "name them: --select id=@id --select 'authors=[author]'",
}
_REGISTRY_WORDS = (
    ("replace() changes it", "`penstock registry replace` changes it, `load --replace` many"),
    ("make it with xpath() or xscl()", "write it as text"),
)
