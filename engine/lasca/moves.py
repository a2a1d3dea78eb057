"""The moves of Lasca, written to be read: the definition of the rules.

A soldier steps and captures forward only, an officer in all four directions. Captures are
compulsory with a free choice; a run of jumps goes on while it can. Invariant: a move takes at most
one man from a square, men are conserved, and no column leaves the form that `Column` states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import IllegalMoveError
from engine.lasca.board import (
    DOWN,
    FAR_RANK,
    JUMPS,
    SQUARE_COUNT,
    SQUARES,
    STEPS,
    UP,
    parse_square,
)
from engine.lasca.column import Board, Column

_WRITTEN = re.compile(r"[a-z]?\d+(?:-[a-z]?\d+|(?:x[a-z]?\d+)+)\*?")


@dataclass(frozen=True, slots=True)
class Move:
    """One move: the squares it touches from departure to arrival, every landing square of a run."""

    path: tuple[int, ...]
    captures: bool
    promotes: bool = False

    @classmethod
    def parse(cls, text: str) -> Move:
        """Reads `c3-d4`, `b2xd4`, `d2xb4xd6` and `f6-e7*`, squares also by Lasker's numbers.

        Raises IllegalMoveError for anything else; whether it is legal depends on the position.
        """
        if not _WRITTEN.fullmatch(text):
            raise IllegalMoveError(f"{text!r} is no move: write c3-d4, b2xd4, b2xd4xf6, f6-e7*")
        try:
            path = tuple(parse_square(name) for name in re.split("[-x]", text.rstrip("*")))
        except ValueError as error:
            raise IllegalMoveError(f"move {text!r}: {error}") from None
        return cls(path, captures="x" in text, promotes=text.endswith("*"))

    def __str__(self) -> str:
        joined = ("x" if self.captures else "-").join(SQUARES[square] for square in self.path)
        return joined + "*" * self.promotes


def generate(board: Board, colour: str) -> list[tuple[Move, Board]]:
    """All legal moves of a colour ("w" or "b") with the board each one leads to.

    `board` holds a column or None for each of the 25 squares.
    """
    own = [s for s in range(SQUARE_COUNT) if (c := board[s]) is not None and c.owner == colour]
    captures: list[tuple[Move, Board]] = []
    for square in own:
        lifted = _with(board, square, None)
        captures.extend(_runs(lifted, board[square], (square,), frozenset()))
    if captures:
        return captures
    return [step for square in own for step in _steps(board, square)]


def _with(board: Board, square: int, column: Column | None) -> Board:
    return board[:square] + (column,) + board[square + 1 :]


def _directions(column: Column) -> tuple[tuple[int, int], ...]:
    if column.has_officer:
        return UP + DOWN
    return UP if column.owner == "w" else DOWN


def _becomes_officer(column: Column, square: int) -> bool:
    return not column.has_officer and square in FAR_RANK[column.owner]


def _steps(board: Board, square: int) -> Iterator[tuple[Move, Board]]:
    column = board[square]
    for direction in _directions(column):
        target = STEPS[square].get(direction)
        if target is None or board[target] is not None:
            continue
        promotes = _becomes_officer(column, target)
        arriving = column.promoted() if promotes else column
        left = _with(board, square, None)
        yield Move((square, target), False, promotes), _with(left, target, arriving)


def _runs(
    board: Board, column: Column, path: tuple[int, ...], jumped: frozenset[int]
) -> Iterator[tuple[Move, Board]]:
    """The capturing runs of a column in the air at the end of `path`, each to its very end.

    `board` is without that column, so its square of departure is as empty as any other.
    """
    ended = True
    for direction in _directions(column):
        over, landing = JUMPS[path[-1]].get(direction, (None, None))
        if over is None or over in jumped or board[landing] is not None:
            continue
        target = board[over]
        if target is None or target.owner == column.owner:
            continue
        ended = False
        left = _with(board, over, target.without_commander())
        heavier = column.with_captive(target.commander)
        further = path + (landing,)
        if _becomes_officer(heavier, landing):
            yield Move(further, True, True), _with(left, landing, heavier.promoted())
        else:
            yield from _runs(left, heavier, further, jumped | {over})
    if ended and jumped:
        yield Move(path, True), _with(board, path[-1], column)
