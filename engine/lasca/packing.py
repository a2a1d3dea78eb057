"""A Lasca position of up to 22 men as one integer, the same for its mirror image.

The numbers of `engine.lasca.index` are dense but need a class; a packed position fits any class, so
a set of positions explored from one can be sorted and searched. From the top it holds the squares
occupied (25 bits) and then, for all men in a line by square and from the top down, which are the
last of their column (22 bits), which are White's (22) and which are officers (22); bit i stands for
square i or man i. Invariant: `unpack(pack(p))` is the position p, White to move, or its mirror
image; two positions pack alike only if they are equal up to that and to the colour-swapped half
turn.
"""

from __future__ import annotations

from engine.lasca.board import SQUARE_COUNT
from engine.lasca.column import Board, Column
from engine.lasca.position import Position
from engine.lasca.rules import MEN_PER_SIDE

MEN = 2 * MEN_PER_SIDE
LOW_BITS = 2 * MEN
"""The bits of White's men and of officers; those above are squares and ends of columns."""


def pack(position: Position) -> int:
    """The packed position: of it and its mirror image, White to move, the smaller number."""
    if not position.white_to_move:
        position = position.colours_swapped()
    return min(_packed(position.board), _packed(position.mirrored().board))


def unpack(number: int) -> Position:
    """The position, White to move, that a number made by `pack` stands for."""
    officers, white, lasts = (number >> (MEN * i) & (1 << MEN) - 1 for i in range(3))
    occupied = number >> (3 * MEN)
    board: list[Column | None] = [None] * SQUARE_COUNT
    man = 0
    for square in range(SQUARE_COUNT):
        if not occupied >> square & 1:
            continue
        men = ""
        last = False
        while not last:
            letter = "w" if white >> man & 1 else "b"
            men += letter.upper() if officers >> man & 1 else letter
            last = bool(lasts >> man & 1)
            man += 1
        board[square] = Column(men)
    return Position(tuple(board))


def _packed(board: Board) -> int:
    columns = [(square, column.men) for square, column in enumerate(board) if column]
    line = "".join(men for _, men in columns)
    occupied = sum(1 << square for square, _ in columns)
    lasts = 0
    men_before = 0
    for _, men in columns:
        men_before += len(men)
        lasts |= 1 << (men_before - 1)
    white = sum((man in "wW") << i for i, man in enumerate(line))
    officers = sum(man.isupper() << i for i, man in enumerate(line))
    return ((occupied << MEN | lasts) << MEN | white) << MEN | officers
