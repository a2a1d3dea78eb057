"""A perfect hash of Lasca positions, White to move: every class densely numbered from 0.

A class fixes the men and officers of each colour and the number of columns. Its positions fall into
*groups*, and in a group the number is one mixed-radix word of independent digits:

    group (p, u, t, v): p columns are White's, u of them on rank 7 and t on rank 1; v of Black's
    q = columns - p columns are on rank 1. Only on those u and v squares must a commander be an
    officer (a soldier never commands on its far rank), so a group is a plain product of
      1. White's squares on rank 7      C(4, u)
      2. White's squares on rank 1      C(4, t)
      3. White's squares on ranks 2-6   C(17, p - u - t)
      4. Black's squares on rank 1      C(4 - t, v)            among those White leaves free
      5. Black's squares on ranks 2-7   C(21 - p + t, q - v)   among those White leaves free
      6. White's men over the columns   C(nw + q - 1, columns - 1)
      7. Black's men over the columns   C(nb + p - 1, columns - 1)
      8. which white men are officers   C(nw - u, ow - u)
      9. which black men are officers   C(nb - v, ob - v)

The last digit runs fastest, so neighbouring numbers share their squares. Sets are ranked in colex
order (numeric order of their bit masks). Digits 6 and 7 are weak compositions over the columns by
square, after one man for the commander of every own column, ranked as the set of their bars. For
digits 8 and 9 the men are lined up by square and from the top down, those bound to be officers left
out.

Invariant: `rank` and `unrank` are inverse to each other and onto 0..size-1. A position with Black
to move is looked up as its colour-swapped half turn, in the class with the colours swapped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from math import comb, prod
from typing import NamedTuple

from engine.lasca.board import FAR_RANK, SQUARE_COUNT
from engine.lasca.column import Column
from engine.lasca.position import Position

RANK_1 = range(0, 4)
MIDDLE = range(4, 21)
RANK_7 = range(21, 25)

# _CHOOSE[n][k] is "n choose k" for places among men and bars, at most 22 + 24, and squares.
_CHOOSE = tuple(tuple(comb(n, k) for k in range(26)) for n in range(47))

_SWAPPED = str.maketrans("wbWB", "bwBW")


class Group(NamedTuple):
    """A part of a class: see the module. `base` is the first number, `radices` the nine digits."""

    white_columns: int
    white_on_7: int
    white_on_1: int
    black_on_1: int
    base: int
    radices: tuple[int, ...]


@dataclass(frozen=True, order=True)
class LascaClass:
    """All positions, White to move, with the given men, officers and number of columns."""

    white_men: int
    black_men: int
    white_officers: int
    black_officers: int
    columns: int

    @classmethod
    def of(cls, position: Position) -> LascaClass:
        """The class of a position with White to move."""
        men = "".join(column.men for column in position.board if column)
        return cls(
            sum(man in "wW" for man in men),
            sum(man in "bB" for man in men),
            men.count("W"),
            men.count("B"),
            sum(column is not None for column in position.board),
        )

    @property
    def name(self) -> str:
        """Such as `w3b2-W1B0-c4`: men, officers, columns."""
        return (
            f"w{self.white_men}b{self.black_men}"
            f"-W{self.white_officers}B{self.black_officers}-c{self.columns}"
        )

    @property
    def swapped(self) -> LascaClass:
        """The class with the colours swapped."""
        return LascaClass(
            self.black_men,
            self.white_men,
            self.black_officers,
            self.white_officers,
            self.columns,
        )

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that hold a position, in order."""
        return _groups(self)

    @property
    def size(self) -> int:
        """The number of positions."""
        if not self.groups:
            return 0
        last = self.groups[-1]
        return last.base + prod(last.radices)

    def rank(self, position: Position) -> int:
        """The number of a position of this class, 0..size-1.

        Raises ValueError for a position of another class and for one with Black to move.
        """
        if not position.white_to_move or LascaClass.of(position) != self:
            raise ValueError(f"{position} is no position of {self.name} with White to move")
        return _number(_columns(position))[1]

    def unrank(self, index: int) -> Position:
        """The position with a number, White to move; IndexError when there is none."""
        if not 0 <= index < self.size:
            raise IndexError(f"{self.name} has numbers 0 to {self.size - 1}, not {index}")
        group = next(g for g in reversed(self.groups) if g.base <= index)
        number = index - group.base
        digits = []
        for radix in reversed(group.radices):
            number, digit = divmod(number, radix)
            digits.append(digit)
        digits.reverse()
        p, u, t, v = group[:4]
        q = self.columns - p
        white = [s + RANK_7.start for s in colex_unrank(digits[0], u)]
        white += colex_unrank(digits[1], t)
        white += [s + MIDDLE.start for s in colex_unrank(digits[2], p - u - t)]
        white_free = [s for s in range(SQUARE_COUNT) if s not in white]
        free_on_1 = sum(s in RANK_1 for s in white_free)
        black = [white_free[i] for i in colex_unrank(digits[3], v)]
        black += [white_free[i + free_on_1] for i in colex_unrank(digits[4], q - v)]

        squares = sorted(white + black)
        owners = ["w" if s in white else "b" for s in squares]
        shares = [
            _unrank_shares(digits[5], self.white_men - p, self.columns),
            _unrank_shares(digits[6], self.black_men - q, self.columns),
        ]
        lines = [
            _officers(digits[7], "w", self.white_men - u, self.white_officers - u),
            _officers(digits[8], "b", self.black_men - v, self.black_officers - v),
        ]
        board: list[Column | None] = [None] * SQUARE_COUNT
        for i, (square, owner) in enumerate(zip(squares, owners, strict=True)):
            own, other = (0, 1) if owner == "w" else (1, 0)
            commander = owner.upper() if square in FAR_RANK[owner] else next(lines[own])
            men = commander + "".join(next(lines[own]) for _ in range(shares[own][i]))
            men += "".join(next(lines[other]) for _ in range(shares[other][i]))
            board[square] = Column(men)
        return Position(tuple(board))


