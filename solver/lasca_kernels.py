"""Lasca for machines: positions as small integer records, moves, rank and unrank as numba kernels.

A *record* is int32[27]: a column code for each square in Lasker's order (0 where there is none),
then the mask of the mover's columns and the mask of the other side's (bit s for square s). The
mover always plays up the board: a record with Black to move is the half turn, so playing a move
turns the record and makes the other side the mover. Invariant: a record's masks are disjoint and
cover exactly the squares with a column code.

A column code holds from bit 0 up the ranks of its men from the commander down (1 for an officer),
in bits 22-25 how many of its upper run there are and in bits 26-29 how many of its lower run.

These kernels share no code with `engine.lasca`, only the order of squares and the numbering that
`engine.lasca.index` defines; the tests compare the two.
"""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.lasca import Column, Position
from engine.lasca.index import LascaClass

SQUARES = 25
OWN, OTHER = 25, 26  # places of the two masks in a record
RECORD = 27
MAX_MOVES = 512
NOWHERE = -1

_TOP = 22
_LOW = 26
_RANKS = (1 << _TOP) - 1
_COUNT = 15

# Lasker's order makes each diagonal step one constant: up right 4, up left 3, and back.
_STEP = np.array([4, 3, -3, -4], np.int64)


def _squares_with(steps: int) -> np.ndarray:
    """int64[4]: for each direction the squares from which so many steps stay on the board."""
    masks = np.zeros(4, np.int64)
    files = [file for rank in range(7) for file in range(7) if (file + rank) % 2 == 0]
    ranks = [rank for rank in range(7) for file in range(7) if (file + rank) % 2 == 0]
    for d, (right, up) in enumerate([(1, 1), (-1, 1), (1, -1), (-1, -1)]):
        for s in range(SQUARES):
            on_board = 0 <= files[s] + steps * right <= 6 and 0 <= ranks[s] + steps * up <= 6
            masks[d] |= on_board << s
    return masks


_CAN_STEP = _squares_with(1)
_CAN_JUMP = _squares_with(2)
_RANK_1 = 0b1111
_RANK_7 = 0b1111 << 21
_RANK_STARTS = (0, 4, 7, 11, 14, 18, 21, 25)
_MIRROR = np.concatenate(
    [np.arange(end - 1, start - 1, -1) for start, end in pairwise(_RANK_STARTS)]
)

_BINOMIAL = np.array(
    [[min(comb(n, k), (1 << 63) - 1) for k in range(26)] for n in range(50)], np.int64
)
_WORDS = 1 << 11


def _colex_tables() -> tuple[np.ndarray, np.ndarray]:
    """Colex ranks of all words of 11 bits, int64[2048], and back: int64[popcount, rank]."""
    ranks = np.zeros(_WORDS, np.int64)
    words = np.zeros((12, comb(11, 5)), np.int64)
    found = [0] * 12
    for word in range(_WORDS):
        k = word.bit_count()
        ranks[word] = found[k]
        words[k, found[k]] = word
        found[k] += 1
    return ranks, words


_COLEX, _COLEX_WORD = _colex_tables()


# Kernels that make no arrays need not count references, which costs more than most of them do.
_kernel = njit(cache=True, nogil=True, _nrt=False)


def to_record(position: Position) -> np.ndarray:
    """The record, int32[27], of a position; with Black to move that of its swapped half turn."""
    if not position.white_to_move:
        position = position.colours_swapped()
    record = np.zeros(RECORD, np.int32)
    for s, column in enumerate(position.board):
        if column is None:
            continue
        ranks = sum(man.isupper() << i for i, man in enumerate(column.men))
        top = len(column.own_men)
        record[s] = ranks | top << _TOP | (len(column.men) - top) << _LOW
        record[OWN if column.owner == "w" else OTHER] |= 1 << s
    return record


