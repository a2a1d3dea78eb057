"""The distances of a level as table sections: an array of numbers for each, in index order.

A number stands where the mover has won and has no winning conversion. All other entries are never
looked at, so each takes the number before it in its block, or the first one there is: runs of equal
numbers are what compresses best.

Invariant: the sections depend on the distances alone, not on threads or on how a step was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import comb

import numpy as np
from numba import njit

from databases.format import BLOCK_ENTRIES
from databases.pack import Section
from solver.rows.distance import WinSteps
from solver.rows.geometry import Level
from solver.rows.words import popcount
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
def _enter(wins, step, axes, columns, starts, ranks, entries, counts):
    """Enter a step at the positions of `wins` (see `WinSteps`) and count them by sections.

    columns, starts: int64[c + 1], the columns of each section and where it begins in `entries`;
    counts: int64[c + 1].
    """
    for win in wins:
        x = np.int64(win) & ((np.int64(1) << axes) - 1)
        men = popcount(np.uint64(x))
        counts[men] += 1
        entries[starts[men] + (np.int64(win) >> axes) * columns[men] + ranks[x]] = step


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


def distance_sections(
    level: Level,
    most: int,
    steps: Mapping[str, WinSteps],
    counts: dict[str, list[int]],
    workers: Workers,
) -> Iterator[Section]:
    """The sections of a level, whose arrays hold until the next one is asked for.

    most: C's total; steps: by the side to move, "R" or "C". counts gets for each section how many
    entries have distance 1, 2, ... (no zeros at the end). OverflowError for a distance that does
    not fit into 16 bits.
    """
    columns = np.array([comb(level.axes, men) for men in range(most + 1)], dtype=np.int64)
    sizes = level.count * columns
    starts = np.cumsum(sizes) - sizes
    longest = max(each.last for each in steps.values())
    if longest >> 16:
        raise OverflowError(f"a distance of {longest} plies has more than 16 bits")
    entries = np.empty(sizes.sum(), dtype=np.uint8 if longest < 256 else np.uint16)
    for mover, wins in steps.items():
        workers.over(entries.size, lambda first, last: entries[first:last].fill(0))
        numbers = _enter_all(wins, level.axes, columns, starts, entries, workers)
        for men, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            part = entries[start : start + size]
            workers.over(
                part.size,
                lambda first, last, part=part: _fill(part[first:last], BLOCK_ENTRIES),
                multiple=BLOCK_ENTRIES,
            )
            name = f"{mover}{men}"
            counts[name] = np.trim_zeros(numbers[men, 1:], "b").tolist()
            yield Section(name, part.size, None, None, part)


def _enter_all(
    steps: WinSteps,
    axes: int,
    columns: np.ndarray,
    starts: np.ndarray,
    entries: np.ndarray,
    workers: Workers,
) -> np.ndarray:
    """Enter the steps of one side; returns int64[c + 1, steps + 1]: how often each occurs."""

    def enter(x: int) -> np.ndarray:
        step, wins = steps.found[x]
        found = np.zeros(columns.size, dtype=np.int64)
        _enter(wins, step, axes, columns, starts, _ranks(axes), entries, found)
        return found

    counts = np.zeros((columns.size, steps.last + 1), dtype=np.int64)
    entered = workers.each(len(steps.found), enter)
    for (step, _), found in zip(steps.found, entered, strict=True):
        counts[:, step] += found
    return counts
