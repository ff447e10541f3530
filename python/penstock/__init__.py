"""Standing queries over streams of XML documents, evaluated together in one pass.

>>> import penstock
>>> shop = "<shop><book><title>Rivers</title><price>9.50</price></book></shop>"
>>> [row.value for row in penstock.evaluate("//book[price < 11]/title", shop)]
['<title>Rivers</title>']
"""

from __future__ import annotations

import os

__distribution__ = "penstock-xml"
"""What brings this package; another project's package of the same name does not say so."""
__version__ = "0.1.0"

TYPE_CHECKING = False
"""What type checkers take for true; the module `typing` takes longer to load than this one."""

if TYPE_CHECKING:
    from penstock import errors
    from penstock.engine import Engine, Results, evaluate
    from penstock.engine.matches import Matches
    from penstock.errors import DocumentError, PenstockError, PenstockWarning, QueryError
    from penstock.joins import JoinOptions
    from penstock.languages.tables import table
    from penstock.languages.xpath import xpath
    from penstock.languages.xquery import xquery
    from penstock.languages.xscl import xscl
    from penstock.limits import Limits
    from penstock.planning.explain import explain, verdict
    from penstock.planning.verdicts import Verdict
    from penstock.registry import MemoryRegistry as Registry
    from penstock.results import Document, Heartbeat, Result
    from penstock.schemas import Schema, schema
    from penstock.twigs import Query

__all__ = [
    "Document",
    "DocumentError",
    "Engine",
    "Heartbeat",
    "JoinOptions",
    "Limits",
    "Matches",
    "PenstockError",
    "PenstockWarning",
    "Query",
    "QueryError",
    "Registry",
    "Result",
    "Results",
    "Schema",
    "Verdict",
    "errors",
    "evaluate",
    "explain",
    "schema",
    "table",
    "verdict",
    "xpath",
    "xquery",
    "xscl",
]

# Everything is loaded when it is first used: a program that only mentions the package starts at
# once. The imports above tell type checkers the same.
_HOMES = {
    **dict.fromkeys(("Engine", "Results", "evaluate"), "penstock.engine"),
    **dict.fromkeys(("Document", "Heartbeat", "Result"), "penstock.results"),
    **dict.fromkeys(
        ("DocumentError", "PenstockError", "PenstockWarning", "QueryError"), "penstock.errors"
    ),
    **dict.fromkeys(("explain", "verdict"), "penstock.planning.explain"),
    **dict.fromkeys(("Schema", "schema"), "penstock.schemas"),
    "JoinOptions": "penstock.joins",
    "Limits": "penstock.limits",
    "Matches": "penstock.engine.matches",
    "Query": "penstock.twigs",
    "Registry": "penstock.registry",
    "Verdict": "penstock.planning.verdicts",
    "table": "penstock.languages.tables",
    "xpath": "penstock.languages.xpath",
    "xquery": "penstock.languages.xquery",
    "xscl": "penstock.languages.xscl",
}


if not TYPE_CHECKING:  # which would take every name for one that exists

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "errors":
            return import_module("penstock.errors")
        if name == "BrokerOptions":
            from penstock.errors import GONE, SettingError

            raise SettingError(
                GONE,
                "BrokerOptions is gone: the broker has no settings; the operators of the paper on "
                "message brokering are in papers/yfilter of the repository",
            )
        if name not in _HOMES:
            raise AttributeError(f"module 'penstock' has no attribute {name!r}")
        home = import_module(_HOMES[name])
        value = getattr(home, "MemoryRegistry" if name == "Registry" else name)
        globals()[name] = value
        return value


def _is_shared() -> bool:
    """Return whether another distribution has put a package of this name into the same folder."""
    try:
        beside = os.listdir(os.path.dirname(os.path.dirname(__file__)))
    except OSError:  # the package is in an archive
        return False
    return any(
        name.startswith("penstock-") and name.endswith((".dist-info", ".egg-info"))
        for name in beside
    )


if _is_shared():
    import warnings

    from penstock.errors import PenstockWarning

    warnings.warn(
        "another distribution, `penstock`, is installed in the folder of penstock-xml, and each "
        "replaced files of the other; `pip uninstall penstock penstock-xml`, then install "
        "penstock-xml again",
        PenstockWarning,
        stacklevel=2,
    )


def __dir__() -> list[str]:
    own = [name for name in globals() if name.startswith("__")]
    return sorted([*__all__, *own])
