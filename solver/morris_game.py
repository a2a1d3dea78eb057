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
from numba import njit, types
from numba.extending import intrinsic

from engine.morris.board import ALL_POINTS, MILLS_AT, NEIGHBOUR_MASKS, POINT_COUNT, SYMMETRIES
from engine.morris.index import Subspace, canonical_rows, image_tables
from engine.morris.rules import LOSING_TOTAL, MOST_MEN, Rules
from solver import retrograde
from solver.retrograde import DRAW, HOLE, LOSS, WIN, Expansion, Solution


def _colex_table() -> np.ndarray:
    """int32[27, 256]: what each value of a byte of a mask adds to the mask's colex rank.

    Row 0 is for the lowest byte; row 1 + n for the middle byte, with n bits set below it;
    row 10 + n for the highest.
    """
    table = np.zeros((27, 256), np.int32)
    places = [(0, 0)] + [(1, n) for n in range(9)] + [(2, n) for n in range(17)]
    for row, (byte, below) in enumerate(places):
        for value in range(256):
            points = [8 * byte + p for p in range(8) if value >> p & 1]
            table[row, value] = sum(comb(p, below + i + 1) for i, p in enumerate(points))
    return table


# No kernel here makes an array, so none needs to count references to its arrays; that they don't
# makes `expand` 1.6 times as fast.
_kernel = njit(cache=True, nogil=True, _nrt=False)

_BINOMIAL = np.array(
    [[comb(n, k) for k in range(POINT_COUNT + 1)] for n in range(POINT_COUNT + 1)], np.int64
)
_FIRST_MASK = np.cumsum([0] + [comb(POINT_COUNT, k) for k in range(MOST_MEN + 1)])
_IMAGES = image_tables()
_COLEX = _colex_table()
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


class _Side(NamedTuple):
    """A subspace by men in all and on the board, of the side to move and of the other."""

    total: int
    other_total: int
    mover: int
    other: int

    @property
    def mover_is_row(self) -> bool:
        return self.total < self.other_total

    @property
    def subspace(self) -> Subspace:
        if self.mover_is_row:
            return Subspace(self.total, self.other_total, self.mover, self.other, "R")
        return Subspace(self.other_total, self.total, self.other, self.mover, "C")

    def after(self, *, placed: bool, captured: bool) -> _Side | None:
        """Where a move leads to; None when a capture wins or the men are not there."""
        side = _Side(
            self.other_total - captured, self.total, self.other - captured, self.mover + placed
        )
        exists = side.total > LOSING_TOTAL and side.mover >= 0 and side.other <= side.other_total
        return side if exists else None

    def conversions(self) -> tuple[_Side | None, ...]:
        """Where a placement, a capturing slide and a capturing placement lead to."""
        return (
            self.after(placed=True, captured=False),
            self.after(placed=False, captured=True),
            self.after(placed=True, captured=True),
        )


def _sides(subspace: Subspace) -> tuple[_Side, ...]:
    """The one or two sides that move in the class of a subspace."""
    row_side = _Side(subspace.r, subspace.c, subspace.k, subspace.l)
    column_side = _Side(subspace.c, subspace.r, subspace.l, subspace.k)
    return (row_side,) if row_side == column_side else (row_side, column_side)


def subspaces_of_class(subspace: Subspace) -> tuple[Subspace, ...]:
    """The one or two subspaces of a class, in the order of the class index."""
    return tuple(side.subspace for side in _sides(subspace))


def conversions_of_class(subspace: Subspace) -> set[Subspace]:
    """The subspaces that placements and captures lead to from a class."""
    return {target.subspace for side in _sides(subspace) for target in side.conversions() if target}


def class_bytes(subspace: Subspace) -> int:
    """The memory that solving a class takes: two bytes a position and one for each position of
    the subspaces that its conversions lead to."""
    positions = sum(part.size for part in subspaces_of_class(subspace))
    return 2 * positions + sum(part.size for part in conversions_of_class(subspace))


