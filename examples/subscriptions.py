"""The subscriptions of the demo: written ones, and forms filled in with what a user cares about."""

from __future__ import annotations

from sample_data import ATOM, CAP

import penstock

NAMESPACES = {
    "atom": ATOM,
    "cap": CAP,
    # Two versions of one schema, and those to come: a prefix may stand for a pattern.
    "pay": "urn:iso:std:iso:20022:tech:xsd:pacs.008.*",
}

WRITTEN = {
    "titles about dams": "//atom:entry[atom:category/@term = 'dams']/atom:title",
    "locks in the text": "//atom:entry[contains(atom:content, 'locks locks')]/atom:id/text()",
    "entries per feed": "count(/atom:feed/atom:entry)",
    "large transfers": "//pay:CdtTrfTxInf[pay:IntrBkSttlmAmt > 100000]",
    "large in francs": "//pay:CdtTrfTxInf[pay:IntrBkSttlmAmt[@Ccy = 'CHF'] > 50000]/pay:PmtId",
    "paid by Chur": "//pay:CdtTrfTxInf[pay:Dbtr/pay:Nm = 'Chur Works']/pay:Cdtr/pay:Nm/text()",
    "total per message": "sum(//pay:IntrBkSttlmAmt)",
    "dollars seen": "boolean(//pay:IntrBkSttlmAmt[@Ccy = 'USD'])",
    "severe alerts": "/cap:alert[cap:info[cap:severity = 'Severe' or cap:severity = 'Extreme']]",
    "areas at risk": "/cap:alert[cap:status = 'Actual']/cap:info[cap:severity != 'Minor']"
    "/cap:area/cap:areaDesc/text()",
    "anything in Gap": "//*[cap:areaDesc = 'Gap' or contains(atom:title, 'Gap')]",
}
FILTERS = {"is an exercise": "/cap:alert[cap:status = 'Exercise']"}
FORMS = {
    "news from {}": (
        "//atom:entry[contains(atom:title, '{}')]/atom:id/text()",
        ("Adenau", "Brixen", "Chur", "Dole", "Erfurt", "Fermo", "Huy", "Ivrea"),
    ),
    "{} over 90000": (
        "//pay:IntrBkSttlmAmt[@Ccy = '{}' and . > 90000]",
        ("EUR", "USD", "CHF"),
    ),
    "{} in the rain": (
        "/cap:alert[cap:info/cap:severity = '{}'][not(cap:status = 'Test')]"
        "/cap:info/cap:area/cap:areaDesc",
        ("Minor", "Moderate", "Severe", "Extreme"),
    ),
}


def fill(registry: penstock.Registry) -> None:
    """Add all subscriptions of the demo to a registry."""
    queries = dict(WRITTEN)
    for name, (form, words) in FORMS.items():
        queries |= {name.format(word): form.format(word) for word in words}
    for name, query in queries.items():
        registry.add(name, penstock.xpath(query, namespaces=NAMESPACES))
    for name, query in FILTERS.items():
        registry.add(name, penstock.xpath(query, namespaces=NAMESPACES), mode="filter")