def to_position(record: np.ndarray) -> Position:
    """The position, White to move, of a record (int32[27])."""
    board: list[Column | None] = [None] * SQUARES
    for s, code in enumerate(record[:SQUARES].tolist()):
        if code:
            top, low = code >> _TOP & _COUNT, code >> _LOW
            colours = "w" * top + "b" * low if record[OWN] >> s & 1 else "b" * top + "w" * low
            men = (man.upper() if code >> i & 1 else man for i, man in enumerate(colours))
            board[s] = Column("".join(men))
    return Position(tuple(board))


def successors(record: np.ndarray) -> np.ndarray:
    """int32[moves, 27]: the records after each move of a record, the other side the mover.

    Raises OverflowError when there are more than MAX_MOVES.
    """
    after = np.empty((MAX_MOVES, RECORD), np.int32)
    count = _moves(record, np.empty(RECORD, np.int32), after)
    if count < 0:
        raise OverflowError(f"more than {MAX_MOVES} moves in {to_position(record)}")
    return after[:count].copy()


def perft(position: Position, depth: int) -> tuple[int, int]:
    """The number of move sequences of `depth` plies: by routes, and by distinct results, which
    counts routes of one move to the same position once."""
    if depth < 0:
        raise ValueError(f"a depth is 0 or more, not {depth}")
    record = to_record(position)
    after = np.empty((depth + 1, MAX_MOVES, RECORD), np.int32)
    board = np.empty(RECORD, np.int32)
    routes = _perft(record, depth, False, board, after)
    results = _perft(record, depth, True, board, after)
    if routes < 0:
        raise OverflowError(f"more than {MAX_MOVES} moves in a position after {position}")
    return int(routes), int(results)


@intrinsic
def _lowest(typingctx, word):
    """The number of the lowest set bit of an int64 that is not 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.int64), codegen


@intrinsic
def _popcount(typingctx, word):
    """The number of set bits of an int64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@_kernel
def _turned_mask(mask):
    """A mask (int64) under the half turn: bit s goes to bit 24 - s."""
    mask = (mask >> 1 & 0x55555555) | (mask & 0x55555555) << 1
    mask = (mask >> 2 & 0x33333333) | (mask & 0x33333333) << 2
    mask = (mask >> 4 & 0x0F0F0F0F) | (mask & 0x0F0F0F0F) << 4
    mask = (mask >> 8 & 0x00FF00FF) | (mask & 0x00FF00FF) << 8
    mask = (mask >> 16) | (mask & 0xFFFF) << 16
    return mask >> 7


# Squares by their place in their rank: ranks 1, 3, 5 and 7 have four, the others three.
_FOUR_OUTER = sum(1 << (7 * i) for i in range(4))
_FOUR_INNER = _FOUR_OUTER << 1
_THREE_OUTER = sum(1 << (7 * i + 4) for i in range(3))
_THREE_MIDDLE = _THREE_OUTER << 1


@_kernel
def _mirrored_mask(mask):
    """A mask (int64) under the mirror a <-> g: the squares of each rank reversed."""
    return (
        (mask & _FOUR_OUTER) << 3
        | (mask >> 3 & _FOUR_OUTER)
        | (mask & _FOUR_INNER) << 1
        | (mask >> 1 & _FOUR_INNER)
        | (mask & _THREE_OUTER) << 2
        | (mask >> 2 & _THREE_OUTER)
        | (mask & _THREE_MIDDLE)
    )


@_kernel
def _copy(record, out):
    """Copies a record; a loop compiles in a fraction of the time that an assignment takes."""
    for i in range(RECORD):
        out[i] = record[i]


@_kernel
def _turn(record, out):
    """Writes the half turn of a record (int32[27]) to `out`, the other side to move."""
    for s in range(SQUARES):
        out[24 - s] = record[s]
    out[OWN] = _turned_mask(np.int64(record[OTHER]))
    out[OTHER] = _turned_mask(np.int64(record[OWN]))