class _Half(NamedTuple):
    """One subspace of a class: what its two sides may do, and where its moves lead.

    hand: whether the mover has men in hand.
    flies, other_flies: whether that side moves to any empty point.
    base, size: where this subspace begins in the class, and how many indices it has.
    reply_base: where the subspace after a quiet slide begins.
    mover_is_row: in this subspace; reply_is_row, captor_is_row: whether the next mover is
        the row side after a move without and with a capture.
    capture_wins: a capture leaves too few men.
    """

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


class _Tables(NamedTuple):
    """What masks stand behind an index and back.

    rows: int64[n], the word of each row. columns: uint32[m], the masks of C's men in colex order,
    numbered by the points that R leaves free. orbits: int64, the word of every set of R's men.
    """

    rows: np.ndarray
    columns: np.ndarray
    orbits: np.ndarray


class _External(NamedTuple):
    """int8 values of the subspaces after a placement, a capturing slide and a capturing placement;
    empty where there are none."""

    placed: np.ndarray
    captured: np.ndarray
    placed_captured: np.ndarray


@cache
def _rows(k: int) -> np.ndarray:
    """int64[rows]: the word of each canonical mask of k points."""
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


@cache
def _columns(k: int, l: int) -> np.ndarray:  # noqa: E741
    """uint32[C(24 - k, l)]: the masks of l of 24 - k points in colex order."""
    columns = np.empty(comb(POINT_COUNT - k, l), np.uint32)
    _enter_columns(l, columns)
    return columns


