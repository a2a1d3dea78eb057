"""What distances to conversion start from, besides the constants of the solve.

A *conversion* is a move that can't be undone: a placement or a capture. To the solve C's placements
are moves inside the row, like slides; to a distance they are conversions, with final values. A game
that ends without a move has distance 0: `row_ends` and `column_ends` find these positions.

Invariant: each kernel writes rows first .. last - 1 of its own side's planes and nothing else.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.morris.board import ALL_POINTS, POINT_COUNT
from solver.rows.column_moves import (
    AXIS_BLOCKS,
    MOST_MOVES,
    MOVE_NUMBERS,
    list_placements,
    list_slides,
    quiet,
)
from solver.rows.dense import clear_blocks, copy_blocks
from solver.rows.geometry import ADJACENT, compress
from solver.rows.words import MARGIN, both, load, splat, store, without


@njit(cache=True, nogil=True)
def column_placements(rows, first, last, words, valid, other_loss, other_not_win, not_win, escapes):
    """Fold C's quiet placements into the constants of its rows.

    other_loss, other_not_win: R to move on this level, final.
    """
    gathered = np.empty(words + 2 * MARGIN, np.uint64)
    blocks = valid[0]
    moves = np.empty((MOST_MOVES, MOVE_NUMBERS), np.int64)
    partners = np.empty((MOST_MOVES, 2), np.int64)
    for row in range(first, last):
        men = np.int64(rows[row])
        at = MARGIN + row * words
        count = list_placements(ALL_POINTS & ~men, men != 0, moves, partners, 0)
        clear_blocks(gathered, MARGIN, blocks)
        quiet(other_loss, at, gathered, MARGIN, valid, moves, partners, count)
        for x in range(blocks.size):
            y = 8 * blocks[x]
            store(not_win, at + y, without(load(not_win, at + y), load(gathered, MARGIN + y)))
        copy_blocks(escapes, at, gathered, MARGIN, blocks)
        quiet(other_not_win, at, gathered, MARGIN, valid, moves, partners, count)
        for x in range(blocks.size):
            y = 8 * blocks[x]
            store(escapes, at + y, load(gathered, MARGIN + y))


@njit(cache=True, nogil=True)
def row_ends(rows, first, last, words, columns, valid, loss):
    """Mark in `loss`, empty before, the columns that leave no slide to R, who has no man in hand.

    Those are the supersets of the free points beside R's men. columns, valid: of all C's columns.
    """
    blocks = valid[0]
    for row in range(first, last):
        men = np.int64(rows[row])
        free = ALL_POINTS & ~men
        beside = np.int64(0)
        for p in range(POINT_COUNT):
            if men >> p & 1:
                beside |= ADJACENT[p] & free
        needed = compress(beside, free)
        at = MARGIN + row * words
        inside = splat(~np.uint64(0))
        for axis in range(9):
            if needed >> axis & 1:
                inside = both(inside, load(AXIS_BLOCKS, 8 * axis))
        outside = needed >> 9
        for x in range(blocks.size):
            if blocks[x] & outside == outside:
                y = at + 8 * blocks[x]
                store(loss, y, both(inside, load(columns, 8 * blocks[x])))


@njit(cache=True, nogil=True)
def column_ends(rows, first, last, words, valid, all_placed, loss):
    """Mark in `loss`, empty before, the columns from which C has no slide and no man in hand.

    all_placed: uint64[words], the columns of as many men as C has.
    """
    blocks = valid[0]
    everything = np.full(words + 2 * MARGIN, ~np.uint64(0))
    sliding = np.empty(words + 2 * MARGIN, np.uint64)
    moves = np.empty((MOST_MOVES, MOVE_NUMBERS), np.int64)
    partners = np.empty((MOST_MOVES, 2), np.int64)
    for row in range(first, last):
        # As if no mill could close, since every slide counts.
        count = list_slides(ALL_POINTS & ~np.int64(rows[row]), False, moves, partners)
        clear_blocks(sliding, MARGIN, blocks)
        quiet(everything, MARGIN, sliding, MARGIN, valid, moves, partners, count)
        at = MARGIN + row * words
        for x in range(blocks.size):
            y = 8 * blocks[x]
            ended = without(load(all_placed, y), load(sliding, MARGIN + y))
            store(loss, at + y, ended)
