"""Settings of earlier versions are refused with what takes their place."""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import SettingError


def test_broker_options_say_where_their_strategies_are() -> None:
    with pytest.raises(SettingError, match="papers/yfilter"):
        penstock.BrokerOptions  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(SettingError, match="papers/yfilter"):
        from penstock import BrokerOptions  # type: ignore[attr-defined]  # noqa: F401


def test_an_engine_has_no_setting_for_the_broker() -> None:
    with pytest.raises(SettingError, match="broker is no longer a setting"):
        penstock.Engine(penstock.Registry(), broker=None)  # type: ignore[call-arg]


def test_explain_shows_what_queries_of_one_form_share() -> None:
    text = "<r>{{for $x in //a where $x/b = {} return $x/c}}</r>"
    registry = penstock.Registry()
    for number in range(40):
        registry.add(f"q{number}", penstock.xquery(text.format(number)))
    said = str(penstock.Engine(registry).explain())
    head = "queries of one form, asked together of each small document:"
    assert f"{head}\n  40 of query\n  1 of binding path\n" in said
