"""The perfect-hash index of Lasker Morris: every position to a place in a table, and back.

Colours are normalised away. R, the row side, is the one with the smaller total; with equal totals
it is the side not to move. C, the column side, is the other. R's men on the board, brought to the
least of their 16 images, are the *row*; C's men, brought along by the same symmetry and seen as a
subset of the points R leaves free, are the *column*. A subspace fixes the totals, the men on the
board and the side to move; inside it a position has the index

    row * columns + column

with rows ranked among the canonical ones by numeric value and columns in colex order, which is
numeric order among masks of one size.

Invariant: `locate` and `position_at` are inverse to each other for every index of a subspace, and
the indices are 0 .. size - 1 with none left out. A row with a symmetry of its own holds a position
several times; these copies, 5.4 % of all indices of the whole game, have the same value.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from engine.morris.board import ALL_POINTS, POINT_COUNT, SYMMETRIES
from engine.morris.position import Position
from engine.morris.rules import LOSING_TOTAL, MOST_MEN

_BINOMIAL: tuple[tuple[int, ...], ...] = tuple(
    tuple(comb(n, k) for k in range(POINT_COUNT + 1)) for n in range(POINT_COUNT + 1)
)


def colex_rank(mask: int) -> int:
    """The rank of a mask among those with as many bits set, in numeric order."""
    rank = 0
    size = 0
    while mask:
        low = mask & -mask
        size += 1
        rank += _BINOMIAL[low.bit_length() - 1][size]
        mask ^= low
    return rank


def colex_unrank(rank: int, popcount: int) -> int:
    """The mask with `popcount` of 24 bits set and this colex rank. ValueError if out of range."""
    if not 0 <= popcount <= POINT_COUNT or not 0 <= rank < _BINOMIAL[POINT_COUNT][popcount]:
        raise ValueError(f"no rank {rank} among masks of {popcount} points")
    mask = 0
    bit = POINT_COUNT
    for size in range(popcount, 0, -1):
        bit -= 1
        while _BINOMIAL[bit][size] > rank:
            bit -= 1
        rank -= _BINOMIAL[bit][size]
        mask |= 1 << bit
    return mask


def compress(mask: int, within: int) -> int:
    """The bits of `mask` at the set positions of `within`, packed to the low end (pext)."""
    packed = 0
    place = 1
    while within:
        low = within & -within
        if mask & low:
            packed |= place
        place <<= 1
        within ^= low
    return packed


def expand(bits: int, within: int) -> int:
    """The mask with the low bits of `bits` spread over the set positions of `within` (pdep)."""
    mask = 0
    while within:
        low = within & -within
        if bits & 1:
            mask |= low
        bits >>= 1
        within ^= low
    return mask


@cache
def image_tables() -> np.ndarray:
    """uint32[16, 3, 256]: the image, under each symmetry, of each value of each byte of a mask.

    The image of a mask is the OR of three entries, which is how fast code maps masks.
    """
    tables = np.zeros((len(SYMMETRIES), 3, 256), dtype=np.uint32)
    values = np.arange(256)
    for s, permutation in enumerate(SYMMETRIES):
        for point, target in enumerate(permutation):
            byte, bit = divmod(point, 8)
            tables[s, byte] |= ((values >> bit & 1) << target).astype(np.uint32)
    return tables


@cache
def _image_lists() -> list[list[list[int]]]:
    """`image_tables` as nested lists, which plain Python reads faster than an array."""
    return image_tables().tolist()


def _image(table: list[list[int]], mask: int) -> int:
    """The image of a mask under the symmetry with this entry of `_image_lists`."""
    return table[0][mask & 255] | table[1][mask >> 8 & 255] | table[2][mask >> 16]


@cache
def _least_ring_pairs(stabiliser: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Masks of the outer and inner ring that are least under some symmetries, by popcount.

    stabiliser: numbers of the symmetries, which form a group.
    Returns 17 arrays uint32, ascending; number p holds the masks of p points.
    """
    low = np.arange(1 << 16, dtype=np.uint32)
    least = np.ones(low.size, dtype=bool)
    for s in stabiliser:
        outer, inner, _ = image_tables()[s]
        images = (inner[:, None] | outer[None, :]).reshape(-1)
        least &= images >= low
    low = low[least]
    sizes = np.bitwise_count(low)
    return tuple(low[sizes == p] for p in range(17))


@cache
def canonical_rows(k: int) -> np.ndarray:
    """uint32[orbits]: the masks of k points that are least of their 16 images, ascending.

    The symmetries map the middle ring, the top byte of a mask, to itself. So a mask is least
    exactly when its middle ring is least of its images and the rest is least under the symmetries
    that fix this middle ring.
    """
    if not 0 <= k <= MOST_MEN:
        raise ValueError(f"a row has 0 to {MOST_MEN} men, not {k}")
    middle_images = image_tables()[:, 2, :] >> 16
    parts = []
    for middle in range(256):
        rest = k - middle.bit_count()
        images = middle_images[:, middle]
        if not 0 <= rest <= 16 or images.min() < middle:
            continue
        stabiliser = tuple(np.flatnonzero(images == middle).tolist())
        parts.append(_least_ring_pairs(stabiliser)[rest] | np.uint32(middle << 16))
    rows = np.concatenate(parts)
    rows.flags.writeable = False
    return rows


