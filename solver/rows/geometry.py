"""What a level's rows look like and how they lead to each other, independent of totals and values.

`Level(k)` holds the canonical placements of k men and, for each row, the moves of the row side as
links to other rows, with the plan that brings the linked row's columns into this row's axes:

* slides:     w -> w - i + j, a row of the same level;
* placements: w -> w + j, a row of level k + 1;
* removals:   w -> w - i, a row of level k - 1 (the column side takes the man on i).

Numbers of points, rows and axes: a row w has n = 24 - k free points, and free point number a,
counted from the lowest, is axis a of the row's bitmap.

Invariant: link x of row w is in start[w] <= x < start[w + 1]; under symmetry[x] the men after the
move are rows[target[x]] of the other level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit

from engine.morris.board import (
    ALL_POINTS,
    MILL_MASKS,
    MILLS_AT,
    NEIGHBOUR_MASKS,
    POINT_COUNT,
    SYMMETRIES,
)
from engine.morris.index import canonical_rows, image_tables
from solver.rows.permute import PLAN_BYTES, make_plan
from solver.rows.words import popcount

MOST_MEN = 10

MILLS = np.array(MILL_MASKS, dtype=np.int64)
# The two mills of each point, without the point: closing one of them needs both its men.
MILL_PARTNERS = np.array(
    [[mill & ~(1 << p) for mill in MILLS_AT[p]] for p in range(POINT_COUNT)], dtype=np.int64
)
ADJACENT = np.array(NEIGHBOUR_MASKS, dtype=np.int64)
EVERYWHERE = np.array([ALL_POINTS & ~(1 << p) for p in range(POINT_COUNT)], dtype=np.int64)

# Symmetries from this number on exchange the outer and the inner ring; those below keep them.
RING_SWAP = 8

_SYMMETRIES = np.array(SYMMETRIES, dtype=np.int64)
_INVERSES = np.argsort(_SYMMETRIES, axis=1)

IMAGES = image_tables()
# COMPRESS_BYTE[within][bits], EXPAND_BYTE[within][bits]: pext and pdep of one byte.
_BYTES = np.arange(256)


def _byte_tables() -> tuple[np.ndarray, np.ndarray]:
    compress = np.zeros((256, 256), dtype=np.uint8)
    expand = np.zeros((256, 256), dtype=np.uint8)
    for within in range(256):
        places = [p for p in range(8) if within >> p & 1]
        for packed, place in enumerate(places):
            compress[within] |= ((_BYTES >> place & 1) << packed).astype(np.uint8)
            expand[within] |= ((_BYTES >> packed & 1) << place).astype(np.uint8)
    return compress, expand


COMPRESS_BYTE, EXPAND_BYTE = _byte_tables()


@njit(cache=True, nogil=True)
def bit_count(mask):
    """Number of set bits of a non-negative int64."""
    return popcount(np.uint64(mask))


@njit(cache=True, nogil=True)
def compress(mask, within):
    """The bits of a 24-bit mask at the set positions of `within`, packed to the low end."""
    low = within & 255
    middle = within >> 8 & 255
    shift = bit_count(low)
    packed = np.int64(COMPRESS_BYTE[low, mask & 255])
    packed |= np.int64(COMPRESS_BYTE[middle, mask >> 8 & 255]) << shift
    shift += bit_count(middle)
    return packed | np.int64(COMPRESS_BYTE[within >> 16, mask >> 16]) << shift


@njit(cache=True, nogil=True)
def expand(packed, within):
    """The 24-bit mask with the low bits of `packed` spread over the set positions of `within`."""
    low = within & 255
    middle = within >> 8 & 255
    mask = np.int64(EXPAND_BYTE[low, packed & 255])
    packed >>= bit_count(low)
    mask |= np.int64(EXPAND_BYTE[middle, packed & 255]) << 8
    packed >>= bit_count(middle)
    return mask | np.int64(EXPAND_BYTE[within >> 16, packed & 255]) << 16


@njit(cache=True, nogil=True)
def image(symmetry, mask):
    """The image of a 24-bit mask under a symmetry."""
    return np.int64(
        IMAGES[symmetry, 0, mask & 255]
        | IMAGES[symmetry, 1, mask >> 8 & 255]
        | IMAGES[symmetry, 2, mask >> 16]
    )


@njit(cache=True, nogil=True)
def axis_of(point, free):
    """The axis of a free point in a row that leaves `free` free."""
    return bit_count(free & ((np.int64(1) << point) - 1))


@njit(cache=True, nogil=True)
def closes_mill(men, point):
    """Whether the man on `point` stands in a mill of `men`."""
    first = MILL_PARTNERS[point, 0]
    second = MILL_PARTNERS[point, 1]
    return men & first == first or men & second == second


@njit(cache=True, nogil=True)
def men_in_mills(men):
    """The men that stand in mills."""
    found = np.int64(0)
    for x in range(MILLS.size):
        if men & MILLS[x] == MILLS[x]:
            found |= MILLS[x]
    return found


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical forms of all masks of at most ten points.

    rank: int32[2**24], the place of a mask's canonical form among the rows of its level.
    symmetry: uint8[2**24], a symmetry that maps the mask to its canonical form.
    """

    rank: np.ndarray
    symmetry: np.ndarray


