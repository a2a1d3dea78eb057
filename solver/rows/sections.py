"""Between planes and table sections: a row bitmap's bits sorted by the number of the column's men.

A plane has its bits in mask order, rows of 2**n bits. A section of a table holds the bits with l
men of C, row after row, each row's in colex order: numeric order among masks of one popcount.
Walking the words of a row in order, word y adds to section popcount(y) + g those of its 64 bits
whose index has popcount g. So seven groups of 1, 6, 15, 20, 15, 6, 1 bits a word are all there is;
a table look-up for each byte sorts a word into its groups.

Invariant: rows 64 x .. 64 x + 63 fill whole words of every section, so threads that take multiples
of 64 rows write words of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb

import numpy as np
from numba import njit

from solver.rows.words import MARGIN

ROWS_TOGETHER = 64

_GROUPS = 7
_SIZES = np.array([comb(6, g) for g in range(_GROUPS)], dtype=np.uint64)
_STARTS = np.cumsum(_SIZES, dtype=np.uint64) - _SIZES
_MASKS = (np.uint64(1) << _SIZES) - np.uint64(1)


def _byte_tables() -> tuple[np.ndarray, np.ndarray]:
    """uint64[8 * 256] twice: bits sorted into groups, and back, by place and value of a byte."""
    order = sorted(range(64), key=lambda x: (x.bit_count(), x))
    place_of = {x: place for place, x in enumerate(order)}
    tables = np.zeros((2, 8, 256), dtype=np.uint64)
    values = np.arange(256, dtype=np.uint64)
    for bit in range(64):
        byte, shift = divmod(bit, 8)
        present = values >> np.uint64(shift) & np.uint64(1)
        tables[0, byte] |= present << np.uint64(place_of[bit])
        tables[1, byte] |= present << np.uint64(order[bit])
    return tables[0].reshape(-1), tables[1].reshape(-1)


_SORT, _UNSORT = _byte_tables()


@njit(cache=True, nogil=True)
def _permuted(word, table):
    """A word's bits moved as one of the byte tables says."""
    byte = np.uint64(255)
    result = table[word & byte]
    for x in range(1, 8):
        result |= table[np.uint64(256 * x) + (word >> np.uint64(8 * x) & byte)]
    return result


@njit(cache=True, nogil=True)
def _pack(loss, not_win, words, first, last, columns, starts, visits, visit_starts, wins, losses):
    """Rows first .. last - 1 of two planes into section streams.

    loss, not_win: flat planes with margins; words: of a row; columns: int64[c + 1], of a section;
    starts: int64[c + 1], first word of each section in the streams `wins` and `losses`; visits,
    visit_starts: see `_visits`.
    """
    lost = np.empty(words, np.uint64)
    won = np.empty(words, np.uint64)
    low = np.uint64(63)
    for row in range(first, last):
        base = MARGIN + row * words
        for y in range(words):
            lost[y] = _permuted(loss[base + y], _SORT)
            won[y] = ~_permuted(not_win[base + y], _SORT)
        for x in range(columns.size):
            position = np.uint64(starts[x] * 64 + row * columns[x])
            # The words under construction; what earlier rows left in them is kept.
            win_word = wins[position >> np.uint64(6)]
            loss_word = losses[position >> np.uint64(6)]
            for v in range(visit_starts[x], visit_starts[x + 1]):
                y = visits[v] >> np.uint32(3)
                g = visits[v] & np.uint32(7)
                shift = position & low
                at = position >> np.uint64(6)
                win_bits = won[y] >> _STARTS[g] & _MASKS[g]
                loss_bits = lost[y] >> _STARTS[g] & _MASKS[g]
                win_word |= win_bits << shift
                loss_word |= loss_bits << shift
                wins[at] = win_word
                losses[at] = loss_word
                position += _SIZES[g]
                if position >> np.uint64(6) != at:
                    rest = (np.uint64(64) - shift) & low
                    win_word = win_bits >> rest
                    loss_word = loss_bits >> rest
            if position & low:
                wins[position >> np.uint64(6)] = win_word
                losses[position >> np.uint64(6)] = loss_word


