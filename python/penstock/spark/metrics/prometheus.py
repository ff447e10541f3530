"""Measures as text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.spark.metrics.measures import Measures

RANKS = 10
_COUNTERS = {
    "batches": ("batches_total", "Micro-batches that were reported."),
    "documents": ("documents_total", "Documents read, those that failed included."),
    "bytes": ("document_bytes_total", "Bytes of these documents."),
    "results": ("results_total", "Rows that are results."),
    "quarantined": ("quarantined_documents_total", "Documents that failed."),
    "failures": ("subscription_failures_total", "Documents at which one subscription failed."),
    "seconds": ("evaluation_core_seconds_total", "Core time of evaluation in the workers."),
}
_TOP = "penstock_top_subscription_core_seconds"


def exposition(by_query: Mapping[str, Measures]) -> str:
    """Return the measures of queries by name, in the text format of Prometheus.

    Subscriptions are many and come and go, so none is a label: the seconds of those that cost
    most are told by rank.

    >>> print(exposition({"books": Measures(documents=3)}).splitlines()[5])
    penstock_documents_total{query="books"} 3
    """
    lines: list[str] = []
    for field, (name, text) in _COUNTERS.items():
        lines += [f"# HELP penstock_{name} {text}", f"# TYPE penstock_{name} counter"]
        lines += [
            f'penstock_{name}{{query="{_escaped(query)}"}} {getattr(measures, field):g}'
            if field == "seconds"
            else f'penstock_{name}{{query="{_escaped(query)}"}} {getattr(measures, field)}'
            for query, measures in sorted(by_query.items())
        ]
    lines += [
        f"# HELP {_TOP} Core time of the subscriptions that cost most.",
        f"# TYPE {_TOP} gauge",
    ]
    for query, measures in sorted(by_query.items()):
        for rank, (_, seconds) in enumerate(measures.top(RANKS), 1):
            lines.append(f'{_TOP}{{query="{_escaped(query)}",rank="{rank}"}} {seconds:g}')
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