@njit(cache=True, nogil=True)
def _fill_canonical(rows, inverse_of, rank, symmetry):
    """Write the 16 images of each row; symmetry 0 last, so that a row maps to itself by it."""
    for row in range(rows.size):
        mask = np.int64(rows[row])
        for s in range(inverse_of.size - 1, -1, -1):
            other = image(s, mask)
            rank[other] = row
            symmetry[other] = inverse_of[s]


@cache
def canonical_forms() -> Canonical:
    """The shared table of canonical forms (80 MB of address space, filled for <= 10 points)."""
    number = {permutation: s for s, permutation in enumerate(SYMMETRIES)}
    inverse_of = np.array([number[tuple(inverse)] for inverse in _INVERSES.tolist()])
    rank = np.zeros(1 << POINT_COUNT, dtype=np.int32)
    symmetry = np.zeros(1 << POINT_COUNT, dtype=np.uint8)
    for k in range(MOST_MEN + 1):
        _fill_canonical(canonical_rows(k), inverse_of, rank, symmetry)
    return Canonical(rank, symmetry)


@dataclass(frozen=True, slots=True)
class Links:
    """Moves of the row side from each row of a level, in compressed-row form.

    start: int64[rows + 1]; target: int32[links], rows of the level reached; symmetry: uint8[links];
    left_point, new_point: int8[links], the points a man leaves and takes, -1 where none;
    closes: uint8[links], 1 when the man on new_point then stands in a mill;
    plan: int8[links, PLAN_BYTES], pulls the target row into this row's axes.
    """

    start: np.ndarray
    target: np.ndarray
    symmetry: np.ndarray
    left_point: np.ndarray
    new_point: np.ndarray
    closes: np.ndarray
    plan: np.ndarray


@njit(cache=True, nogil=True)
def _count_links(rows, reach, leaves, places, start):
    """start[w + 1] = start[w] + links of row w."""
    start[0] = 0
    for row in range(rows.size):
        men = np.int64(rows[row])
        count = 0
        if leaves and places:
            for i in range(POINT_COUNT):
                if men >> i & 1:
                    count += bit_count(reach[i] & ~men)
        elif places:
            count = POINT_COUNT - bit_count(men)
        else:
            count = bit_count(men)
        start[row + 1] = start[row] + count


@njit(cache=True, nogil=True)
def _fill_link(x, men, i, j, rank, symmetry_of, symmetries, links):
    """Link x: the men leave point i and take point j (-1: none)."""
    target, symmetry, left_point, new_point, closes, plan = links
    after = men
    if i >= 0:
        after &= ~(np.int64(1) << i)
    if j >= 0:
        after |= np.int64(1) << j
    g = symmetry_of[after]
    target[x] = rank[after]
    symmetry[x] = g
    left_point[x] = i
    new_point[x] = j
    closes[x] = 1 if j >= 0 and closes_mill(after, j) else 0

    free = ALL_POINTS & ~men
    target_free = ALL_POINTS & ~image(g, after)
    source_axis = np.empty(POINT_COUNT, np.int64)
    axes = 0
    for p in range(POINT_COUNT):
        if free >> p & 1:
            source_axis[axes] = -1 if p == j else axis_of(symmetries[g, p], target_free)
            axes += 1
    dropped = axis_of(symmetries[g, i], target_free) if i >= 0 else np.int64(-1)
    make_plan(source_axis, axes, dropped, plan[x])


