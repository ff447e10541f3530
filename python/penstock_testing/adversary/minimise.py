"""Shrinks a query or a document as long as it still fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

TRIES_MAX = 4_000
"""Candidates that are tried for one case; a case that shrinks slowly is printed as it is then."""

_QUERY_TOKEN = re.compile(r"""\s+|'[^']*'|"[^"]*"|[0-9.]+|[\w$][\w.-]*|::|//|[!<>]=|.""", re.S)
_MARKUP = re.compile(
    rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>|<[^>]*>|&[^;<]*;|.",
    re.S,
)
_DECLARATION = re.compile(rb"<![EA][^>]*>")
_ATTRIBUTE = re.compile(rb"\s[^\s=<>/]+=(?:\"[^\"]*\"|'[^']*')")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_T = TypeVar("_T", str, bytes)


def minimise(case: _T, candidates: Callable[[_T], Iterable[_T]], fails: Callable[[_T], bool]) -> _T:
    """Return the smallest case that was found to fail still, starting from one that does."""
    tries = 0
    is_smaller = True
    while is_smaller and tries < TRIES_MAX:
        is_smaller = False
        for candidate in candidates(case):
            tries += 1
            if tries > TRIES_MAX:
                break
            if fails(candidate):
                case = candidate
                is_smaller = True
                break
    return case


def smaller_queries(query: str) -> Iterator[str]:
    """Yield a query without some of its tokens, the shortest first."""
    tokens = _QUERY_TOKEN.findall(query)
    for length in range(len(tokens) - 1, 0, -1):
        for start in range(len(tokens) - length + 1):
            inside = tokens[start : start + length]
            if _is_balanced(inside):
                yield "".join(tokens[:start] + tokens[start + length :])
    for start, end in _brackets(tokens):
        before = tokens[: start - 1] if start else []
        rest = tokens[start + 1 : end] + tokens[end + 1 :]
        yield "".join(tokens[:start] + rest)
        yield "".join(before + rest)


def smaller_documents(document: bytes) -> Iterator[bytes]:
    """Yield a document without some of its nodes, attributes or declarations."""
    tokens = _MARKUP.findall(document)
    for start, end in _elements(tokens):
        yield b"".join(tokens[:start] + tokens[end + 1 :])
        yield b"".join(tokens[:start] + tokens[start + 1 : end] + tokens[end + 1 :])
    for place, token in enumerate(tokens):
        before, after = b"".join(tokens[:place]), b"".join(tokens[place + 1 :])
        yield before + after
        if token.startswith(b"<!DOCTYPE"):
            yield from (before + part + after for part in _without(token, _DECLARATION))
        elif token.startswith(b"<"):
            yield from (before + part + after for part in _without(token, _ATTRIBUTE))


def smaller_bytes(document: bytes) -> Iterator[bytes]:
    """Yield a document without some run of its bytes, the longest run first."""
    length = len(document) // 2
    while length:
        for start in range(0, len(document) - length + 1, max(1, length // 2)):
            yield document[:start] + document[start + length :]
        length //= 2


def _without(token: bytes, part: re.Pattern[bytes]) -> Iterator[bytes]:
    for found in part.finditer(token):
        yield token[: found.start()] + token[found.end() :]


def _is_balanced(tokens: list[str]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token in _CLOSERS) - (token in _CLOSERS.values())
        if depth < 0:
            return False
    return depth == 0


def _brackets(tokens: list[str]) -> Iterator[tuple[int, int]]:
    waiting: list[int] = []
    for place, token in enumerate(tokens):
        if token in _CLOSERS:
            waiting.append(place)
        elif waiting and token == _CLOSERS[tokens[waiting[-1]]]:
            yield waiting.pop(), place


def _elements(tokens: list[bytes]) -> Iterator[tuple[int, int]]:
    waiting: list[int] = []
    for place, token in enumerate(tokens):
        if token.startswith(b"</"):
            if waiting:
                yield waiting.pop(), place
        elif re.match(rb"<[^!?/].*[^/]>$|<[^!?/]>$", token, re.S):
            waiting.append(place)
