"""Re-derives every value and distance of Lasca tables, by code of its own.

Nothing here comes from the engine or from a solver: squares are numbered and joined from their
places on the board, the index is written anew from its description in `engine/lasca/index.py`, and
a column is the string of its men. So an error that solver and engine share is seen.

Invariant: a clean check of all classes that moves lead to proves their values. A distance must be
exactly one more than that of the best reply, so along the moves of a won player distances fall and
nobody wins by going round in circles.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from itertools import product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numba import njit

from databases.errors import CorruptTableError
from databases.store import Store
from solver.progress import Progress
from solver.verification import Check, Fault, opened, run_checks

_SECTION = "white"
_SIDE = 7
_PLACES = [(f, r) for r in range(_SIDE) for f in range(_SIDE) if (f + r) % 2 == 0]
_SQUARES = len(_PLACES)
_NAMES = [f"{'abcdefg'[f]}{r + 1}" for f, r in _PLACES]
_FIRST_RANK = 4  # squares 0-3
_LAST_RANK = 21  # squares 21-24
_MEN_A_SIDE = 11

# A man is two bits: bit 0 its colour, bit 1 set for an officer. A column is its men from the top
# down, two bits each from bit 0 up; the number of them stands beside it.
_WHITE, _BLACK, _OFFICER = 0, 1, 2
_MEN = "wbWB"

# A score is the plies of a win, and -1 - plies of a loss.
_DRAW = 32767
_LOST_NOW = -1
_NO_MOVE = -32767  # where no move was found, yet
_OUTSIDE = -32768  # where a move led to no class
_NO_CLASS = -1

# A sequence of 32 bits in which each run of five differs from all others (de Bruijn), so that its
# product with a power of two tells which power it is.
_DE_BRUIJN = 0x077CB531

_DIGITS = 9  # of an index
_LAST_OF_SQUARES = 4  # of the digits


class VerifiedClass(NamedTuple):
    """A class: the men of each colour, how many of them are officers, and the columns."""

    white: int
    black: int
    white_officers: int
    black_officers: int
    columns: int

    @property
    def table(self) -> str:
        return (
            f"w{self.white}b{self.black}-W{self.white_officers}B{self.black_officers}"
            f"-c{self.columns}"
        )

    @property
    def size(self) -> int:
        return sum(prod(radices) for _, _, radices in _groups(self))

    def after(self, promoted: int, columns: int) -> VerifiedClass:
        """The class after a move that promoted so many white men, seen by Black as White."""
        return VerifiedClass(
            self.black, self.white, self.black_officers, self.white_officers + promoted, columns
        )


@cache
def _groups(of: VerifiedClass) -> tuple[tuple[tuple[int, ...], int, list[int]], ...]:
    """Of each group (White's columns, those on rank 7, those on rank 1, Black's on rank 1), the
    first index and the nine radices."""
    found = []
    base = 0
    for p, u, t, v in product(range(of.columns + 1), range(5), range(5), range(5)):
        q = of.columns - p
        if of.white < p or of.black < q or of.white_officers < u or of.black_officers < v:
            continue
        radices = [
            _choose(4, u),
            _choose(4, t),
            _choose(_SQUARES - 8, p - u - t),
            _choose(4 - t, v),
            _choose(_SQUARES - 4 - p + t, q - v),
            _choose(of.white - p + of.columns - 1, of.columns - 1),
            _choose(of.black - q + of.columns - 1, of.columns - 1),
            _choose(of.white - u, of.white_officers - u),
            _choose(of.black - v, of.black_officers - v),
        ]
        if prod(radices):
            found.append(((p, u, t, v), base, radices))
            base += prod(radices)
    return tuple(found)


def classes_by_men(men: int) -> list[VerifiedClass]:
    """All classes with both colours and at most so many men that hold a position."""
    found = [
        VerifiedClass(white, total - white, white_officers, black_officers, columns)
        for total in range(2, men + 1)
        for white in range(1, total)
        for white_officers in range(white + 1)
        for black_officers in range(total - white + 1)
        for columns in range(1, total + 1)
    ]
    return [one for one in found if one.size]


def officer_classes(columns: int) -> list[VerifiedClass]:
    """The classes of eleven officers a side in at most so many columns."""
    return [VerifiedClass(*[_MEN_A_SIDE] * 4, c) for c in range(1, columns + 1)]


def check_lasca(
    store: Store,
    classes: Sequence[VerifiedClass],
    *,
    sample: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[Check]:
    """Re-derives values and distances of these classes; their successors' tables must be there.

    sample: look at about so many positions of each class, None for all. threads: that check at
    once. Raises MissingTableError, CorruptTableError and what else the store's tables raise.
    """
    how = "all positions" if sample is None else f"samples of {sample:,} of each class"
    checks = [
        Check("every value and distance is what its moves give", how),
        Check("mirror images have equal values and distances", how),
    ]
    sections = [
        (one.table, one.size, partial(_Run.prepare, one, store, threads)) for one in classes
    ]
    run_checks(checks, sections, sample=sample, threads=threads, progress=progress)
    return checks


class _Run(NamedTuple):
    """What checking one class needs.

    groups: int64[g, 14], each group's four numbers, first index and nine radices.
    scores: int16[size] of the class. reached: int16, of all classes that moves lead to, one after
    another. rows: int32[2, columns + 1, columns + 1, 5, 5, 5], by promotion, columns left and a
    group's four numbers, the row of `places` that holds where the group begins in `reached` and
    the factors of its nine digits; _NO_CLASS where there is none. own_rows, own_places: the same
    for the class itself, under no promotion.
    """

    of: VerifiedClass
    groups: np.ndarray
    scores: np.ndarray
    reached: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    own_rows: np.ndarray
    own_places: np.ndarray

    @classmethod
    def prepare(cls, of: VerifiedClass, store: Store, threads: int) -> _Run:
        most = of.columns + 1
        rows = np.full((2, most, most, 5, 5, 5), _NO_CLASS, np.int32)
        own_rows = rows[:1].copy()
        places: list[list[int]] = []
        reached = []
        begin = 0
        for promoted, columns in product(range(2), range(1, of.columns + 1)):
            target = of.after(promoted, columns)
            if target.white_officers <= target.white and target.size:
                _enter_groups(target, begin, rows[promoted, columns], places)
                reached.append(_scores(store, target, threads))
                begin += target.size
        own_places: list[list[int]] = []
        _enter_groups(of, 0, own_rows[0, of.columns], own_places)
        return cls(
            of,
            np.array([[*key, base, *radices] for key, base, radices in _groups(of)]),
            _scores(store, of, threads),
            np.concatenate(reached),
            rows,
            np.array(places),
            own_rows,
            np.array(own_places),
        )

    def check(self, first: int, end: int) -> tuple[list[tuple[int, int, int]], ...]:
        """Faults among entries first..end-1: of the scores, and against the mirror image."""
        found = np.empty((2, end - first, 3), np.int64)
        counts = _check(
            first,
            end,
            *self[1:],
            np.array(self.of),
            _new_work(),
            found,
        )
        return tuple(
            [tuple(fault) for fault in part[:count].tolist()]
            for part, count in zip(found, counts, strict=True)
        )

    def fault(self, index: int, stored: int, derived: int) -> Fault:
        """A fault, named."""
        work, of = _new_work(), np.array(self.of)
        group = _go_to(index, self.groups, of, work)
        _place_columns(work)
        _fill_columns(work, self.groups[group], of)
        columns = " ".join(
            name + "".join(_MEN[code >> 2 * man & 3] for man in range(height))
            for name, code, height in zip(
                _NAMES, work.codes.tolist(), work.heights.tolist(), strict=True
            )
            if height
        )
        return Fault(
            self.of.table, _SECTION, index, f"W:{columns}", _named(stored), _named(derived)
        )


def _enter_groups(of: VerifiedClass, begin: int, rows: np.ndarray, places: list[list[int]]) -> None:
    """Adds a class that begins at index `begin` to `places`, and where there to `rows`."""
    for key, base, radices in _groups(of):
        rows[key] = len(places)
        places.append([begin + base, *(prod(radices[i + 1 :]) for i in range(len(radices)))])


def _scores(store: Store, of: VerifiedClass, threads: int) -> np.ndarray:
    """int16[size]: the scores in a table."""
    with opened(store, of.table, _SECTION, of.size) as table:
        win, loss = table.planes(_SECTION, threads)
        plies = table.plies_array(_SECTION, threads)
        if plies is None:
            raise CorruptTableError(table.path, f"section {_SECTION}", "it has no distances")
    scores = np.empty(of.size, np.int16)
    _enter_scores(win, loss, plies, scores)
    return scores


def _named(score: int) -> str:
    """A score in words."""
    if score == _OUTSIDE:
        return "of a position with a move to no class"
    if score == _DRAW:
        return "draw"
    return f"win in {score}" if score >= 0 else f"loss in {-1 - score}"


def _choose(n: int, k: int) -> int:
    """C(n, k), 0 where it has no sense."""
    return comb(n, k) if 0 <= k <= n else 0


def _joined(steps: int) -> np.ndarray:
    """int64[25, 4]: the square so many diagonal steps away, up left and right, down left and
    right, or -1 off the board."""
    at = {place: square for square, place in enumerate(_PLACES)}
    return np.array(
        [
            [at.get((f + steps * right, r + steps * up), -1) for up in (1, -1) for right in (-1, 1)]
            for f, r in _PLACES
        ]
    )


_NEXT, _BEYOND = _joined(1), _joined(2)
_MIRROR = np.array([_PLACES.index((_SIDE - 1 - f, r)) for f, r in _PLACES])
_LOWEST = np.zeros(32, np.int64)
_LOWEST[[(_DE_BRUIJN << bit) >> 27 & 31 for bit in range(32)]] = range(32)
_TURN = np.arange(_SQUARES)[::-1].copy()
_CHOOSE = np.array([[_choose(n, k) for k in range(26)] for n in range(48)], np.int64)


class _Work(NamedTuple):
    """A position, White to move, and the run of jumps that is being tried on it; int64[25] each.

    digits, sets, sizes: the nine digits of the index, each the rank of a set of `sizes` numbers,
    and these sets as masks: squares of White on rank 7, on rank 1 and between, squares of Black on
    rank 1 and above, bars between the shares of White's and of Black's men, their officers.
    squares, owners: the columns in the order of their squares, with the commander's colour.
    codes, heights: the men of the column on each square, and how many they are.
    landings, ways, jumped, taken, went_on: for each landing of the run the square, the next
    direction to try, the square jumped over from there, the column on it before, and whether any
    jump went on from there.
    """

    digits: np.ndarray
    sets: np.ndarray
    sizes: np.ndarray
    squares: np.ndarray
    owners: np.ndarray
    codes: np.ndarray
    heights: np.ndarray
    landings: np.ndarray
    ways: np.ndarray
    jumped: np.ndarray
    taken: np.ndarray
    went_on: np.ndarray


def _new_work() -> _Work:
    return _Work(*np.zeros((len(_Work._fields), _SQUARES), np.int64))


# The kernels make no arrays, so they need not count references. Numbers passed from one to another
# are made int64 where they would be constants, for which a kernel is compiled anew.
_kernel = njit(cache=True, nogil=True, _nrt=False)


@_kernel
def _lowest(mask):
    """The number of the lowest bit set, of a mask of up to 32 bits that is not 0."""
    return _LOWEST[(mask & -mask) * _DE_BRUIJN >> 27 & 31]


@_kernel
def _enter_scores(win, loss, plies, scores):
    """Scores (int16[n]) from bitmaps win and loss (uint8[ceil(n / 8)]) and plies (uint8/16[n])."""
    for i in range(scores.size):
        won, lost = win[i >> 3] >> (i & 7) & 1, loss[i >> 3] >> (i & 7) & 1
        scores[i] = plies[i] if won else -1 - np.int64(plies[i]) if lost else _DRAW


@_kernel
def _subset(rank, size):
    """The set of `size` numbers, as a mask, with a colex rank."""
    members = 0
    while size:
        member = size - 1
        while _CHOOSE[member + 1, size] <= rank:
            member += 1
        rank -= _CHOOSE[member, size]
        members |= 1 << member
        size -= 1
    return members


@_kernel
def _begin(group, of, work):
    """Sets up the sizes of a group's sets, and its first position's digits and sets.

    group int64[14] as in _Run; of int64[5], the fields of VerifiedClass.
    """
    p, u, t, v = group[0], group[1], group[2], group[3]
    sizes = work.sizes
    sizes[0], sizes[1], sizes[2] = u, t, p - u - t
    sizes[3], sizes[4] = v, of[4] - p - v
    sizes[5] = sizes[6] = of[4] - 1
    sizes[7], sizes[8] = of[2] - u, of[3] - v
    for i in range(_DIGITS):
        work.digits[i] = 0
        work.sets[i] = (1 << sizes[i]) - 1


@_kernel
def _go_to(index, groups, of, work):
    """Sets up digits and sets of the position with an index; returns the number of its group."""
    low, high = 0, groups.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if groups[middle, 4] <= index:
            low = middle
        else:
            high = middle
    _begin(groups[low], of, work)
    number = index - groups[low, 4]
    for i in range(_DIGITS - 1, -1, -1):
        radix = groups[low, 5 + i]
        work.digits[i] = number % radix
        number //= radix
        work.sets[i] = _subset(work.digits[i], work.sizes[i])
    return low


@_kernel
def _go_on(group, groups, of, work):
    """Sets up the next position; returns its group and the first digit that changed."""
    i = _DIGITS - 1
    while i >= 0:
        work.digits[i] += 1
        if work.digits[i] < groups[group, 5 + i]:
            # The next greater number with as many bits: the lowest run of ones gives its top bit
            # to the place above and falls to the low end.
            above = work.sets[i] + (work.sets[i] & -work.sets[i])
            work.sets[i] = above | (work.sets[i] ^ above) >> (_lowest(work.sets[i]) + 2)
            return group, i
        work.digits[i] = 0
        work.sets[i] = (1 << work.sizes[i]) - 1
        i -= 1
    group += 1
    if group < groups.shape[0]:
        _begin(groups[group], of, work)
    return group, np.int64(0)


@_kernel
def _place_columns(work):
    """Columns' squares and owners from the sets; the board is left empty."""
    white = work.sets[0] << _LAST_RANK | work.sets[1] | work.sets[2] << _FIRST_RANK
    # Black's squares are numbered by those White leaves free, first on rank 1 and then above.
    black = work.sets[3] | work.sets[4] << (_FIRST_RANK - work.sizes[1])
    column = 0
    for square in range(_SQUARES):
        work.heights[square] = 0
        if white >> square & 1:
            work.squares[column] = square
            work.owners[column] = _WHITE
            column += 1
        else:
            if black & 1:
                work.squares[column] = square
                work.owners[column] = _BLACK
                column += 1
            black >>= 1


