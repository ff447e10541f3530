"""Feeds in RSS and Atom, polled over HTTP: each item once, as a document."""

from penstock.sources.feeds.items import Item, items_of
from penstock.sources.feeds.polling import FeedPoller, Poll
from penstock.sources.feeds.states import FeedState, States

__all__ = ["FeedPoller", "FeedState", "Item", "Poll", "States", "items_of"]
