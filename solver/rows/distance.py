"""Distances to conversion on one level: the rounds once more, both sides in lockstep.

A won position whose mover has a winning conversion has distance 1. The others come from slides
alone: a win is one more than the least distance of a lost position behind a slide; a loss is one
more than the greatest distance of the (won) positions behind its slides, 1 if it has none but
conversions, 0 if it has no move. So with conversions as constants *step* d of the rounds decides
exactly the positions of distance d, provided that both sides are evaluated from the planes as they
were after step d - 1. R's planes are kept twice for that: as they are, and one step before.

Only wins without a winning conversion are recorded; a loser's distance, and where a conversion
wins, a look one ply ahead tells.

Invariant: after step d a position is lost, or won, in the planes exactly if its distance is at most
d (wins by a conversion from the beginning on).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from solver.rows.ends import column_ends, column_placements, row_ends
from solver.rows.geometry import Level
from solver.rows.planes import Planes
from solver.rows.rounds import (
    NO_QUEUE,
    NO_RECORD,
    ColumnSide,
    Queues,
    Record,
    RowSide,
    Seen,
    may_be_few,
    worth_following,
)
from solver.rows.sparse import WIN
from solver.rows.words import MARGIN
from solver.rows.workers import Workers

STEP_BITS = 9
"""Bits of the number of a step that finds wins by whole rows."""


class WinSteps:
    """At which step each win of one side was found, but for wins by a conversion.

    numbers: uint64[STEP_BITS, as a plane], the steps in binary, bit b in numbers[b], of wins found
    by whole rows, else 0; only the bits that occur take memory. late: (step, changes as in
    `sparse`) of wins that were followed one by one. last: no step after it found a win.
    """

    def __init__(self, level: Level) -> None:
        size = level.count * level.words + 2 * MARGIN
        self.numbers = np.zeros((STEP_BITS, size), dtype=np.uint64)
        self.late: list[tuple[int, np.ndarray]] = []
        self.last_dense = 0

    @property
    def last(self) -> int:
        """The last step that may have found a win."""
        return max([self.last_dense, *(step for step, _ in self.late)])

    def record(self, step: int) -> Record:
        """Where a half-round over whole rows notes its wins. OverflowError past STEP_BITS."""
        if step >> STEP_BITS:
            raise OverflowError(f"a distance of {step} plies has more than {STEP_BITS} bits")
        self.last_dense = step
        return Record(self.numbers, step)

    def add(self, step: int, changes: Queues) -> None:
        """Keep the wins among changes that were followed."""
        for shard, used in enumerate(changes.used):
            entries = changes.entries[shard, :used]
            wins = entries[entries & 1 == WIN]
            if wins.size:
                self.late.append((step, wins))


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did: by whole rows or not, changed bits of R and of C, seconds."""

    dense: bool
    changed: tuple[int, int]
    seconds: float


@dataclass(frozen=True, slots=True)
class _View:
    """Planes of a side as the other one sees them, and what the last step changed in the rows."""

    planes: Planes
    news: np.ndarray


@njit(cache=True, nogil=True)
def _copy_rows(first, last, words, news, loss, not_win, loss_copy, not_win_copy):
    """Copy the rows of two planes that have news."""
    for row in range(first, last):
        if news[row]:
            at = MARGIN + row * words
            loss_copy[at : at + words] = loss[at : at + words]
            not_win_copy[at : at + words] = not_win[at : at + words]