def locate(position: Position) -> tuple[LascaClass, int]:
    """The class and number of a position; with Black to move, of its colour-swapped half turn."""
    return _number(_columns(position))


def _columns(position: Position) -> list[tuple[int, str]]:
    """Square and men of each column, ascending, as White sees them who is to move."""
    columns = [(square, column.men) for square, column in enumerate(position.board) if column]
    if position.white_to_move:
        return columns
    last = SQUARE_COUNT - 1
    return [(last - square, men.translate(_SWAPPED)) for square, men in reversed(columns)]


def _number(columns: list[tuple[int, str]]) -> tuple[LascaClass, int]:
    """The class and number of a position given as `_columns` gives it.

    One pass over the columns, since look-ups spend most of their time here.
    """
    on_7 = on_1 = middle = black_on_1 = black_above = 0  # digits 1 to 5
    u = t = m = v = a = 0  # how many columns have gone into each of them
    white_men = black_men = white_shares = black_shares = 0
    white_line = black_line = ""
    bars = len(columns) - 1
    for number, (square, men) in enumerate(columns):
        whites = men.count("w") + men.count("W")
        blacks = len(men) - whites
        white_men += whites
        black_men += blacks
        if men[0] in "wW":
            black_line += men[whites:]
            if square >= RANK_7.start:
                u += 1
                on_7 += _CHOOSE[square - RANK_7.start][u]
                white_line += men[1:whites]
            else:
                white_line += men[:whites]
                if square < RANK_1.stop:
                    t += 1
                    on_1 += _CHOOSE[square][t]
                else:
                    m += 1
                    middle += _CHOOSE[square - MIDDLE.start][m]
        else:
            white_line += men[blacks:]
            if square < RANK_1.stop:
                v += 1
                black_on_1 += _CHOOSE[square - t][v]
                black_line += men[1:blacks]
            else:
                a += 1
                black_above += _CHOOSE[square - RANK_1.stop - m - u][a]
                black_line += men[:blacks]
        if number < bars:
            # Stars and bars: bar i stands after the men to share out so far and i bars.
            white_shares += _CHOOSE[white_men - u - t - m + number][number + 1]
            black_shares += _CHOOSE[black_men - v - a + number][number + 1]
    white_officers, of_white = _rank_officers(white_line)
    black_officers, of_black = _rank_officers(black_line)
    of, groups = _groups_by_key(
        white_men, black_men, white_officers + u, black_officers + v, len(columns)
    )
    group = groups[u + t + m, u, t, v]
    squares = (on_7, on_1, middle, black_on_1, black_above)
    digits = (*squares, white_shares, black_shares, of_white, of_black)
    found = 0
    for digit, radix in zip(digits, group.radices, strict=True):
        found = found * radix + digit
    return of, group.base + found


