"""Morris positions and moves: notation, its errors, the rules one by one, and perft."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalMoveError, IllegalPositionError
from engine.morris import Move, Position, Rules
from engine.morris.board import POINTS, SYMMETRIES, image
from engine.morris.perft import perft
from engine.morris.rules import FLYING_OPTIONS

DATA = Path(__file__).parent / "data"


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Any legal position."""
    white_total = draw(st.integers(0, 10))
    black_total = draw(st.integers(0 if white_total > 2 else 3, 10))
    white_count = draw(st.integers(0, white_total))
    black_count = draw(st.integers(0, black_total))
    points = draw(st.permutations(range(24)))
    white = sum(1 << p for p in points[:white_count])
    black = sum(1 << p for p in points[white_count : white_count + black_count])
    hands = (white_total - white_count, black_total - black_count)
    return Position(white, black, *hands, draw(st.booleans()))


def moves(text: str, flying: str = "board") -> set[str]:
    return {str(move) for move in Position.parse(text).legal_moves(Rules(flying=flying))}


# Notation


def test_start() -> None:
    assert str(Position.START) == "W:W:B:H10,10"
    assert Position.parse("start") == Position.START == Position.parse("W:W:B:H10,10")
    assert Position.parse("start", Rules(men=4)) == Position(0, 0, 4, 4, True)


def test_format_sorts_points_and_leaves_out_empty_hands() -> None:
    assert str(Position.parse("B:Wg7,a1,d7:Bb4,c3,d2:H0,0")) == "B:Wa1,d7,g7:Bb4,c3,d2"
    assert str(Position.parse(" W:Wa1:B:H2,3 ")) == "W:Wa1:B:H2,3"


@given(positions())
def test_parse_and_format_are_inverse(position: Position) -> None:
    assert Position.parse(str(position)) == position


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is no side to move"),
        ("w:Wa1:Bb4:H9,9", "'w' is no side to move"),
        ("Wa1:Bb4:H9,9", "'Wa1' is no side to move"),
        ("W:Wa1", "is no position"),
        ("W:Bb4:Wa1:H9,9", "is no position"),
        ("W:Wa1:Bb4:9,9", "is no position"),
        ("W:Wa1:Bb4:H9,9:H9,9", "is no position"),
        ("W:Wa1,a1:Bb4:H8,9", "point a1 stands twice in 'Wa1,a1'"),
        ("W:Wa1:Ba1:H9,9", "both sides have a man on a1"),
        ("W:Wa1,d4:Bb4:H8,9", "unknown point 'd4'"),
        ("W:Wa1,:Bb4:H8,9", "unknown point ''"),
        ("W:WA1:Bb4:H9,9", "unknown point 'A1'"),
        ("W:Wa1,d7:Bb4:H9,9", "White has 11 men"),
        ("W:Wa1:Bb4:H9,10", "Black has 11 men"),
        ("W:Wa1:Bb4:H-1,9", "White has a negative number of men in hand: -1"),
        ("W:Wa1:Bb4:H9,-2", "Black has a negative number of men in hand: -2"),
        ("W:Wa1:Bb4:H9", "'H9' does not give the men in hand"),
        ("W:Wa1:Bb4:H9,x", "'H9,x' does not give the men in hand"),
        ("W:Wa1:Bb4:H", "'H' does not give the men in hand"),
        ("W:Wa1:Bb4", "both sides have fewer than three men"),
    ],
)
def test_illegal_text(text: str, reason: str) -> None:
    with pytest.raises(IllegalPositionError) as error:
        Position.parse(text)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_rules_bound_the_men_of_a_text() -> None:
    assert Position.parse("W:Wa1:B:H3,4", Rules(men=4)).white_total == 4
    with pytest.raises(IllegalPositionError, match="White has 5 men, more than 4"):
        Position.parse("W:Wa1:B:H4,4", Rules(men=4))


def test_masks_are_checked() -> None:
    with pytest.raises(IllegalPositionError, match="outside the board"):
        Position(1 << 24, 0, 9, 10, True)


