"""A constant of a type is the value, or the error, that the same text gives when it is computed."""

from collections.abc import Callable
from random import Random

import pytest

from penstock import Engine, Registry, xquery

COUNT = 600
LENGTHS = (1, 2, 4, 9, 10, 17, 19, 20, 28, 29, 40)


class Texts:
    """Texts of values, some of which are out of range or none at all."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def digits(self) -> str:
        return "".join(self.random.choices("0123456789", k=self.random.choice(LENGTHS)))

    def number(self) -> str:
        return f"{self.random.choice(('', '-'))}{self.digits()}{self.fraction()}"

    def fraction(self) -> str:
        return self.random.choice(("", f".{self.digits()}"))

    def date(self) -> str:
        year = self.random.choice(("0000", "0001", "2000", "9999", "12345"))
        return f"{year}-{self.random.randint(1, 13):02}-{self.random.randint(1, 32):02}"

    def clock(self) -> str:
        parts = (self.random.randint(0, most) for most in (24, 60, 60))
        zone = self.random.choice(("", "Z", "+14:00", "-13:59", "+14:01"))
        return f"{':'.join(f'{part:02}' for part in parts)}{self.fraction()}{zone}"

    def months(self) -> str:
        return f"{self.digits()}Y{self.digits()}M"

    def days(self) -> str:
        return f"{self.digits()}DT{self.digits()}H{self.digits()}M{self.digits()}{self.fraction()}S"


TYPES: dict[str, Callable[[Texts], str]] = {
    "integer": Texts.digits,
    "decimal": Texts.number,
    "double": lambda texts: f"{texts.number()}e{texts.digits()[:4]}",
    "float": lambda texts: f"{texts.number()}E-{texts.digits()[:3]}",
    "date": Texts.date,
    "time": Texts.clock,
    "dateTime": lambda texts: f"{texts.date()}T{texts.clock()}",
    "dayTimeDuration": lambda texts: f"-P{texts.days()}",
    "duration": lambda texts: f"P{texts.months()}{texts.days()}",
    "yearMonthDuration": lambda texts: f"P{texts.months()}",
}


@pytest.mark.parametrize("seed", range(3))
def test_a_constant_is_what_the_same_text_gives_when_it_is_computed(seed: int) -> None:
    texts = Texts(seed)
    kinds = [texts.random.choice(list(TYPES)) for _ in range(COUNT)]
    written = [(kind, TYPES[kind](texts)) for kind in kinds]
    constants = answers([f"xs:{kind}('{text}')" for kind, text in written])
    computed = answers([f"xs:{kind}(concat(string(/r), '{text}'))" for kind, text in written])
    for value, constant, expected in zip(written, constants, computed, strict=True):
        assert constant == expected, value
    codes = {answer.partition(":")[0] for answer in constants}
    assert {"FODT0002", "FORG0001", "FOCA0003"} <= codes


def answers(queries: list[str]) -> list[str]:
    registry = Registry()
    for number, query in enumerate(queries):
        registry.add(f"{number:04}", xquery(query))
    rows = Engine(registry).run("<r/>")
    found = {row.subscription: row.error.reason if row.error else str(row.value) for row in rows}
    return [found[name] for name in sorted(name for name in found if name)]


def test_a_duration_that_is_too_long_has_an_error_of_its_own() -> None:
    (answer,) = answers(["xs:dayTimeDuration('P999999999999999999D')"])
    assert answer == "FODT0002: the duration is out of range"
