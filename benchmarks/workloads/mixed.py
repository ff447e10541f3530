"""XPath subscriptions over the items of ``joins``, to stand beside subscriptions that join them."""

from collections.abc import Iterator
from random import Random

AUTHORS, CATEGORIES, CHANNELS, WORDS = 5_000, 300, 418, 2_000
SEARCHES = 20
"""One path in so many searches a text, which takes another engine than comparing values does."""


def item_paths(count: int, items: int) -> Iterator[str]:
    """Yield paths over the first items; about one in a thousand selects something of an item."""
    random = Random(13)
    draw = random.randrange
    for number in range(count):
        if number % SEARCHES == SEARCHES - 1:
            yield f"/item[contains(title, 'w{draw(WORDS)} ') and author = 'author {draw(AUTHORS)}']"
            continue
        match number % 4:
            case 0:
                yield f"/item[author = 'author {draw(AUTHORS)}']/title"
            case 1:
                category, author = 1 + draw(CATEGORIES), draw(AUTHORS)
                yield f"//item[category = 'category {category}' and author = 'author {author}']"
            case 2:
                yield f"//item[guid = 'urn:item:{draw(items)}']/url"
            case _:
                channel, day = 1 + draw(CHANNELS), 1 + draw(28)
                where = f"channel = 'http://c{channel}.example/'"
                yield f"//item[{where}][stamp = '2006-{6 + draw(5):02}-{day:02}']/description"
