"""The measurements as a page of Markdown tables."""

from typing import Any

from benchmarks import peers
from benchmarks.experiments.many.measure import grown_bytes, speed
from benchmarks.experiments.many.promises import GIGABYTE, Promise, check
from benchmarks.report import table

MEGABYTE = 1e6


def page(result: dict[str, Any]) -> str:
    """Return the whole report."""
    machine = result["machine"]
    lines = [
        "# Many subscriptions",
        "",
        f"`{result['command']}` on {machine['processor']}, {machine['cores']} cores, "
        f"Python {machine['python']}, revision {machine['revision']}; load average "
        f"{machine['load']:.1f} at the start. Rounds: {result['effort']['rounds']}, systems taking "
        "turns, each in a process of its own; best round shown. Documents/s are those of core "
        "time, which other work on the machine disturbs least; for Spark, of the clock. Cold is "
        "the first pass over documents, warm the second one. Memory is what a process grew by.",
        "",
    ]
    if promises := check(result):
        lines += ["## Promises", "", *promise_table(promises), ""]
    if "durable" in result:
        lines += ["## The registry", "", *durable_lines(result), ""]
    if tasks := result["tasks"]:
        lines += timed_lines(tasks)
        for label, mode in dict.fromkeys((task["label"], task["mode"]) for task in tasks):
            same = [task for task in tasks if (task["label"], task["mode"]) == (label, mode)]
            lines += [f"## {label}, {mode} mode", "", *series_table(same), "", *notes(same), ""]
    for study in result.get("studies", ()):
        title = f"## Figures {study['figures']}: {study['title']}"
        lines += [title, "", *study_table(study), "", *study_notes(study), ""]
    return "\n".join(lines)


def promise_table(promises: list[Promise]) -> list[str]:
    """Return promised and measured beside each other."""
    rows = []
    for one in promises:
        if one.count != one.promised_count:
            verdict = "other size"
        else:
            verdict = "kept" if one.is_kept else "MISSED"
        sign = "≥" if one.is_minimum else "≤"
        rows.append(
            [
                one.what,
                f"{one.count:,}",
                f"{one.value:,.3g}{one.unit}",
                f"{sign} {one.bound:,}{one.unit} at {one.promised_count:,}",
                verdict,
            ]
        )
    return table(["what", "subscriptions", "measured", "promised", "verdict"], rows)


def timed_lines(tasks: list[dict[str, Any]]) -> list[str]:
    """Say what the clock covers for each system that took part."""
    names = dict.fromkeys(name for task in tasks for name in task["systems"])
    timed = (peers.load(name) for name in names)
    return ["Timed:", "", *(f"- {peer.NAME}: {peer.TIMED}" for peer in timed), ""]


def series_table(tasks: list[dict[str, Any]]) -> list[str]:
    """Return documents/s, cold and warm, and memory, a row for each size and system."""
    rows = []
    for task in tasks:
        for name, entry in task["systems"].items():
            cold, warm, grown = speed(entry), speed(entry, "warm"), grown_bytes(entry)
            rows.append(
                [
                    f"{task['count']:,}",
                    peers.load(name).NAME,
                    number(cold),
                    number(warm),
                    "–" if grown is None else f"{grown / MEGABYTE:,.0f}",
                    number(entry.get("load_seconds")),
                    f"{task['matches']:,.1f}",
                    f"{most_documents(entry)}",
                ]
            )
    speeds = ["cold docs/s", "warm docs/s"]
    return table(["queries", "system", *speeds, "MB", "load s", "matches/doc", "docs"], rows)


def most_documents(entry: dict[str, Any]) -> int:
    """Return how many documents a system read in its longest pass."""
    return max((one.get("documents", 0) for one in entry.get("rounds", ())), default=0)


def notes(tasks: list[dict[str, Any]]) -> list[str]:
    """Say who agreed, who failed and who did not take part."""
    lines = []
    for task in tasks:
        at = f"{task['count']:,}"
        found = "the same" if task["agrees"] else "DIFFERENT"
        if task["compared"] and len(task["systems"]) > 1:
            lines.append(
                f"- {at}: all systems list {found} matches in {task['compared']} documents"
            )
        for name, entry in task["systems"].items():
            if reason := failure(entry):
                lines.append(f"- {at}: {peers.load(name).NAME}: {reason}")
        for name, reason in task["missing"].items():
            lines.append(f"- {at}: {peers.load(name).NAME}: {reason}")
    return lines


def failure(entry: dict[str, Any]) -> str | None:
    """Return why a system gave no figures, if it gave none."""
    replies = [entry, entry.get("answers", {}), *entry.get("rounds", ())]
    return next((reply["error"] for reply in replies if "error" in reply), None)


def study_table(study: dict[str, Any]) -> list[str]:
    """Return seconds for the document and memory, a row for each system."""
    columns: dict[str, list[str]] = {}
    for point in study["points"]:
        for name, entry in point_entries(point):
            cold, grown = speed(entry), grown_bytes(entry)
            cell = "–" if not cold or grown is None else f"{1000 / cold:,.0f} / {grown / 1e6:,.0f}"
            columns.setdefault(name, []).append(cell)
    width = len(study["points"])
    rows = [[name, *cells, *["–"] * (width - len(cells))] for name, cells in columns.items()]
    return table([f"ms / MB, {study['axis']}", *(p["at"] for p in study["points"])], rows)


def study_notes(study: dict[str, Any]) -> list[str]:
    """Say whether the systems agreed, as far as they were compared."""
    lines = []
    for point in study["points"]:
        for task in point["tasks"]:
            if not task["agrees"]:
                lines.append(f"- {point['at']}, {task['mode']}: the systems DIFFER")
    return lines


def point_entries(point: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return a point's systems by the names of the thesis, and what was seen of them."""
    return [
        (study_name(name, task["mode"]), entry)
        for task in point["tasks"]
        for name, entry in task["systems"].items()
    ]


def study_name(system: str, mode: str) -> str:
    """Return a system's name with its mode, where it has two."""
    peer = peers.load(system)
    return peer.NAME if len(peer.MODES) == 1 else f"{peer.NAME}, {mode}"


def number(value: float | None) -> str:
    """Return a figure with three digits that count."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def durable_lines(result: dict[str, Any]) -> list[str]:
    """Return the registry's own figures."""
    found = result["durable"]["templates"]
    rows = []
    for name in ("compile lines", "load", "reopen"):
        for reply in found[name]:
            peak = reply.get("peak_bytes") or reply.get("resident_bytes")
            size = f"{peak / GIGABYTE:.2f}" if peak else "–"
            rows.append([name, number(reply.get("seconds")), size, reply.get("error", "")])
    return table(["registry", "seconds", "GB", ""], rows)