@njit(cache=True, nogil=True)
def _bits_at(words, position):
    """The 64 bits of a stream from a bit position on."""
    shift = position & np.uint64(63)
    at = position >> np.uint64(6)
    upper = words[at + np.uint64(1)] << np.uint64(1) << (np.uint64(63) - shift)
    return words[at] >> shift | upper


@njit(cache=True, nogil=True)
def _unpack(wins, losses, words, first, last, columns, starts, visits, visit_starts, loss, not_win):
    """Section streams into rows first .. last - 1 of two planes; the inverse of `_pack`."""
    lost = np.empty(words, np.uint64)
    opened = np.empty(words, np.uint64)
    for row in range(first, last):
        lost[:] = 0
        opened[:] = 0
        for x in range(columns.size):
            position = np.uint64(starts[x] * 64 + row * columns[x])
            for v in range(visit_starts[x], visit_starts[x + 1]):
                y = visits[v] >> np.uint32(3)
                g = visits[v] & np.uint32(7)
                lost[y] |= (_bits_at(losses, position) & _MASKS[g]) << _STARTS[g]
                opened[y] |= (~_bits_at(wins, position) & _MASKS[g]) << _STARTS[g]
                position += _SIZES[g]
        base = MARGIN + row * words
        for y in range(words):
            loss[base + y] = _permuted(lost[y], _UNSORT)
            not_win[base + y] = _permuted(opened[y], _UNSORT)


@cache
def _visits(words: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The groups of bits that make up each section's part of a row, in order.

    Returns uint32[visits], 8 * word + group, and int64[most + 2], where each section's begin.
    """
    y = np.arange(words, dtype=np.uint32)
    high = np.bitwise_count(y).astype(np.int64)
    parts = []
    for men in range(most + 1):
        group = men - high
        here = (group >= 0) & (group < _GROUPS)
        parts.append(y[here] * np.uint32(8) + group[here].astype(np.uint32))
    starts = np.cumsum([0] + [len(part) for part in parts])
    return np.concatenate(parts), starts.astype(np.int64)


class Streams:
    """The sections of one side to move on one level, as streams of bits.

    columns: int64[c + 1], C(n, l); entries: rows * columns; wins, losses: uint64 arrays that hold
    all sections one after the other, each starting on a word.
    """

    def __init__(self, rows: int, axes: int, most: int) -> None:
        self.rows = rows
        self.columns = np.array([comb(axes, men) for men in range(most + 1)], dtype=np.int64)
        self.entries = [rows * int(c) for c in self.columns]
        words = [-(-entries // 64) for entries in self.entries]
        self.starts = np.concatenate([[0], np.cumsum(words)[:-1]]).astype(np.int64)
        self._words = words
        self.wins = np.zeros(sum(words) + 1, dtype=np.uint64)
        self.losses = np.zeros(sum(words) + 1, dtype=np.uint64)

    def section(self, men: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes of the win and of the loss stream (uint8 views) of the section with `men` men."""
        start = int(self.starts[men])
        size = -(-self.entries[men] // 8)
        words = slice(start, start + self._words[men])
        return self.wins[words].view(np.uint8)[:size], self.losses[words].view(np.uint8)[:size]

    def pack(self, loss: np.ndarray, not_win: np.ndarray, words: int, rows: Sequence[int]) -> None:
        """Take rows[0] .. rows[1] - 1 of two planes; rows[0] a multiple of ROWS_TOGETHER."""
        visits, visit_starts = _visits(words, len(self.columns) - 1)
        _pack(
            loss,
            not_win,
            words,
            rows[0],
            rows[1],
            self.columns,
            self.starts,
            visits,
            visit_starts,
            self.wins,
            self.losses,
        )

    def unpack(
        self, words: int, rows: Sequence[int], loss: np.ndarray, not_win: np.ndarray
    ) -> None:
        """Fill rows[0] .. rows[1] - 1 of two planes."""
        visits, visit_starts = _visits(words, len(self.columns) - 1)
        _unpack(
            self.wins,
            self.losses,
            words,
            rows[0],
            rows[1],
            self.columns,
            self.starts,
            visits,
            visit_starts,
            loss,
            not_win,
        )
