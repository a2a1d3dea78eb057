"""Re-derives every value of morris tables from the values it leads to, by code of its own.

Nothing here comes from the engine or from a solver: the board is built from the names of its
points, rows and columns are numbered by counting through all masks, as `databases/FORMAT.md` says
they are, and moves are found point by point. So an error that solver and engine share is seen.

Invariant: a clean check of a table means that each of its values is the best that the stored
values of its successors give. That alone doesn't prove them: wins could chase one another in a
circle of slides. `verify_fixpoint.py` looks at that.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from math import comb
from mmap import mmap
from typing import NamedTuple

import numpy as np
from numba import njit

from databases.cache import OpenFiles
from databases.store import Store
from solver.progress import Progress
from solver.verification import Check, Fault, require_section, run_checks

# The order in which databases/FORMAT.md numbers the points.
_OUTER = ("a7", "d7", "g7", "g4", "g1", "d1", "a1", "a4")
_INNER = ("c5", "d5", "e5", "e4", "e3", "d3", "c3", "c4")
_MIDDLE = ("b6", "d6", "f6", "f4", "f2", "d2", "b2", "b4")
_NAMES = _OUTER + _INNER + _MIDDLE
_FILES = "abcdefg"
_CENTRE = 3
_COUNT = 24
_LEAST, MOST = 3, 10  # men of a side in all: fewer have lost, more are not in the game
_SYMMETRIES = 16
MOST_SLIDES = 3 * 21  # three men that fly; else at most four ways for each of ten
_NO_ORBIT = 0xFFFFFFFF
# A sequence of 32 bits in which each run of five differs from all others (de Bruijn), so that its
# product with a power of two tells which power it is.
_DE_BRUIJN = 0x077CB531
ALL_POINTS = (1 << _COUNT) - 1
_HAND = 1 << _COUNT  # as the point that a placed man comes from
_NOBODY = 1 << _COUNT  # as the man that a quiet move takes

DRAW, WIN, LOSS = 0, 1, 2  # as packed here: bit 0 of a win, bit 1 of a loss
UNREAD = 4  # in place of a value that is still to be read
_NAMED = ("draw", "win", "loss", "win and loss at once")

# The values of a section are read a page at a time where only some are looked at.
_PAGE_BITS = 17
_PAGE = 1 << _PAGE_BITS  # as many entries as a block has
_ABSENT, _WANTED, _PRESENT = 0, 1, 2  # what a page is
_MOST_OPEN_FILES = 64


def _lines(at: dict[tuple[int, int], int]) -> Iterator[list[int]]:
    """The 16 lines of three points, from the points' places (file, rank) on the 7 x 7 board."""
    for along in (0, 1):
        for place in range(len(_FILES)):
            points = [at[spot] for spot in sorted(at) if spot[along] == place]
            # The middle file and rank have six, broken by the centre of the board.
            yield from (points[i : i + 3] for i in range(0, len(points), 3))


def _permutations(at: dict[tuple[int, int], int]) -> Iterator[list[int]]:
    """The 16 symmetries as permutations of the points, from their places on the 7 x 7 board."""
    for exchange in (False, True):
        for transpose in (False, True):
            for right in (1, -1):
                for up in (1, -1):
                    permutation = [0] * _COUNT
                    for (file, rank), point in at.items():
                        x, y = right * (file - _CENTRE), up * (rank - _CENTRE)
                        ring = max(abs(x), abs(y))
                        if exchange:  # rings 1 and 3 change places
                            x, y = x * (4 - ring) // ring, y * (4 - ring) // ring
                        if transpose:
                            x, y = y, x
                        permutation[point] = at[x + _CENTRE, y + _CENTRE]
                    yield permutation


_AT = {(_FILES.index(name[0]), int(name[1]) - 1): p for p, name in enumerate(_NAMES)}


