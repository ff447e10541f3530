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
    ),
    Query(
        "Q5",
        "//listitem[ancestor::item[.//price>10 or .//quantity=1]"
        " or ancestor::annotation[happiness>8]]",
        "count",
    ),
    # Parsers differ in the white space they keep between elements, so only nodes are counted.
    Query("Q6", "//text", "count"),
    Query("Q7", "count(//item)", "number"),
    Query("Q8", "//person[not(homepage)]/name", "nodes"),
)

# Figures 7.15 to 7.17 of the XSQ thesis, with its numbers; 7.12 and 7.13 are Q4 and Q5.
REVERSE = (
    Query("R10", "//name[parent::item/parent::samerica/parent::regions/parent::site]", "nodes"),
    Query("R11", "//name[ancestor::item/ancestor::regions]", "nodes"),
    Query("R12", "//name[ancestor::regions]", "nodes"),
    Query("R13", "//text", "count"),
    Query("R14", "//listitem/ancestor::parlist/ancestor::site//text", "count"),
    Query(
        "R15", "//listitem/ancestor::parlist/ancestor::description/ancestor::site//text", "count"
    ),
    Query(
        "R16",
        "//listitem/ancestor::parlist/ancestor::description/ancestor::item/ancestor::site//text",
        "count",
    ),
    Query(
        "R17",
        "//listitem/ancestor::parlist/ancestor::description/ancestor::item"
        "/ancestor::regions/ancestor::site//text",
        "count",
    ),
)
