"""The measurements as a page of Markdown tables."""

from collections.abc import Iterable
from typing import Any

from benchmarks import peers
from benchmarks.experiments import reverse
from benchmarks.statistics import Times, best, collect, geometric_mean, speed_ratio

OURS = "penstock_batches"
KERNEL = "penstock_kernel"
TOKENIZER = "penstock_tokenizer"
MEGABYTE = 1e6

#: (what, ours, theirs, the ratio we promise: at least, or at most where it is negative)
PROMISES = (
    ("tokenizer / libxml2 SAX", TOKENIZER, "libxml2_sax", 3.0),
    ("tokenizer / pyexpat", TOKENIZER, "pyexpat_bare", 6.0),
    ("queries / own tokenizer", OURS, TOKENIZER, 0.5),
    ("queries / lxml", OURS, "lxml_tree", 8.0),
    ("queries / pugixml", OURS, "pugixml_tree", 1.5),
    ("queries / simdxml", OURS, "simdxml_index", 0.7),
    ("queries / simdxml, batch", OURS, "simdxml_batch", 0.7),
    ("queries / saxonche", OURS, "saxonche_tree", None),
    ("kernel / own tokenizer", KERNEL, TOKENIZER, None),
    ("kernel / batches", KERNEL, OURS, -1.2),
)


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return the lines of one Markdown table with aligned columns."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    return [lines[0], "| " + " | ".join("-" * width for width in widths) + " |", *lines[1:]]


def throughput(document: dict[str, Any], names: dict[str, Any], queries: list[str]) -> list[str]:
    """Return the table of MB/s, best run; an answer that differs is marked as wrong."""
    times = collect(document["times"])
    rows = []
    for system in (name for name in peers.QUERY_PEERS if name in names):
        speeds, cells = [], []
        for query in queries:
            answer = document["answers"][query].get(system, {"agrees": True})
            runs = times.get((system, query))
            if not runs:
                reason = answer.get("error", "")
                cells.append("too slow" if reason.startswith("no reply within") else "failed")
                continue
            speeds.append(document["bytes"] / MEGABYTE / best(runs))
            cells.append(f"{speeds[-1]:.0f}" + ("" if answer["agrees"] else " wrong"))
        mean = f"{geometric_mean(speeds):.0f}" if speeds else "–"
        rows.append([names[system]["name"], *cells, mean])
    for system in (name for name in peers.PARSE_PEERS if name in names):
        if runs := times.get((system, "parse")):
            speed = document["bytes"] / MEGABYTE / best(runs)
            rows.append([names[system]["name"], *("" for _ in queries), f"{speed:.0f}"])
    return table(["MB/s", *queries, "mean"], rows)


def ratios(times: Times, queries: list[str]) -> list[str]:
    """Return the table of ratios beside what is promised."""
    rows = []
    for what, ours, theirs, promise in PROMISES:
        ratio = speed_ratio(times, ours, theirs, queries)
        if ratio:
            rows.append([what, f"{ratio['best']:.2f}", f"{ratio['median']:.2f}", promised(promise)])
    return table(["times as fast", "best runs", "medians", "promised"], rows)


def promised(ratio: float | None) -> str:
    """Return a promise as the reader sees it."""
    if ratio is None:
        return "–"
    return f"≥ {ratio:g}" if ratio > 0 else f"≤ {-ratio:g}"


def memory(documents: dict[str, Any], names: dict[str, Any]) -> list[str]:
    """Return the table of peak memory, the larger of the measured queries, and its growth."""
    labels = list(documents)
    rows = []
    for system in names:
        peaks, before = [], 0
        for label in labels:
            entries = [e for e in documents[label]["memory"] if e["system"] == system]
            found = [entry["peak_bytes"] for entry in entries if "peak_bytes" in entry]
            peaks.append(max(found) / MEGABYTE if found else None)
            before = max([before, *(entry.get("before_bytes", 0) for entry in entries)])
        known = [peak for peak in peaks if peak is not None]
        if len(known) == len(labels):
            growth = f"{known[-1] - known[0]:.1f}" if len(known) > 1 else "–"
            cells = [f"{peak:.1f}" for peak in [before / MEGABYTE, *known]]
            rows.append([names[system]["name"], *cells, growth])
    return table(["peak MB, from a file", "imported", *labels, "growth"], rows)


def latency_cell(reply: dict[str, Any], key: str) -> str:
    """Return milliseconds and the share of the document, or why there is no figure."""
    if f"{key}_seconds" in reply:
        return f"{reply[f'{key}_seconds'] * 1000:.1f} ({reply[f'{key}_share']:.0%})"
    return str(reply.get("error", "no result"))


def latency(result: dict[str, Any]) -> list[str]:
    """Return the tables of first and average latency in milliseconds."""
    lines: list[str] = []
    for title, key in (("first result, ms", "first"), ("average result, ms", "mean")):
        rows = []
        for system, name in result["names"].items():
            replies = [answers.get(system) for answers in result["systems"].values()]
            if any(replies):
                rows.append([name, *(latency_cell(reply or {}, key) for reply in replies)])
        lines += [*table([title, *result["systems"]], rows), ""]
    return lines


