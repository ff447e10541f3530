"""Sample documents for the demo: feeds, payments and alerts, the same on every machine.

The three are shaped like Atom, ISO 20022 credit transfers and Common Alerting Protocol messages:
default namespaces, several versions of one schema, headers beside many records.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

ATOM = "http://www.w3.org/2005/Atom"
PAYMENTS = (
    "urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08",
    "urn:iso:std:iso:20022:tech:xsd:pacs.008.001.10",
)
CAP = "urn:oasis:names:tc:emergency:cap:1.2"

_TOPICS = "rivers dams turbines rainfall gates reservoirs fish & locks <spillways> valves".split()
_PLACES = "Adenau Brixen Chur Dole Erfurt Fermo Gap Huy Ivrea Jaca".split()
_CURRENCIES = ("EUR", "EUR", "EUR", "USD", "CHF")
_SEVERITIES = ("Minor", "Minor", "Moderate", "Severe", "Extreme")


def write_documents(folder: Path, count: int, seed: int = 7) -> Iterator[Path]:
    """Write documents into a folder and yield their paths; about one in fifty is damaged."""
    chance = random.Random(seed)
    makers: tuple[tuple[str, Callable[[random.Random, int], str]], ...] = (
        ("feed", feed),
        ("payments", payments),
        ("alert", alert),
    )
    for number in range(count):
        kind, make = makers[number % len(makers)]
        data = make(chance, number).encode()
        if chance.random() < 0.02:
            data = damage(chance, data)
        path = folder / f"{kind}-{number:04}.xml"
        if kind == "payments" and chance.random() < 0.5:
            path = path.with_suffix(".xml.gz")
            data = gzip.compress(data, mtime=0)
        path.write_bytes(data)
        yield path


def feed(chance: random.Random, number: int) -> str:
    """Return a feed with some entries."""
    entries = []
    for entry in range(chance.randrange(5, 60)):
        topic, other = chance.sample(_TOPICS, 2)
        place = chance.choice(_PLACES)
        updated = f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}T08:00:00Z"
        entries.append(
            f"<entry><id>urn:entry:{number}:{entry}</id>"
            f"<title>{escape(topic)} and {escape(other)} near {place}</title>"
            f'<category term="{escape(topic)}"/><updated>{updated}</updated>'
            f"<content>{escape(' '.join(chance.choices(_TOPICS, k=30)))}</content></entry>"
        )
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="{ATOM}">'
        f"<title>Water news {number}</title>{''.join(entries)}</feed>\n"
    )


def payments(chance: random.Random, number: int) -> str:
    """Return a message with some credit transfers; the schema has two versions."""
    transfers = []
    for transfer in range(chance.randrange(5, 120)):
        amount = round(10 ** chance.uniform(0.5, 5.2), 2)
        transfers.append(
            f"<CdtTrfTxInf><PmtId><EndToEndId>E{number}-{transfer}</EndToEndId></PmtId>"
            f'<IntrBkSttlmAmt Ccy="{chance.choice(_CURRENCIES)}">{amount:.2f}</IntrBkSttlmAmt>'
            f"<Dbtr><Nm>{chance.choice(_PLACES)} Works</Nm></Dbtr>"
            f"<Cdtr><Nm>{chance.choice(_PLACES)} Supply</Nm></Cdtr></CdtTrfTxInf>"
        )
    return (
        f'<Document xmlns="{chance.choice(PAYMENTS)}"><FIToFICstmrCdtTrf>'
        f"<GrpHdr><MsgId>M{number}</MsgId><NbOfTxs>{len(transfers)}</NbOfTxs></GrpHdr>"
        f"{''.join(transfers)}</FIToFICstmrCdtTrf></Document>\n"
    )


def alert(chance: random.Random, number: int) -> str:
    """Return an alert with some areas."""
    areas = "".join(
        f"<cap:area><cap:areaDesc>{place}</cap:areaDesc></cap:area>"
        for place in chance.sample(_PLACES, chance.randrange(1, 5))
    )
    return (
        f'<cap:alert xmlns:cap="{CAP}"><cap:identifier>A{number}</cap:identifier>'
        f"<cap:status>{'Exercise' if chance.random() < 0.1 else 'Actual'}</cap:status><cap:info>"
        f"<cap:event>High water</cap:event><cap:severity>{chance.choice(_SEVERITIES)}"
        f"</cap:severity>{areas}</cap:info></cap:alert>\n"
    )


def damage(chance: random.Random, data: bytes) -> bytes:
    """Return a document with something wrong that happens in real streams."""
    place = chance.randrange(len(data) // 2, len(data) - 10)
    match chance.randrange(4):
        case 0:
            return data[:place]
        case 1:
            return data.replace(b"</", b"</x", 1)
        case 2:
            return data[:place] + b"\xff" + data[place:]
        case _:
            return data + b"<more/>"