@_kernel
def _capturers(own, other):
    """Masks of the mover's columns that can capture going up, and of those that could going down
    if they have an officer."""
    empty = ~(own | other)
    up = (own & _CAN_JUMP[0] & other >> 4 & empty >> 8) | (
        own & _CAN_JUMP[1] & other >> 3 & empty >> 6
    )
    down = (own & _CAN_JUMP[2] & other << 3 & empty << 6) | (
        own & _CAN_JUMP[3] & other << 4 & empty << 8
    )
    return up, down


@_kernel
def _moves(record, board, after):
    """All moves of a record (int32[27]); returns their number, -1 if over MAX_MOVES.

    Writes the position after each to after (int32[MAX_MOVES, 27]), turned, so that its side to move
    is the mover again. board (int32[27]) is scratch. Every route of a run is a move of its own.
    """
    own, other = np.int64(record[OWN]), np.int64(record[OTHER])
    empty = ~(own | other)
    up, down = _capturers(own, other)
    _copy(record, board)
    count = 0
    starts = up | down
    while starts:
        s = _lowest(starts)
        starts &= starts - 1
        column = np.int64(record[s])
        if up >> s & 1 or column & 1:
            board[s] = 0
            board[OWN] = own ^ 1 << s
            count = _runs(board, s, column, np.int64(0), after, count)
            if count < 0:
                return count
            board[s] = column
    if count:
        return count
    board[OWN] = own
    steps = own & (
        _CAN_STEP[0] & empty >> 4
        | _CAN_STEP[1] & empty >> 3
        | _CAN_STEP[2] & empty << 3
        | _CAN_STEP[3] & empty << 4
    )
    if steps == 0:
        return 0
    turned = after[MAX_MOVES - 1]
    _turn(board, turned)
    own, other = np.int64(turned[OTHER]), np.int64(turned[OWN])
    while steps:
        s = _lowest(steps)
        steps &= steps - 1
        column = np.int64(record[s])
        for d in range(4 if column & 1 else 2):
            t = s + _STEP[d]
            if not (_CAN_STEP[d] >> s & 1 and empty >> t & 1):
                continue
            _copy(turned, after[count])
            after[count, 24 - s] = 0
            # Soldiers step up only, so one on the far rank has just come there.
            after[count, 24 - t] = column | (_RANK_7 >> t & 1)
            after[count, OTHER] = own ^ (1 << (24 - s) | 1 << (24 - t))
            count += 1
    return count


@_kernel
def _runs(board, square, column, jumped, after, count):
    """The runs of a column in the air over `square`, each to its end; returns the new count.

    board (int32[27]) is without that column and is left as it was found; jumped is the mask of
    the squares that this run has jumped. Returns -1 if there are more than MAX_MOVES.
    """
    own, other = np.int64(board[OWN]), np.int64(board[OTHER])
    ended = True
    for d in range(4 if column & 1 else 2):
        over, landing = square + _STEP[d], square + 2 * _STEP[d]
        if not (_CAN_JUMP[d] >> square & 1 and (other & ~jumped) >> over & 1):
            continue
        if (own | other) >> landing & 1:
            continue
        ended = False
        target = np.int64(board[over])
        ranks, top, low = target & _RANKS, target >> _TOP & _COUNT, target >> _LOW
        men = (column >> _TOP & _COUNT) + (column >> _LOW)
        heavier = (column | (ranks & 1) << men) + (1 << _LOW)
        if top > 1:
            board[over] = ranks >> 1 | (top - 1) << _TOP | low << _LOW
        else:
            # The captives below, if any, are the mover's and free again.
            board[over] = ranks >> 1 | low << _TOP
            board[OTHER] = other ^ 1 << over
            board[OWN] = own | np.int64(low > 0) << over
        if column & 1 == 0 and _RANK_7 >> landing & 1:
            count = _arrive(board, landing, heavier | 1, after, count)
        else:
            count = _runs(board, landing, heavier, jumped | 1 << over, after, count)
        if count < 0:
            return count
        board[over] = target
        board[OWN], board[OTHER] = own, other
    if ended and jumped:
        count = _arrive(board, square, column, after, count)
    return count


