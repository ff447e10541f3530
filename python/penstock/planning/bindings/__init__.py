"""XQuery over several streams: bindings of each, the join between them, and messages."""

from penstock.planning.bindings.explaining import binding_verdict, explain_bindings
from penstock.planning.bindings.programs import BindingProgram, compile_bindings
from penstock.planning.bindings.recognition import is_over_streams

__all__ = [
    "BindingProgram",
    "binding_verdict",
    "compile_bindings",
    "explain_bindings",
    "is_over_streams",
]
