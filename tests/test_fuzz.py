"""Any text as a position, a move or a place: an answer or the documented error, never a traceback.

The texts are either anything, or right ones with a few characters changed, which get farther.
"""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import IllegalMoveError, IllegalPositionError
from engine.lasca import Move as LascaMove
from engine.lasca import Position as LascaPosition
from engine.morris import Move, Position
from solver import cli
from solver.errors import UsageError
from solver.games import GAMES, game_of
from solver.places import describe, position_of

POSITIONS = {
    "morris": ("W:Wa1,d7:Bb4:H8,9", "B:Wa1,a4,a7:Bd1,d2,d3", "W:W:B:H10,10", "start"),
    "lasca": ("W:a1w d4WbbB g7b", "B:1w 13Wbb 25B", "start"),
}
MOVES = ("d6", "a1-a4", "a1-a4xd7", "c3-d4", "b2xd4xb6", "f6-e7*", "9-13")
PLACES = {"morris": "r05c06k05 R3 786952", "lasca": "w2b1-W1B0-c3 4711"}
LETTERS = "WBHwb:,-x* 0123456789abcdefgr\0\n\u0661\uff11é"


@st.composite
def changed(draw: st.DrawFn, texts: tuple[str, ...]) -> str:
    """One of the texts with a few characters put in, taken out or replaced."""
    letters = list(draw(st.sampled_from(texts)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(letters)))
        letters[at : at + draw(st.integers(0, 2))] = draw(st.text(LETTERS, max_size=2))
    return "".join(letters)


def texts(*right: str) -> st.SearchStrategy[str]:
    return st.text(max_size=60) | changed(right)


@given(texts(*POSITIONS["morris"], *POSITIONS["lasca"]), st.sampled_from((Position, LascaPosition)))
def test_positions(text: str, kind: type) -> None:
    try:
        position = kind.parse(text)
    except IllegalPositionError as error:
        assert str(error)
    else:
        assert kind.parse(str(position)) == position


@given(texts(*MOVES), st.sampled_from((Move, LascaMove)))
def test_moves(text: str, kind: type) -> None:
    try:
        move = kind.parse(text)
    except IllegalMoveError as error:
        assert str(error)
    else:
        assert kind.parse(str(move)) == move


@given(texts(*MOVES), st.sampled_from(POSITIONS["morris"]))
def test_moves_played(text: str, position: str) -> None:
    """A move that can be read is played, or refused with a reason."""
    with contextlib.suppress(IllegalMoveError):
        after = Position.parse(position).play(Move.parse(text))
        assert Position.parse(str(after)) == after


@pytest.mark.parametrize("game", GAMES)
@given(text=st.one_of(texts(*PLACES.values())))
def test_places(game: str, text: str) -> None:
    known = game_of(game)
    try:
        position = position_of(known, text)
    except UsageError as error:
        assert str(error)
    else:
        words = dict(line.split(": ", 1) for line in describe(known, position).splitlines())
        place = f"{words['subspace'].strip()} {words['index'].split()[0]}"
        assert describe(known, position_of(known, place)) == describe(known, position)


WORDS = ("probe", "index", "line", "morris", "lasca", "--json", "--unrank", "--plies", "--flying")


@given(
    st.lists(st.sampled_from(WORDS) | texts(*POSITIONS["morris"], *POSITIONS["lasca"]), max_size=6),
)
def test_command_lines(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    root = tmp_path_factory.getbasetemp() / "no tables"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main([*words[:1], "--tables", str(root), *words[1:]])
    error = err.buffer.getvalue().decode()
    assert code in (0, 2, 3)
    assert error.count("\n") == (code != 0)
    assert error.startswith("lasker: ") == (code != 0)