@_kernel
def _arrive(board, square, column, after, count):
    """Writes the board with a column put down on an empty square, turned, to after[count]."""
    if count >= MAX_MOVES - 1:
        return -1
    board[square] = column
    board[OWN] |= 1 << square
    _turn(board, after[count])
    board[square] = 0
    board[OWN] ^= 1 << square
    return count + 1


@njit(cache=True, nogil=True)
def _perft(record, depth, merged, board, after):
    """Counts sequences of `depth` moves from a record; merged counts each result of a move once.

    board (int32[27]) and after (int32[depth + 1, MAX_MOVES, 27]) are scratch. Returns -1 on
    overflow of MAX_MOVES.
    """
    if depth == 0:
        return np.int64(1)
    count = _moves(record, board, after[depth])
    if count < 0:
        return np.int64(-1)
    total = np.int64(0)
    for i in range(count):
        repeated = False
        if merged:
            for j in range(i):
                if np.array_equal(after[depth, i], after[depth, j]):
                    repeated = True
        if not repeated:
            below = _perft(after[depth, i], depth - 1, merged, board, after)
            if below < 0:
                return np.int64(-1)
            total += below
    return total


@_kernel
def _colex_member(rank, i, below):
    """The greatest member of the set of i numbers, all less than `below`, with this colex rank."""
    member = below - 1
    while _BINOMIAL[member, i] > rank:
        member -= 1
    return member


# Fields of a group as the kernels read it (int64[GROUP]): its first number, p, u, t and v, the nine
# radices, the men of each colour to share out and the officers to choose, columns and side.
_BASE, _WHITE, _ON_7, _ON_1, _BLACK_ON_1, _RADIX = 0, 1, 2, 3, 4, 5
_WHITE_FREE, _BLACK_FREE, _WHITE_OFFICERS, _BLACK_OFFICERS, _COLUMNS, _SIDE = 14, 15, 16, 17, 18, 19
GROUP = 20


def group_rows(of: LascaClass, first: int, side: int) -> np.ndarray:
    """int64[groups, GROUP]: the groups of a class whose numbers begin at `first`."""
    rows = []
    for g in of.groups:
        p, u, t, v = g[:4]
        q = of.columns - p
        free = (of.white_men - p, of.black_men - q)
        officers = (of.white_officers - u, of.black_officers - v)
        rows.append((first + g.base, p, u, t, v, *g.radices, *free, *officers, of.columns, side))
    return np.array(rows, np.int64).reshape(-1, GROUP)


@_kernel
def _squares_of(number, group):
    """The squares part of an index: returns (mover's mask, other mask).

    number: the value of digits 1 to 5 of the group (int64[GROUP]) as one number.
    """
    digit_5 = number % group[_RADIX + 4]
    number //= group[_RADIX + 4]
    digit_4 = number % group[_RADIX + 3]
    number //= group[_RADIX + 3]
    digit_3 = number % group[_RADIX + 2]
    number //= group[_RADIX + 2]
    digit_2 = number % group[_RADIX + 1]
    digit_1 = number // group[_RADIX + 1]
    own = _COLEX_WORD[group[_ON_7], digit_1] << 21 | _COLEX_WORD[group[_ON_1], digit_2]
    below = 17
    for i in range(group[_WHITE] - group[_ON_7] - group[_ON_1], 0, -1):
        below = _colex_member(digit_3, i, below)
        digit_3 -= _BINOMIAL[below, i]
        own |= np.int64(1) << (below + 4)
    other = np.int64(0)
    free = ~own & _RANK_1
    chosen = _COLEX_WORD[group[_BLACK_ON_1], digit_4]
    while free:
        if chosen & 1:
            other |= free & -free
        chosen >>= 1
        free &= free - 1
    # Black's squares elsewhere come from the top, passing over White's.
    left = group[_COLUMNS] - group[_WHITE] - group[_BLACK_ON_1]
    free_number = 21 - group[_WHITE] + group[_ON_1]
    s = 25
    below = free_number
    for i in range(left, 0, -1):
        member = _colex_member(digit_5, i, below)
        digit_5 -= _BINOMIAL[member, i]
        below = member
        while free_number > member:
            s -= 1
            if not own >> s & 1:
                free_number -= 1
        other |= np.int64(1) << s
    return own, other


