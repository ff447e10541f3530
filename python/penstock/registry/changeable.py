"""Changes that a registry in memory and a durable one make in the same way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

from penstock import logs
from penstock.languages.xpath.frontend import Select
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.planning.modes import Mode
from penstock.planning.records import JoinOutput, is_publishing
from penstock.registry.circles import refuse_circle, without_circles
from penstock.registry.loading.lines import CompiledChunk, LineError
from penstock.registry.loading.load import Lines, LoadReport, Watch, compile_lines
from penstock.registry.protocol import AnyRegistry
from penstock.registry.subscriptions import (
    Delivery,
    Subscription,
    compile_subscription,
    query_of,
)
from penstock.twigs import Query


class ChangeableRegistry(AnyRegistry):
    """Compiles and checks subscriptions; a subclass keeps them."""

    def add(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Delivery | None = None,
        *,
        language: str | None = None,
        namespaces: NamespaceMap | None = None,
        variables: Mapping[str, object] | None = None,
        select: Select | None = None,
    ) -> Subscription:
        """Add a subscription; a text is XPath unless ``language`` says otherwise.

        ``mode`` says what a document gives: with ``query`` every result, with ``filter`` one row
        if there is a result, with ``running`` the value of an aggregate after every node. ``owner``
        is a name to list subscriptions by, and ``delivery`` a text or an object of JSON that says
        where rows go; both are kept for the caller, and nothing else depends on them.
        ``namespaces``, ``variables`` and ``select`` are those of :func:`penstock.xpath`.

        >>> import penstock
        >>> registry = penstock.Registry()
        >>> _ = registry.add("titles", "//a:title", namespaces={"a": "urn:a"})
        >>> registry["titles"].text
        '//a:title'

        Raises:
            QueryError: The query is invalid or not supported.
            RegistryError: The name is taken or empty; the mode is unknown; the subscription would
                read what it publishes.
            SettingError: There is no such language; options for a query that is made already.
            TypeError: The query is neither a text nor a query.
        """
        options = {"namespaces": namespaces, "variables": variables, "select": select}
        asked = query_of(query, language, options)
        subscription = self._checked(compile_subscription(name, asked, mode, owner, delivery))
        self._add(subscription)
        logs.registry.debug("added %s", name)
        return subscription

    def replace(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Delivery | None = None,
        *,
        language: str | None = None,
        namespaces: NamespaceMap | None = None,
        variables: Mapping[str, object] | None = None,
        select: Select | None = None,
    ) -> Subscription:
        """Replace the subscription of the same name; everything else is as in ``add``.

        Raises:
            QueryError: The query is invalid or not supported.
            RegistryError: There is no subscription of that name; the mode is unknown; the
                subscription would read what it publishes.
            SettingError: There is no such language; options for a query that is made already.
            TypeError: The query is neither a text nor a query.
        """
        options = {"namespaces": namespaces, "variables": variables, "select": select}
        asked = query_of(query, language, options)
        subscription = self._checked(compile_subscription(name, asked, mode, owner, delivery))
        self._replace(subscription)
        logs.registry.debug("replaced %s", name)
        return subscription

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a subscription.

        Raises:
            RegistryError: There is no subscription of that name.
        """

    def load(
        self,
        source: Lines,
        *,
        replace: bool = False,
        workers: int | None = None,
        watch: Watch | None = None,
        on_error: Callable[[LineError], None] | None = None,
    ) -> LoadReport:
        """Add the subscriptions of a file, one to a line, and return a report.

        The source is the path of a CSV file (``.csv``) or of lines of JSON, or such lines. Bad
        lines are reported and left out; the others are loaded all together or, if the load is
        interrupted, not at all. A name that is taken is an error of its line, unless ``replace``
        is set: then the line replaces the subscription. As many processes compile as there are
        cores, or ``workers``; with 0 this process compiles. ``watch`` is called now and then with
        the report so far.

        Raises:
            OSError: The file cannot be read.
            RegistryError: The first line of a CSV file does not name columns.
        """
        report = LoadReport(on_error=on_error)
        compiled = compile_lines(source, report, workers, watch)
        self._insert(without_circles(compiled, self._publishers(), report), report, replace)
        logs.registry.info("%r: %r", self, report)
        return report

    @abstractmethod
    def changes(self) -> AbstractContextManager[None]:
        """Make the changes inside the block together: an exception undoes them all.

        Each still counts as one version. In a durable registry this is also much faster than
        one change after the other.
        """

    def _checked(self, subscription: Subscription) -> Subscription:
        if is_publishing(subscription.program):
            refuse_circle(subscription.name, subscription.program, self._publishers())
        return subscription

    @abstractmethod
    def _add(self, subscription: Subscription) -> None: ...

    @abstractmethod
    def _replace(self, subscription: Subscription) -> None: ...

    @abstractmethod
    def _insert(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, is_replacing: bool
    ) -> None:
        """Insert compiled lines in one block of changes; taken names are noted as errors."""

    @abstractmethod
    def _publishers(self) -> Mapping[str, JoinOutput]:
        """Return the outputs of all subscriptions that publish, by name."""
