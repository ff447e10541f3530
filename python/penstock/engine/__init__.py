"""The in-process engine: documents in, rows out while the input is still arriving."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from penstock.engine.engine import Engine
    from penstock.engine.evaluation import evaluate
    from penstock.engine.push import OpenDocument
    from penstock.results import Results

__all__ = ["Engine", "OpenDocument", "Results", "evaluate"]

# One query over one document needs little of an engine, so each is loaded when it is first used.
_HOMES = {
    "Engine": "penstock.engine.engine",
    "OpenDocument": "penstock.engine.push",
    "Results": "penstock.results",
    "evaluate": "penstock.engine.evaluation",
}

if not TYPE_CHECKING:  # which would take every name for one that exists

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'penstock.engine' has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