@_kernel
def _put_men(number, group, own, other, white, black, record):
    """Writes the record with the given squares and the men of digits 6 to 9.

    number: the value of digits 6 to 9 of the group (int64[GROUP]) as one number. white and black
    (int64[27]) are scratch for the shares of the columns.
    """
    columns = group[_COLUMNS]
    digit_9 = number % group[_RADIX + 8]
    number //= group[_RADIX + 8]
    digit_8 = number % group[_RADIX + 7]
    number //= group[_RADIX + 7]
    _shares_of(number // group[_RADIX + 6], group[_WHITE_FREE], columns, white)
    _shares_of(number % group[_RADIX + 6], group[_BLACK_FREE], columns, black)
    white_line = _COLEX_WORD[group[_WHITE_OFFICERS], digit_8]
    black_line = _COLEX_WORD[group[_BLACK_OFFICERS], digit_9]
    record[:] = 0
    record[OWN], record[OTHER] = own, other
    occupied = own | other
    for i in range(columns):
        s = _lowest(occupied)
        occupied &= occupied - 1
        whites, blacks = white[i], black[i]
        if own >> s & 1:
            bound = _RANK_7 >> s & 1
            ranks = (white_line & (1 << (whites + 1 - bound)) - 1) << bound | bound
            white_line >>= whites + 1 - bound
            whites += 1
            ranks |= (black_line & (1 << blacks) - 1) << whites
            black_line >>= blacks
            record[s] = ranks | whites << _TOP | blacks << _LOW
        else:
            bound = _RANK_1 >> s & 1
            ranks = (black_line & (1 << (blacks + 1 - bound)) - 1) << bound | bound
            black_line >>= blacks + 1 - bound
            blacks += 1
            ranks |= (white_line & (1 << whites) - 1) << blacks
            white_line >>= whites
            record[s] = ranks | blacks << _TOP | whites << _LOW


@_kernel
def _shares_of(rank, men, columns, shares):
    """Writes the weak composition of `men` over the columns with this rank to shares (int64)."""
    after = men + columns - 1
    for i in range(columns - 1, 0, -1):
        bar = _colex_member(rank, i, after)
        rank -= _BINOMIAL[bar, i]
        shares[i] = after - bar - 1
        after = bar
    shares[0] = after


@_kernel
def _is_least_image(own, other):
    """Whether the squares come no later than their mirror image; then the position stands for
    both. Squares that are their own image come no later, whatever men are on them."""
    own_image = _mirrored_mask(own)
    return own < own_image or (own == own_image and other <= _mirrored_mask(other))


@_kernel
def _rank_squares(own, other):
    """Digits 1 to 5 of an index as one number, and the group's p, u, t and v."""
    on_7, on_1 = own >> 21, own & _RANK_1
    above = own & ~_RANK_1
    white, u, t = _popcount(own), _popcount(on_7), _popcount(on_1)
    middle = elsewhere = rank_1 = np.int64(0)
    seen = 0
    rest = above & ~_RANK_7
    while rest:
        seen += 1
        middle += _BINOMIAL[_lowest(rest) - 4, seen]
        rest &= rest - 1
    v = 0
    rest = other & _RANK_1
    while rest:
        s = _lowest(rest)
        rest &= rest - 1
        v += 1
        rank_1 += _BINOMIAL[s - _popcount(on_1 & (1 << s) - 1), v]
    seen = 0
    rest = other & ~_RANK_1
    while rest:
        s = _lowest(rest)
        rest &= rest - 1
        seen += 1
        elsewhere += _BINOMIAL[s - 4 - _popcount(above & (1 << s) - 1), seen]
    number = _COLEX[on_7] * _BINOMIAL[4, t] + _COLEX[on_1]
    number = number * _BINOMIAL[17, white - u - t] + middle
    number = number * _BINOMIAL[4 - t, v] + rank_1
    number = number * _BINOMIAL[21 - white + t, seen] + elsewhere
    return number, white, u, t, v


@_kernel
def _rank_men(record, mirror, own, other):
    """Digits 6 to 9 of an index as one number, and how many officers there are of each colour.

    own, other: the masks of the record (int32[27]), mirrored if `mirror` is true.
    """
    rest = own | other
    columns = _popcount(rest)
    white_shares = black_shares = whites_seen = blacks_seen = np.int64(0)
    white_line = black_line = white_men = black_men = np.int64(0)
    officers_bound_white = officers_bound_black = np.int64(0)
    passed = np.int64(0)
    while rest:
        s = _lowest(rest)
        rest &= rest - 1
        code = np.int64(record[_MIRROR[s] if mirror else s])
        ranks, top, low = code & _RANKS, code >> _TOP & _COUNT, code >> _LOW
        upper, lower = ranks & (1 << top) - 1, ranks >> top
        if own >> s & 1:
            bound = _RANK_7 >> s & 1
            officers_bound_white += bound
            white_line |= upper >> bound << white_men
            white_men += top - bound
            black_line |= lower << black_men
            black_men += low
            whites_seen += top - 1
            blacks_seen += low
        else:
            bound = _RANK_1 >> s & 1
            officers_bound_black += bound
            black_line |= upper >> bound << black_men
            black_men += top - bound
            white_line |= lower << white_men
            white_men += low
            whites_seen += low
            blacks_seen += top - 1
        passed += 1
        if passed < columns:
            white_shares += _BINOMIAL[whites_seen + passed - 1, passed]
            black_shares += _BINOMIAL[blacks_seen + passed - 1, passed]
    white_officers, black_officers = _popcount(white_line), _popcount(black_line)
    number = white_shares * _BINOMIAL[blacks_seen + columns - 1, columns - 1] + black_shares
    number = number * _BINOMIAL[white_men, white_officers] + _COLEX[white_line]
    number = number * _BINOMIAL[black_men, black_officers] + _COLEX[black_line]
    return number, white_officers + officers_bound_white, black_officers + officers_bound_black


# The last axis of `bases`: the first number of a group, and how many positions share their squares.
FIRST, CONTENTS = 0, 1


@_kernel
def _rank(record, mirror, bases):
    """The number of a record (int32[27]), or of its mirror image, in a family of classes.

    bases (int64[white officers + 1, black officers + 1, columns + 1, columns + 1, 5, 5, 5, 2])
    holds FIRST and CONTENTS of each group by its class's officers and columns and by the group's
    p, u, t and v. Where FIRST is NOWHERE, that is the result.
    """
    own, other = np.int64(record[OWN]), np.int64(record[OTHER])
    if mirror:
        own, other = _mirrored_mask(own), _mirrored_mask(other)
    squares, white, u, t, v = _rank_squares(own, other)
    men, white_officers, black_officers = _rank_men(record, mirror, own, other)
    columns = _popcount(own | other)
    base = bases[white_officers, black_officers, columns, white, u, t, v, FIRST]
    if base == NOWHERE:
        return base
    contents = bases[white_officers, black_officers, columns, white, u, t, v, CONTENTS]
    return base + squares * contents + men
