"""Places of positions as text, and back."""

from __future__ import annotations

import pytest

from engine.errors import IllegalPositionError
from solver.errors import UsageError
from solver.games import game_of
from solver.places import describe, position_of

MORRIS = game_of("morris")
LASCA = game_of("lasca")


def fields(text: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in text.splitlines())


def test_morris_place_and_back() -> None:
    text = "W:Wa7,d7,g7:Ba1,d1,d5,g4"
    found = fields(describe(MORRIS, MORRIS.parse(text)))
    assert found["subspace:"] == "r03c04k03 R4"
    assert found["file:"] == "morris/board/r03c04k03.wdl"
    index = found["index:"].split()[0]
    row, column = (int(found[name].split()[0]) for name in ("row:", "column:"))
    columns = int(found["column:"].split()[-1])
    assert int(index) == row * columns + column
    assert str(position_of(MORRIS, f"r03c04k03 R4 {index}")) == text


def test_the_file_names_the_rules() -> None:
    position = MORRIS.parse("W:Wa7,d7,g7:Ba1,d1,d5,g4")
    assert "morris/off/r03c04k03.wdl" in describe(game_of("morris", "off"), position)


def test_lasca_place_and_back() -> None:
    text = "W:b2w d4Wb f6B"
    found = fields(describe(LASCA, LASCA.parse(text)))
    index = found["index:"].split()[0]
    assert str(position_of(LASCA, f"{found['subspace:']} {index}")) == text


def test_a_finished_game_has_no_place() -> None:
    with pytest.raises(IllegalPositionError, match="the game is over"):
        describe(MORRIS, MORRIS.parse("W:Wa1:Bb2,d2,f4:H1,0"))


@pytest.mark.parametrize(
    ("game", "place"),
    [
        (MORRIS, ""),
        (MORRIS, "r03c04k03 R4"),
        (MORRIS, "r03c04k03 R4 x"),
        (MORRIS, "r03c04k03 R4 -1"),
        (MORRIS, "r03c04k03 R4 945630"),
        (MORRIS, "r04c03k03 R4 0"),
        (MORRIS, "r03c03k03 R3 0"),
        (MORRIS, "r03c04k03 R5 0"),
        (LASCA, "w1b1-W1B0-c2"),
        (LASCA, "w1b1-W1B0-c2 999999999"),
        (LASCA, "w1b1-W2B0-c2 0"),
    ],
)
def test_no_such_place(game: object, place: str) -> None:
    with pytest.raises(UsageError):
        position_of(game, place)
