"""Columns: form, owner, capture and promotion."""

from __future__ import annotations

import pytest

from engine.errors import IllegalPositionError
from engine.lasca import Column


def test_parts_of_a_column():
    column = Column("WwbB")
    assert (column.commander, column.owner, column.has_officer) == ("W", "w", True)
    assert (column.own_men, column.captives) == ("Ww", "bB")
    assert str(Column("b").colours_swapped()) == "w"
    assert Column("wWB").colours_swapped() == Column("bBW")


def test_a_captured_column_loses_its_commander_only():
    assert Column("wbB").without_commander() == Column("bB")
    assert Column("W").without_commander() is None


def test_a_captive_goes_to_the_bottom_and_keeps_its_rank():
    assert Column("wb").with_captive("B") == Column("wbB")


def test_only_the_commander_is_promoted():
    assert Column("wwb").promoted() == Column("Wwb")


@pytest.mark.parametrize("men", ["wbw", "bWbB", "WBW"])
def test_two_changes_of_colour_are_refused(men):
    with pytest.raises(IllegalPositionError, match="more than once"):
        Column(men)


@pytest.mark.parametrize("men", ["", "x", "w b", "wKb"])
def test_other_letters_are_refused(men):
    with pytest.raises(IllegalPositionError, match="men are written"):
        Column(men)
