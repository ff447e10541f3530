"""The single queries that are asked of auction documents."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Query:
    """A query and how its answers are compared between systems."""

    name: str
    text: str
    #: "nodes": the number of nodes and each string value; "count": the number alone;
    #: "number": the query's value is a number.
    compare: str
    #: What the query waits for; such a query is listed, not run.
    waits_for: str | None = None


QUERIES = (
    Query("Q1", "/site/regions/samerica/item/name", "nodes"),
    Query("Q2", "//regions//item//name", "nodes"),
    Query(
        "Q3",
        "//regions/samerica[.//payment and .//mailbox[.//from]]"
        "//item[quantity>=2 or shipping]/name",
        "nodes",
    ),
    Query(
        "Q4",
        "//item[quantity=1 and .//listitem[ancestor::regions/samerica]]/name",
        "nodes",
        waits_for="reverse axes",
    ),
    Query(
        "Q5",
        "//listitem[ancestor::item[.//price>10 or .//quantity=1]"
        " or ancestor::annotation[happiness>8]]",
        "count",
        waits_for="reverse axes",
    ),
    # Parsers differ in the white space they keep between elements, so only nodes are counted.
    Query("Q6", "//text", "count"),
    Query("Q7", "count(//item)", "number"),
    Query("Q8", "//person[not(homepage)]/name", "nodes"),
)

RUNNABLE = tuple(query for query in QUERIES if query.waits_for is None)
BY_NAME = {query.name: query for query in QUERIES}
