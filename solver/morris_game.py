"""Lasker Morris as an indexed game for the plain engine: the reference for the fast solver.

A class is the positions that quiet slides of both sides connect: boards and hands are fixed, so it
is one subspace with either side to move, two subspaces as the index counts them (or only one,
in a unit of equal totals with equally many men on the board). Everything else, placements and
captures, leads to classes that are solved before.

Inside a class the players are *mover* and *other*; R and C matter only for the index, where
the side with the smaller total gives the row, the mover when they are equal.

Invariant: a position that its row's symmetries give several indices is solved under the least
of them, its *representative*, and lists each successor and predecessor once, as representatives
too. The other indices are holes for the engine and receive the value afterwards. So the copies
are equal, and `expand` and `retract` are the same relation read in two directions.

The external moves count as one ply: distances are plies to conversion, the next placement or
capture, or to the end of the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from numba import njit

from engine.morris.board import ALL_POINTS, MILLS_AT, NEIGHBOUR_MASKS, POINT_COUNT, SYMMETRIES
from engine.morris.index import Subspace, canonical_rows, image_tables
from engine.morris.rules import LOSING_TOTAL, MOST_MEN, Rules
from solver import retrograde
from solver.retrograde import DRAW, HOLE, LOSS, WIN, Expansion, Solution

_BINOMIAL = np.array(
    [[comb(n, k) for k in range(POINT_COUNT + 1)] for n in range(POINT_COUNT + 1)], np.int64
)
_FIRST_MASK = np.cumsum([0] + [comb(POINT_COUNT, k) for k in range(MOST_MEN + 1)])
_IMAGES = image_tables()
_NEAR = np.array(NEIGHBOUR_MASKS, np.int64)
_MILLS = np.array(
    [[mill & ~(1 << p) for mill in MILLS_AT[p]] for p in range(POINT_COUNT)], np.int64
)
_SYMMETRIES = len(SYMMETRIES)
_ALL = ALL_POINTS

# What is known of a set of R's men, in one word: bits 0-23 the canonical mask, from bit 24 the
# stabiliser of that mask (bit s: symmetry s fixes it), from bit 40 a symmetry that leads there,
# from bit 44 the number of the row.
_STABILISER, _SYMMETRY, _ROW = 24, 40, 44


class _Half(NamedTuple):
    """One subspace of a class: who has what, and where its moves lead. Numbers only.

    mover, other: men on the board; hand: whether the mover has men in hand.
    flies, other_flies: whether that side moves to any empty point.
    base, size: where this subspace begins in the class, and how many indices it has.
    reply_base: where the subspace after a quiet slide begins.
    mover_is_row: in this subspace; reply_is_row, captor_is_row: whether the next mover is
        the row side after a move without and with a capture.
    capture_wins: a capture leaves too few men.
    """

    mover: int
    other: int
    hand: bool
    flies: bool
    other_flies: bool
    base: int
    size: int
    reply_base: int
    mover_is_row: bool
    reply_is_row: bool
    captor_is_row: bool
    capture_wins: bool


class _External(NamedTuple):
    """int8 values of the subspaces after a placement, a capturing slide and a capturing placement;
    empty where there are none."""

    placed: np.ndarray
    captured: np.ndarray
    placed_captured: np.ndarray


@cache
def _rows(k: int) -> np.ndarray:
    """int64[rows]: each canonical mask of k points, with its stabiliser."""
    canonical = canonical_rows(k)
    rows = np.empty(len(canonical), np.int64)
    _enter_rows(canonical, rows)
    return rows


@cache
def _orbits(most: int) -> np.ndarray:
    """int64: the word of each mask of 0 to `most` points, those of k in colex order from
    _FIRST_MASK[k] on."""
    orbits = np.empty(_FIRST_MASK[most] + comb(POINT_COUNT, most), np.int64)
    for k in range(most + 1):
        _enter_orbits(_rows(k), orbits[_FIRST_MASK[k] :])
    return orbits


class MorrisClass:
    """The class of the subspaces with mover's totals and men on the board as given, and swapped.

    subspaces: the one or two subspaces, in the order of the class index.
    solved: int8 values of the subspaces that moves lead to; KeyError when one is missing.
    """

    def __init__(
        self, subspace: Subspace, rules: Rules, solved: Mapping[Subspace, np.ndarray]
    ) -> None:
        row_side = (subspace.r, subspace.c, subspace.k, subspace.l)
        column_side = (subspace.c, subspace.r, subspace.l, subspace.k)
        sides = [row_side, column_side] if row_side != column_side else [row_side]
        self.subspaces = tuple(_subspace(*side) for side in sides)
        bases = np.cumsum([0] + [subspace.size for subspace in self.subspaces]).tolist()
        self.size = bases.pop()
        self._halves = [
            _Half(
                mover=mover,
                other=other,
                hand=total > mover,
                flies=rules.may_fly(mover, total - mover),
                other_flies=rules.may_fly(other, other_total - other),
                base=base,
                size=subspace.size,
                reply_base=reply_base,
                mover_is_row=_mover_is_row(total, other_total),
                reply_is_row=_mover_is_row(other_total, total),
                captor_is_row=_mover_is_row(other_total - 1, total),
                capture_wins=other_total - 1 <= LOSING_TOTAL,
            )
            for (total, other_total, mover, other), subspace, base, reply_base in zip(
                sides, self.subspaces, bases, reversed(bases), strict=True
            )
        ]
        self._external = [_external(*side, solved) for side in sides]
        self._rows = [
            _rows(half.mover if half.mover_is_row else half.other) for half in self._halves
        ]
        self._orbits = _orbits(subspace.c)
        degree = max(
            half.mover * (POINT_COUNT - half.mover - half.other if half.flies else 4)
            for half in self._halves
        )
        block = min(self.size, retrograde.BLOCK)
        self._outcome = np.empty(block, np.int8)
        self._plies = np.empty(block, np.uint16)
        self._offsets = np.zeros(block + 1, np.int64)
        self._listed = np.empty(block * degree, np.uint32)

    def expand(self, start: int, stop: int) -> Expansion:
        """The moves of positions start..stop-1, as the engine asks for them."""
        for half, rows, external in zip(self._halves, self._rows, self._external, strict=True):
            first = max(start, half.base)
            end = min(stop, half.base + half.size)
            if first < end:
                at = first - start
                _expand(
                    first - half.base,
                    end - half.base,
                    rows,
                    self._orbits,
                    half,
                    *external,
                    self._outcome[at:],
                    self._plies[at:],
                    self._offsets[at:],
                    self._listed,
                )
        count = stop - start
        return Expansion(
            self._outcome[:count], self._plies[:count], self._offsets[: count + 1], self._listed
        )

    def retract(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The predecessors of ascending positions by quiet slides, as the engine asks for them."""
        first = 0
        for half, rows in zip(self._halves, self._rows, strict=True):
            end = int(np.searchsorted(indices, half.base + half.size))
            _retract(
                indices[first:end], rows, self._orbits, half, self._offsets[first:], self._listed
            )
            first = end
        return self._offsets[: len(indices) + 1], self._listed

    def spread(self, solution: Solution) -> None:
        """Gives each hole the value and distance of its representative."""
        for half, rows in zip(self._halves, self._rows, strict=True):
            part = slice(half.base, half.base + half.size)
            _spread(rows, self._orbits, half, solution.value[part], solution.plies[part])