@_kernel
def _fill_columns(work, group, of):
    """The men of the columns from the sets; arguments as for `_begin`."""
    columns = of[4]
    # A last bar, behind all men, ends the share of the last column.
    white_bars = work.sets[5] | 1 << (of[0] - group[0] + columns - 1)
    black_bars = work.sets[6] | 1 << (of[1] + group[0] - 1)
    white_line, black_line = work.sets[7], work.sets[8]
    for column in range(columns):
        square, owner = work.squares[column], work.owners[column]
        whites, blacks = 0, 0
        while not white_bars & 1:
            whites += 1
            white_bars >>= 1
        while not black_bars & 1:
            blacks += 1
            black_bars >>= 1
        white_bars >>= 1
        black_bars >>= 1
        code, height = 0, 0
        if square >= _LAST_RANK if owner == _WHITE else square < _FIRST_RANK:
            code, height = owner | _OFFICER, 1  # a soldier can't command there
        elif owner == _WHITE:
            whites += 1
        else:
            blacks += 1
        for run in range(2):
            colour = owner ^ run
            for _ in range(blacks if colour else whites):
                line = black_line if colour else white_line
                code |= (colour | (line & 1) * _OFFICER) << 2 * height
                height += 1
                if colour:
                    black_line >>= 1
                else:
                    white_line >>= 1
        work.codes[square] = code
        work.heights[square] = height


