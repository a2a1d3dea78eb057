"""Half-rounds over single changed bits, for the tail where most rows have only a few.

Each changed position is pushed to its predecessors one by one: a loss of O makes them wins of M; a
win of O makes those losses that have no escape left. That costs up to a microsecond a change,
which is less than evaluating a row once its changes are few.

A change is kept as one int64 (see `_entry`); changes wait in a *queue* per shard, a range of rows.
C's moves stay in their row, so a shard works on its own. R's moves leave it: they are first found,
reading only, then applied by the shard that owns the row.

Pulling keeps the copies of a position in a row with a symmetry of its own equal by itself; pushing
must set every one of them, or values are lost without a trace.

Invariant: after a half-round every predecessor of every change has the value that the equations in
`dense` give it, and the changes that this made are in the new queue.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.morris.board import ALL_POINTS, POINT_COUNT
from solver.rows.geometry import (
    ADJACENT,
    EVERYWHERE,
    axis_of,
    bit_count,
    closes_mill,
    compress,
    expand,
    image,
)
from solver.rows.words import MARGIN, any_bit, load, trailing_zeros

LOSS = 0  # the mover loses: a new bit of loss
WIN = 1  # the mover wins: a bit less of not_win


@njit(cache=True, nogil=True)
def _entry(row, x, kind):
    """A change: row number, column, LOSS or WIN."""
    return row << 25 | x << 1 | kind


@njit(cache=True, nogil=True)
def _bit(plane, row, words, x):
    """Whether bit x of a row is set."""
    word = plane[MARGIN + row * words + (x >> 6)]
    return word >> np.uint64(x & 63) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def append_changes(fresh, f0, blocks, row, kind, queue, count):
    """Append a row's changed bits, those of fresh[f0:], to a queue.

    blocks: valid blocks. Returns the new count, past queue.size if the queue does not hold them
    all.
    """
    for z in range(blocks.size):
        base = f0 + 8 * blocks[z]
        if any_bit(load(fresh, base)) == 0:
            continue
        for y in range(8):
            word = fresh[base + y]
            while word != 0:
                if count < queue.size:
                    x = 64 * (8 * blocks[z] + y) + trailing_zeros(word)
                    queue[count] = _entry(row, x, kind)
                count += 1
                word &= word - np.uint64(1)
    return count


@njit(cache=True, nogil=True)
def _settle(row, x, kind, words, loss, not_win, queue, count):
    """Give one position its value, if it has it not yet, and append the change."""
    at = MARGIN + row * words + (x >> 6)
    bit = np.uint64(1) << np.uint64(x & 63)
    if kind == WIN:
        if not_win[at] & bit == 0:
            return count
        not_win[at] &= ~bit
    else:
        if loss[at] & bit != 0:
            return count
        loss[at] |= bit
    if count < queue.size:
        queue[count] = _entry(row, x, kind)
    return count + 1


# C's moves


@njit(cache=True, nogil=True)
def _column_escapes(men, row, x, words, most, flights, other_not_win, escapes):
    """Whether C to move has a move to a position that R is not known to win."""
    if _bit(escapes, row, words, x):
        return True
    free = ALL_POINTS & ~men
    column = expand(x, free)
    size = bit_count(column)
    reach = EVERYWHERE if flights[size] else ADJACENT
    for j in range(POINT_COUNT):
        if not free & ~column & (np.int64(1) << j):
            continue
        to = np.int64(1) << axis_of(j, free)
        if (
            size < most
            and (men == 0 or not closes_mill(column, j))
            and _bit(other_not_win, row, words, x | to)
        ):
            return True
        sources = reach[j] & column
        while sources:
            low = sources & -sources
            sources ^= low
            if men != 0 and closes_mill(column ^ low, j):
                continue
            if _bit(other_not_win, row, words, x ^ compress(low, free) | to):
                return True
    return False


@njit(cache=True, nogil=True)
def _settle_column(
    men, row, x, kind, words, most, flights, other_not_win, loss, not_win, escapes, queue, count
):
    """The effect on C's predecessor x of a change of R's position: kind is what R's became."""
    if kind == LOSS:
        return _settle(row, x, WIN, words, loss, not_win, queue, count)
    if _bit(loss, row, words, x) or not _bit(not_win, row, words, x):
        return count
    if _column_escapes(men, row, x, words, most, flights, other_not_win, escapes):
        return count
    return _settle(row, x, LOSS, words, loss, not_win, queue, count)