def _mover_is_row(total: int, other_total: int) -> bool:
    """Whether the side to move is R, by the totals."""
    return total < other_total


def _subspace(total: int, other_total: int, mover: int, other: int) -> Subspace:
    """The subspace by the mover's and the other side's totals and men on the board."""
    if total < other_total:
        return Subspace(total, other_total, mover, other, "R")
    return Subspace(other_total, total, other, mover, "C")


def _external(
    total: int,
    other_total: int,
    mover: int,
    other: int,
    solved: Mapping[Subspace, np.ndarray],
) -> _External:
    """What external moves lead to, by the mover's and the other side's totals and men."""

    def values(other_total: int, other: int, mover: int) -> np.ndarray:
        """Values of the subspace with these numbers, the other side to move, if there is one."""
        if other_total <= LOSING_TOTAL or other < 0 or mover > total:
            return np.empty(0, np.int8)
        return solved[_subspace(other_total, total, other, mover)]

    return _External(
        placed=values(other_total, other, mover + 1),
        captured=values(other_total - 1, other - 1, mover),
        placed_captured=values(other_total - 1, other - 1, mover + 1),
    )


def solve_class(
    subspace: Subspace, rules: Rules, solved: Mapping[Subspace, np.ndarray]
) -> dict[Subspace, Solution]:
    """Values (int8) and distances to conversion (uint8) of a subspace's class.

    Raises KeyError when `solved` misses a subspace that moves lead to.
    """
    game = MorrisClass(subspace, rules, solved)
    solution = retrograde.solve(game, np.uint8)
    game.spread(solution)
    found = {}
    start = 0
    for part in game.subspaces:
        end = start + part.size
        found[part] = Solution(solution.value[start:end], solution.plies[start:end])
        start = end
    return found