@njit(cache=True, nogil=True)
def _fill_links(rows, reach, leaves, places, start, rank, symmetry_of, symmetries, links):
    """Fill the arrays `links` (in the order of `Links`, without start) for all rows."""
    for row in range(rows.size):
        men = np.int64(rows[row])
        x = start[row]
        if not leaves:
            for j in range(POINT_COUNT):
                if not men >> j & 1:
                    _fill_link(x, men, -1, j, rank, symmetry_of, symmetries, links)
                    x += 1
            continue
        for i in range(POINT_COUNT):
            if not men >> i & 1:
                continue
            if not places:
                _fill_link(x, men, i, -1, rank, symmetry_of, symmetries, links)
                x += 1
                continue
            for j in range(POINT_COUNT):
                if reach[i] & ~men & (np.int64(1) << j):
                    _fill_link(x, men, i, j, rank, symmetry_of, symmetries, links)
                    x += 1


def _links(rows: np.ndarray, reach: np.ndarray, leaves: bool, places: bool) -> Links:
    forms = canonical_forms()
    start = np.empty(rows.size + 1, dtype=np.int64)
    _count_links(rows, reach, leaves, places, start)
    count = int(start[-1])
    arrays = (
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.uint8),
        np.empty(count, dtype=np.int8),
        np.empty(count, dtype=np.int8),
        np.empty(count, dtype=np.uint8),
        np.empty((count, PLAN_BYTES), dtype=np.int8),
    )
    _fill_links(rows, reach, leaves, places, start, forms.rank, forms.symmetry, _SYMMETRIES, arrays)
    return Links(start, *arrays)


@njit(cache=True, nogil=True)
def _number_mill_rows(rows, number):
    """number[row]: the place of the row among those with a mill, or -1; returns their count."""
    count = 0
    for row in range(rows.size):
        if men_in_mills(np.int64(rows[row])) != 0:
            number[row] = count
            count += 1
        else:
            number[row] = -1
    return count


@njit(cache=True, nogil=True)
def _count_stabilisers(rows, sizes):
    """sizes[row]: how many symmetries map the row to itself."""
    for row in range(rows.size):
        men = np.int64(rows[row])
        sizes[row] = 0
        for s in range(len(IMAGES)):
            if image(s, men) == men:
                sizes[row] += 1


class Level:
    """The rows of k men and their links; see the module.

    k, axes (n = 24 - k), words (of a row's bitmap), rows: uint32[count], mill_number: int32[count]
    (the row's place among rows with a mill, -1 for others), mill_count, stabilisers: uint8[count].
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.axes = POINT_COUNT - k
        self.words = 1 << (self.axes - 6)
        self.rows = canonical_rows(k)
        self.count = self.rows.size
        self.mill_number = np.empty(self.count, dtype=np.int32)
        self.mill_count = _number_mill_rows(self.rows, self.mill_number)
        self.stabilisers = np.empty(self.count, dtype=np.uint8)
        _count_stabilisers(self.rows, self.stabilisers)

    def slides(self, flying: bool) -> Links:
        """Slides of the row side; flying: to any empty point."""
        return _slides(self.k, flying)

    def placements(self) -> Links:
        """Placements of the row side, links to level k + 1."""
        return _links(self.rows, EVERYWHERE, leaves=False, places=True)

    def removals(self) -> Links:
        """Men of the row side taken, links to level k - 1."""
        return _links(self.rows, EVERYWHERE, leaves=True, places=False)


@cache
def _slides(k: int, flying: bool) -> Links:
    return _links(canonical_rows(k), EVERYWHERE if flying else ADJACENT, leaves=True, places=True)


@cache
def level(k: int) -> Level:
    """The shared `Level` of k men."""
    return Level(k)


@cache
def all_rows() -> tuple[np.ndarray, np.ndarray]:
    """The rows of all levels one after the other, and the place of each level's first one."""
    rows = [canonical_rows(k) for k in range(MOST_MEN + 1)]
    first = np.cumsum([0] + [each.size for each in rows], dtype=np.int64)
    return np.concatenate(rows), first