def _rank_officers(line: str) -> tuple[int, int]:
    """How many of a line of men are officers, and the colex rank of their places."""
    officers = rank = 0
    for place, man in enumerate(line):
        if man in "WB":
            officers += 1
            rank += _CHOOSE[place][officers]
    return officers, rank


@lru_cache(maxsize=4096)
def _groups_by_key(*numbers: int) -> tuple[LascaClass, dict[tuple[int, ...], Group]]:
    """The class with these numbers, and its groups by p, u, t and v."""
    of = LascaClass(*numbers)
    return of, {group[:4]: group for group in of.groups}


@lru_cache
def classes(white_men: int, black_men: int) -> tuple[LascaClass, ...]:
    """The classes with these men that hold a position, in an order that puts a class after every
    class its moves can lead to (colours swapped): more officers first, then fewer columns."""
    found = [
        LascaClass(white_men, black_men, white_officers, black_officers, columns)
        for white_officers in range(white_men + 1)
        for black_officers in range(black_men + 1)
        for columns in range(1, min(white_men + black_men, SQUARE_COUNT) + 1)
    ]
    found.sort(key=lambda c: (-c.white_officers - c.black_officers, c.columns, c))
    return tuple(c for c in found if c.size)


@lru_cache(maxsize=4096)
def _groups(of: LascaClass) -> tuple[Group, ...]:
    found = []
    base = 0
    nw, nb, ow, ob = of.white_men, of.black_men, of.white_officers, of.black_officers
    for p, u, t, v in product(range(of.columns + 1), range(5), range(5), range(5)):
        q = of.columns - p
        on_middle_ranks = p - u - t
        if not 0 <= on_middle_ranks <= len(MIDDLE) or v > q or u > ow or v > ob:
            continue
        radices = (
            comb(4, u),
            comb(4, t),
            comb(len(MIDDLE), on_middle_ranks),
            comb(4 - t, v),
            comb(21 - p + t, q - v),
            _shares(nw - p, of.columns),
            _shares(nb - q, of.columns),
            comb(nw - u, ow - u),
            comb(nb - v, ob - v),
        )
        if size := prod(radices):
            found.append(Group(p, u, t, v, base, radices))
            base += size
    return tuple(found)


def colex_unrank(rank: int, size: int) -> list[int]:
    """The set, ascending, of `size` numbers with this colex rank."""
    members = []
    for i in range(size, 0, -1):
        member = i - 1
        while comb(member + 1, i) <= rank:
            member += 1
        rank -= comb(member, i)
        members.append(member)
    return members[::-1]


def _shares(men: int, columns: int) -> int:
    """In how many ways `men` alike men are shared out over columns, none being a share too."""
    return comb(men + columns - 1, columns - 1) if men >= 0 else 0


def _unrank_shares(rank: int, men: int, columns: int) -> list[int]:
    bars = [-1, *colex_unrank(rank, columns - 1), men + columns - 1]
    return [after - before - 1 for before, after in pairwise(bars)]


def _officers(rank: int, colour: str, men: int, officers: int) -> Iterator[str]:
    """A line of men of a colour of which the colex set with this rank are officers."""
    chosen = set(colex_unrank(rank, officers))
    return iter([colour.upper() if i in chosen else colour for i in range(men)])