def classes(men: int) -> Iterator[Subspace]:
    """One subspace of each class with totals up to `men`, in an order in which moves lead back.

    Fewer men in all first; in a unit, more men on the board first.
    """
    units = sorted(
        ((r, c) for c in range(LOSING_TOTAL + 1, men + 1) for r in range(LOSING_TOTAL + 1, c + 1)),
        key=sum,
    )
    for r, c in units:
        for on_board in range(r + c, -1, -1):
            for k in range(max(0, on_board - c), min(r, on_board) + 1):
                if r < c or k <= on_board - k:
                    yield _subspace(r, c, k, on_board - k)


def solve_all(men: int, rules: Rules) -> dict[Subspace, Solution]:
    """Values and distances to conversion of every subspace with totals up to `men`."""
    found: dict[Subspace, Solution] = {}
    values: dict[Subspace, np.ndarray] = {}
    for subspace in classes(men):
        solutions = solve_class(subspace, rules, values)
        found.update(solutions)
        values.update((part, solution.value) for part, solution in solutions.items())
    return found


@njit(cache=True, nogil=True)
def _count_bits(mask):
    """The number of bits set in a mask of up to 32 bits (int64)."""
    mask = mask - ((mask >> 1) & 0x55555555)
    mask = (mask & 0x33333333) + ((mask >> 2) & 0x33333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F
    return ((mask * 0x01010101) & 0xFFFFFFFF) >> 24


@njit(cache=True, nogil=True)
def _image(symmetry, mask):
    """The image of a mask (int64) under a symmetry."""
    return np.int64(
        _IMAGES[symmetry, 0, mask & 255]
        | _IMAGES[symmetry, 1, (mask >> 8) & 255]
        | _IMAGES[symmetry, 2, mask >> 16]
    )


@njit(cache=True, nogil=True)
def _colex(mask, taken):
    """The colex rank of a mask among the masks of its size on the points outside `taken`."""
    rank = 0
    size = 0
    while mask:
        low = mask & -mask
        size += 1
        rank += _BINOMIAL[_count_bits((low - 1) & ~taken), size]
        mask ^= low
    return rank


@njit(cache=True, nogil=True)
def _enter_rows(canonical, rows):
    """Writes rows int64[n], each canonical mask (uint32[n]) with its stabiliser."""
    for row in range(canonical.size):
        mask = np.int64(canonical[row])
        rows[row] = mask
        for symmetry in range(_SYMMETRIES):
            if _image(symmetry, mask) == mask:
                rows[row] |= np.int64(1) << (_STABILISER + symmetry)


@njit(cache=True, nogil=True)
def _enter_orbits(rows, orbits):
    """Writes the word of each mask of k points (int64, by colex rank), from rows int64[n]."""
    for row in range(rows.size):
        mask = rows[row] & _ALL
        for symmetry in range(_SYMMETRIES):
            image = _image(symmetry, mask)
            back = 0
            while _image(back, image) != mask:
                back += 1
            orbits[_colex(image, 0)] = (
                rows[row] | np.int64(back) << _SYMMETRY | np.int64(row) << _ROW
            )


@njit(cache=True, nogil=True)
def _representative(word, men):
    """The least image of C's men under the stabiliser in the row's word."""
    stabiliser = (word >> _STABILISER) & 0xFFFF
    least = men
    symmetry = 0
    while stabiliser > 1:  # bit 0 is the identity
        stabiliser >>= 1
        symmetry += 1
        if stabiliser & 1:
            least = min(least, _image(symmetry, men))
    return least


@njit(cache=True, nogil=True)
def _index(orbits, mover, other, mover_is_row):
    """The index, in its subspace, of the representative of a position.

    mover, other: masks, int64; mover_is_row: whose men are the row.
    """
    row_men, column_men = (mover, other) if mover_is_row else (other, mover)
    k = _count_bits(row_men)
    word = orbits[_FIRST_MASK[k] + _colex(row_men, 0)]
    image = _image((word >> _SYMMETRY) & 15, column_men)
    columns = _BINOMIAL[POINT_COUNT - k, _count_bits(column_men)]
    return (word >> _ROW) * columns + _colex(_representative(word, image), word & _ALL)


@njit(cache=True, nogil=True)
def _column_men(rank, size, taken):
    """The mask of `size` points outside `taken` with a colex rank among those."""
    mask = 0
    point = POINT_COUNT
    free = POINT_COUNT - _count_bits(taken)  # free points below `point`
    while size:
        point -= 1
        if not taken >> point & 1:
            free -= 1
            if _BINOMIAL[free, size] <= rank:
                rank -= _BINOMIAL[free, size]
                mask |= 1 << point
                size -= 1
    return mask


@njit(cache=True, nogil=True)
def _sides(rows, half, index):
    """(mover's mask, other's mask, whether the index is a representative) of an index."""
    k, l = (half.mover, half.other) if half.mover_is_row else (half.other, half.mover)  # noqa: E741
    columns = _BINOMIAL[POINT_COUNT - k, l]
    word = rows[index // columns]
    row_men = word & _ALL
    column_men = _column_men(index % columns, l, row_men)
    least = _representative(word, column_men) == column_men
    if half.mover_is_row:
        return row_men, column_men, least
    return column_men, row_men, least


@njit(cache=True, nogil=True)
def _in_mill(men, point):
    """Whether the man on `point` stands in a mill of `men`."""
    first, second = _MILLS[point, 0], _MILLS[point, 1]
    return men & first == first or men & second == second


@njit(cache=True, nogil=True)
def _takeable(men):
    """The men that may be taken: those in no mill, or all of them when every one is in a mill."""
    free = 0
    rest = men
    while rest:
        low = rest & -rest
        rest ^= low
        if not _in_mill(men, _count_bits(low - 1)):
            free |= low
    return free if free else men


@njit(cache=True, nogil=True)
def _list_once(listed, first, end, seen, index):
    """Enters an index at listed[end] unless it stands in listed[first:end] already.

    seen: int64, bit h set when an index with that hash was listed. Returns the new end and seen.
    """
    bit = np.int64(1) << (index % 61)
    if seen & bit:
        for at in range(first, end):
            if listed[at] == index:
                return end, seen
    listed[end] = index
    return end + 1, seen | bit


@njit(cache=True, nogil=True)
def _best_capture(orbits, half, values, men, other, takeable):
    """The best value for the mover of taking one of `takeable`, with `men` after the move.

    values: int8[...] of the subspace that the capture leads to.
    """
    if half.capture_wins:
        return WIN
    best = LOSS
    while takeable:
        low = takeable & -takeable
        takeable ^= low
        best = max(best, -values[_index(orbits, other ^ low, men, half.captor_is_row)])
        if best == WIN:
            break
    return best


@njit(cache=True, nogil=True)
def _moves(orbits, half, placed, captured, placed_captured, men, other, listed, first):
    """The moves of one position: (outcome and plies of the external ones, end of the internal).

    men, other: masks of mover and other side. The internal successors stand in
    listed[first:end]. They are left out when an external move wins: none can win sooner.
    """
    takeable = _takeable(other)
    empty = ~(men | other) & _ALL
    best = LOSS
    external = 0
    if half.hand:
        external = 1
        targets = empty
        while targets:
            low = targets & -targets
            targets ^= low
            if takeable and _in_mill(men, _count_bits(low - 1)):
                value = _best_capture(orbits, half, placed_captured, men | low, other, takeable)
            else:
                value = -placed[_index(orbits, other, men | low, half.reply_is_row)]
            best = max(best, value)
            if best == WIN:
                return best, 1, first
    end = first
    seen = np.int64(0)
    sources = men
    while sources:
        source = sources & -sources
        sources ^= source
        targets = empty if half.flies else empty & _NEAR[_count_bits(source - 1)]
        while targets:
            low = targets & -targets
            targets ^= low
            after = men ^ source | low
            if takeable and _in_mill(after, _count_bits(low - 1)):
                external = 1
                value = _best_capture(orbits, half, captured, after, other, takeable)
                best = max(best, value)
                if best == WIN:
                    return best, 1, first
            else:
                reply = half.reply_base + _index(orbits, other, after, half.reply_is_row)
                end, seen = _list_once(listed, first, end, seen, reply)
    return best, 0 if best == DRAW else external, end


@njit(cache=True, nogil=True)
def _expand(
    start,
    stop,
    rows,
    orbits,
    half,
    placed,
    captured,
    placed_captured,
    outcome,
    plies,
    offsets,
    listed,
):
    """Fills an Expansion for indices start..stop-1 of one subspace.

    rows int64[n], orbits int64[m], half and the int8 values as in MorrisClass; outcome int8,
    plies uint16 [at least stop - start], offsets int64 [one more], of which the first is given;
    listed uint32.
    """
    end = offsets[0]
    for i in range(stop - start):
        men, other, least = _sides(rows, half, start + i)
        if least:
            outcome[i], plies[i], end = _moves(
                orbits, half, placed, captured, placed_captured, men, other, listed, end
            )
        else:
            outcome[i], plies[i] = HOLE, 0
        offsets[i + 1] = end


@njit(cache=True, nogil=True)
def _retract(indices, rows, orbits, half, offsets, listed):
    """Lists the positions from which a quiet slide leads to each of the representatives.

    indices uint32[m] of the class, all in one subspace; rows, orbits, half as in MorrisClass;
    offsets int64[m + 1], of which the first is given; listed uint32. The slide was made by the
    side not to move now; it was quiet when it closed no mill, or closed one against a bare board.
    """
    end = offsets[0]
    for i in range(indices.size):
        men, other, _ = _sides(rows, half, np.int64(indices[i]) - half.base)
        empty = ~(men | other) & _ALL
        first = end
        seen = np.int64(0)
        arrived = other
        while arrived:
            target = arrived & -arrived
            arrived ^= target
            point = _count_bits(target - 1)
            if men and _in_mill(other, point):
                continue
            sources = empty if half.other_flies else empty & _NEAR[point]
            while sources:
                low = sources & -sources
                sources ^= low
                before = _index(orbits, other ^ target | low, men, half.reply_is_row)
                end, seen = _list_once(listed, first, end, seen, half.reply_base + before)
        offsets[i + 1] = end


@njit(cache=True, nogil=True)
def _spread(rows, orbits, half, value, plies):
    """Copies value (int8[size]) and plies (uint8[size]) from representatives to their copies."""
    for index in range(value.size):
        if value[index] == HOLE:
            men, other, _ = _sides(rows, half, index)
            source = _index(orbits, men, other, half.mover_is_row)
            value[index] = value[source]
            plies[index] = plies[source]
