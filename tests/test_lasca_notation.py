"""Notation of Lasca: what is read, what is written, what is refused and why."""

from __future__ import annotations

import random

import pytest
from naive_lasca import random_position

from engine.errors import IllegalMoveError, IllegalPositionError
from engine.lasca import Move, Position


def test_start():
    text = str(Position.START)
    assert Position.parse("start") == Position.parse(text) == Position.START
    assert text.startswith("W:a1w c1w e1w g1w b2w d2w f2w a3w c3w e3w g3w a5b")
    assert text.endswith("c7b e7b g7b")


def test_squares_by_laskers_numbers():
    assert Position.parse("B:1w 13WbbB 25b") == Position.parse("B:a1w d4WbbB g7b")
    assert Move.parse("9-13") == Move.parse("c3-d4")
    assert str(Move.parse("5x13x19")) == "b2xd4xb6"


def test_order_and_spaces_do_not_matter():
    assert str(Position.parse("  W: g7b   a1w ")) == "W:a1w g7b"


@pytest.mark.parametrize("text", ["c3-d4", "b2xd4", "d2xb4xd6", "f6-e7*", "g5xe7*"])
def test_moves_are_written_as_they_are_read(text):
    assert str(Move.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "c3", "c3d4", "c3-d4x", "c3-d4-e5", "c3xd4-e5", "*", "a2-b3", "c3 - d4", "c3-26"]
)
def test_other_moves_are_refused(text):
    with pytest.raises(IllegalMoveError):
        Move.parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "side to move"),
        ("a1w", "side to move"),
        ("X:a1w", "side to move"),
        ("w:a1w", "side to move"),
        ("W:a2w", "'a2' is no square"),
        ("W:26w", "'26' is no square"),
        ("W:0w", "'0' is no square"),
        ("W:h8w", "'h8' is no square"),
        ("W:a1", "men are written"),
        ("W:w", "no column on a square"),
        ("W:a1w,b2b", "no column on a square"),
        ("W:a1k", "men are written"),
        ("W:a1w 1b", "a1 is given twice"),
        ("W:a1wbw", "more than once"),
        ("W:a7w", "far rank: a7w"),
        ("B:c1bW", "far rank: c1bW"),
        ("W:a1" + "w" * 12, "White has 12 men"),
        ("W:a1w b2" + "B" * 12, "Black has 12 men"),
    ],
)
def test_illegal_positions_say_why(text, reason):
    with pytest.raises(IllegalPositionError, match=reason):
        Position.parse(text)


def test_an_officer_may_stand_on_the_far_rank_and_a_soldier_lie_there():
    for text in ("W:a7W", "W:a7Ww", "W:a1w a7bw", "B:c1B", "B:c1wb a7b"):
        assert str(Position.parse(text)) == text


def test_random_positions_are_read_back():
    rng = random.Random(3)
    for _ in range(200):
        position = random_position(rng, "wwwWWbbBBB", rng.randint(2, 6))
        assert Position.parse(str(position)) == position
