"""The rules of Lasca as the readable engine plays them."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import pytest
from naive_lasca import random_position

from engine.errors import IllegalMoveError
from engine.lasca import Move, Position

DATA = Path(__file__).parent / "data"
ALL_MEN = "w" * 11 + "b" * 11
GAMES = [
    line.split()
    for line in (DATA / "lasca_games.txt").read_text().splitlines()
    if not line.startswith("#")
]


def moves(text: str) -> list[str]:
    return sorted(map(str, Position.parse(text).legal_moves()))


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("W:a1W b2bb d4b a7b", ["a1xc3xe5"]),
        ("W:c3b e3bb d4W c5w e5b f6b", ["d4xb2", "d4xf2"]),
        ("W:d6b f6b g5w b2bb", ["g5xe7*"]),
        ("W:e1WBbbbb g1B b4BwWwwWw c5bb e5b f6Wwwwb", ["f6xd4xb6"]),
    ],
)
def test_the_only_legal_moves(position, expected):
    assert moves(position) == expected


def test_nine_routes_and_six_wins_at_once():
    position = Position.parse("B:b2WB d2WB f2WB b4WB d4WB f4WB b6WB d6WB f6WB g7BBww")
    successors = position.successors()
    assert len(successors) == 9
    assert max(len(move.path) for move, _ in successors) - 1 == 9
    assert sum(after.is_lost() for _, after in successors) == 6


@pytest.mark.parametrize("game", GAMES, ids=["lasker", "74-plies"])
def test_published_games_replay(game):
    position = Position.START
    for text in game:
        position = position.play(Move.parse(text))
        assert Position.parse(str(position)) == position
    assert position.men("w") == position.men("b") == 11


def test_final_position_of_laskers_game():
    position = Position.START
    for text in GAMES[0]:
        position = position.play(Move.parse(text))
    expected = "B:a1Bw e1w f2WbbbbB a3w e3wwwwww g3w c5b b6b a7b c7b g7b"
    assert position == Position.parse(expected)


def test_second_game_ends_in_four_columns():
    position = Position.START
    for text in GAMES[1]:
        position = position.play(Move.parse(text))
    assert len(GAMES[1]) == 74
    assert sum(column is not None for column in position.board) == 4


def test_perft_from_the_start():
    with (DATA / "lasca_perft.csv").open() as file:
        expected = [tuple(map(int, row.values())) for row in csv.DictReader(file)]
    for merged, column in ((False, 1), (True, 2)):
        frontier = Counter([Position.START])
        for row in expected[:8]:
            after: Counter[Position] = Counter()
            for position, ways in frontier.items():
                results = [q for _, q in position.successors()]
                for result in set(results) if merged else results:
                    after[result] += ways
            frontier = after
            assert frontier.total() == row[column]


def test_a_soldier_steps_forward_and_an_officer_both_ways():
    assert moves("W:d4w") == ["d4-c5", "d4-e5"]
    assert moves("B:d4b") == ["d4-c3", "d4-e3"]
    assert moves("W:d4W") == ["d4-c3", "d4-c5", "d4-e3", "d4-e5"]


def test_a_soldier_does_not_capture_backwards():
    assert moves("W:d4w c3b a7b") == ["d4-c5", "d4-e5"]
    assert moves("W:d4W c3b a7b") == ["d4xb2"]


def test_capturing_is_compulsory():
    assert moves("W:a1w c3w d4b") == ["c3xe5"]


def test_the_men_below_a_captured_commander_stay_with_their_owner():
    after = Position.parse("W:c3w d4bw").play(Move.parse("c3xe5"))
    assert after == Position.parse("B:d4w e5wb")


def test_a_square_of_departure_may_be_passed_again():
    # Round the four inner squares; the third jump lands where the run began, the last goes on.
    after = Position.parse("W:c3W d4b d6b b6b b4b b2b a7b")
    assert "c3xe5xc7xa5xc3xa1" in map(str, after.legal_moves())


def test_promotion_ends_a_run_but_an_officer_goes_on():
    assert moves("W:g5w f6b d6b") == ["g5xe7*"]
    assert moves("W:g5W f6b d6b") == ["g5xe7xc5"]


def test_captured_officers_keep_their_rank():
    after = Position.parse("W:c3w d4Bb").play(Move.parse("c3xe5"))
    assert after == Position.parse("B:d4b e5wB")


@pytest.mark.parametrize("position", ["W:d4b", "W:", "W:a1w b2bw c3b", "W:a5w b6b c7b"])
def test_no_column_or_no_move_is_lost(position):
    assert Position.parse(position).is_lost()


@pytest.mark.parametrize("text", ["c3-d4*", "c3xd4", "c3-e5", "a1-b2", "c3-b4-a5"])
def test_illegal_moves_are_refused(text):
    with pytest.raises(IllegalMoveError):
        Position.START.play(Move.parse(text))


def random_positions(count: int) -> list[Position]:
    rng = random.Random(11)
    found = []
    for _ in range(count):
        men = "".join(man.upper() if rng.random() < 0.4 else man for man in ALL_MEN)
        found.append(random_position(rng, men, rng.randint(4, 9)))
    return found


def test_mirror_and_colour_swap_commute_with_moves():
    for position in random_positions(60):
        after = {q for _, q in position.successors()}
        mirrored = position.mirrored()
        assert {q.mirrored() for _, q in mirrored.successors()} == after
        swapped = position.colours_swapped()
        assert swapped.mover == "b"
        assert {q.colours_swapped() for _, q in swapped.successors()} == after


def test_moves_keep_men_and_never_add_columns_or_lose_officers():
    def officers(position: Position) -> int:
        return sum(man.isupper() for column in position.board if column for man in column.men)

    for position in random_positions(200):
        for move, after in position.successors():
            assert after.men("w") == after.men("b") == 11
            assert sum(map(bool, after.board)) <= sum(map(bool, position.board))
            assert officers(after) == officers(position) + move.promotes
