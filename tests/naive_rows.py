"""Slow, obvious twins of the row solver's kernels, on single bits and masks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.morris.board import (
    ALL_POINTS,
    MILLS_AT,
    NEIGHBOURS,
    SYMMETRIES,
    image,
    men_in_mills,
    points_of,
)
from engine.morris.index import compress, expand


def bits(words: np.ndarray) -> np.ndarray:
    """uint8[64 * words], bit x of a bitmap at place x."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")


def pulled(source: np.ndarray, source_axis: Sequence[int], axes: int) -> np.ndarray:
    """uint8[2**axes]: bit x of the target is the source's bit with axis source_axis[a] = x_a.

    A target axis with source axis -1 is new: only x with a 0 there are reached. A source axis that
    none names is read at 0.
    """
    bit = bits(source)
    out = np.zeros(1 << axes, dtype=np.uint8)
    for x in range(1 << axes):
        y = 0
        for a in range(axes):
            if x >> a & 1:
                if source_axis[a] < 0:
                    break
                y |= 1 << source_axis[a]
        else:
            out[x] = bit[y]
    return out


def column_moves(men: int, column: int, flights: bool) -> list[tuple[int, bool]]:
    """(column after, whether it closes a mill against men) of C's slides and placements.

    flights: the moves to points that are not adjacent instead, without placements.
    """
    empty = ALL_POINTS & ~men & ~column
    found = []
    for j in points_of(empty):
        befores = [] if flights else [column]
        befores += [
            column ^ 1 << i
            for i in points_of(column)
            if i != j and (j in NEIGHBOURS[i]) is not flights
        ]
        for before in befores:
            after = before | 1 << j
            closes = men != 0 and any(after & mill == mill for mill in MILLS_AT[j])
            found.append((after, closes))
    return found


def column_values(men: int, plane: np.ndarray, x: int, closing: bool, flights: bool) -> bool:
    """Whether a move of C from column x, closing a mill or closing none, reaches a set bit."""
    free = ALL_POINTS & ~men
    bit = bits(plane)
    return any(
        bit[compress(after, free)]
        for after, closes in column_moves(men, expand(x, free), flights)
        if closes is closing
    )


def takeable(men: int) -> list[int]:
    """The points of `men` from which a man may be taken."""
    milled = men_in_mills(men)
    return list(points_of(men if milled == men else men & ~milled))


def canonical(row_men: int, column_men: int) -> tuple[int, int]:
    """The least image of the row, and the column's under the same symmetry, as masks."""
    return min((image(row_men, s), image(column_men, s)) for s in range(16))


def symmetric(words: np.ndarray, men: int) -> np.ndarray:
    """The bitmap of a row with all copies of a position set where one is, as in real tables."""
    free = points_of(ALL_POINTS & ~men)
    axes = len(free)
    here = bits(words).reshape((2,) * axes)  # dimension axes - 1 - a is axis a
    out = here.copy()
    for permutation in SYMMETRIES:
        if image(men, SYMMETRIES.index(permutation)) == men:
            source = [axes - 1 - free.index(permutation[p]) for p in reversed(free)]
            out |= here.transpose(source)
    return np.packbits(out.reshape(-1), bitorder="little").view(np.uint64)


def popcounts(axes: int) -> np.ndarray:
    """The number of men of each column of a row."""
    return np.bitwise_count(np.arange(1 << axes))