@_kernel
def _rank(work, view, occupied, flip, promoted, rows, places):
    """Where the position in `work` stands, looked at from another side; _NO_CLASS if nowhere.

    view int64[25]: the square that is seen as square 0, 1, ...; occupied: as a mask, the squares
    with a column as they are seen; flip: 1 to see each man in the other colour. rows, places as in
    _Run, for positions after `promoted` promotions.
    """
    columns = 0
    white_on_7, white_on_1, white_between, black_on_1, black_above = 0, 0, 0, 0, 0
    rank_1, rank_2, rank_3, rank_4, rank_5 = 0, 0, 0, 0, 0
    white_bars, black_bars, white_shared, black_shared = 0, 0, 0, 0
    white_line, black_line, white_officers, black_officers = 0, 0, 0, 0
    white_chosen, black_chosen = 0, 0
    while occupied:
        seen = _lowest(occupied)
        occupied &= occupied - 1
        square = view[seen]
        height = work.heights[square]
        code = work.codes[square]
        if columns:  # a bar stands before every column but the first
            white_bars += _CHOOSE[white_shared + columns - 1, columns]
            black_bars += _CHOOSE[black_shared + columns - 1, columns]
        columns += 1
        white = white_on_7 + white_on_1 + white_between
        if code & 1 ^ flip == _WHITE:
            bound = seen >= _LAST_RANK
            white_shared -= 1  # the commander is not shared out
            if bound:
                white_on_7 += 1
                rank_1 += _CHOOSE[seen - _LAST_RANK, white_on_7]
            elif seen < _FIRST_RANK:
                white_on_1 += 1
                rank_2 += _CHOOSE[seen, white_on_1]
            else:
                white_between += 1
                rank_3 += _CHOOSE[seen - _FIRST_RANK, white_between]
        else:
            bound = seen < _FIRST_RANK
            black_shared -= 1
            if bound:
                black_on_1 += 1
                rank_4 += _CHOOSE[seen - white, black_on_1]
            else:
                black_above += 1
                rank_5 += _CHOOSE[seen - white - (_FIRST_RANK - white_on_1), black_above]
        for man in range(height):
            officer = code >> 1 & 1
            in_line = man > 0 or not bound
            if code & 1 ^ flip == _WHITE:
                white_shared += 1
                if in_line:
                    if officer:
                        white_chosen += 1
                        white_officers += _CHOOSE[white_line, white_chosen]
                    white_line += 1
            else:
                black_shared += 1
                if in_line:
                    if officer:
                        black_chosen += 1
                        black_officers += _CHOOSE[black_line, black_chosen]
                    black_line += 1
            code >>= 2
    white = white_on_7 + white_on_1 + white_between
    row = rows[promoted, columns, white, white_on_7, white_on_1, black_on_1]
    if row == _NO_CLASS:
        return np.int64(_NO_CLASS)
    place = places[row]
    return (
        place[0]
        + rank_1 * place[1]
        + rank_2 * place[2]
        + rank_3 * place[3]
        + rank_4 * place[4]
        + rank_5 * place[5]
        + white_bars * place[6]
        + black_bars * place[7]
        + white_officers * place[8]
        + black_officers * place[9]
    )


