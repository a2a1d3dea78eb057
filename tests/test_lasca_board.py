"""The Lasca board: geometry and symmetries."""

from __future__ import annotations

import pytest

from engine.lasca.board import (
    FAR_RANK,
    HALF_TURN,
    JUMPS,
    MIRROR,
    NUMBER,
    SQUARES,
    STEPS,
    fingerprint,
    parse_square,
)


def test_squares_follow_laskers_numbers():
    lines = ["a1 c1 e1 g1", "b2 d2 f2", "a3 c3 e3 g3", "b4 d4 f4", "a5 c5 e5 g5", "b6 d6 f6"]
    assert " ".join(SQUARES) == " ".join(lines) + " a7 c7 e7 g7"
    for number, name in enumerate(SQUARES, start=1):
        assert parse_square(name) == parse_square(str(number)) == number - 1


@pytest.mark.parametrize("text", ["a2", "h1", "0", "26", "", "A1", "a1 ", "²"])
def test_other_names_are_refused(text):
    with pytest.raises(ValueError, match="no square"):
        parse_square(text)


def test_steps_are_mutual_and_diagonal():
    for square, steps in enumerate(STEPS):
        for (right, up), target in steps.items():
            assert STEPS[target][-right, -up] == square
            assert ord(SQUARES[target][0]) - ord(SQUARES[square][0]) == right
            assert int(SQUARES[target][1]) - int(SQUARES[square][1]) == up
    assert sum(map(len, STEPS)) == 2 * 36


def test_a_jump_is_two_steps():
    for square, jumps in enumerate(JUMPS):
        for direction, (over, landing) in jumps.items():
            assert STEPS[square][direction] == over
            assert STEPS[over][direction] == landing
    assert {over for jumps in JUMPS for over, _ in jumps.values()} == {
        s for s in range(25) if len(STEPS[s]) == 4
    }


@pytest.mark.parametrize("symmetry", [MIRROR, HALF_TURN])
def test_symmetries_are_involutions_that_keep_steps(symmetry):
    assert [symmetry[t] for t in symmetry] == list(range(25))
    for square, steps in enumerate(STEPS):
        images = {symmetry[t] for t in steps.values()}
        assert images == set(STEPS[symmetry[square]].values())


def test_symmetries_by_name():
    assert MIRROR[NUMBER["a1"]] == NUMBER["g1"]
    assert MIRROR[NUMBER["d4"]] == NUMBER["d4"]
    assert HALF_TURN[NUMBER["c1"]] == NUMBER["e7"]
    assert {HALF_TURN[s] for s in FAR_RANK["w"]} == FAR_RANK["b"]


def test_fingerprint_is_that_of_this_numbering():
    assert len(fingerprint()) == 64
    assert fingerprint() == fingerprint()
