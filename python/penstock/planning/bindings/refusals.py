"""Why a query over several streams is not joined, with the place and a way out."""

from __future__ import annotations

import re

from penstock.errors import QueryError

_FORM = (
    "write one loop for each: for $a in stream('s')//x, $b in stream('t')//y "
    "where $a/k = $b/k return <m>{$a, $b}</m>"
)


class Refusals:
    """The errors of a query."""

    def __init__(self, text: str) -> None:
        self._text = text

    def reading(self) -> QueryError:
        """Return the error for streams that are read elsewhere than in loops."""
        message = "several streams are read, and not each by a loop of its own at the top"
        return self._error("PQ0532", message, _FORM)

    def unbounded(self, stream: str, first: str, second: str) -> QueryError:
        """Return the error for loops over all documents of one stream that have no bound."""
        message = f"`${first}` and `${second}` join all documents of `{stream}`, however old"
        way_out = (
            f"say how far apart in time they may be, as in within='2 h', or write doc('{stream}') "
            "in both to join within one document"
        )
        return self._error("PQ0539", message, way_out, second)

    def many(self, most: int) -> QueryError:
        """Return the error for too many loops or values."""
        message = f"a query joins up to {most} loops over streams, by up to 64 values each"
        return self._error("PQ0534", message, "split it into several queries")

    def unconnected(self, first: str, second: str) -> QueryError:
        """Return the error for a product of streams."""
        message = f"no equality leads from `${second}` to `${first}`: every pair would be a result"
        way_out = f"add one to `where`, as in ${first}/key = ${second}/key"
        return self._error("PQ0535", message, way_out, second)

    def ordering(self) -> QueryError:
        """Return the error for ``order by`` on streams."""
        message = "`order by` waits for the end of streams that may have none"
        return self._error("PQ0536", message, "leave it away: rows come in order of arrival", "")

    def counting(self, variable: str) -> QueryError:
        """Return the error for ``at`` on a loop."""
        message = f"`at ${variable}` counts bindings, and those of several streams have no order"
        return self._error("PQ0536", message, "leave it away", variable)

    def binding(self, variable: str) -> QueryError:
        """Return the error for a loop over something that cannot be joined."""
        message = f"`${variable}` is bound to something else than elements, attributes or text"
        return self._error("PQ0537", message, "end its path with a name, as in //item", variable)

    def looking_around(self) -> QueryError:
        """Return the error for a message that needs what is outside of its bindings."""
        message = "the message looks outside of what the loops bind, which is not kept"
        return self._error("PQ0538", message, "bind an element further up, which contains both")

    def comparing_nodes(self) -> QueryError:
        """Return the error for the identity or the order of nodes of different loops."""
        message = "nodes of different loops are united or compared by identity or order"
        return self._error("PQ0538", message, "compare their values, or list them: ($a, $b)")

    def _error(
        self, code: str, message: str, way_out: str, variable: str | None = None
    ) -> QueryError:
        span = (0, len(self._text))
        found = None if variable is None else re.search(rf"\${re.escape(variable)}\b", self._text)
        if variable == "":
            found = re.search(r"(stable\s+)?order\s+by", self._text)
        return QueryError(code, message, found.span() if found else span, way_out, self._text)
