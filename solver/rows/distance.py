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
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit

from solver.rows.ends import column_ends, column_placements, row_ends
from solver.rows.geometry import Level
from solver.rows.planes import Planes
from solver.rows.rounds import (
    NO_FRESH,
    NO_QUEUE,
    ColumnSide,
    Fresh,
    Queues,
    RowSide,
    Seen,
    may_be_few,
    worth_following,
)
from solver.rows.sparse import WIN
from solver.rows.words import MARGIN, trailing_zeros
from solver.rows.workers import Workers


class WinSteps:
    """At which step each win of one side was found, but for wins by a conversion.

    found: (step, wins) with the steps ascending; wins: uint32[...], positions as numbers of bits in
    a plane without its margin, 2**axes a row.
    """

    def __init__(self, level: Level) -> None:
        self._level = level
        self.found: list[tuple[int, np.ndarray]] = []

    @property
    def last(self) -> int:
        """The last step that found a win; 0 if none did."""
        return self.found[-1][0] if self.found else 0

    def add_rows(self, step: int, fresh: Fresh, workers: Workers) -> None:
        """Add the wins that a half-round over whole rows has left in `fresh`."""
        level = self._level
        stops = np.cumsum(fresh.counts)
        if stops[-1]:
            wins = np.empty(stops[-1], dtype=np.uint32)
            workers.over(
                level.count,
                lambda first, last: _list_wins(
                    first, last, level.words, fresh.wins, fresh.counts, stops, wins
                ),
            )
            self.found.append((step, wins))

    def add_changes(self, step: int, changes: Queues) -> None:
        """Add the wins among changes that were followed."""
        for shard, used in enumerate(changes.used):
            entries = changes.entries[shard, :used]
            wins = entries[entries & 1 == WIN]
            if wins.size:
                bits = wins >> 25 << self._level.axes | wins >> 1 & 0xFFFFFF
                self.found.append((step, bits.astype(np.uint32)))


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
def _list_wins(first, last, words, fresh, counts, stops, wins):
    """List the bits of rows first .. last - 1 of a plane in wins[stops[row] - counts[row]:]."""
    for row in range(first, last):
        if counts[row]:
            at = stops[row] - counts[row]
            base = row * words
            for y in range(base, base + words):
                word = fresh[MARGIN + y]
                while word:
                    wins[at] = 64 * y + trailing_zeros(word)
                    at += 1
                    word &= word - np.uint64(1)


@njit(cache=True, nogil=True)
def _copy_rows(first, last, words, news, loss, not_win, loss_copy, not_win_copy):
    """Copy the rows of two planes that have news."""
    for row in range(first, last):
        if news[row]:
            at = MARGIN + row * words
            loss_copy[at : at + words] = loss[at : at + words]
            not_win_copy[at : at + words] = not_win[at : at + words]


def fold_placements(side: ColumnSide, row_values: Planes, workers: Workers) -> None:
    """Add C's placements to the constants. row_values: R to move on the level, final."""
    level = side.level
    workers.over(
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


class DistanceRounds:
    """The rounds of a level of which all conversions are constants."""

    def __init__(
        self,
        row_side: RowSide,
        column_side: ColumnSide,
        columns: np.ndarray,
        recorded: Mapping[str, WinSteps],
        workers: Workers,
    ) -> None:
        """row_side, column_side: constants in place, nothing lost. columns: uint64[words], C's
        columns. recorded: by the name of the side, without one that nobody asks for.
        """
        self._row_side = row_side
        self._column_side = column_side
        self._columns = columns
        self._recorded = recorded
        self._workers = workers
        self._level = row_side.level
        self._shards = workers.ranges(self._level.count)
        self.done: list[Step] = []

    def run(self, row_may_end: bool, ending_columns: np.ndarray, follow: bool = True) -> bool:
        """Step until nothing changes. False, and all must begin anew, when a queue overflows.

        row_may_end: whether R without a slide has lost (no man in hand, no flight);
        ending_columns: uint64[words], the columns from which C without one has. follow: whether
        few changes are followed one by one.
        """
        self._find_ends(row_may_end, ending_columns)
        changes = self._evaluate(follow)
        return changes is None or self._follow(changes)

    def _evaluate(self, follow: bool) -> tuple[Queues, Queues] | None:
        """Steps over whole rows until nothing changes, or, if `follow`, until the changes, which
        are returned, are so few that following them is faster.
        """
        rows, columns, count = self._row_side, self._column_side, self._level.count
        # Blocks that hold no positions stay empty.
        fresh = Fresh(np.zeros_like(rows.planes.loss), np.zeros(count, dtype=np.int64))
        before = _View(Planes.empty(count, self._level.words), np.empty_like(rows.news))
        before.planes.loss[:] = rows.planes.loss
        # Before the first step nothing is won.
        before.planes.not_win[MARGIN:-MARGIN].reshape(count, -1)[:] = self._columns
        unwon = _View(Planes(columns.planes.loss, before.planes.not_win), columns.news)
        self._dense(1, unwon, before, True, fresh, None)
        while True:
            clock = time.perf_counter()
            step = self._next_step
            news = self._queues() if follow and self._may_be_few() else None
            changed = self._dense(step, columns, before, step == 2, fresh, news)
            self.done.append(Step(True, changed, time.perf_counter() - clock))
            if not any(changed):
                return None
            if news is not None and self._worth_following(news):
                return news

    def _follow(self, changes: tuple[Queues, Queues]) -> bool:
        """Steps that follow single changes until there are none; False when a queue overflowed."""
        while any(sum(queues.used) for queues in changes):
            clock = time.perf_counter()
            news = self._sparse(self._next_step, changes)
            if news is None:
                return False
            changed = (sum(news[0].used), sum(news[1].used))
            self.done.append(Step(False, changed, time.perf_counter() - clock))
            changes = news
        return True

    @property
    def _next_step(self) -> int:
        # The first step changes only what ends at once; `done` begins with the second.
        return len(self.done) + 2

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
        fresh: Fresh,
        news: tuple[Queues, Queues] | None,
    ) -> tuple[int, int]:
        """A step over the rows whose sources changed; then `rows_seen` is brought up to date."""
        changed = []
        sides = ((self._row_side, columns_seen), (self._column_side, rows_seen))
        for number, (side, seen) in enumerate(sides):
            steps = self._recorded.get(side.name)
            wins = NO_FRESH if steps is None else fresh
            queues = [NO_QUEUE] * len(self._shards) if news is None else news[number].entries
            used = self._workers.each(
                len(self._shards),
                lambda x, side=side, seen=seen, queues=queues, wins=wins: side.dense(
                    seen, self._shards[x], all_rows, queues[x], wins
                ),
            )
            if steps is not None:
                steps.add_rows(step, wins, self._workers)
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
        for side, queues in zip((self._row_side, self._column_side), news, strict=True):
            if side.name in self._recorded:
                self._recorded[side.name].add_changes(step, queues)
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
