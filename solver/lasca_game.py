"""Lasca as an indexed game for the plain engine: families of classes with one numbering.

A *family* is a set of classes closed under moves, such as all of 3 + 2 men and of 2 + 3, or all of
11 + 11 officers in at most three columns. Its classes are numbered one after another. A *task* is
what must be solved together: a class and the one with the colours swapped, since a quiet move leads
from one to the other. Invariant: a task's moves lead into itself and into earlier tasks only (more
officers, or as many officers and fewer columns).

Of a position and its mirror image only one is solved (`_is_least_image`); the other is a hole for
the engine and filled in afterwards.

Values are kept as one *score* a position: plies to the end, odd when the player to move wins and
even when he loses, or the dtype's greatest number for a draw.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numba import njit

from engine.lasca.index import LascaClass, classes
from solver.lasca_kernels import (
    _BASE,
    _COLUMNS,
    _SIDE,
    MAX_MOVES,
    NOWHERE,
    OTHER,
    OWN,
    RECORD,
    _capturers,
    _is_least_image,
    _lowest,
    _mirrored_mask,
    _moves,
    _put_men,
    _rank,
    _rank_squares,
    _squares_of,
    group_rows,
)
from solver.lasca_steps import (
    _OFFICER,
    _SOLDIER,
    MOST_COLUMNS,
    Rows,
    Scratch,
    Steps,
    _codes_row,
    _contents_of,
    _enter_group,
    _mirror_row,
    _officers_row,
    _steps_of,
    new_rows,
    new_scratch,
    new_steps,
)
from solver.retrograde import DRAW, HOLE, LOSS, WIN, Expansion, Solution

_kernel = njit(cache=True, nogil=True, _nrt=False)  # see `solver.lasca_kernels`

_NEVER = 1 << 30
_FEWEST_CONTENTS = 2  # positions that share their squares, for which it pays to plan their steps


@dataclass(frozen=True, eq=False)
class Task:
    """One or two classes solved together, numbered first..end-1 in their family."""

    classes: tuple[LascaClass, ...]
    first: int
    end: int
    groups: np.ndarray  # int64[groups, GROUP]

    @property
    def size(self) -> int:
        return self.end - self.first

    @property
    def name(self) -> str:
        return self.classes[0].name


@dataclass(frozen=True)
class Family:
    """Classes closed under moves: white_men + black_men and the same with the colours swapped.

    With `officers_only` all men are officers; `max_columns` leaves out classes of more columns.
    """

    white_men: int
    black_men: int
    officers_only: bool = False
    max_columns: int = 25

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks in an order in which they can be solved."""
        members = classes(self.white_men, self.black_men)
        found = []
        first = 0
        for here in members:
            if here.columns > self.max_columns:
                continue
            if self.officers_only and here.white_officers + here.black_officers < self.men:
                continue
            if self.white_men == self.black_men and here > here.swapped:
                continue
            pair = (here,) if here == here.swapped else (here, here.swapped)
            rows = []
            end = first
            for one in pair:
                rows.append(group_rows(one, end, self.side(one)))
                end += one.size
            found.append(Task(pair, first, end, np.concatenate(rows)))
            first = end
        return tuple(found)

    @property
    def men(self) -> int:
        return self.white_men + self.black_men

    @property
    def sides(self) -> int:
        """2 when the colour swap leads to other classes of men, else 1."""
        return 1 if self.white_men == self.black_men else 2

    def side(self, of: LascaClass) -> int:
        """Which of the sides a class belongs to."""
        return 0 if of.white_men == self.white_men else 1

    @property
    def size(self) -> int:
        """Positions with White to move, of all classes."""
        return self.tasks[-1].end

    @cached_property
    def bases(self) -> np.ndarray:
        """int64[sides, officers, officers, columns + 1, columns + 1, 5, 5, 5, 2] for `_rank`."""
        most = max(self.white_men, self.black_men) + 1
        columns = max(task.classes[0].columns for task in self.tasks) + 1
        bases = np.full((self.sides, most, most, columns, columns, 5, 5, 5, 2), NOWHERE, np.int64)
        for task in self.tasks:
            first = task.first
            for of in task.classes:
                place = (self.side(of), of.white_officers, of.black_officers, of.columns)
                for group in of.groups:
                    contents = prod(group.radices[5:])
                    bases[(*place, *group[:4])] = (first + group.base, contents)
                first += of.size
        return bases

    @cached_property
    def _task_of(self) -> dict[LascaClass, Task]:
        return {of: task for task in self.tasks for of in task.classes}

    def needed(self, task: Task) -> Iterator[Task]:
        """The tasks just before one; what else its moves lead to these need themselves."""
        of = task.classes[0]
        for white, black, columns in ((0, 0, -1), (1, 0, 0), (0, 1, 0)):
            before = LascaClass(
                of.white_men,
                of.black_men,
                of.white_officers + white,
                of.black_officers + black,
                of.columns + columns,
            )
            if before in self._task_of:
                yield self._task_of[before]

    def parts(self, task: Task) -> Iterator[tuple[LascaClass, int, int]]:
        """Each class of a task with its numbers first..end-1."""
        first = task.first
        for of in task.classes:
            yield of, first, first + of.size
            first += of.size