def stabiliser_sizes(rows: np.ndarray) -> np.ndarray:
    """uint8[len(rows)]: how many of the 16 symmetries map each mask (uint32) to itself."""
    sizes = np.zeros(len(rows), dtype=np.uint8)
    for table in image_tables():
        images = table[0][rows & 255] | table[1][rows >> 8 & 255] | table[2][rows >> 16]
        sizes += images == rows
    return sizes


@dataclass(frozen=True, order=True, slots=True)
class Subspace:
    """The positions with given totals, men on the board and side to move.

    r, c: totals of R and C, 3 <= r <= c <= 10. k, l: their men on the board.
    mover: "R" or "C"; with r == c only "C", since C is then the side to move.
    Raises ValueError for other numbers.
    """

    r: int
    c: int
    k: int
    l: int  # noqa: E741 - the field's own letter, as in design and file names
    mover: str

    def __post_init__(self) -> None:
        if not LOSING_TOTAL < self.r <= self.c <= MOST_MEN:
            raise ValueError(f"no unit of totals {self.r}, {self.c}")
        if not (0 <= self.k <= self.r and 0 <= self.l <= self.c):
            raise ValueError(f"{self.k}, {self.l} men can't be on the board in {self.stem}")
        if self.mover not in ("R", "C") or (self.r == self.c and self.mover == "R"):
            raise ValueError(f"no side to move {self.mover!r} in unit {self.r}, {self.c}")

    @property
    def stem(self) -> str:
        """The name of the table file, without its ending: unit and level."""
        return f"r{self.r:02d}c{self.c:02d}k{self.k:02d}"

    @property
    def section(self) -> str:
        """The name of the section in the table file."""
        return f"{self.mover}{self.l}"

    @property
    def row_hand(self) -> int:
        """R's men in hand."""
        return self.r - self.k

    @property
    def column_hand(self) -> int:
        """C's men in hand."""
        return self.c - self.l

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(canonical_rows(self.k))

    @property
    def columns(self) -> int:
        """The number of columns of each row."""
        return _BINOMIAL[POINT_COUNT - self.k][self.l]

    @property
    def size(self) -> int:
        """The number of indices."""
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"{self.stem} {self.section}"


def subspaces_of_level(r: int, c: int, k: int) -> tuple[Subspace, ...]:
    """All subspaces of one level of a unit: R to move by men of C on the board, then C to move."""
    movers = ("C",) if r == c else ("R", "C")
    return tuple(
        Subspace(r, c, k, on_board, mover) for mover in movers for on_board in range(c + 1)
    )


def locate(position: Position) -> tuple[Subspace, int, int]:
    """The subspace, row and column of a position; its index is row * columns + column.

    Raises ValueError when a side has fewer than three men: no table holds such a position.
    """
    if position.is_short_of_men:
        raise ValueError(f"{position}: the game is over, no table holds it")
    mover, mover_hand = position.mover
    other, other_hand = position.other
    mover_total = mover.bit_count() + mover_hand
    other_total = other.bit_count() + other_hand
    if mover_total < other_total:
        side, row_men, column_men, r, c = "R", mover, other, mover_total, other_total
    else:
        side, row_men, column_men, r, c = "C", other, mover, other_total, mover_total
    # Of several symmetries that lead to the least image the first one counts: the identity for a
    # row that is least already, so that every index is the index of its own position.
    tables = _image_lists()
    least, symmetry = min((_image(table, row_men), s) for s, table in enumerate(tables))
    columns = _image(tables[symmetry], column_men)
    subspace = Subspace(r, c, row_men.bit_count(), column_men.bit_count(), side)
    row = bisect_left(canonical_rows(subspace.k), least)
    return subspace, row, colex_rank(compress(columns, ALL_POINTS & ~least))


def position_at(subspace: Subspace, index: int) -> Position:
    """The position of an index, White to move. Raises ValueError when the index is out of range."""
    if not 0 <= index < subspace.size:
        raise ValueError(f"no index {index} in {subspace}: it has {subspace.size}")
    row, column = divmod(index, subspace.columns)
    row_men = int(canonical_rows(subspace.k)[row])
    column_men = expand(colex_unrank(column, subspace.l), ALL_POINTS & ~row_men)
    if subspace.mover == "R":
        return Position(row_men, column_men, subspace.row_hand, subspace.column_hand, True)
    return Position(column_men, row_men, subspace.column_hand, subspace.row_hand, True)