def _board() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks (int64): the 16 lines; [24] the neighbours of each point; [24, 2] the other two points
    of each of the two lines through it."""
    lines = list(_lines(_AT))
    near = np.zeros(_COUNT, np.int64)
    for here, there in (pair for line in lines for pair in pairwise(line)):
        near[here] |= 1 << there
        near[there] |= 1 << here
    masks = [sum(1 << point for point in line) for line in lines]
    mills = [[m & ~(1 << point) for m in masks if m >> point & 1] for point in range(_COUNT)]
    return np.array(masks), near, np.array(mills)


def _images() -> np.ndarray:
    """uint32[16, 3, 256]: the image under each symmetry of each value of each byte of a mask."""
    images = np.zeros((_SYMMETRIES, 3, 256), np.uint32)
    for s, permutation in enumerate(_permutations(_AT)):
        for point, target in enumerate(permutation):
            byte, bit = divmod(point, 8)
            images[s, byte] |= ((np.arange(256) >> bit & 1) << target).astype(np.uint32)
    return images


def _squeeze_and_stretch() -> tuple[np.ndarray, np.ndarray]:
    """uint8[256, 256] each, by a byte of taken points: bits at the others closed up, and back."""
    squeeze, stretch = np.zeros((2, 256, 256), np.uint8)
    for taken in range(256):
        free = [bit for bit in range(8) if not taken >> bit & 1]
        for t, bit in enumerate(free):
            squeeze[taken] |= ((np.arange(256) >> bit & 1) << t).astype(np.uint8)
            stretch[taken] |= ((np.arange(256) >> t & 1) << bit).astype(np.uint8)
    return squeeze, stretch


_NOTHING = np.empty(0, np.int64)
_LINES, NEAR, _MILLS = _board()
_POINT_OF = np.zeros(32, np.int64)
_POINT_OF[[(_DE_BRUIJN << point) >> 27 & 31 for point in range(32)]] = range(32)
_IMAGES = _images()
_SQUEEZE, _STRETCH = _squeeze_and_stretch()
_FREE = 8 - np.bitwise_count(np.arange(256)).astype(np.int64)  # points not taken in a byte


class Numbering(NamedTuple):
    """How rows and columns are numbered, for sets of so many points or fewer.

    orbit: uint32[2**24], row * 16 + a symmetry that leads to the row's least mask; least: for each
    size uint32[rows], that mask. order: uint32[2**24], the rank of a set among those of its size.
    """

    orbit: np.ndarray
    least: tuple[np.ndarray, ...]
    order: np.ndarray


@cache
def numbering(most: int) -> Numbering:
    orbit = np.full(1 << _COUNT, _NO_ORBIT, np.uint32)
    order = np.empty(1 << _COUNT, np.uint32)
    least = []
    for size in range(most + 1):
        sets = _sets(_COUNT, size)
        order[sets] = np.arange(len(sets))
        rows = np.empty(len(sets), np.uint32)
        least.append(rows[: _count_rows(sets, orbit, rows)].copy())
    return Numbering(orbit, tuple(least), order)


@cache
def _sets(points: int, size: int) -> np.ndarray:
    """uint32[C(points, size)]: the sets of `size` of so many points as masks, ascending."""
    if size == 0:
        return np.zeros(1, np.uint32)
    if size > points:
        return np.empty(0, np.uint32)
    with_last = _sets(points - 1, size - 1) | np.uint32(1 << (points - 1))
    return np.concatenate([_sets(points - 1, size), with_last])


class Side(NamedTuple):
    """A subspace seen by the side to move: men in all and on the board, of mover and of other."""

    total: int
    other_total: int
    board: int
    other_board: int

    @property
    def mover_is_row(self) -> bool:
        """Whether the mover's men give the row: they are fewer in all."""
        return self.total < self.other_total

    @property
    def row_board(self) -> int:
        return self.board if self.mover_is_row else self.other_board

    @property
    def column_board(self) -> int:
        return self.other_board if self.mover_is_row else self.board

    @property
    def columns(self) -> int:
        return comb(_COUNT - self.row_board, self.column_board)

    @property
    def size(self) -> int:
        return len(numbering(MOST).least[self.row_board]) * self.columns

    @property
    def table(self) -> str:
        low, high = sorted((self.total, self.other_total))
        return f"r{low:02d}c{high:02d}k{self.row_board:02d}"

    @property
    def section(self) -> str:
        return f"{'R' if self.mover_is_row else 'C'}{self.column_board}"

    def after(self, *, places: bool, captures: bool) -> Side | None:
        """The subspace that such a move leads to, None when a capture wins or none can be."""
        board, other_board = self.board + places, self.other_board - captures
        other_total = self.other_total - captures
        if other_total < _LEAST or other_board < 0 or board > self.total:
            return None
        return Side(other_total, self.total, other_board, board)

    @property
    def opponent(self) -> Side:
        """The subspace after a quiet slide: the other side to move."""
        return Side(self.other_total, self.total, self.other_board, self.board)

    def flies(self, flying: str) -> bool:
        """Whether the mover may slide to points that are not adjacent."""
        few = self.board if flying == "board" else self.total
        in_hand = self.total - self.board
        return flying != "off" and few == 3 and (in_hand == 0 or flying == "total")