class Work(NamedTuple):
    """What one thread works with: rows, steps and scratch as `solver.lasca_steps` has them, and
    for `_moves` board (int32[27]) and after (int32[MAX_MOVES, 27])."""

    rows: Rows
    steps: Steps
    scratch: Scratch
    board: np.ndarray
    after: np.ndarray


def new_work() -> Work:
    """The work space of one thread."""
    return Work(
        new_rows(),
        new_steps(),
        new_scratch(),
        np.empty(RECORD, np.int32),
        np.empty((MAX_MOVES, RECORD), np.int32),
    )


class StoppedError(Exception):
    """A task was given up because the job it belongs to ended."""


class LascaGame:
    """A task as the engine asks for it (`solver.retrograde.IndexedGame`).

    scores: uint8[family.size] or uint16, the values of all earlier tasks of the family. Once
    `stop` is set, `expand` raises StoppedError.
    """

    def __init__(
        self,
        family: Family,
        task: Task,
        scores: np.ndarray,
        stop: threading.Event | None = None,
    ) -> None:
        self.size = task.size
        self._family = family
        self._task = task
        self._scores = scores
        self._stop = stop
        self._work = new_work()
        self._successors = np.empty(1 << 18, np.uint32)

    def expand(self, start: int, stop: int) -> Expansion:
        """The moves of positions start..stop-1 of the task."""
        if self._stop is not None and self._stop.is_set():
            raise StoppedError(f"{self._task.name} was given up")
        count = stop - start
        outcome = np.empty(count, np.int8)
        plies = np.empty(count, np.uint16)
        offsets = np.empty(count + 1, np.int64)
        first = self._task.first
        while True:
            reached = _expand(
                first + start,
                first + stop,
                self._task.groups,
                first,
                self._task.end,
                self._family.bases,
                self._scores,
                np.iinfo(self._scores.dtype).max,
                self._work,
                outcome,
                plies,
                offsets,
                self._successors,
            )
            if reached == first + stop:
                return Expansion(outcome, plies, offsets, self._successors)
            if reached < 0:
                raise OverflowError(f"more than {MAX_MOVES} moves in a position of {self._task}")
            self._successors = np.empty(2 * self._successors.size, np.uint32)


def enter_solution(family: Family, task: Task, solution: Solution, scores: np.ndarray) -> None:
    """Writes a task's solution to its part of `scores`, holes with their mirror image's value."""
    part = scores[task.first : task.end]
    _score(solution.value, solution.plies, np.iinfo(scores.dtype).max, part)
    _fill_holes(task.groups, task.first, task.end, family.bases, new_rows(), new_scratch(), scores)


def values_of(scores: np.ndarray) -> np.ndarray:
    """int8: WIN, DRAW or LOSS for each score."""
    odd = (scores & 1).astype(np.int8)
    value = 2 * odd - 1
    value[scores == np.iinfo(scores.dtype).max] = DRAW
    return value


@_kernel
def _score(value, plies, draw, scores):
    """Scores (uint8/16[n]) from values (int8[n]) and plies; holes are left to be filled."""
    for i in range(value.size):
        scores[i] = plies[i] if value[i] == WIN or value[i] == LOSS else draw


@_kernel
def _group_of(groups, index):
    """The last of the groups (int64[g, GROUP]) that begins at or before an index."""
    low, high = 0, groups.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if groups[middle, _BASE] <= index:
            low = middle
        else:
            high = middle
    return low


@_kernel
def _outcome(soonest, latest, draws):
    """(outcome, plies) of the external moves: the soonest win and the latest loss, each in plies
    from here, NEVER when there is none, and whether one draws."""
    if soonest < _NEVER:
        return WIN, soonest
    return (DRAW, np.int64(0)) if draws else (LOSS, latest)