@_kernel
def _score_after(work, occupied, square, code, height, promoted, reached, rows, places):
    """The score of the position with White's column come to `square`, to the opponent.

    occupied: the squares of the other columns, as a mask, as the opponent sees them.
    """
    work.codes[square] = code | promoted * _OFFICER
    work.heights[square] = height
    occupied |= 1 << (_SQUARES - 1 - square)
    at = _rank(work, _TURN, occupied, np.int64(1), promoted, rows, places)
    work.heights[square] = 0
    return _OUTSIDE if at == _NO_CLASS else np.int64(reached[at])


@_kernel
def _better(best, reply):
    """The better of White's best score so far and what a move to a reply's score gives.

    A score is better the sooner it wins, then if it draws, then the later it loses; _NO_MOVE is
    worse than all.
    """
    if best == _OUTSIDE or reply == _OUTSIDE:
        return _OUTSIDE
    if reply == _DRAW:
        score = np.int64(_DRAW)
    elif reply < 0:
        score = -reply  # the opponent loses in -1 - reply
    else:
        score = -2 - reply
    if best == _NO_MOVE:
        return score
    if best >= 0 and score >= 0:
        return min(best, score)  # _DRAW is greater than any distance
    if best < 0 and score < 0:
        return min(best, score)
    return max(best, score)


