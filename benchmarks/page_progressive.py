"""The measurements of progressive joins as a page: each figure beside what the paper says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.plots_progressive import CLAIMS
from benchmarks.report import table

POLICIES = ("auto", "rrpj", "rpj", "random")


def page(result: dict[str, Any]) -> str:
    """Return what was measured: whole queries, then the operator."""
    machine = result["machine"]
    lines = [
        "# Progressive joins",
        "",
        f"`{result['command']}` on {machine['processor']}, {machine['cores']} cores,"
        f" Python {machine['python']}, revision {machine['revision']}; load average"
        f" {machine['load']:.1f} at the start.",
    ]
    if "missed" in result:
        bounds = result["missed"] or ["none"]
        lines += ["", "Bounds that were missed: " + "; ".join(bounds) + "."]
    if "queries" in result:
        lines += queries_section(result["queries"])
    if "policies" in result:
        lines += policies_section(result["policies"])
    if "memory" in result:
        lines += memory_section(result["memory"])
    if "probing" in result:
        lines += probing_section(result["probing"])
    return "\n".join(lines) + "\n"


def queries_section(queries: dict[str, Any]) -> Iterator[str]:
    """The tables of whole queries."""
    yield from ("", "## Whole queries, from bytes to rows", "")
    yield "Core seconds, the least of some rounds; lxml + DuckDB is what a user would do."
    yield ""
    head = ["set", "MB", "bindings", "rows", "lxml + DuckDB", "batches", "objects", "a tenth"]
    head += ["batches / lxml + DuckDB", "a tenth / all memory"]
    rows = [
        [
            one["set"],
            f"{one['bytes'] / 1e6:.1f}",
            f"{one['bindings']:,}",
            f"{one['rows']:,}",
            *(f"{seconds:.3f}" for seconds in one["seconds"].values()),
            f"{one['batches_to_duckdb']:.2f}",
            f"{one['tenth_to_all']:.2f}",
        ]
        for one in queries["whole"]
    ]
    yield from table(head, rows)
    yield from ("", "A hundred queries beside one that has the results of all:", "")
    rows = [
        [one["set"], *(f"{ratio:.2f}" for ratio in one["many_to_one"].values())]
        for one in queries["sharing"]
    ]
    yield from table(["set", "batches", "objects"], rows)
    first = queries["first"]
    yield ""
    yield (
        f"The first row comes after {first['share_read']:.2%} of the input; the first pair is"
        f" complete after {first['share_needed']:.2%}."
    )


def policies_section(policies: list[dict[str, Any]]) -> Iterator[str]:
    """The tables of figures 4 to 8."""
    yield from (
        "",
        "A tenth of the memory, bindings with fragments of 200 bytes, no parsing. Share of the"
        " results that infinite memory has at half of the input; `auto / better` is to the better"
        " of RPJ and random, seed by seed.",
    )
    for figure in dict.fromkeys(one["figure"] for one in policies):
        yield from ("", f"## Figure {figure}", "", f"The paper: {CLAIMS[figure]}.", "")
        head = ["set", "bindings", "arrival", "seeds", "infinite", *POLICIES]
        head += ["auto / better", "least seed"]
        rows = [
            [
                one["set"],
                " and ".join(f"{size:,}" for size in one["sizes"]),
                one["arrival"],
                f"{one['seeds']}",
                f"{one['half']['infinite']:,.0f}",
                *(f"{one['share_of_infinite'][flush]:.2f}" for flush in POLICIES),
                f"{one['auto_to_better']['mean']:.2f}",
                f"{one['auto_to_better']['least']:.2f}",
            ]
            for one in policies
            if one["figure"] == figure
        ]
        yield from table(head, rows)


def memory_section(memory: list[dict[str, Any]]) -> Iterator[str]:
    """The table of core time."""
    yield from ("", "## Time with a tenth of the memory", "")
    yield "Core time up to the complete result, clean-up included; the least of some rounds."
    yield ""
    rows = [
        [
            one["set"],
            f"{one['seconds']['all']:.2f}",
            f"{one['seconds']['a tenth']:.2f}",
            f"{one['tenth_to_all']:.2f}",
        ]
        for one in memory
    ]
    yield from table(["set", "all memory, s", "a tenth, s", "ratio"], rows)


def probing_section(probing: list[dict[str, Any]]) -> Iterator[str]:
    """The tables of figure 9."""
    yield from ("", "## Figure 9", "", f"The paper: {CLAIMS['9']}.")
    for reading in dict.fromkeys(one["reading"] for one in probing):
        yield from ("", f"### Streams have of an author: {reading}", "")
        head = ["arrival", "shares", "results", "sequential", "a priori", "RoP", "as written"]
        head += ["RoP / a priori", "RoP / sequential", "a priori / sequential", "time, RoP / seq."]
        rows = [
            [
                one["arrival"],
                " ".join(f"{share:g}" for share in one["shares"]),
                f"{one['results']:,.0f}",
                *(
                    f"{one['probes'][probe]:,.0f}"
                    for probe in ("sequential", "apriori", "rop", "rop-written")
                ),
                f"{one['rop_to_apriori']:.2f}",
                f"{one['rop_to_sequential']:.2f}",
                f"{one['apriori_to_sequential']:.2f}",
                f"{one['seconds']['rop'] / one['seconds']['sequential']:.2f}",
            ]
            for one in probing
            if one["reading"] == reading
        ]
        yield from table(head, rows)