def test_positions_are_values() -> None:
    assert hash(Position.parse("start")) == hash(Position.START)
    with pytest.raises(AttributeError):
        Position.START.white = 1  # type: ignore[misc]


@pytest.mark.parametrize("text", ["d6", "d6xd7", "a1-a4", "a1-a4xd7"])
def test_moves_round_trip(text: str) -> None:
    assert str(Move.parse(text)) == text


@pytest.mark.parametrize("text", ["", "d4", "a1-", "-a1", "xd7", "a1xd4", "a1-a4-a7", "a1 a4", "1"])
def test_illegal_move_text(text: str) -> None:
    with pytest.raises(IllegalMoveError):
        Move.parse(text)


@pytest.mark.parametrize("options", [{"men": 2}, {"men": 11}, {"flying": "yes"}, {"flying": ""}])
def test_unknown_rules(options: dict) -> None:
    with pytest.raises(ValueError):
        Rules(**options)


# Moves


def test_placing_and_sliding_from_the_first_turn_on() -> None:
    found = moves("W:Wa1:Bg7:H9,9")
    assert {"a1-a4", "a1-d1"} <= found
    assert found - {"a1-a4", "a1-d1"} == {p for p in POINTS if p not in ("a1", "g7")}


def test_a_mill_takes_one_man_that_is_in_no_mill() -> None:
    found = moves("W:Wa1,a4,d7:Bb2,d2,f2,g7:H1,0")
    assert {m for m in found if m.startswith("a7")} == {"a7xg7"}
    assert {m for m in found if m.startswith("d7-a7")} == {"d7-a7xg7"}
    assert "b6" in found


def test_a_man_in_a_mill_is_taken_when_all_are_in_mills() -> None:
    found = moves("W:Wa1,a4,d7:Bb2,d2,f2:H1,0")
    assert {m for m in found if m.startswith("a7")} == {"a7xb2", "a7xd2", "a7xf2"}


def test_two_mills_at_once_take_one_man() -> None:
    found = moves("W:Wa1,a4,d7,g7:Bb2,d6:H1,1")
    assert {m for m in found if m.startswith("a7")} == {"a7xb2", "a7xd6"}


def test_a_mill_against_an_empty_board_takes_nothing() -> None:
    found = moves("W:Wa1,a4:B:H1,3")
    assert {m for m in found if m.startswith("a7")} == {"a7"}


def test_a_mill_that_is_opened_does_not_protect_its_points() -> None:
    # a7-d7 leaves the mill on the a-file and closes none.
    assert "a7-d7" in moves("W:Wa1,a4,a7,g1:Bb2,d2,f4,g7")


@pytest.mark.parametrize(
    ("text", "flying", "flies"),
    [
        ("W:Wa1,a4,d7:Bb2,d2,f4,g7", "board", True),
        ("W:Wa1,a4,d7:Bb2,d2,f4,g7", "total", True),
        ("W:Wa1,a4,d7:Bb2,d2,f4,g7", "off", False),
        ("W:Wa1,a4:Bb2,d2,f4,g7:H1,0", "board", False),
        ("W:Wa1,a4:Bb2,d2,f4,g7:H1,0", "total", True),
        ("W:Wa1,a4:Bb2,d2,f4,g7:H1,0", "off", False),
        ("W:Wa1,a4,d7:Bb2,d2,f4,g7:H1,0", "total", False),
        ("W:Wa1,a4,d7,g4:Bb2,d2,f4,g7", "board", False),
    ],
)
def test_flying(text: str, flying: str, flies: bool) -> None:
    assert ("a1-e3" in moves(text, flying)) is flies


# The end of the game


def test_a_side_to_move_with_two_men_has_lost() -> None:
    position = Position.parse("W:Wa1:Bb2,d2,f4:H1,0")
    assert position.is_lost()
    assert position.is_over()
    assert position.legal_moves() == ()


def test_a_side_not_to_move_with_two_men_has_lost() -> None:
    position = Position.parse("B:Wa1:Bb2,d2,f4:H1,0")
    assert position.is_over()
    assert not position.is_lost()
    assert position.legal_moves() == ()