@_kernel
def _capture(work, occupied, square, best, reached, rows, places):
    """The best score, `best` included, over all runs of jumps of the column on `square`.

    occupied: the squares of all columns, as a mask, as the opponent sees them.
    """
    code, height = work.codes[square], work.heights[square]
    officer = code >> 1 & 1
    work.heights[square] = 0
    occupied ^= 1 << (_SQUARES - 1 - square)
    over_already = 0
    depth = 0
    work.landings[0] = square
    work.ways[0] = 0
    work.went_on[0] = 0
    while depth >= 0:
        here = work.landings[depth]
        promoted = np.int64(depth > 0 and not officer and here >= _LAST_RANK)
        jumps = False
        while not (promoted or jumps) and work.ways[depth] < (4 if officer else 2):
            way = work.ways[depth]
            work.ways[depth] += 1
            over, landing = _NEXT[here, way], _BEYOND[here, way]
            jumps = (
                landing >= 0
                and work.heights[landing] == 0
                and work.heights[over] > 0
                and work.codes[over] & 1 == _BLACK
                and not over_already >> over & 1
            )
            if jumps:
                captive = work.codes[over]
                work.went_on[depth] = 1
                work.jumped[depth] = over
                work.taken[depth] = captive
                work.codes[over] = captive >> 2
                work.heights[over] -= 1
                if work.heights[over] == 0:
                    occupied ^= 1 << (_SQUARES - 1 - over)
                over_already |= 1 << over
                code |= (captive & 3) << 2 * height
                height += 1
                depth += 1
                work.landings[depth] = landing
                work.ways[depth] = 0
                work.went_on[depth] = 0
        if jumps:
            continue
        if depth and not work.went_on[depth]:
            reply = _score_after(
                work, occupied, here, code, height, promoted, reached, rows, places
            )
            best = _better(best, reply)
        depth -= 1
        if depth >= 0:
            over = work.jumped[depth]
            if work.heights[over] == 0:
                occupied ^= 1 << (_SQUARES - 1 - over)
            work.codes[over] = work.taken[depth]
            work.heights[over] += 1
            over_already ^= 1 << over
            height -= 1
            code &= (1 << 2 * height) - 1
    work.codes[square] = code
    work.heights[square] = height
    return best