@_kernel
def _expand(
    start, stop, groups, first, end, bases, scores, draw, work, outcome, plies, offsets, successors
):
    """Expands positions start..stop-1 (numbers in the family) of the task first..end-1.

    groups int64[g, GROUP], bases int64[sides, ...], scores uint8/16[family], draw the score of a
    draw; work as `Work` says; writes outcome int8[n], plies uint16[n], offsets int64[n + 1],
    successors uint32[m]. Returns `stop`, or the position at which `successors` is too small, or -1
    when a position has too many moves.
    """
    rows, steps, scratch = work.rows, work.steps, work.scratch
    entries = rows.entries
    g = _group_of(groups, start)
    index = start
    used = np.int64(0)
    offsets[0] = 0
    while index < stop:
        while g + 1 < groups.shape[0] and groups[g + 1, _BASE] <= index:
            g += 1
        group = groups[g]
        _enter_group(rows, group[_BASE])
        contents = _contents_of(group)
        # All positions of one choice of squares, or as many as the block has.
        squares, number = divmod(index - group[_BASE], contents)
        own, other = _squares_of(squares, group)
        upto = min(stop, index + contents - number)
        if not _is_least_image(own, other):
            while index < upto:
                outcome[index - start] = HOLE
                plies[index - start] = 0
                offsets[index - start + 1] = used
                index += 1
            continue
        their_bases = bases[bases.shape[0] - 1 - group[_SIDE]]
        up, down = _capturers(own, other)
        count = np.int64(-1)
        officers_row = np.int64(-1)
        if up == 0 and contents >= _FEWEST_CONTENTS and group[_COLUMNS] <= MOST_COLUMNS:
            officers_row = _officers_row(group, own, other, rows, scratch)
            if officers_row >= 0:
                count = _steps_of(group, own, other, their_bases, rows, steps, scratch)
        if count > 0 and used + (upto - index) * count > successors.size:
            upto = min(upto, index + (successors.size - used) // count)
            if upto == index:
                return index
        down_columns = _among(down, own)
        record = scratch.record
        codes_row = np.int64(-1)
        if count < 0 or down_columns:
            codes_row = _codes_row(group, own, other, rows, scratch)
            record[:] = 0
            record[OWN], record[OTHER] = own, other
        while index < upto:
            i = index - start
            soonest, latest, draws = np.int64(_NEVER), np.int64(0), False
            officers = np.int64(entries[officers_row + number]) if count >= 0 else np.int64(0)
            if count >= 0 and down_columns & officers == 0:
                for k in range(count):
                    has_officer = officers >> steps.column[k] & 1
                    if (steps.needs[k] == _OFFICER and not has_officer) or (
                        steps.needs[k] == _SOLDIER and has_officer
                    ):
                        continue
                    target = steps.target[k] + entries[steps.row[k] + number]
                    if first <= target < end:
                        successors[used] = target - first
                        used += 1
                    else:
                        score = np.int64(scores[target])
                        if score == draw:
                            draws = True
                        elif score & 1:
                            latest = max(latest, score + 1)
                        else:
                            soonest = min(soonest, score + 1)
            else:
                if codes_row >= 0:
                    place = codes_row + number * group[_COLUMNS]
                    rest = own | other
                    while rest:
                        record[_lowest(rest)] = entries[place]
                        rest &= rest - 1
                        place += 1
                else:
                    _put_men(number, group, own, other, scratch.white, scratch.black, record)
                moves = _moves(record, work.board, work.after)
                if moves < 0:
                    return np.int64(-1)
                if used + moves > successors.size:
                    return index
                for k in range(moves):
                    after = work.after[k]
                    mirror = not _is_least_image(np.int64(after[OWN]), np.int64(after[OTHER]))
                    target = _rank(after, mirror, their_bases)
                    if first <= target < end:
                        successors[used] = target - first
                        used += 1
                    else:
                        score = np.int64(scores[target])
                        if score == draw:
                            draws = True
                        elif score & 1:
                            latest = max(latest, score + 1)
                        else:
                            soonest = min(soonest, score + 1)
            outcome[i], plies[i] = _outcome(soonest, latest, draws)
            offsets[i + 1] = used
            index += 1
            number += 1
    return index


@_kernel
def _among(squares, own):
    """Which columns of `own` are on the given squares: bit i for the i-th of them by square."""
    found = np.int64(0)
    i = 0
    while own:
        found |= (squares >> _lowest(own) & 1) << i
        own &= own - 1
        i += 1
    return found


@_kernel
def _fill_holes(groups, first, end, bases, rows, scratch, scores):
    """Gives the positions of first..end-1 that are holes the score of their mirror image.

    groups int64[g, GROUP], bases int64[sides, ...], scores uint8/16[family].
    """
    entries = rows.entries
    g = 0
    index = first
    while index < end:
        while g + 1 < groups.shape[0] and groups[g + 1, _BASE] <= index:
            g += 1
        group = groups[g]
        _enter_group(rows, group[_BASE])
        contents = _contents_of(group)
        own, other = _squares_of((index - group[_BASE]) // contents, group)
        if _is_least_image(own, other):
            index += contents
            continue
        row = np.int64(-1)
        if contents >= _FEWEST_CONTENTS and group[_COLUMNS] <= MOST_COLUMNS:
            row = _mirror_row(group, own, other, rows, scratch)
        if row >= 0:
            squares = _rank_squares(_mirrored_mask(own), _mirrored_mask(other))[0]
            image = group[_BASE] + squares * contents
            for number in range(contents):
                scores[index + number] = scores[image + entries[row + number]]
        else:
            for number in range(contents):
                record = scratch.record
                _put_men(number, group, own, other, scratch.white, scratch.black, record)
                scores[index + number] = scores[_rank(record, True, bases[group[_SIDE]])]
        index += contents