@njit(cache=True, nogil=True)
def column_changes(
    rows, changes, changed, words, most, flights, other_not_win, loss, not_win, escapes, queue
):
    """C's half-round in one shard; returns the number of new changes.

    changes: int64[>= changed], of R's positions, best sorted; queue: int64, for those of C's. most:
    C may place while it has fewer men on the board: its total, or 0 where its placements are among
    the constants. flights: bool[c + 1], whether C flies with so many men on the board. A result
    past queue.size says that it overflowed.
    """
    count = np.int64(0)
    for e in range(changed):
        kind = changes[e] & 1
        x = changes[e] >> 1 & 0xFFFFFF
        row = changes[e] >> 25
        men = np.int64(rows[row])
        free = ALL_POINTS & ~men
        column = expand(x, free)
        size = bit_count(column)
        reach = EVERYWHERE if flights[size] else ADJACENT
        arrived = column
        while arrived:
            bit = arrived & -arrived
            arrived ^= bit
            j = trailing_zeros(np.uint64(bit))
            if men != 0 and closes_mill(column, j):
                continue
            rest = x ^ compress(bit, free)
            if size <= most:
                count = _settle_column(
                    men,
                    row,
                    rest,
                    kind,
                    words,
                    most,
                    flights,
                    other_not_win,
                    loss,
                    not_win,
                    escapes,
                    queue,
                    count,
                )
            sources = reach[j] & free & ~column
            while sources:
                low = sources & -sources
                sources ^= low
                count = _settle_column(
                    men,
                    row,
                    rest | compress(low, free),
                    kind,
                    words,
                    most,
                    flights,
                    other_not_win,
                    loss,
                    not_win,
                    escapes,
                    queue,
                    count,
                )
    return count


# R's moves


@njit(cache=True, nogil=True)
def _row_escapes(rows, row, column, x, words, links, other_not_win, escapes):
    """Whether R to move has a move to a position that C is not known to win."""
    if _bit(escapes, row, words, x):
        return True
    start, target, symmetry, _, new_point, closes = links
    for link in range(start[row], start[row + 1]):
        if column >> new_point[link] & 1 or (closes[link] and column != 0):
            continue
        to = np.int64(target[link])
        there = ALL_POINTS & ~np.int64(rows[to])
        if _bit(other_not_win, to, words, compress(image(symmetry[link], column), there)):
            return True
    return False


@njit(cache=True, nogil=True)
def find_row_changes(
    rows, changes, changed, words, links, other_not_win, loss, not_win, escapes, found
):
    """R's half-round, first part: what changes, reading only; returns how many were found.

    changes: int64[>= changed], of C's positions, sorted. links: (start, target, symmetry,
    left_point, new_point, closes) of R's slides. found: int64, gets the changes of R's positions,
    with repetitions, one of the copies each. A result past found.size says that it overflowed.
    """
    start, target, symmetry, left_point, new_point, _ = links
    count = np.int64(0)
    first = 0
    while first < changed:
        row = changes[first] >> 25
        last = first
        while last < changed and changes[last] >> 25 == row:
            last += 1
        men = np.int64(rows[row])
        free = ALL_POINTS & ~men
        # Sliding back is a slide, so the predecessors' rows are those of this row's links. One link
        # at a time for all changes of the row: the target row then stays in the cache.
        for link in range(start[row], start[row + 1]):
            to = np.int64(target[link])
            there = ALL_POINTS & ~np.int64(rows[to])
            taken = np.int64(1) << new_point[link]
            closes = closes_mill(men, left_point[link])
            for e in range(first, last):
                x = changes[e] >> 1 & 0xFFFFFF
                column = expand(x, free)
                if column & taken or (closes and column != 0):
                    continue
                moved = image(symmetry[link], column)
                at = compress(moved, there)
                if not _bit(not_win, to, words, at):
                    continue
                kind = WIN if changes[e] & 1 == LOSS else LOSS
                if kind == LOSS and (
                    _bit(loss, to, words, at)
                    or _row_escapes(rows, to, moved, at, words, links, other_not_win, escapes)
                ):
                    continue
                if count < found.size:
                    found[count] = _entry(to, at, kind)
                count += 1
        first = last
    return count


@njit(cache=True, nogil=True)
def apply_row_changes(
    rows, stabilisers, found, count, first, last, words, loss, not_win, queue, queued
):
    """R's half-round, second part: set the changes of rows first .. last - 1, all copies of each.

    stabilisers: uint8[rows]. queue, queued: the shard's new changes and how many there are; returns
    the new number, past queue.size if it overflowed.
    """
    for e in range(count):
        row = found[e] >> 25
        if row < first or row >= last:
            continue
        kind = found[e] & 1
        x = found[e] >> 1 & 0xFFFFFF
        queued = _settle(row, x, kind, words, loss, not_win, queue, queued)
        if stabilisers[row] > 1:
            men = np.int64(rows[row])
            free = ALL_POINTS & ~men
            column = expand(x, free)
            for s in range(1, 16):
                if image(s, men) == men:
                    copy = compress(image(s, column), free)
                    queued = _settle(row, copy, kind, words, loss, not_win, queue, queued)
    return queued