@_kernel
def _derive(work, columns, reached, rows, places):
    """The score of the position in `work`, of so many columns, from those after its moves."""
    occupied = np.int64(0)
    for column in range(columns):
        occupied |= 1 << (_SQUARES - 1 - work.squares[column])
    best = np.int64(_NO_MOVE)
    for column in range(columns):
        if work.owners[column] == _WHITE:
            square = work.squares[column]
            best = _capture(work, occupied, square, best, reached, rows, places)
    if best != _NO_MOVE:  # whoever can capture must
        return best
    for column in range(columns):
        if work.owners[column] != _WHITE:
            continue
        square = work.squares[column]
        code, height = work.codes[square], work.heights[square]
        officer = code >> 1 & 1
        work.heights[square] = 0
        others = occupied ^ 1 << (_SQUARES - 1 - square)
        for way in range(4 if officer else 2):
            target = _NEXT[square, way]
            if target >= 0 and work.heights[target] == 0:
                promoted = np.int64(not officer and target >= _LAST_RANK)
                reply = _score_after(
                    work, others, target, code, height, promoted, reached, rows, places
                )
                best = _better(best, reply)
        work.codes[square] = code
        work.heights[square] = height
    return _LOST_NOW if best == _NO_MOVE else best


@_kernel
def _check(
    first, end, groups, scores, reached, rows, places, own_rows, own_places, of, work, found
):
    """Checks entries first..end-1 of a class; arguments as in _Run.

    of int64[5]: the fields of VerifiedClass. Writes (index, stored, wanted) to found
    int64[2, n, 3]: scores that are not what the moves give, and scores that differ from the mirror
    image's. Returns how many of each.
    """
    wrong = 0
    unlike = 0
    group = _go_to(first, groups, of, work)
    changed = np.int64(0)
    for index in range(first, end):
        if index > first:
            group, changed = _go_on(group, groups, of, work)
        if changed <= _LAST_OF_SQUARES:
            _place_columns(work)
        _fill_columns(work, groups[group], of)
        stored = np.int64(scores[index])
        derived = _derive(work, of[4], reached, rows, places)
        if derived != stored:
            found[0, wrong, 0], found[0, wrong, 1], found[0, wrong, 2] = index, stored, derived
            wrong += 1
        seen = np.int64(0)
        for column in range(of[4]):
            seen |= 1 << _MIRROR[work.squares[column]]
        none = np.int64(0)
        image = _rank(work, _MIRROR, seen, none, none, own_rows, own_places)
        mirrored = np.int64(scores[image])
        if mirrored != stored:
            found[1, unlike, 0], found[1, unlike, 1], found[1, unlike, 2] = index, stored, mirrored
            unlike += 1
    return wrong, unlike