class Held(NamedTuple):
    """The values of a section as far as they are in memory.

    codes: uint8[...], value i (DRAW, WIN, LOSS) is bits 2 * (i % 4) and up of byte i // 4. pages:
    uint8[...], of each _PAGE entries whether they are there, _PRESENT or _ABSENT.
    """

    side: Side | None
    codes: np.ndarray
    pages: np.ndarray


_NO_VALUES = Held(None, np.empty(0, np.uint8), np.empty(0, np.uint8))


def _untouched(size: int) -> np.ndarray:
    """uint8[size], zeros, of which only what is written to takes memory.

    numpy's own zeros are not: they may lie in memory that was used before.
    """
    return np.frombuffer(mmap(-1, size), np.uint8)


class Values:
    """Values of sections, four to a byte, as many in memory as fit; for several threads.

    whole: sections are read as a whole; else only the pages that are looked at, see `fetch`.
    memory: bytes of values held, though at least those of the sections in use. threads: that read.
    To be closed, or used in a `with`.
    """

    def __init__(self, store: Store, memory: int, threads: int, *, whole: bool) -> None:
        self._store = store
        self._room = memory
        self._threads = threads
        self._whole = whole
        self._files = OpenFiles(_MOST_OPEN_FILES)
        self._held: OrderedDict[Side, Held] = OrderedDict()
        self._pages = 0  # of those held
        self._lock = threading.Lock()

    def __enter__(self) -> Values:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._files.close()

    def of(self, side: Side) -> Held:
        """The values of a subspace. Raises MissingTableError, CorruptTableError and the like."""
        with self._lock:
            if side not in self._held:
                pages = np.full(-(-side.size // _PAGE), _ABSENT, np.uint8)
                held = Held(side, _untouched(-(-side.size // 8) * 2), pages)
                self._read(held, (0, side.size if self._whole else 0))
                self._held[side] = held
                self._make_room(np.count_nonzero(pages))
            self._held.move_to_end(side)
            return self._held[side]

    def fetch(self, held: Sequence[Held], pages: Sequence[np.ndarray]) -> bool:
        """Reads what a kernel found _ABSENT and made _WANTED in these copies of the pages.

        Returns whether there was any such page; then the kernel has to run again.
        """
        wanted = False
        for one, marks in zip(held, pages, strict=True):
            for page in np.flatnonzero(marks == _WANTED).tolist():
                with self._lock:
                    if one.pages[page] != _PRESENT:
                        self._read(one, (page * _PAGE, min((page + 1) * _PAGE, one.side.size)))
                        if self._held.get(one.side) is one:
                            self._make_room(1)
                marks[page] = _PRESENT
                wanted = True
        return wanted

    def _read(self, held: Held, span: tuple[int, int]) -> None:
        """Reads entries span[0] .. span[1]-1, whole pages, even if none only opens the table."""
        side, (first, end) = held.side, span
        with self._files.use(side.table, lambda: self._store.open(side.table)) as table:
            require_section(table, side.section, side.size)
            win, loss = table.planes(side.section, self._threads, span=span)
        _interleave(win, loss, held.codes[first // 4 :])
        held.pages[first // _PAGE : -(-end // _PAGE)] = _PRESENT

    def _make_room(self, pages: int) -> None:
        """Counts so many pages more, and lets go of what was used longest ago if it is too much.

        Whoever still uses what goes keeps it.
        """
        self._pages += pages
        while self._pages * _PAGE // 4 > self._room and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self._pages -= np.count_nonzero(dropped.pages)


def sides(men: int) -> list[Side]:
    """All subspaces with totals up to `men`, small ones first."""
    totals = range(_LEAST, men + 1)
    return sorted(
        (
            Side(total, other_total, board, other_board)
            for total in totals
            for other_total in totals
            for board in range(total + 1)
            for other_board in range(other_total + 1)
        ),
        key=lambda side: (side.total + side.other_total, side.table, side.section),
    )


def check_values(
    store: Store,
    men: int,
    *,
    sample: int | None = None,
    memory: int = 1 << 30,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[Check]:
    """Re-derives the values of all subspaces with totals up to `men`.

    sample: look at about so many positions of each subspace, None for all. memory: bytes of values
    held at a time, though at least those that one subspace needs. threads: that check at once.
    Raises MissingTableError, CorruptTableError and what else the store's tables raise.
    """
    flying = str(store.family.rules["flying"])
    how = "all positions" if sample is None else f"samples of {sample:,} of each subspace"
    checks = [
        Check("every value is the best that its moves give", how),
        Check("positions equal by symmetry have equal values", how),
    ]
    with Values(store, memory, threads, whole=sample is None) as values:
        sections = [
            (side.table + side.section, side.size, partial(Run.of, side, flying, values))
            for side in sides(men)
        ]
        run_checks(checks, sections, sample=sample, threads=threads, progress=progress)
    return checks


class Run(NamedTuple):
    """What checking one subspace needs."""

    side: Side
    may: tuple[bool, bool, bool]  # in hand, flies, a capture wins
    rows: tuple[bool, bool, bool]  # whether the mover is R: here, after a move, after a capture
    sizes: tuple[int, int, int, int, int]  # columns of the five subspaces below
    columns: np.ndarray  # uint32, the sets of C's men, numbered by the points R leaves free
    held: tuple[Held, ...]  # here; after placement, slide, capturing placement, slide
    source: Values

    @classmethod
    def of(cls, side: Side, flying: str, values: Values) -> Run:
        targets = [side] + [
            side.after(places=places, captures=captures)
            for captures in (False, True)
            for places in (True, False)
        ]
        return cls(
            side,
            (
                side.total > side.board,
                side.flies(flying),
                side.other_total - 1 < _LEAST,
            ),
            (
                side.mover_is_row,
                side.other_total < side.total,
                side.other_total - 1 < side.total,
            ),
            tuple(target.columns if target else 0 for target in targets),
            _sets(_COUNT - side.row_board, side.column_board),
            tuple(values.of(target) if target else _NO_VALUES for target in targets),
            values,
        )

    @property
    def values(self) -> tuple[np.ndarray, ...]:
        """The codes of `held`."""
        return tuple(held.codes for held in self.held)

    def pages(self) -> tuple[np.ndarray, ...]:
        """Which pages of `held` are there: copies in which a kernel marks those that it wants.

        Taken before a kernel runs, so that it sees no page that another thread is just reading.
        """
        return tuple(held.pages.copy() for held in self.held)

    def check(self, first: int, end: int) -> tuple[list[tuple[int, int, int]], ...]:
        """Faults among entries first..end-1: of the values, and among the copies."""
        found = np.empty((2, end - first, 3), np.int64)
        known = numbering(MOST)
        pages = self.pages()
        unread = True
        while unread:
            *counts, unread = _check(
                first,
                end,
                known.orbit,
                known.order,
                known.least[self.side.row_board],
                self.columns,
                self.may,
                self.rows,
                self.sizes,
                self.values,
                pages,
                _NOTHING,
                found,
            )
            if unread:
                self.source.fetch(self.held, pages)
        return tuple(
            [tuple(fault) for fault in part[:count].tolist()]
            for part, count in zip(found, counts, strict=True)
        )

    def stored(self, index: int) -> int:
        """The value of an entry: DRAW, WIN or LOSS."""
        pages = np.full_like(self.held[0].pages, _ABSENT)
        pages[index // _PAGE] = _WANTED
        self.source.fetch(self.held[:1], [pages])
        return int(self.held[0].codes[index // 4]) >> 2 * (index % 4) & 3

    def fault(self, index: int, stored: int, derived: int) -> Fault:
        side = self.side
        return Fault(
            side.table,
            side.section,
            index,
            _text(side, *_masks(side, self.columns, index)),
            _NAMED[stored],
            _NAMED[derived],
        )


def _masks(side: Side, columns: np.ndarray, index: int) -> tuple[int, int]:
    """Mover's and other's men on the board."""
    row, column = divmod(index, len(columns))
    row_men = int(numbering(MOST).least[side.row_board][row])
    free = [p for p in range(_COUNT) if not row_men >> p & 1]
    column_men = sum(1 << p for t, p in enumerate(free) if int(columns[column]) >> t & 1)
    return (row_men, column_men) if side.mover_is_row else (column_men, row_men)


def _text(side: Side, mover: int, other: int) -> str:
    """The position in the notation of the project, the mover as White."""
    white, black = (
        ",".join(sorted(_NAMES[p] for p in range(_COUNT) if men >> p & 1)) for men in (mover, other)
    )
    hands = side.total - side.board, side.other_total - side.other_board
    return f"W:W{white}:B{black}" + (f":H{hands[0]},{hands[1]}" if any(hands) else "")


# The kernels make no arrays, so they need not count references, which would cost a third.
kernel = njit(cache=True, nogil=True, _nrt=False)


@kernel
def _image(symmetry, mask):
    """The image of a mask (int64) under a symmetry."""
    return np.int64(
        _IMAGES[symmetry, 0, mask & 255]
        | _IMAGES[symmetry, 1, mask >> 8 & 255]
        | _IMAGES[symmetry, 2, mask >> 16]
    )


@kernel
def lowest_point(mask):
    """The number of the lowest point of a mask that is not empty."""
    return _POINT_OF[(mask & -mask) * _DE_BRUIJN >> 27 & 31]


@kernel
def _count_rows(sets, orbit, rows):
    """Numbers the orbits of all sets of one size by their least masks.

    sets uint32[n], ascending; orbit uint32[2**24], all ones where not known, receives
    row * 16 + symmetry; rows uint32[n] receives the least masks. Returns how many there are.
    """
    count = 0
    for mask in sets:
        if orbit[mask] != _NO_ORBIT:
            continue
        # All smaller sets have their orbits, so this is the least of a new one.
        rows[count] = mask
        for symmetry in range(_SYMMETRIES):
            image = _image(symmetry, np.int64(mask))
            back = 0
            while _image(back, image) != mask:
                back += 1
            orbit[image] = count * _SYMMETRIES + back
        count += 1
    return count


@kernel
def _interleave(win, loss, codes):
    """Bitmaps win and loss (uint8[n]) as two bits a value in codes (uint8[2 * n])."""
    for at in range(win.size):
        for half in range(2):
            code = 0
            for bit in range(4):
                code |= (win[at] >> (4 * half + bit) & 1) << 2 * bit
                code |= (loss[at] >> (4 * half + bit) & 1) << (2 * bit + 1)
            codes[2 * at + half] = code


@kernel
def code_at(codes, pages, index):
    """Value `index` of codes as in Held, or UNREAD if its page is not there; then marks that."""
    page = index >> _PAGE_BITS
    if pages[page] != _PRESENT:
        pages[page] = _WANTED
        return np.int64(UNREAD)
    return np.int64(codes[index >> 2] >> 2 * (index & 3) & 3)


@kernel
def _squeezed(men, taken):
    """The men numbered by the points outside `taken`, as bits of a number."""
    low, middle, high = taken & 255, taken >> 8 & 255, taken >> 16
    number = np.int64(_SQUEEZE[high, men >> 16])
    number = number << _FREE[middle] | _SQUEEZE[middle, men >> 8 & 255]
    return number << _FREE[low] | _SQUEEZE[low, men & 255]


@kernel
def stretched(number, taken):
    """The mask of which `_squeezed` makes `number`."""
    men = 0
    for byte in range(3):
        here = taken >> 8 * byte & 255
        men |= np.int64(_STRETCH[here, number & ((1 << _FREE[here]) - 1)]) << 8 * byte
        number >>= _FREE[here]
    return men


@kernel
def _index_of(orbit, order, columns, mover_is_row, mover, other):
    """The index of a position in its subspace, which counts so many sets of C's men."""
    row_men, column_men = (mover, other) if mover_is_row else (other, mover)
    found = np.int64(orbit[row_men])
    symmetry = found & (_SYMMETRIES - 1)
    column = _squeezed(_image(symmetry, column_men), _image(symmetry, row_men))
    return (found >> 4) * columns + order[column]


@kernel
def _closes(men, point):
    """Whether one more man on `point` would close a mill of `men`."""
    first, second = _MILLS[point, 0], _MILLS[point, 1]
    return men & first == first or men & second == second


@kernel
def _takeable(men):
    """The men that may be taken: those in no mill, or all if every man is in one."""
    safe = 0
    for line in _LINES:
        if men & line == line:
            safe |= line
    return men if men & ~safe == 0 else men & ~safe


@kernel
def derive(orbit, order, may, rows, sizes, values, pages, mover, other, quiet):
    """The value of a position to its mover, from the values after each move: 1, 0 or -1.

    orbit, order: as in Numbering; may, rows, sizes, values, pages: as in Run; mover, other: the
    men's masks, int64. quiet: empty, or int64[as many as there may be] that receives where quiet
    slides lead, which then don't count for the value. Returns the value, UNREAD where one is needed
    that is not there, and how many were listed.
    """
    listed = 0
    unread = False
    in_hand, flies, capture_wins = may
    takeable = _takeable(other)
    best = -1  # also if there is no move: the mover has lost
    targets = ALL_POINTS & ~(mover | other)
    while targets:
        there = targets & -targets
        targets ^= there
        target = lowest_point(there)
        sources = mover if flies else mover & NEAR[target]
        if in_hand:
            sources |= _HAND
        while sources:
            source = sources & -sources
            sources ^= source
            left = mover & ~source
            leads = 0 if source == _HAND else 1
            takes = _NOBODY
            if other and _closes(left, target):
                if capture_wins:
                    return 1, listed
                leads += 2
                takes = takeable
            while takes:
                taken = takes & -takes
                takes ^= taken
                at = _index_of(
                    orbit,
                    order,
                    sizes[1 + leads],
                    rows[1 + leads // 2],
                    other & ~taken,
                    left | there,
                )
                if leads == 1 and quiet.size:
                    quiet[listed] = at
                    listed += 1
                    continue
                code = code_at(values[1 + leads], pages[1 + leads], at)
                if code == LOSS:
                    return 1, listed
                if code == DRAW:
                    best = 0
                elif code == UNREAD:
                    unread = True
    return UNREAD if unread else best, listed


@kernel
def _check(first, end, orbit, order, least, columns, may, rows, sizes, values, pages, quiet, found):
    """Checks the values first..end-1 of a subspace; arguments as in Run and Numbering.

    least uint32[rows]: their masks; quiet: int64[0]. Writes (index, stored, derived) codes to found
    int64[2, n, 3]: values that are not what the moves give, and values that differ from a copy's.
    Returns how many of each, and whether a value was needed that is not there.
    """
    wrong = 0
    unlike = 0
    unread = False
    last_row = -1
    fixing = 0
    row_men = 0
    for index in range(first, end):
        row = index // columns.size
        number = np.int64(columns[index - row * columns.size])
        if row != last_row:
            last_row = row
            row_men = np.int64(least[row])
            fixing = 0
            for symmetry in range(_SYMMETRIES):
                if _image(symmetry, row_men) == row_men:
                    fixing |= 1 << symmetry
        column_men = stretched(number, row_men)
        stored = code_at(values[0], pages[0], index)
        mover, other = (row_men, column_men) if rows[0] else (column_men, row_men)
        gain, _ = derive(orbit, order, may, rows, sizes, values, pages, mover, other, quiet)
        derived = WIN if gain == 1 else DRAW if gain == 0 else LOSS
        if stored == UNREAD or gain == UNREAD:
            unread = True
        elif stored != derived:
            found[0, wrong, 0], found[0, wrong, 1], found[0, wrong, 2] = index, stored, derived
            wrong += 1
        if fixing & (fixing - 1) == 0:  # the identity alone
            continue
        for symmetry in range(_SYMMETRIES):
            if fixing >> symmetry & 1:
                copy = _squeezed(_image(symmetry, column_men), row_men)
                code = code_at(values[0], pages[0], row * columns.size + order[copy])
                if code == UNREAD:
                    unread = True
                elif code != stored:
                    found[1, unlike, 0], found[1, unlike, 1], found[1, unlike, 2] = (
                        index,
                        stored,
                        code,
                    )
                    unlike += 1
                    break
    return wrong, unlike, unread
