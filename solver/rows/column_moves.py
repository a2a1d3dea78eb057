"""Moves of the column side: inside one row, on the whole bitmap at once.

A slide from point i to point j sends column x (x_i = 1, x_j = 0) to x - 2**i + 2**j, a placement on
j sends x (x_j = 0) to x + 2**j. For all columns together that is a copy by a fixed distance: whole
words where the axes are 6 and up, a shift inside the words where they are not. A *move* is kept as
eight numbers (see the constants below); masks on the axes say which target words and bits it may
reach, and whether the move closes a mill there: the other two men of a mill through j must be among
the column side's, so only mills of points that the row leaves free count.

Invariant: `quiet` ORs the value of every move that closes no mill, `closing` of every move that
does; together every legal move once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.morris.board import POINT_COUNT
from solver.rows.geometry import ADJACENT, MILL_PARTNERS
from solver.rows.words import AXIS, both, either, left, load, right, store, trailing_zeros, without

# A column move: eight int64.
DISTANCE = 0  # words from target to source
LEFT = 1  # shift of the source word to the left, then
RIGHT = 2  # to the right
BASE = 3  # number of the axis mask: x_i = 1, x_j = 0
SELECT = 4  # block bits that are fixed, and
VALUE = 5  # what they are
MILL = 6  # two numbers of partner pairs, -1: none
MOVE_NUMBERS = 8

MOST_MOVES = POINT_COUNT * (POINT_COUNT - 1)

_LOW = 9  # axes inside a block
_NONE = 9  # stands for an axis that numbers blocks, and for no axis
_PAIRS = _NONE + 1


def _axis_masks() -> np.ndarray:
    """uint64[10, 8]: for each axis of a block the words of its half 1; all ones for `_NONE`."""
    masks = np.full((_PAIRS, 8), ~np.uint64(0), dtype=np.uint64)
    for axis in range(6):
        masks[axis] = AXIS[axis]
    for axis in range(6, _LOW):
        for word in range(8):
            masks[axis, word] = ~np.uint64(0) if word >> (axis - 6) & 1 else np.uint64(0)
    return masks


AXIS_BLOCKS = _axis_masks().reshape(-1)


def _pair_masks() -> tuple[np.ndarray, np.ndarray]:
    """For pairs (a, b) of axes: blocks of x_a = 1 and x_b = 0, and of x_a = x_b = 1."""
    one = _axis_masks()
    zero = ~one
    zero[_NONE] = ~np.uint64(0)
    return (one[:, None] & zero[None, :]).reshape(-1), (one[:, None] & one[None, :]).reshape(-1)


_FROM_TO, _TOGETHER = _pair_masks()


@njit(cache=True, nogil=True)
def _block_bit(axis):
    """The bit of the block number that an axis is, or 0 for an axis inside the block."""
    return np.int64(1) << (axis - _LOW) if axis >= _LOW else np.int64(0)


@njit(cache=True, nogil=True)
def _pair(a, b):
    """Number of a pair of axes in the mask tables."""
    return min(a, _NONE) * _PAIRS + min(b, _NONE)


@njit(cache=True, nogil=True)
def _fill_move(free, axis, i, j, protected, move, partners):
    """Move i -> j (i = -1: placement) in a row that leaves `free` free.

    axis: int64[24], the axis of each free point. protected: whether closing a mill is a capture
    (the row side has men on the board). move: int64[8]; partners: int64[2], the block bits that
    each mill's pair asks for.
    """
    aj = axis[j]
    distance = np.int64(0)
    shift = np.int64(0)
    if aj >= 6:
        distance += np.int64(1) << (aj - 6)
    else:
        shift -= 1 << aj
    base = _pair(_NONE, aj)
    select = _block_bit(aj)
    value = np.int64(0)
    if i >= 0:
        ai = axis[i]
        if ai >= 6:
            distance -= np.int64(1) << (ai - 6)
        else:
            shift += 1 << ai
        base = _pair(ai, aj)
        value = _block_bit(ai)
        select |= value
    move[DISTANCE] = distance
    move[LEFT] = max(shift, 0)
    move[RIGHT] = max(-shift, 0)
    move[BASE] = base
    move[SELECT] = select
    move[VALUE] = value
    move[MILL] = -1
    move[MILL + 1] = -1
    partners[0] = 0
    partners[1] = 0
    if not protected:
        return
    mills = 0
    for x in range(2):
        others = MILL_PARTNERS[j, x]
        if others & ~free or (i >= 0 and others >> i & 1):
            continue
        first = axis[trailing_zeros(np.uint64(others))]
        second = axis[trailing_zeros(np.uint64(others & (others - 1)))]
        move[MILL + mills] = _pair(first, second)
        partners[mills] = _block_bit(first) | _block_bit(second)
        mills += 1


@njit(cache=True, nogil=True)
def _number_axes(free, axis):
    """axis[p] = the axis of each free point p."""
    count = 0
    while free:
        axis[trailing_zeros(np.uint64(free))] = count
        count += 1
        free &= free - 1


@njit(cache=True, nogil=True)
def list_flights(free, moves, partners):
    """All moves of the column side between points that are not adjacent; returns their number."""
    axis = np.empty(POINT_COUNT, np.int64)
    _number_axes(free, axis)
    count = 0
    for i in range(POINT_COUNT):
        if not free >> i & 1:
            continue
        targets = free & ~ADJACENT[i] & ~(np.int64(1) << i)
        while targets:
            j = trailing_zeros(np.uint64(targets))
            targets &= targets - 1
            _fill_move(free, axis, i, j, True, moves[count], partners[count])
            count += 1
    return count


@njit(cache=True, nogil=True)
def list_slides(free, protected, moves, partners):
    """Slides of the column side to adjacent points in a row; returns their number.

    moves: int64[MOST_MOVES, 8]; partners: int64[MOST_MOVES, 2].
    """
    axis = np.empty(POINT_COUNT, np.int64)
    _number_axes(free, axis)
    count = 0
    left_points = free
    while left_points:
        i = trailing_zeros(np.uint64(left_points))
        left_points &= left_points - 1
        targets = free & ADJACENT[i]
        while targets:
            j = trailing_zeros(np.uint64(targets))
            targets &= targets - 1
            _fill_move(free, axis, i, j, protected, moves[count], partners[count])
            count += 1
    return count


@njit(cache=True, nogil=True)
def list_placements(free, protected, moves, partners, count):
    """Placements of the column side in a row, from move `count` on; returns the new number."""
    axis = np.empty(POINT_COUNT, np.int64)
    _number_axes(free, axis)
    points = free
    while points:
        j = trailing_zeros(np.uint64(points))
        points &= points - 1
        _fill_move(free, axis, np.int64(-1), j, protected, moves[count], partners[count])
        count += 1
    return count


@njit(cache=True, nogil=True)
def list_moves(free, protected, moves, partners):
    """Slides to adjacent points and placements of the column side; returns their number."""
    count = list_slides(free, protected, moves, partners)
    return list_placements(free, protected, moves, partners, count)


@njit(cache=True, nogil=True)
def quiet(source, s0, out, o0, valid, moves, partners, count):
    """OR into out[o0:] the source plane's values behind all moves that close no mill.

    source, out: flat uint64 planes, the row's words at s0 and o0; valid: `planes.valid_blocks` of
    the row: target words of other blocks stay untouched.
    """
    blocks, counts = valid
    total = np.int64(1) << (counts.size - 1)
    all_valid = blocks.size == total
    for x in range(count):
        move = moves[x]
        source_at = s0 + move[DISTANCE]
        shift_left = np.uint64(move[LEFT])
        shift_right = np.uint64(move[RIGHT])
        select = move[SELECT]
        value = move[VALUE]
        base = load(_FROM_TO, 8 * move[BASE])
        bits1 = partners[x, 0]
        bits2 = partners[x, 1]
        only1 = base
        only2 = base
        if move[MILL] >= 0:
            only1 = without(base, load(_TOGETHER, 8 * move[MILL]))
        if move[MILL + 1] >= 0:
            only2 = without(base, load(_TOGETHER, 8 * move[MILL + 1]))
        neither = both(only1, only2)
        last = (total - 1) & ~select
        z = np.int64(0)
        at = np.int64(0)
        while True:
            # With every block valid, those with the selected bits one after the other.
            block = z | value if all_valid else blocks[at]
            if all_valid or block & select == value:
                mask = base
                if block & bits1 == bits1:
                    mask = neither if block & bits2 == bits2 else only1
                elif block & bits2 == bits2:
                    mask = only2
                moved = right(left(load(source, source_at + 8 * block), shift_left), shift_right)
                store(out, o0 + 8 * block, either(load(out, o0 + 8 * block), both(moved, mask)))
            if all_valid:
                if z == last:
                    break
                z = ((z | select) + 1) & ~select
            else:
                at += 1
                if at == blocks.size:
                    break


@njit(cache=True, nogil=True)
def closing(source, s0, out, o0, valid, moves, partners, count):
    """OR into out[o0:] the source plane's values behind all moves that close a mill."""
    blocks, counts = valid
    total = np.int64(1) << (counts.size - 1)
    all_valid = blocks.size == total
    for x in range(count):
        move = moves[x]
        source_at = s0 + move[DISTANCE]
        shift_left = np.uint64(move[LEFT])
        shift_right = np.uint64(move[RIGHT])
        for mill in range(2):
            if move[MILL + mill] < 0:
                continue
            select = move[SELECT] | partners[x, mill]
            value = move[VALUE] | partners[x, mill]
            mask = both(load(_FROM_TO, 8 * move[BASE]), load(_TOGETHER, 8 * move[MILL + mill]))
            last = (total - 1) & ~select
            z = np.int64(0)
            at = np.int64(0)
            while True:
                block = z | value if all_valid else blocks[at]
                if all_valid or block & select == value:
                    moved = right(
                        left(load(source, source_at + 8 * block), shift_left), shift_right
                    )
                    store(out, o0 + 8 * block, either(load(out, o0 + 8 * block), both(moved, mask)))
                if all_valid:
                    if z == last:
                        break
                    z = ((z | select) + 1) & ~select
                else:
                    at += 1
                    if at == blocks.size:
                        break