def page(result: dict[str, Any]) -> str:
    """Return the whole report, a section for every part that was measured."""
    machine = result["machine"]
    lines = [
        "# One query over one document",
        "",
        f"`{result['command']}` on {machine['processor']}, {machine['cores']} cores,"
        f" Python {machine['python']};"
        f" {', '.join(f'{k} {v}' for k, v in machine['packages'].items() if v)};"
        f" revision {machine['revision']}; load average {machine['load']:.1f} at the start.",
        "Systems take turns, each measurement in its own process; best run shown. The last column"
        " is the geometric mean; for a parser, its only figure.",
    ]
    for part, section in SECTIONS.items():
        if part in result:
            lines += ["", *section(result[part])]
    return "\n".join(lines).rstrip() + "\n"


def asked(part: dict[str, Any]) -> list[str]:
    """Return what was asked of which systems, and how often."""
    return [
        f"{part['rounds']} rounds.",
        "",
        *(f"- {name}: `{query['text']}`" for name, query in part["queries"].items()),
        "",
        "Timed, bytes in memory to results in hand:",
        "",
        *(f"- {entry['name']}: {entry['what']}" for entry in part["timed"].values()),
        *(f"- {system} is missing: {why}" for system, why in part["missing"].items()),
    ]


def single_section(single: dict[str, Any]) -> list[str]:
    """Return the tables of the queries that all systems are asked."""
    names, queries = single["timed"], single["queries"]
    lines = asked(single)
    for label, document in single["documents"].items():
        lines += ["", f"## {label} ({document['bytes'] / MEGABYTE:.1f} MB)", ""]
        lines += throughput(document, names, list(queries))
        lines += ["", *ratios(collect(document["times"]), list(queries))]
        lines += ["", *differences(document["answers"], names, queries)]
    return [*lines, "", "## Memory", "", *memory(single["documents"], names)]


def reverse_section(part: dict[str, Any]) -> list[str]:
    """Return the tables of the queries with reverse axes, and what is promised of them."""
    names, queries = part["timed"], part["queries"]
    lines = ["## Reverse axes", "", *asked(part)]
    for label, document in part["documents"].items():
        lines += ["", f"### {label} ({document['bytes'] / MEGABYTE:.1f} MB)", ""]
        lines += throughput(document, names, list(queries))
        lines += ["", *differences(document["answers"], names, queries)]
    rows = [
        [row["what"], f"{row['best']:.2f}", f"{row['median']:.2f}", promised(row["promise"])]
        for row in reverse.kept_promises(part)
    ]
    lines += ["", *table(["times as fast", "best runs", "medians", "promised"], rows)]
    return [*lines, "", *memory(part["documents"], names)]


def sweeps_section(part: dict[str, Any]) -> list[str]:
    """Return a table per sweep."""
    lines = ["## One property at a time"]
    for sweep in part["sweeps"].values():
        lines += ["", f"### {sweep['title']} ({sweep['bytes'] / MEGABYTE:.1f} MB)", ""]
        lines += [f"- {name}: `{query['text']}`" for name, query in sweep["queries"].items()]
        lines += ["", *throughput(sweep, part["timed"], list(sweep["queries"]))]
        lines += ["", *differences(sweep["answers"], part["timed"], sweep["queries"])]
    return lines


def latency_section(part: dict[str, Any]) -> list[str]:
    """Return the tables of output latency."""
    return [
        f"## Output latency ({part['bytes'] / MEGABYTE:.1f} MB in 64 KiB pieces)",
        "",
        "In parentheses: the share of the document that had been handed over.",
        "",
        *(f"- {query}: `{text}`" for query, text in part["queries"].items()),
        "",
        *latency(part),
    ]


def differences(
    answers: dict[str, Any], names: dict[str, Any], queries: dict[str, Any]
) -> list[str]:
    """Return a sentence per system that gave no answer, or another one than the reference."""
    lines = []
    for query, replies in answers.items():
        right = [system for system, reply in replies.items() if reply["agrees"]]
        reference = "lxml_tree" if "lxml_tree" in right else next(iter(right), None)
        for system, reply in replies.items():
            if reply["agrees"]:
                continue
            line = f"{names[system]['name']} on {query}: "
            if "error" in reply:
                line += f"{reply['error']}."
            else:
                name, expected = names[reference]["name"], replies[reference]["count"]
                line += f"{reply['count']} results; {name} has {expected}."
            lines.append(line)
    counted = [query for query in answers if queries[query]["compare"] == "count"]
    but = f" ({', '.join(counted)}: compared by number only)" if counted else ""
    return lines or [f"All systems gave the same answers{but}."]


SECTIONS = {
    "single": single_section,
    "reverse": reverse_section,
    "sweeps": sweeps_section,
    "latency": latency_section,
}
