"""Reading and writing positions of Lasca.

Squares are read as a1..g7 or as Lasker's numbers 1..25 and always written as a1..g7. Invariant:
whatever is written is read back as the same thing.
"""

from __future__ import annotations

import re

from engine.errors import IllegalPositionError
from engine.lasca.board import SQUARE_COUNT, SQUARES, parse_square
from engine.lasca.column import Board, Column

_COLUMN = re.compile(r"([a-z]?\d+)(\D*)")
_START = "W:" + " ".join(
    [f"{square}w" for square in SQUARES[:11]] + [f"{square}b" for square in SQUARES[14:]]
)


def parse_position(text: str) -> tuple[Board, bool]:
    """The board and whether White is to move, from `W:a1w d4WbbB g7b` or `start`.

    Raises IllegalPositionError for what is not of that form, a square given twice and a column that
    is none; what only the whole board shows is left to `Position`.
    """
    text = text.strip()
    if text == "start":
        text = _START
    side, colon, columns = text.partition(":")
    if not colon or side not in ("W", "B"):
        raise IllegalPositionError(f"{text!r}: a position begins with the side to move, W: or B:")
    board: list[Column | None] = [None] * SQUARE_COUNT
    for word in columns.split():
        match = _COLUMN.fullmatch(word)
        if not match:
            raise IllegalPositionError(f"{word!r} is no column on a square: write d4WbbB or 13WbbB")
        name, men = match.groups()
        try:
            square = parse_square(name)
        except ValueError as error:
            raise IllegalPositionError(str(error)) from None
        if board[square] is not None:
            raise IllegalPositionError(f"square {SQUARES[square]} is given twice")
        board[square] = Column(men)
    return tuple(board), side == "W"


def format_position(board: Board, white_to_move: bool) -> str:
    """The position as one line, columns by square from a1 to g7."""
    columns = [f"{SQUARES[s]}{column}" for s, column in enumerate(board) if column is not None]
    return f"{'W' if white_to_move else 'B'}:{' '.join(columns)}"
