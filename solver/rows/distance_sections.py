"""The distances of a level as table sections: an array of numbers for each, in index order.

A number stands where the mover has won and has no winning conversion. All other entries are never
looked at, so each takes the number before it in its block, or the first one there is: runs of equal
numbers are what compresses best.

Invariant: the sections depend on the distances alone, not on threads or on how a step was done.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import comb

import numpy as np
from numba import njit

from databases.format import BLOCK_ENTRIES
from databases.pack import Section
from solver.rows.distance import WinSteps
from solver.rows.geometry import Level
from solver.rows.words import MARGIN, popcount, trailing_zeros
from solver.rows.workers import Workers


@cache
def _ranks(axes: int) -> np.ndarray:
    """uint32[2**axes]: the rank of each column among those of as many men, in numeric order."""
    sizes = np.bitwise_count(np.arange(1 << axes, dtype=np.uint32))
    ranks = np.empty(1 << axes, dtype=np.uint32)
    for men in range(axes + 1):
        ranks[sizes == men] = np.arange(comb(axes, men), dtype=np.uint32)
    return ranks


@njit(cache=True, nogil=True)
def _enter_numbers(numbers, words, first, last, columns, starts, ranks, entries, counts):
    """Enter the steps of rows first .. last - 1 that were noted in binary.

    numbers: uint64[bits, as a plane]. columns, starts: int64[c + 1], the columns of each section
    and where it begins in `entries`, which is filled unless it is empty. counts: int64[c + 1, steps
    + 1], how often each step occurs in each section.
    """
    for row in range(first, last):
        for y in range(words):
            at = MARGIN + row * words + y
            found = np.uint64(0)
            for b in range(numbers.shape[0]):
                found |= numbers[b, at]
            while found:
                bit = np.uint64(trailing_zeros(found))
                found &= found - np.uint64(1)
                step = 0
                for b in range(numbers.shape[0]):
                    step |= np.int64(numbers[b, at] >> bit & np.uint64(1)) << b
                x = 64 * y + np.int64(bit)
                men = popcount(np.uint64(x))
                counts[men, step] += 1
                if entries.size:
                    entries[starts[men] + row * columns[men] + ranks[x]] = step


@njit(cache=True, nogil=True)
def _enter_changes(changes, step, columns, starts, ranks, entries, counts):
    """Enter a step at single changes (see `sparse`); the rest as in `_enter_numbers`."""
    for change in changes:
        x = change >> 1 & 0xFFFFFF
        men = popcount(np.uint64(x))
        counts[men, step] += 1
        if entries.size:
            entries[starts[men] + (change >> 25) * columns[men] + ranks[x]] = step


@njit(cache=True, nogil=True)
def _fill(entries, block):
    """Give every 0 in entries the number before it in its block, or the first one there is."""
    for start in range(0, entries.size, block):
        stop = min(start + block, entries.size)
        at = start
        while at < stop and entries[at] == 0:
            at += 1
        if at == stop:
            continue
        number = entries[at]
        for x in range(start, stop):
            if entries[x] == 0:
                entries[x] = number
            else:
                number = entries[x]


class DistanceSections:
    """The sections of one side to move on one level."""

    def __init__(self, level: Level, most: int, mover: str, steps: WinSteps, workers: Workers):
        """most: C's total; mover: "R" or "C", whose wins `steps` holds."""
        self._level = level
        self._mover = mover
        self._steps = steps
        self._workers = workers
        self._columns = np.array([comb(level.axes, men) for men in range(most + 1)], dtype=np.int64)
        sizes = level.count * self._columns
        self._starts = np.cumsum(sizes) - sizes
        self._size = int(sizes.sum())
        self._dtype = np.uint8 if steps.last < 256 else np.uint16
        self._ranks = _ranks(level.axes)

    def counts(self) -> dict[str, list[int]]:
        """For each section how many entries have distance 1, 2, ... (no zeros at the end)."""
        counts = self._enter(np.zeros(0, dtype=self._dtype))
        return {
            self._name(men): np.trim_zeros(row[1:], "b").tolist() for men, row in enumerate(counts)
        }

    def sections(self) -> Iterator[Section]:
        """The sections, by C's men on the board; their arrays are parts of one."""
        entries = np.zeros(self._size, dtype=self._dtype)
        self._enter(entries)
        for men, (start, columns) in enumerate(zip(self._starts, self._columns, strict=True)):
            size = self._level.count * int(columns)
            part = entries[start : start + size]
            self._workers.over(
                size,
                lambda first, last, part=part: _fill(part[first:last], BLOCK_ENTRIES),
                multiple=BLOCK_ENTRIES,
            )
            yield Section(self._name(men), size, None, None, part)

    def _enter(self, entries: np.ndarray) -> np.ndarray:
        """Fill `entries` with the steps unless it is empty; how often each occurs, by section."""
        steps = self._steps
        shape = (len(self._columns), steps.last + 1)
        places = (self._columns, self._starts, self._ranks, entries)
        numbers = steps.numbers[: steps.last_dense.bit_length()]
        ranges = self._workers.ranges(self._level.count)

        def enter_rows(x: int) -> np.ndarray:
            counts = np.zeros(shape, dtype=np.int64)
            _enter_numbers(numbers, self._level.words, *ranges[x], *places, counts)
            return counts

        def enter_changes(x: int) -> np.ndarray:
            counts = np.zeros(shape, dtype=np.int64)
            step, changes = steps.late[x]
            _enter_changes(changes, step, *places, counts)
            return counts

        found = self._workers.each(len(ranges), enter_rows)
        found += self._workers.each(len(steps.late), enter_changes)
        return np.sum(found, axis=0)

    def _name(self, men: int) -> str:
        return f"{self._mover}{men}"
