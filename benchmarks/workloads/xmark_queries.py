"""The twenty queries of XMark in XQuery, for our auction documents.

They ask what XMark's ask, of one document that is the context item. Where the original names a
person by number, the number is one that every size has.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class XmarkQuery:
    """A query: its number, what it is about, its text."""

    number: int
    about: str
    text: str

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"Q{self.number}"


_TEXTS = {
    "one person by key": """
for $p in /site/people/person[@id = "person0"] return $p/name/text()
""",
    "the first bid of each auction": """
for $a in /site/open_auctions/open_auction
return <increase>{ $a/bidder[1]/increase/text() }</increase>
""",
    "auctions whose last bid is twice the first": """
for $a in /site/open_auctions/open_auction
where zero-or-one($a/bidder[1]/increase/text()) * 2 <= $a/bidder[last()]/increase/text()
return <increase first="{ $a/bidder[1]/increase/text() }"
                 last="{ $a/bidder[last()]/increase/text() }"/>
""",
    "order of two bidders": """
for $a in /site/open_auctions/open_auction
where some $one in $a/bidder/personref[@person = "person20"],
           $other in $a/bidder/personref[@person = "person51"]
      satisfies $one << $other
return <history>{ $a/reserve/text() }</history>
""",
    "a count with a condition": """
count(for $c in /site/closed_auctions/closed_auction
      where $c/price/text() >= 40
      return $c/price)
""",
    "items of all regions": """
for $r in /site/regions return count($r//item)
""",
    "pieces of prose": """
for $s in /site
return count($s//description) + count($s//annotation) + count($s//emailaddress)
""",
    "purchases of each person": """
for $p in /site/people/person
let $bought := for $c in /site/closed_auctions/closed_auction
               where $c/buyer/@person = $p/@id
               return $c
return <item person="{ $p/name/text() }">{ count($bought) }</item>
""",
    "European purchases of each person": """
for $p in /site/people/person
let $bought := for $c in /site/closed_auctions/closed_auction
               where $p/@id = $c/buyer/@person
               return let $item := for $i in /site/regions/europe/item
                                   where $c/itemref/@item = $i/@id
                                   return $i
                      return <item>{ $item/name/text() }</item>
return <person name="{ $p/name/text() }">{ $bought }</person>
""",
    "people by interest": """
for $category in distinct-values(/site/people/person/profile/interest/@category)
let $people := for $p in /site/people/person
               where $p/profile/interest/@category = $category
               return <person>
                        <statistics>
                          <gender>{ $p/profile/gender/text() }</gender>
                          <age>{ $p/profile/age/text() }</age>
                          <education>{ $p/profile/education/text() }</education>
                          <income>{ string($p/profile/@income) }</income>
                        </statistics>
                        <address>
                          <name>{ $p/name/text() }</name>
                          <street>{ $p/address/street/text() }</street>
                          <city>{ $p/address/city/text() }</city>
                          <country>{ $p/address/country/text() }</country>
                          <network>
                            <mail>{ $p/emailaddress/text() }</mail>
                            <page>{ $p/homepage/text() }</page>
                          </network>
                        </address>
                        <payment>{ $p/creditcard/text() }</payment>
                      </person>
return <category><id>{ $category }</id>{ $people }</category>
""",
    "auctions that each person can afford": """
for $p in /site/people/person
let $affordable := for $initial in /site/open_auctions/open_auction/initial
                   where $p/profile/@income > 5000 * exactly-one($initial/text())
                   return $initial
return <items name="{ $p/name/text() }">{ count($affordable) }</items>
""",
    "the same for high incomes": """
for $p in /site/people/person
let $affordable := for $initial in /site/open_auctions/open_auction/initial
                   where $p/profile/@income > 5000 * exactly-one($initial/text())
                   return $initial
where $p/profile/@income > 50000
return <items person="{ $p/profile/@income }">{ count($affordable) }</items>
""",
    "Australian items with their descriptions": """
for $i in /site/regions/australia/item
return <item name="{ $i/name/text() }">{ $i/description }</item>
""",
    "items that speak of gold": """
for $i in /site//item
where contains(string(exactly-one($i/description)), "gold")
return $i/name/text()
""",
    "a long path": """
for $k in /site/closed_auctions/closed_auction/annotation/description/parlist/listitem
          /parlist/listitem/text/emph/keyword/text()
return <text>{ $k }</text>
""",
    "sellers whose auctions have a long path": """
for $c in /site/closed_auctions/closed_auction
where exists($c/annotation/description/parlist/listitem/parlist/listitem/text/emph/keyword/text())
return <person id="{ $c/seller/@person }"/>
""",
    "people without a page": """
for $p in /site/people/person
where empty($p/homepage/text())
return <person name="{ $p/name/text() }"/>
""",
    "reserves in another currency": """
declare function local:convert($value as xs:decimal?) as xs:decimal? { 2.20371 * $value };
for $a in /site/open_auctions/open_auction
return local:convert(zero-or-one($a/reserve))
""",
    "items ordered by place": """
for $i in /site/regions//item
let $name := $i/name/text()
order by zero-or-one($i/location) ascending
return <item name="{ $name }">{ $i/location/text() }</item>
""",
    "people by income": """
<result>
  <preferred>{ count(/site/people/person/profile[@income >= 75000]) }</preferred>
  <standard>{ count(/site/people/person/profile[@income < 75000 and @income >= 30000]) }</standard>
  <challenge>{ count(/site/people/person/profile[@income < 30000]) }</challenge>
  <unknown>{
    count(for $p in /site/people/person where empty($p/profile/@income) return $p)
  }</unknown>
</result>
""",
}

QUERIES = tuple(
    XmarkQuery(number, about, text.strip())
    for number, (about, text) in enumerate(_TEXTS.items(), 1)
)
PER_BINDING = (*range(1, 8), *range(13, 19), 20)
"""Queries that work on one binding after the other."""
JOINS = (8, 9, 10, 11, 12)
"""Queries that relate bindings to each other by values."""
