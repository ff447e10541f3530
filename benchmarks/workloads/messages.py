"""Small documents as they come through a feed reader and a payment hub, and standing queries.

Everything is drawn from a seed: document ``n`` and query ``n`` are the same on every machine.
The queries use nothing but XPath 1.0 without namespaces, so that other engines take them too.
About one query in four thousand selects a given document.
"""

from collections.abc import Iterator
from random import Random

from benchmarks.workloads.words import (
    CITIES,
    COUNTRIES,
    FAMILY_NAMES,
    GIVEN_NAMES,
    HOSTS,
    WORDS,
)

SEED = 20_240_417
ACCOUNTS = 50_000
CATEGORIES = 400
CURRENCIES = ("CHF", "DKK", "EUR", "GBP", "JPY", "NOK", "USD")
LANGUAGES = ("da", "de", "en", "es", "fr", "it", "nl", "pt")
LEVELS = (100, 1_000, 5_000, 20_000)


def documents(count: int, seed: int = SEED) -> Iterator[bytes]:
    """Yield documents, feed items and payments in turn, of about 700 bytes."""
    random = Random(seed)
    for number in range(count):
        text = payment(random, number) if number % 2 else feed_item(random, number)
        yield text.encode("ascii")


def feed_item(random: Random, number: int) -> str:
    """Return a feed with one item."""
    pick = random.choice
    host = pick(HOSTS)
    categories = "".join(f"<category>c{random.randrange(CATEGORIES)}</category>" for _ in range(2))
    text = " ".join(random.choices(WORDS, k=40))
    return (
        f'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>News of {host}</title>'
        f"<link>https://{host}/</link><language>{pick(LANGUAGES)}</language>\n"
        f'<item><guid isPermaLink="false">n{number}</guid><title>{text[:48].strip()}</title>'
        f"<link>https://{host}/n/{number}</link><author>{pick(GIVEN_NAMES)} "
        f"{pick(FAMILY_NAMES)}</author>{categories}\n"
        f"<pubDate>Wed, 17 Apr 2024 {random.randrange(24):02}:{random.randrange(60):02}:00 GMT"
        f"</pubDate><description>{text}</description></item></channel></rss>"
    )


def payment(random: Random, number: int) -> str:
    """Return a message with one payment."""
    pick = random.choice

    def party(role: str) -> str:
        return (
            f"<{role}><Name>{pick(GIVEN_NAMES)} {pick(FAMILY_NAMES)}</Name><Address>"
            f"<City>{pick(CITIES)}</City><Country>{pick(COUNTRIES)}</Country></Address>"
            f"<Account>A{random.randrange(ACCOUNTS)}</Account></{role}>\n"
        )

    amount = int(10 ** random.uniform(1, 5)) + random.randrange(100) / 100
    return (
        f'<?xml version="1.0"?>\n<Document><Header><Id>m{number}</Id><Day>2024-04-17</Day>'
        f'</Header>\n<Payment kind="{pick(("instant", "credit", "salary"))}"><EndToEnd>e{number}'
        f'</EndToEnd><Amount currency="{pick(CURRENCIES)}">{amount:.2f}</Amount>\n'
        f"{party('Debtor')}{party('Creditor')}<Remittance>"
        f"{' '.join(random.choices(WORDS, k=12))}</Remittance></Payment></Document>"
    )


def queries(count: int, seed: int = SEED) -> Iterator[str]:
    """Yield standing queries: four over the feed and four over the payments, in turn."""
    random = Random(seed + 1)
    pick = random.choice
    for number in range(count):
        match number % 8:
            case 0:
                author = f"{pick(GIVEN_NAMES)} {pick(FAMILY_NAMES)}"
                yield f"/rss/channel/item[author = '{author}']/title"
            case 1:
                category = random.randrange(CATEGORIES)
                yield f"//channel[language = '{pick(LANGUAGES)}']/item[category = 'c{category}']"
            case 2:
                one, other = random.sample(range(CATEGORIES), 2)
                yield f"//item[category = 'c{one}' and category = 'c{other}']/link"
            case 3:
                yield f"//item[guid = 'n{random.randrange(1_000_000)}']/link"
            case 4:
                yield f"//Payment[Creditor/Account = 'A{random.randrange(ACCOUNTS)}']/EndToEnd"
            case 5:
                city, country = pick(CITIES), pick(COUNTRIES)
                where = f"Address[City = '{city}' and Country = '{country}']"
                yield f"/Document/Payment[Debtor/{where}]/Amount"
            case 6:
                level = pick(LEVELS)
                name = f"{pick(GIVEN_NAMES)} {pick(FAMILY_NAMES)}"
                yield f"//Payment[Amount > {level} and Creditor/Name = '{name}']//City"
            case _:
                currency, account = pick(CURRENCIES), random.randrange(ACCOUNTS)
                yield f"//Payment[Amount/@currency = '{currency}'][*/Account = 'A{account}']/@kind"
