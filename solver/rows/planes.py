"""The four planes of a level and their starting values.

For each side to move a *loss* plane (bit set: the mover loses) and a *not_win* plane (bit set: the
mover is not known to win), flat uint64 arrays of rows * words with `MARGIN` spare words at each
end. Columns with more than c men are no positions and are zero in every plane.

Invariant: while a level is solved loss only grows and not_win only shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from solver.rows.words import MARGIN


@dataclass(frozen=True, slots=True)
class Planes:
    """loss and not_win of one side to move: uint64[MARGIN + rows * words + MARGIN]."""

    loss: np.ndarray
    not_win: np.ndarray

    @staticmethod
    def empty(rows: int, words: int) -> Planes:
        """Planes of no position at all."""
        size = rows * words + 2 * MARGIN
        return Planes(np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64))


def columns_of_at_most(men: int, axes: int) -> np.ndarray:
    """uint64[2**axes / 64]: the bitmap of the columns with at most `men` men."""
    high = np.bitwise_count(np.arange(1 << (axes - 6), dtype=np.uint32)).astype(np.int64)
    words = np.zeros(64, dtype=np.uint64)
    for left in range(64):
        words[left] = sum(1 << x for x in range(64) if x.bit_count() <= left)
    left = men - high
    return np.where(left >= 0, words[np.clip(left, 0, 63)], np.uint64(0)).astype(np.uint64)


def columns_of_exactly(men: int, axes: int) -> np.ndarray:
    """uint64[2**axes / 64]: the bitmap of the columns with exactly `men` men."""
    return columns_of_at_most(men, axes) & ~columns_of_at_most(men - 1, axes)


@cache
def valid_blocks(men: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of eight words that can hold columns with at most `men` men.

    Returns int64[blocks], their numbers, ascending, and int64[axes - 8]: how many of them have a
    number below 2**b. Axes 0-8 lie inside a block; the rest, set, are men in every column of it.
    """
    numbers = np.arange(1 << (axes - 9), dtype=np.int64)
    blocks = numbers[np.bitwise_count(numbers) <= men]
    return blocks, np.searchsorted(blocks, 1 << np.arange(axes - 8)).astype(np.int64)