class DistanceRounds:
    """The rounds of a level of which all conversions are constants."""

    def __init__(
        self,
        row_side: RowSide,
        column_side: ColumnSide,
        columns: np.ndarray,
        recorded: tuple[WinSteps | None, WinSteps],
        workers: Workers,
    ) -> None:
        """row_side, column_side: constants in place, nothing lost. columns: uint64[words], C's
        columns. recorded: for R and C; None where nobody asks.
        """
        self._row_side = row_side
        self._column_side = column_side
        self._columns = columns
        self._recorded = recorded
        self._workers = workers
        self._level = row_side.level
        self._shards = workers.ranges(self._level.count)
        self.done: list[Step] = []

    def fold_placements(self, row_values: Planes) -> None:
        """Add C's placements to the constants. row_values: R to move on the level, final."""
        level, side = self._level, self._column_side
        self._workers.over(
            level.count,
            lambda first, last: column_placements(
                level.rows,
                first,
                last,
                level.words,
                side.valid,
                row_values.loss,
                row_values.not_win,
                side.planes.not_win,
                side.escapes,
            ),
        )

    def run(self, row_may_end: bool, ending_columns: np.ndarray, follow: bool = True) -> bool:
        """Step until nothing changes. False, and all must begin anew, when a queue overflows.

        row_may_end: whether R without a slide has lost (no man in hand, no flight);
        ending_columns: uint64[words], the columns from which C without one has. follow: whether
        few changes are followed one by one.
        """
        self._find_ends(row_may_end, ending_columns)
        rows, columns = self._row_side, self._column_side
        before = _View(Planes.empty(self._level.count, self._level.words), np.empty_like(rows.news))
        before.planes.loss[:] = rows.planes.loss
        # Before the first step nothing is won.
        each_row = before.planes.not_win[MARGIN:-MARGIN].reshape(self._level.count, -1)
        each_row[:] = self._columns
        unwon = _View(Planes(columns.planes.loss, before.planes.not_win), columns.news)
        self._dense(1, unwon, before, True, None)
        queues = None
        step = 1
        while True:
            step += 1
            clock = time.perf_counter()
            dense = queues is None
            if dense:
                news = self._queues() if follow and self._may_be_few() else None
                changed = self._dense(step, columns, before, step == 2, news)
                queues = news if news is not None and self._worth_following(news) else None
            else:
                queues = self._sparse(step, queues)
                if queues is None:
                    return False
                changed = (sum(queues[0].used), sum(queues[1].used))
            self.done.append(Step(dense, changed, time.perf_counter() - clock))
            if not any(changed):
                return True

    def _find_ends(self, row_may_end: bool, ending_columns: np.ndarray) -> None:
        """Mark the positions of both sides in which the game is over."""
        level, rows, columns = self._level, self._row_side, self._column_side
        if row_may_end:
            self._workers.over(
                level.count,
                lambda first, last: row_ends(
                    level.rows,
                    first,
                    last,
                    level.words,
                    self._columns,
                    rows.valid,
                    rows.planes.loss,
                ),
            )
        if ending_columns.any():
            self._workers.over(
                level.count,
                lambda first, last: column_ends(
                    level.rows,
                    first,
                    last,
                    level.words,
                    columns.valid,
                    ending_columns,
                    columns.planes.loss,
                ),
            )

    def _dense(
        self,
        step: int,
        columns_seen: Seen,
        rows_seen: _View,
        all_rows: bool,
        news: tuple[Queues, Queues] | None,
    ) -> tuple[int, int]:
        """A step over the rows whose sources changed; then `rows_seen` is brought up to date."""
        changed = []
        sides = ((self._row_side, columns_seen), (self._column_side, rows_seen))
        for number, (side, seen) in enumerate(sides):
            steps = self._recorded[number]
            record = NO_RECORD if steps is None else steps.record(step)
            queues = [NO_QUEUE] * len(self._shards) if news is None else news[number].entries
            used = self._workers.each(
                len(self._shards),
                lambda x, side=side, seen=seen, queues=queues, record=record: side.dense(
                    seen, self._shards[x], all_rows, queues[x], record
                ),
            )
            if news is not None:
                news[number].used = used
            changed.append(sum(used))
        planes = self._row_side.planes
        rows_seen.news[:] = self._row_side.news
        # In the second step too: what the first one saw was not how the planes were.
        wanted = np.ones_like(rows_seen.news) if all_rows else rows_seen.news
        self._workers.over(
            self._level.count,
            lambda first, last: _copy_rows(
                first,
                last,
                self._level.words,
                wanted,
                planes.loss,
                planes.not_win,
                rows_seen.planes.loss,
                rows_seen.planes.not_win,
            ),
        )
        return changed[0], changed[1]

    def _sparse(self, step: int, changes: tuple[Queues, Queues]) -> tuple[Queues, Queues] | None:
        """A step that follows single changes; None when a queue overflowed."""
        found = self._row_side.find(self._column_side, changes[1], self._workers)
        if found.overflowed:
            return None
        news = self._queues()
        # R's planes must be those of the step before until C has seen them.
        self._column_side.sparse(self._row_side, self._shards, changes[0], news[1], self._workers)
        self._row_side.apply(found, self._shards, news[0], self._workers)
        if news[0].overflowed or news[1].overflowed:
            return None
        for steps, queues in zip(self._recorded, news, strict=True):
            if steps is not None:
                steps.add(step, queues)
        return news

    def _queues(self) -> tuple[Queues, Queues]:
        return Queues(len(self._shards)), Queues(len(self._shards))

    def _may_be_few(self) -> bool:
        return bool(self.done) and may_be_few(max(self.done[-1].changed))

    def _worth_following(self, news: tuple[Queues, Queues]) -> bool:
        sides = (self._row_side, self._column_side)
        links = self._row_side.links
        return all(
            sum(queues.used) == 0
            or worth_following(queues, sum(queues.used), side, self._level, links)
            for queues, side in zip(news, sides, strict=True)
        )