class MorrisClass:
    """The class of a subspace and of the one that its quiet slides lead to.

    subspaces: the one or two subspaces, in the order of the class index.
    solved: int8 values of the subspaces that moves lead to; KeyError when one is missing.
    """

    def __init__(
        self, subspace: Subspace, rules: Rules, solved: Mapping[Subspace, np.ndarray]
    ) -> None:
        sides = _sides(subspace)
        self.subspaces = tuple(side.subspace for side in sides)
        bases = np.cumsum([0] + [part.size for part in self.subspaces]).tolist()
        self.size = bases.pop()
        self._halves = []
        degree = 0
        for part, side, base, reply_base in zip(
            self.subspaces, sides, bases, reversed(bases), strict=True
        ):
            reply = _Side(side.other_total, side.total, side.other, side.mover)
            half = _Half(
                hand=side.total > side.mover,
                flies=rules.may_fly(side.mover, side.total - side.mover),
                other_flies=rules.may_fly(side.other, side.other_total - side.other),
                base=base,
                size=part.size,
                reply_base=reply_base,
                mover_is_row=side.mover_is_row,
                reply_is_row=reply.mover_is_row,
                captor_is_row=side.other_total - 1 < side.total,
                capture_wins=side.other_total - 1 <= LOSING_TOTAL,
            )
            tables = _Tables(_rows(part.k), _columns(part.k, part.l), _orbits(part.c))
            external = _External(
                *(
                    solved[target.subspace] if target else np.empty(0, np.int8)
                    for target in side.conversions()
                )
            )
            self._halves.append((half, tables, external))
            free = POINT_COUNT - side.mover - side.other
            degree = max(degree, side.mover * (free if half.flies else 4))
        block = min(self.size, retrograde.BLOCK)
        self._outcome = np.empty(block, np.int8)
        self._plies = np.empty(block, np.uint16)
        self._offsets = np.zeros(block + 1, np.int64)
        self._listed = np.empty(block * degree, np.uint32)

    def parts(self) -> Iterator[tuple[Subspace, slice]]:
        """The subspaces with the places of their positions in the class."""
        for part, (half, _, _) in zip(self.subspaces, self._halves, strict=True):
            yield part, slice(half.base, half.base + half.size)

    def expand(self, start: int, stop: int) -> Expansion:
        """The moves of positions start..stop-1, as the engine asks for them."""
        for half, tables, external in self._halves:
            first = max(start, half.base)
            end = min(stop, half.base + half.size)
            if first < end:
                at = first - start
                _expand(
                    first - half.base,
                    end - half.base,
                    tables,
                    half,
                    external,
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
        for half, tables, _ in self._halves:
            end = int(np.searchsorted(indices, half.base + half.size))
            _retract(indices[first:end], tables, half, self._offsets[first:], self._listed)
            first = end
        return self._offsets[: len(indices) + 1], self._listed

    def spread(self, solution: Solution) -> None:
        """Gives each hole the value and distance of its representative."""
        for half, tables, _ in self._halves:
            part = slice(half.base, half.base + half.size)
            _spread(tables, half, solution.value[part], solution.plies[part])


def solve_class(
    subspace: Subspace, rules: Rules, solved: Mapping[Subspace, np.ndarray]
) -> dict[Subspace, Solution]:
    """Values (int8) and distances to conversion (uint8) of a subspace's class.

    Raises KeyError when `solved` misses a subspace that moves lead to.
    """
    game = MorrisClass(subspace, rules, solved)
    solution = retrograde.solve(game, np.uint8)
    game.spread(solution)
    return {part: Solution(solution.value[own], solution.plies[own]) for part, own in game.parts()}


DISTANCES_BYTES = 3
"""The bytes a position that `solve_distances` takes more than `solve_class`."""


class Distances(NamedTuple):
    """int8[n] values, uint8[n] distances to conversion, and bool[n], whether a position is won but
    by no conversion at once: only there a table needs a distance."""

    value: np.ndarray
    plies: np.ndarray
    stored: np.ndarray


def solve_distances(
    subspace: Subspace, rules: Rules, solved: Mapping[Subspace, np.ndarray]
) -> dict[Subspace, Distances]:
    """As `solve_class`, telling where a distance is stored."""
    game = MorrisClass(subspace, rules, solved)
    solution = retrograde.solve(game, np.uint8)
    outcome = np.empty(game.size, np.int8)
    for start in range(0, game.size, retrograde.BLOCK):
        stop = min(start + retrograde.BLOCK, game.size)
        outcome[start:stop] = game.expand(start, stop).outcome
    # The copies of a position, holes in both, receive what it has.
    game.spread(Solution(outcome, np.zeros(game.size, np.uint8)))
    game.spread(solution)
    stored = (solution.value == WIN) & (outcome != WIN)
    return {
        part: Distances(solution.value[own], solution.plies[own], stored[own])
        for part, own in game.parts()
    }


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
                    yield _Side(r, c, k, on_board - k).subspace


def solve_all(men: int, rules: Rules) -> dict[Subspace, Solution]:
    """Values and distances to conversion of every subspace with totals up to `men`."""
    found: dict[Subspace, Solution] = {}
    values: dict[Subspace, np.ndarray] = {}
    for subspace in classes(men):
        solutions = solve_class(subspace, rules, values)
        found.update(solutions)
        values.update((part, solution.value) for part, solution in solutions.items())
    return found


@intrinsic
def _count_bits(typing, mask):
    """The number of bits set in an int64 (LLVM's ctpop)."""

    def code(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), code


@intrinsic
def _lowest(typing, mask):
    """The number of the lowest bit set in an int64 that is not 0 (LLVM's cttz)."""

    def code(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), code


@_kernel
def _image(symmetry, mask):
    """The image of a mask (int64) under a symmetry."""
    return np.int64(
        _IMAGES[symmetry, 0, mask & 255]
        | _IMAGES[symmetry, 1, (mask >> 8) & 255]
        | _IMAGES[symmetry, 2, mask >> 16]
    )


@_kernel
def _colex(mask):
    """The colex rank of a mask among the masks of its size."""
    return np.int64(
        _COLEX[0, mask & 0xFF]
        + _COLEX[1 + _count_bits(mask & 0xFF), mask >> 8 & 0xFF]
        + _COLEX[10 + _count_bits(mask & 0xFFFF), mask >> 16]
    )


@_kernel
def _close_up(mask, taken):
    """The bits of `mask` numbered by the points outside `taken`, where all of them are."""
    while taken:
        below = (taken & -taken) - 1
        mask = mask & below | mask >> 1 & ~below
        taken = (taken & (taken - 1)) >> 1
    return mask


@_kernel
def _enter_rows(canonical, rows):
    """Writes rows int64[n], each canonical mask (uint32[n]) with its stabiliser."""
    for row in range(canonical.size):
        mask = np.int64(canonical[row])
        rows[row] = mask | np.int64(row) << _ROW
        for symmetry in range(_SYMMETRIES):
            if _image(symmetry, mask) == mask:
                rows[row] |= np.int64(1) << (_STABILISER + symmetry)


@_kernel
def _enter_orbits(rows, orbits):
    """Writes the word of each mask of k points (int64, by colex rank), from rows int64[n]."""
    for row in range(rows.size):
        mask = rows[row] & _ALL
        for symmetry in range(_SYMMETRIES):
            image = _image(symmetry, mask)
            back = 0
            while _image(back, image) != mask:
                back += 1
            orbits[_colex(image)] = rows[row] | np.int64(back) << _SYMMETRY


@_kernel
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


@_kernel
def _index(orbits, mover, other, mover_is_row):
    """The index, in its subspace, of the representative of a position.

    mover, other: masks, int64; mover_is_row: whose men are the row.
    """
    row_men, column_men = (mover, other) if mover_is_row else (other, mover)
    word = orbits[_FIRST_MASK[_count_bits(row_men)] + _colex(row_men)]
    return _index_in_row(word, _image(word >> _SYMMETRY & 15, column_men))


@_kernel
def _index_in_row(word, column_men):
    """The same by the row's word and C's men as they stand against its canonical mask."""
    row_men = word & _ALL
    columns = _BINOMIAL[POINT_COUNT - _count_bits(row_men), _count_bits(column_men)]
    column = _colex(_close_up(_representative(word, column_men), row_men))
    return (word >> _ROW) * columns + column


@_kernel
def _reply(orbits, half, word, men, other):
    """The index after a move without capture, in the subspace it leads to.

    word: of the row that the mover left; men: the mover's men after the move.
    """
    if half.reply_is_row:  # the mover is C: the row stays
        return _index_in_row(word, men)
    return _index(orbits, other, men, False)


@_kernel
def _enter_columns(size, columns):
    """Writes columns uint32[n], the first n masks of `size` points in colex order."""
    mask = (1 << size) - 1
    for column in range(columns.size):
        columns[column] = mask
        # The next greater number with as many bits set: the lowest run of ones gives its top bit
        # to the place above it and the rest falls to the low end.
        low = mask & -mask
        above = mask + low
        mask = above | (mask ^ above) >> (2 + _lowest(low | 1 << 62))


@_kernel
def _open_up(mask, taken):
    """The mask that `_close_up` turns into `mask`."""
    while taken:
        below = (taken & -taken) - 1
        mask = mask & below | (mask & ~below) << 1
        taken &= taken - 1
    return mask


@_kernel
def _masks(tables, half, index):
    """(word of the row, mover's men, other's men, whether the index is a representative) of an
    index in the subspace."""
    row = index // tables.columns.size
    word = tables.rows[row]
    column = index - row * tables.columns.size
    row_men = word & _ALL
    column_men = _open_up(np.int64(tables.columns[column]), row_men)
    least = _representative(word, column_men) == column_men
    if half.mover_is_row:
        return word, row_men, column_men, least
    return word, column_men, row_men, least


@_kernel
def _in_mill(men, point):
    """Whether the man on `point` stands in a mill of `men`."""
    first, second = _MILLS[point, 0], _MILLS[point, 1]
    return men & first == first or men & second == second


@_kernel
def _takeable(men):
    """The men that may be taken: those in no mill, or all of them when every one is in a mill."""
    free = 0
    rest = men
    while rest:
        low = rest & -rest
        rest ^= low
        if not _in_mill(men, _lowest(low)):
            free |= low
    return free if free else men


@_kernel
def _list_once(listed, first, end, seen, index):
    """Enters an index at listed[end] unless it stands in listed[first:end] already.

    seen: int64, bit h set when an index with that hash was listed. Returns the new end and seen.
    """
    bit = np.int64(1) << (index & 63)
    if seen & bit:
        for at in range(first, end):
            if listed[at] == index:
                return end, seen
    listed[end] = index
    return end + 1, seen | bit


@_kernel
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


@_kernel
def _moves(orbits, half, external, word, men, other, listed, first):
    """The moves of one position: (outcome and plies of the external ones, end of the internal).

    men, other: masks of mover and other side. The internal successors stand in
    listed[first:end]. They are left out when an external move wins: none can win sooner.
    """
    takeable = _takeable(other)
    empty = ~(men | other) & _ALL
    best = LOSS
    leaving = 0
    if half.hand:
        leaving = 1
        targets = empty
        while targets:
            low = targets & -targets
            targets ^= low
            if takeable and _in_mill(men, _lowest(low)):
                value = _best_capture(
                    orbits, half, external.placed_captured, men | low, other, takeable
                )
            else:
                value = -external.placed[_reply(orbits, half, word, men | low, other)]
            best = max(best, value)
            if best == WIN:
                return best, 1, first
    end = first
    seen = np.int64(0)
    sources = men
    while sources:
        source = sources & -sources
        sources ^= source
        targets = empty if half.flies else empty & _NEAR[_lowest(source)]
        while targets:
            low = targets & -targets
            targets ^= low
            after = men ^ source | low
            if takeable and _in_mill(after, _lowest(low)):
                leaving = 1
                value = _best_capture(orbits, half, external.captured, after, other, takeable)
                best = max(best, value)
                if best == WIN:
                    return best, 1, first
            else:
                reply = half.reply_base + _reply(orbits, half, word, after, other)
                end, seen = _list_once(listed, first, end, seen, reply)
    return best, 0 if best == DRAW else leaving, end


@_kernel
def _expand(start, stop, tables, half, external, outcome, plies, offsets, listed):
    """Fills an Expansion for indices start..stop-1 of one subspace.

    tables, half, external as in MorrisClass; outcome int8, plies uint16 [at least stop - start];
    offsets int64 [one more], of which the first is given; listed uint32.
    """
    end = offsets[0]
    for i in range(stop - start):
        word, men, other, least = _masks(tables, half, start + i)
        if least:
            outcome[i], plies[i], end = _moves(
                tables.orbits, half, external, word, men, other, listed, end
            )
        else:
            outcome[i], plies[i] = HOLE, 0
        offsets[i + 1] = end


@_kernel
def _retract(indices, tables, half, offsets, listed):
    """Lists the positions from which a quiet slide leads to each of the representatives.

    indices uint32[m] of the class, all in one subspace; tables, half as in MorrisClass; offsets
    int64[m + 1], of which the first is given; listed uint32. The slide was made by the
    side not to move now; it was quiet when it closed no mill, or closed one against a bare board.
    """
    end = offsets[0]
    for i in range(indices.size):
        word, men, other, _ = _masks(tables, half, np.int64(indices[i]) - half.base)
        empty = ~(men | other) & _ALL
        first = end
        seen = np.int64(0)
        arrived = other
        while arrived:
            target = arrived & -arrived
            arrived ^= target
            point = _lowest(target)
            if men and _in_mill(other, point):
                continue
            sources = empty if half.other_flies else empty & _NEAR[point]
            while sources:
                low = sources & -sources
                sources ^= low
                came = other ^ target | low
                if half.mover_is_row:  # the other side is C: the row stays
                    before = _index_in_row(word, came)
                else:
                    before = _index(tables.orbits, came, men, half.reply_is_row)
                end, seen = _list_once(listed, first, end, seen, half.reply_base + before)
        offsets[i + 1] = end


@_kernel
def _spread(tables, half, value, plies):
    """Copies value (int8[size]) and plies (uint8[size]) from representatives to their copies."""
    for index in range(value.size):
        if value[index] == HOLE:
            _, men, other, _ = _masks(tables, half, index)
            source = _index(tables.orbits, men, other, half.mover_is_row)
            value[index] = value[source]
            plies[index] = plies[source]
