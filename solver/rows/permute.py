"""Axis permutations of row bitmaps: how one row is read in the axes of another.

A row on n axes is a bitmap of 2**n bits. A *pull* ORs a source row into a target row: every target
axis takes its value from one source axis. At most one target axis is *new* (the source does not
have it; the pull reaches only the half where it is 0), and at most one source axis is *dropped*
(only its half 0 is read). This is all that moving, placing or removing one man of the row side
needs, canonical form included.

A pull is described by a *plan*, a few bytes made once for each pair of rows and used in every round
for every plane. Its steps, on words of 64 bits (axes 0-5 lie inside a word):

1. gather: copy source words into a scratch row in the target's order of word axes;
2. exchange: swap a word axis with an axis inside the word, where the target wants a high source
   axis low and a low source axis high (a butterfly over pairs of words);
3. permute the axes inside the words by transpositions (delta swaps), and OR into the target.

Invariant: a plan reads no word outside its source row and writes none outside its target row, and
bits of the target whose new axis is 1 are left alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solver.rows.words import (
    AXIS,
    both,
    differ,
    either,
    flip0,
    flip1,
    flip2,
    gather,
    left,
    load,
    right,
    splat,
    store,
    without,
)

LOW_AXES = 6
MAX_WORD_AXES = 18

# Layout of a plan, one int8 each.
WORD_AXES = 0  # number of scratch word axes
NEW_AXIS = 1  # the new word axis as the scratch lacks it, or -1
DROPPED_LOW = 2  # dropped source axis inside the word, or -1
MERGED = 3  # source word axis gathered into the dropped axis' place, or -1
EXCHANGES = 4  # number of exchanges
SWAPS = 5  # number of transpositions inside words
EXPANDED = 6  # scratch word axis split off from a low axis (its partner is the new low axis), or -1
EXPANDED_LOW = 7
ZEROED = 8  # new word axis that the scratch keeps, with an empty half 1, or -1
GATHER = 9  # [MAX_WORD_AXES] source word axis of each scratch word axis, or -1: reads none
EXCHANGE_PAIRS = GATHER + MAX_WORD_AXES  # [6][2] (scratch word axis, low axis)
SWAP_PAIRS = EXCHANGE_PAIRS + 12  # [5][2] (low axis, low axis), ascending
PLAN_BYTES = SWAP_PAIRS + 10

# A new word axis below this stays in the scratch (as a zero half): runs of fewer words cost more.
_MIN_NEW_AXIS = 3

# Where the parts of the gather's offsets begin; see `_fill_offsets`.
_LOW_BLOCKS = 8
_HIGH_BLOCKS = 40
OFFSETS = _HIGH_BLOCKS + (1 << (MAX_WORD_AXES - 8))

# For each word axis inside a block, all ones in the words at its side 1.
_ODD_WORDS = np.array(
    [(~0 if e >> axis & 1 else 0) & (2**64 - 1) for axis in range(3) for e in range(8)],
    dtype=np.uint64,
)


@njit(cache=True, nogil=True)
def make_plan(source_axis, axes, dropped, plan):
    """Fill `plan` (int8[PLAN_BYTES]) for target axis a <- source axis source_axis[a] (-1: new).

    source_axis: int64[>= axes]; axes: number of axes of the target; dropped:
    the source axis of which only the half 0 is read, or -1.
    """
    for x in range(PLAN_BYTES):
        plan[x] = -1
    content = np.empty(LOW_AXES, np.int64)  # source axis now held by each low axis
    for q in range(LOW_AXES):
        content[q] = q

    new_axis = -1
    for a in range(axes):
        if source_axis[a] < 0:
            new_axis = a
    removed = new_axis - LOW_AXES
    if removed < _MIN_NEW_AXIS:
        plan[ZEROED] = max(removed, -1)
        removed = -1
    plan[NEW_AXIS] = removed

    # High source axes wanted by low target axes, ascending.
    wanted = np.empty(LOW_AXES, np.int64)
    wanted_count = 0
    for a in range(LOW_AXES):
        if source_axis[a] >= LOW_AXES:
            wanted[wanted_count] = source_axis[a] - LOW_AXES
            wanted_count += 1
    next_wanted = 0

    if 0 <= dropped < LOW_AXES:
        plan[DROPPED_LOW] = dropped
        content[dropped] = -1
        # More high source axes are wanted low than the other way round: one takes the free place.
        if new_axis < 0 or new_axis >= LOW_AXES:
            plan[MERGED] = wanted[0]
            content[dropped] = wanted[0] + LOW_AXES
            next_wanted = 1

    exchanges = 0
    word_axes = 0
    for a in range(LOW_AXES, axes):
        if a - LOW_AXES == removed:
            continue
        s = source_axis[a]
        if s >= LOW_AXES:
            plan[GATHER + word_axes] = s - LOW_AXES
        elif s >= 0 and next_wanted < wanted_count:
            plan[GATHER + word_axes] = wanted[next_wanted]
            plan[EXCHANGE_PAIRS + 2 * exchanges] = word_axes
            plan[EXCHANGE_PAIRS + 2 * exchanges + 1] = s
            content[s] = wanted[next_wanted] + LOW_AXES
            next_wanted += 1
            exchanges += 1
        elif s >= 0:
            plan[EXPANDED] = word_axes
            plan[EXPANDED_LOW] = s
            content[s] = -1
        word_axes += 1
    plan[WORD_AXES] = word_axes
    plan[EXCHANGES] = exchanges

    # Selection sort of the low axes by transpositions; an axis that is new wants content -1.
    swaps = 0
    for a in range(LOW_AXES):
        if content[a] == source_axis[a]:
            continue
        for b in range(a + 1, LOW_AXES):
            if content[b] == source_axis[a]:
                plan[SWAP_PAIRS + 2 * swaps] = a
                plan[SWAP_PAIRS + 2 * swaps + 1] = b
                content[b] = content[a]
                content[a] = source_axis[a]
                swaps += 1
                break
    plan[SWAPS] = swaps


@njit(cache=True, nogil=True)
def _fill_offsets(plan, offsets):
    """Source word offsets by scratch index.

    offsets[0:8] by the axes inside a block, [8:40] by the five block axes after those, [40:] by the
    rest; an offset is the sum of the three.
    """
    offsets[0] = 0
    offsets[_LOW_BLOCKS] = 0
    offsets[_HIGH_BLOCKS] = 0
    for a in range(plan[WORD_AXES]):
        step = plan[GATHER + a]
        jump = np.int64(1) << step if step >= 0 else np.int64(0)
        if a < 3:
            start, half = 0, 1 << a
        elif a < 8:
            start, half = _LOW_BLOCKS, 1 << (a - 3)
        else:
            start, half = _HIGH_BLOCKS, 1 << (a - 8)
        for y in range(start, start + half):
            offsets[y + half] = offsets[y] + jump


@njit(cache=True, nogil=True)
def _swap_constants(plan, swap):
    """Shift and mask of transposition `swap`: bits with (low, high) = (1, 0) trade with (0, 1)."""
    a = plan[SWAP_PAIRS + 2 * swap]
    b = plan[SWAP_PAIRS + 2 * swap + 1]
    return np.uint64((1 << b) - (1 << a)), splat(AXIS[a] & ~AXIS[b])


@njit(cache=True, nogil=True)
def _swapped(v, shift, mask):
    """One transposition of two axes inside every word of a block."""
    t = both(differ(right(v, shift), v), mask)
    return differ(differ(v, t), left(t, shift))


@njit(cache=True, nogil=True)
def _exchanged(v, other, odd, high_half, shift):
    """A block after exchanging axis `low` (mask high_half, shift 2**low) with a word axis.

    other: the block at the other side of the word axis; odd: all ones in the words at its side 1.
    """
    even_word = either(without(v, high_half), left(without(other, high_half), shift))
    odd_word = either(both(v, high_half), right(both(other, high_half), shift))
    return either(without(even_word, odd), both(odd_word, odd))


@njit(cache=True, nogil=True)
def _gather(source, s0, plan, work):
    """Step 1: the scratch, block by block."""
    scratch, offsets, blocks, counts = work
    _fill_offsets(plan, offsets)
    dropped = plan[DROPPED_LOW]
    merged = plan[MERGED]
    keep = splat(~AXIS[dropped] if dropped >= 0 else ~np.uint64(0))
    shift = np.uint64(1 << dropped) if dropped >= 0 else np.uint64(0)
    if plan[ZEROED] >= 0:
        keep = without(keep, load(_ODD_WORDS, 8 * plan[ZEROED]))
    for x in range(counts[plan[WORD_AXES] - 3]):
        block = blocks[x]
        at = s0 + offsets[_LOW_BLOCKS + (block & 31)] + offsets[_HIGH_BLOCKS + (block >> 5)]
        v = both(gather(source, at, offsets, 0), keep)
        if merged >= 0:
            other = gather(source, at + (1 << merged), offsets, 0)
            v = either(v, left(both(other, keep), shift))
        store(scratch, 8 * block, v)


@njit(cache=True, nogil=True)
def _exchange(plan, axis, low, work):
    """Step 2: swap scratch word axis `axis` with axis `low` inside the words."""
    scratch, _, blocks, counts = work
    high_half = splat(AXIS[low])
    shift = np.uint64(1 << low)
    count = counts[plan[WORD_AXES] - 3]
    if axis >= 3:
        stride = np.int64(8) << (axis - 3)
        # A pair with an invalid upper block has nothing to exchange.
        for x in range(count):
            y = 8 * blocks[x]
            if not y & stride:
                continue
            b = load(scratch, y)
            y -= stride
            a = load(scratch, y)
            store(scratch, y, either(without(a, high_half), left(without(b, high_half), shift)))
            y += stride
            store(scratch, y, either(right(both(a, high_half), shift), both(b, high_half)))
        return
    odd = load(_ODD_WORDS, 8 * axis)
    for x in range(count):
        y = 8 * blocks[x]
        v = load(scratch, y)
        if axis == 0:
            other = flip0(v)
        elif axis == 1:
            other = flip1(v)
        else:
            other = flip2(v)
        store(scratch, y, _exchanged(v, other, odd, high_half, shift))


@njit(cache=True, nogil=True)
def _expand(plan, work):
    """Step 2 where the new axis lies inside the words: their half 1 moves to a word axis."""
    scratch, _, blocks, counts = work
    axis = plan[EXPANDED]
    low = plan[EXPANDED_LOW]
    high_half = splat(AXIS[low])
    shift = np.uint64(1 << low)
    for x in range(counts[plan[WORD_AXES] - 3]):
        y = 8 * blocks[x]
        v = load(scratch, y)
        lower = without(v, high_half)
        upper = right(both(v, high_half), shift)
        if axis >= 3:
            store(scratch, y, upper if y >> axis & 1 else lower)
        else:
            odd = load(_ODD_WORDS, 8 * axis)
            store(scratch, y, either(without(lower, odd), both(upper, odd)))


@njit(cache=True, nogil=True)
def pull(source, s0, plan, out, o0, work):
    """OR the source row at source[s0:] into the target row at out[o0:], as `plan` says.

    source, out: flat uint64 planes; plan: int8[PLAN_BYTES]. work: (scratch, offsets, blocks,
    counts): uint64[>= words of the target row] and int64[OFFSETS], overwritten, and the
    `planes.valid_blocks` of C's men: words of others are zero, and stay untouched.
    """
    _gather(source, s0, plan, work)
    for x in range(plan[EXCHANGES]):
        _exchange(plan, plan[EXCHANGE_PAIRS + 2 * x], plan[EXCHANGE_PAIRS + 2 * x + 1], work)
    if plan[EXPANDED] >= 0:
        _expand(plan, work)
    scratch, _, blocks, counts = work
    swaps = plan[SWAPS]
    s1, m1 = _swap_constants(plan, 0)
    s2, m2 = _swap_constants(plan, 1)
    s3, m3 = _swap_constants(plan, 2)
    s4, m4 = _swap_constants(plan, 3)
    s5, m5 = _swap_constants(plan, 4)
    new_axis = plan[NEW_AXIS]
    upper = -1 << new_axis if new_axis >= 0 else 0
    for x in range(counts[plan[WORD_AXES] - 3]):
        y = 8 * blocks[x]
        v = load(scratch, y)
        if swaps > 0:
            v = _swapped(v, s1, m1)
            if swaps > 1:
                v = _swapped(v, s2, m2)
                if swaps > 2:
                    v = _swapped(v, s3, m3)
                    if swaps > 3:
                        v = _swapped(v, s4, m4)
                        if swaps > 4:
                            v = _swapped(v, s5, m5)
        at = o0 + y + (y & upper)
        store(out, at, either(load(out, at), v))
