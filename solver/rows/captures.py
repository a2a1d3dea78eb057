"""What a side gains by taking a man, for whole rows at once.

*Row side takes*: after its move R stands on row w' with a new mill and takes a man m of column b.
The result is (w', b - m) with C to move, one man fewer for C. `row_captures` turns the values of
these positions, a row of the unit (r, c - 1), into the bitmap over b "some man may be taken so that
...". A man in a mill may be taken only if all C's men on the board are in mills.

*Column side takes*: the man on point i of row w may be taken if it stands in no mill of w, or all
men of w do. The result is a row of level k - 1 of (r - 1, c), brought into w's axes by a removal
link; `column_captures` ORs these rows.

Invariant: bit 0 of a row capture (no man of C on the board: nothing to take) is never set here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.morris.board import ALL_POINTS, POINT_COUNT
from solver.rows.column_moves import AXIS_BLOCKS
from solver.rows.geometry import (
    COMPRESS_BYTE,
    IMAGES,
    MILLS,
    RING_SWAP,
    axis_of,
    bit_count,
    compress,
    expand,
    image,
    men_in_mills,
)
from solver.rows.permute import pull
from solver.rows.words import MARGIN, both, either, left, load, splat, store, without

_LOW = 9


@njit(cache=True, nogil=True)
def list_column_mills(free, mills):
    """Mills of free points as three axes each, into mills (int64[16, 3]); returns how many."""
    count = 0
    for x in range(MILLS.size):
        if MILLS[x] & ~free:
            continue
        part = 0
        for p in range(POINT_COUNT):
            if MILLS[x] >> p & 1:
                mills[count, part] = axis_of(p, free)
                part += 1
        count += 1
    return count


@njit(cache=True, nogil=True)
def _capture_row(
    wins, escapes, s0, out_wins, out_escapes, o0, axes, valid, blocks, mills, count, present
):
    """Fill one row of `out_wins` and `out_escapes`; see `row_captures`.

    The row's words are at s0 in wins and escapes and at o0 in the outputs; mills, count: from
    `list_column_mills`. present: uint64[2 * 24 * 8] scratch: per axis the columns of a block that
    have a man there, and those whose man there stands in a mill.
    """
    empty = splat(np.uint64(0))
    milled = 8 * POINT_COUNT
    for axis in range(min(axes, _LOW)):
        store(present, 8 * axis, load(AXIS_BLOCKS, 8 * axis))
    for z in range(blocks.size):
        block = blocks[z]
        for axis in range(_LOW, axes):
            there = ~np.uint64(0) if block >> (axis - _LOW) & 1 else np.uint64(0)
            store(present, 8 * axis, splat(there))
        for axis in range(axes):
            store(present, milled + 8 * axis, empty)
        for x in range(count):
            a, b, c = 8 * mills[x, 0], 8 * mills[x, 1], 8 * mills[x, 2]
            mill = both(both(load(present, a), load(present, b)), load(present, c))
            store(present, milled + a, either(load(present, milled + a), mill))
            store(present, milled + b, either(load(present, milled + b), mill))
            store(present, milled + c, either(load(present, milled + c), mill))
        unprotected = empty
        for axis in range(axes):
            alone = without(load(present, 8 * axis), load(present, milled + 8 * axis))
            unprotected = either(unprotected, alone)
        win = empty
        escape = empty
        at = s0 + 8 * block
        for axis in range(axes):
            there = load(present, 8 * axis)
            if axis >= _LOW and not block >> (axis - _LOW) & 1:
                continue
            takeable = without(there, both(load(present, milled + 8 * axis), unprotected))
            if axis < 6:
                shift = np.uint64(1 << axis)
                win = either(win, both(left(load(wins, at), shift), takeable))
                escape = either(escape, both(left(load(escapes, at), shift), takeable))
            else:
                source = at - (1 << (axis - 6))
                win = either(win, both(load(wins, source), takeable))
                escape = either(escape, both(load(escapes, source), takeable))
        allowed = load(valid, 8 * block)
        store(out_wins, o0 + 8 * block, both(win, allowed))
        store(out_escapes, o0 + 8 * block, both(escape, allowed))


@njit(cache=True, nogil=True)
def row_captures(
    rows, numbers, first, last, axes, valid, blocks, wins, escapes, sources, out_wins, out_escapes
):
    """Fill rows of `out_wins` and `out_escapes`: R may take a man and reaches a set bit.

    rows, numbers: the level's rows and their places among those with a mill, which are filled.
    axes: n; valid, blocks: C's columns as a bitmap of a row, and the valid blocks. wins, escapes:
    flat planes of the reduced unit, C to move: lost for C, not won by C; sources: int64[rows],
    where a row's words begin in them.
    """
    mills = np.empty((16, 3), np.int64)
    present = np.empty(2 * POINT_COUNT * 8, np.uint64)
    words = 1 << (axes - 6)
    for row in range(first, last):
        if numbers[row] < 0:
            continue
        count = list_column_mills(ALL_POINTS & ~np.int64(rows[row]), mills)
        o0 = MARGIN + np.int64(numbers[row]) * words
        _capture_row(
            wins,
            escapes,
            sources[row],
            out_wins,
            out_escapes,
            o0,
            axes,
            valid,
            blocks,
            mills,
            count,
            present,
        )


@njit(cache=True, nogil=True)
def column_captures(
    men, first, last, left_point, target, plan, words, wins, escapes, outputs, work
):
    """OR into the row outputs what C gains by taking a man of row `men`.

    first, last: the row's removal links; left_point, target, plan: of those links; words: of a row
    of level k - 1. wins, escapes: flat planes of (r - 1, c), level k - 1, R to move: lost for R,
    not won by R, margins included. outputs: (wins, escapes, offset of the row in them); work: of
    `pull`.
    """
    out_wins, out_escapes, o0 = outputs
    protected = men_in_mills(men)
    if protected == men:
        protected = np.int64(0)
    for x in range(first, last):
        if protected >> left_point[x] & 1:
            continue
        s0 = MARGIN + np.int64(target[x]) * words
        pull(wins, s0, plan[x], out_wins, o0, work)
        pull(escapes, s0, plan[x], out_escapes, o0, work)


@njit(cache=True, nogil=True)
def _turn_group(men, low, members, places, most, forms, source, starts, outputs, work):
    """Turn rows that differ in the outer ring only; see `turn_rows`.

    men: the rows' common men on the other 16 points (a mask shifted right by 8); low: int64, each
    row's outer ring; members: their number; places: int64, where their words begin in the outputs.
    outputs: (wins, escapes); work: (lists, listed, gathered), scratch of `turn_rows`.
    """
    rank_of, symmetry_of, all_rows, first_row = forms
    out_wins, out_escapes = outputs
    lists, listed, gathered = work
    # By C's men on the outer ring: the rows that leave those points free.
    for ring in range(256):
        listed[ring] = 0
        for m in range(members):
            if low[m] & ring == 0:
                lists[ring, listed[ring]] = m
                listed[ring] += 1
    free_high = 0xFFFF & ~men
    for x_high in range(1 << bit_count(free_high)):
        size_high = bit_count(x_high)
        if size_high > most:
            continue
        gathered[:members] = 0
        column_high = expand(x_high, free_high) << 8
        for ring in range(256):
            size = size_high + bit_count(ring)
            if listed[ring] == 0 or size > most:
                continue
            column = column_high | ring
            rank = np.int64(rank_of[column])
            g = symmetry_of[column]
            free = ALL_POINTS & ~np.int64(all_rows[first_row[size] + rank])
            common = compress(image(g, men << 8), free)
            # The outer ring goes to itself or to the inner ring, the second byte.
            ring_shift = 0 if g < RING_SWAP else 8
            within = free >> ring_shift & 255
            shift = 0 if g < RING_SWAP else bit_count(free & 255)
            base = starts[size] + (rank << (18 - size))
            for z in range(listed[ring]):
                m = lists[ring, z]
                there = np.int64(IMAGES[g, 0, low[m]]) >> ring_shift
                x = common | np.int64(COMPRESS_BYTE[within, there]) << shift
                at = 2 * (base + (x >> 6))
                bit = np.uint64(x & 63)
                y = COMPRESS_BYTE[255 & ~low[m], ring]
                to = np.uint64(y & 63)
                gathered[m, 0, y >> 6] |= (source[at] >> bit & np.uint64(1)) << to
                gathered[m, 1, y >> 6] |= (source[at + 1] >> bit & np.uint64(1)) << to
        for m in range(members):
            ring_bits = 1 << (8 - bit_count(low[m]))
            at = places[m] + (x_high * ring_bits >> 6)
            if ring_bits >= 64:
                for y in range(ring_bits >> 6):
                    out_wins[at + y] = gathered[m, 0, y]
                    out_escapes[at + y] = gathered[m, 1, y]
            else:
                to = np.uint64(x_high * ring_bits & 63)
                out_wins[at] |= gathered[m, 0, 0] << to
                out_escapes[at] |= gathered[m, 1, 0] << to


@njit(cache=True, nogil=True)
def turn_rows(rows, numbers, first, last, axes, most, forms, source, starts, out_wins, out_escapes):
    """Rows with a mill of the reduced unit of a diagonal one, seen from the greater side.

    The unit (r, r) leads by R's captures to R with r and C with r - 1 men, C to move. It is stored
    with the colours exchanged, as unit (r - 1, r), R to move: C's column is the row there, and
    every bit of a row here comes from another row there. Rows that differ in the outer ring only
    are turned together, since their bits then come from the same few words of each row there.

    rows, numbers: the level's rows and their places among those with a mill. axes: n; most: r - 1.
    forms: (rank, symmetry) of `Canonical`, the rows of all levels, and where each level's begin.
    source: uint64, for each word of all levels of (r - 1, r), R to move, the one of loss and then
    the one of not_win; starts: int64, the first such pair of each level. The outputs are zero
    before; rows first .. last - 1 are filled.
    """
    words = 1 << (axes - 6)
    low = np.empty(256, np.int64)
    places = np.empty(256, np.int64)
    work = (
        np.empty((256, 256), np.int64),
        np.empty(256, np.int64),
        np.empty((256, 2, 4), np.uint64),
    )
    row = first
    while row < last:
        high = np.int64(rows[row]) >> 8
        members = 0
        while row < last and np.int64(rows[row]) >> 8 == high:
            if numbers[row] >= 0:
                low[members] = np.int64(rows[row]) & 255
                places[members] = MARGIN + np.int64(numbers[row]) * words
                members += 1
            row += 1
        if members:
            _turn_group(
                high,
                low,
                members,
                places,
                most,
                forms,
                source,
                starts,
                (out_wins, out_escapes),
                work,
            )