def test_a_blocked_side_has_lost() -> None:
    # White's men stand in the corners, Black's on all the points beside them.
    text = "W:Wa1,a7,g1,g7:Ba4,d1,d7,g4"
    assert Position.parse(text).is_lost()
    assert not Position.parse(text.replace("W:", "B:", 1)).is_lost()
    assert not Position.parse(text + ":H1,0").is_lost()


def test_three_men_are_blocked_only_where_they_may_not_fly() -> None:
    text = "W:Wa1,a7,g7:Ba4,d1,d7,g4"
    assert not Position.parse(text).is_lost(Rules(flying="board"))
    assert Position.parse(text).is_lost(Rules(flying="off"))


@given(positions(), st.sampled_from(FLYING_OPTIONS))
def test_the_game_is_over_exactly_when_no_move_is_left(position: Position, flying: str) -> None:
    rules = Rules(flying=flying)
    assert position.is_over(rules) == (not position.legal_moves(rules))
    if position.is_lost(rules):
        assert position.is_over(rules)


# Play


@given(positions(), st.sampled_from(FLYING_OPTIONS))
def test_moves_keep_men_and_change_the_side(position: Position, flying: str) -> None:
    men, hand = position.mover
    opposing, opposing_hand = position.other
    for move in position.legal_moves(Rules(flying=flying)):
        after = position.play(move)
        assert after.white_to_move is not position.white_to_move
        assert after.other[0].bit_count() + after.other[1] == men.bit_count() + hand
        assert after.other[0] >> move.target & 1
        taken = opposing.bit_count() - after.mover[0].bit_count()
        assert taken == (move.capture is not None)
        assert after.mover[1] == opposing_hand
        assert Move.parse(str(move)) == move


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("g7", "g7 is not empty"),
        ("a1-g7", "g7 is not empty"),
        ("d7-a7", "no man of the mover on d7"),
        ("g7-d7", "no man of the mover on g7"),
        ("a7xd7", "no man to take on d7"),
        ("a7xa1", "no man to take on a1"),
    ],
)
def test_play_refuses_what_would_break_the_position(move: str, reason: str) -> None:
    with pytest.raises(IllegalMoveError, match=reason):
        Position.parse("W:Wa1,a4:Bg7:H1,3").play(Move.parse(move))


def test_play_refuses_a_man_from_an_empty_hand() -> None:
    with pytest.raises(IllegalMoveError, match="no man in hand"):
        Position.parse("W:Wa1,a4,d1:Bg7:H0,3").play(Move.parse("a7"))


@settings(max_examples=settings.default.max_examples // 2)
@given(positions(), st.integers(0, 15), st.sampled_from(FLYING_OPTIONS))
def test_moves_follow_the_symmetries(position: Position, symmetry: int, flying: str) -> None:
    rules = Rules(flying=flying)
    permutation = SYMMETRIES[symmetry]

    def mapped(point: int | None) -> int | None:
        return None if point is None else permutation[point]

    turned = Position(
        image(position.white, symmetry),
        image(position.black, symmetry),
        position.white_hand,
        position.black_hand,
        position.white_to_move,
    )
    assert set(turned.legal_moves(rules)) == {
        Move(mapped(m.source), permutation[m.target], mapped(m.capture))
        for m in position.legal_moves(rules)
    }


# Perft


def test_perft_meets_the_published_counts() -> None:
    with (DATA / "morris_perft.csv").open() as file:
        known = {int(row["ply"]): int(row["sequences"]) for row in csv.DictReader(file)}
    for ply in range(1, 5):
        assert perft(Position.START, ply) == known[ply]


def test_perft_counts_the_plain_tree() -> None:
    def plain(position: Position, depth: int) -> int:
        if depth == 0:
            return 1
        return sum(plain(position.play(m), depth - 1) for m in position.legal_moves())

    position = Position.parse("W:Wa1,a4,d7:Bb2,d2,f4:H1,1")
    assert [perft(position, d) for d in range(4)] == [plain(position, d) for d in range(4)]
    with pytest.raises(ValueError):
        perft(position, -1)
