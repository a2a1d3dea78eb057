"""The rounds of a level: R's and C's half-rounds in turn until one changes nothing.

While much changes a half-round evaluates whole rows (`dense`); once the changes are few it follows
them one by one (`sparse`). A half-round of either kind is exactly one ply.

Invariant: when `solve_rounds` returns, both sides' planes satisfy the equations in `dense`, and
were reached from below: the least fixpoint, whatever the kinds of rounds and the number of threads.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from solver.rows.dense import LOSS_CHANGED, NOT_WIN_CHANGED, column_half_round, row_half_round
from solver.rows.geometry import Level, Links
from solver.rows.planes import Planes
from solver.rows.sparse import apply_row_changes, column_changes, find_row_changes
from solver.rows.workers import Workers

ALL_CHANGED = LOSS_CHANGED | NOT_WIN_CHANGED

# A row's evaluation costs as much as following about this many changes per word of it.
_CHANGES_A_WORD = 1 / 48
# (That is with the usual number of slides from a row; the cost of a change grows with its square.)
_USUAL_SLIDES = 15

# Changes that wait in all queues of one side together.
_QUEUE_ENTRIES = 1 << 25

NO_QUEUE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Fresh:
    """Where a half-round over whole rows leaves its new wins; see `dense.row_half_round`.

    wins: uint64, as a plane; counts: int64[rows], how many there are in each row.
    """

    wins: np.ndarray
    counts: np.ndarray


NO_FRESH = Fresh(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class HalfRound:
    """What one half-round did: side "R" or "C", dense or not, changed bits, seconds."""

    side: str
    dense: bool
    changed: int
    seconds: float


class Seen(Protocol):
    """A side as the other one's dense half-round sees it: its planes, and what changed in them."""

    planes: Planes
    news: np.ndarray


class Queues:
    """The changes of a half-round one by one: an array per shard, and how much of it is used."""

    def __init__(self, shards: int) -> None:
        self.entries = np.empty((shards, _QUEUE_ENTRIES // shards), dtype=np.int64)
        self.used = [0] * shards

    def sort(self, shard: int) -> None:
        """Sort a shard's changes by row, so that those of a row are followed together."""
        self.entries[shard][: self.used[shard]].sort()

    @property
    def overflowed(self) -> bool:
        """Whether a shard had more changes than its array holds."""
        return max(self.used) > self.entries.shape[1]


@dataclass
class _Side:
    """One side to move on a level: its planes, and its moves that are final (escapes).

    escapes: uint64, as the planes; bit set: some final move escapes, or there is no position.
    news: uint8[rows], what the last dense half-round changed in a row.
    """

    level: Level
    valid: tuple[np.ndarray, np.ndarray]
    planes: Planes = field(init=False)
    escapes: np.ndarray = field(init=False)
    news: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.planes = Planes.empty(self.level.count, self.level.words)
        self.escapes = np.empty_like(self.planes.loss)
        self.news = np.zeros(self.level.count, dtype=np.uint8)

    def _evaluated(
        self, other: Seen, all_rows: bool, queue: np.ndarray, fresh: Fresh
    ) -> tuple[object, ...]:
        """What both sides' kernels for whole rows end with: what they read and what they write."""
        return (
            other.planes.loss,
            other.planes.not_win,
            other.news,
            ALL_CHANGED if all_rows else 0,
            self.planes.loss,
            self.planes.not_win,
            self.escapes,
            self.news,
            queue,
            fresh.wins,
            fresh.counts,
        )


class RowSide(_Side):
    """R to move; its slides lead to other rows."""

    name = "R"

    def __init__(self, level: Level, valid: tuple[np.ndarray, np.ndarray], links: Links) -> None:
        super().__init__(level, valid)
        self.links = links

    def dense(
        self,
        other: Seen,
        shard: tuple[int, int],
        all_rows: bool,
        queue: np.ndarray,
        fresh: Fresh = NO_FRESH,
    ) -> int:
        """Evaluate a shard's rows; returns the number of changes."""
        links = self.links
        return row_half_round(
            *shard,
            self.level.words,
            self.valid,
            (links.start, links.target, links.closes, links.plan),
            *self._evaluated(other, all_rows, queue, fresh),
        )

    def sparse(
        self,
        other: _Side,
        shards: list[tuple[int, int]],
        changes: Queues,
        queues: Queues,
        workers: Workers,
    ) -> None:
        """Follow C's changes to R's predecessors."""
        found = self.find(other, changes, workers)
        if found.overflowed:
            queues.used = found.used
        else:
            self.apply(found, shards, queues, workers)

    def find(self, other: _Side, changes: Queues, workers: Workers) -> Queues:
        """What C's changes change in R's planes, which are only read."""
        level = self.level
        links = self.links
        found = Queues(len(changes.used))

        def find(x: int) -> int:
            changes.sort(x)
            return find_row_changes(
                level.rows,
                changes.entries[x],
                changes.used[x],
                level.words,
                (
                    links.start,
                    links.target,
                    links.symmetry,
                    links.left_point,
                    links.new_point,
                    links.closes,
                ),
                other.planes.not_win,
                self.planes.loss,
                self.planes.not_win,
                self.escapes,
                found.entries[x],
            )

        found.used = workers.each(len(found.used), find)
        return found

    def apply(
        self, found: Queues, shards: list[tuple[int, int]], queues: Queues, workers: Workers
    ) -> None:
        """Set what `find` found; the changes go to `queues`."""
        level = self.level

        def apply(x: int) -> int:
            queued = 0
            for y in range(len(shards)):
                queued = apply_row_changes(
                    level.rows,
                    level.stabilisers,
                    found.entries[y],
                    found.used[y],
                    *shards[x],
                    level.words,
                    self.planes.loss,
                    self.planes.not_win,
                    queues.entries[x],
                    queued,
                )
            return queued

        queues.used = workers.each(len(shards), apply)


class ColumnSide(_Side):
    """C to move; all its moves but captures stay in the row."""

    name = "C"

    def __init__(
        self,
        level: Level,
        valid: tuple[np.ndarray, np.ndarray],
        most: int,
        flights: np.ndarray,
        columns: np.ndarray,
    ) -> None:
        """most: C's total, or 0 when its placements are among the constants. flights: bool[total +
        1], C flies with so many on the board; columns: where.
        """
        super().__init__(level, valid)
        self._most = most
        self._flights = flights
        self.flying = (bool(flights.any()), columns)

    def dense(
        self,
        other: Seen,
        shard: tuple[int, int],
        all_rows: bool,
        queue: np.ndarray,
        fresh: Fresh = NO_FRESH,
    ) -> int:
        """Evaluate a shard's rows; returns the number of changes."""
        return column_half_round(
            self.level.rows,
            *shard,
            self.level.words,
            self.valid,
            self._most > 0,
            self.flying,
            *self._evaluated(other, all_rows, queue, fresh),
        )

    def sparse(
        self,
        other: _Side,
        shards: list[tuple[int, int]],
        changes: Queues,
        queues: Queues,
        workers: Workers,
    ) -> None:
        """Follow R's changes to C's predecessors."""

        def follow(x: int) -> int:
            changes.sort(x)
            return column_changes(
                self.level.rows,
                changes.entries[x],
                changes.used[x],
                self.level.words,
                self._most,
                self._flights,
                other.planes.not_win,
                self.planes.loss,
                self.planes.not_win,
                self.escapes,
                queues.entries[x],
            )

        queues.used = workers.each(len(shards), follow)


def solve_rounds(
    row_side: RowSide, column_side: ColumnSide, level: Level, workers: Workers
) -> list[HalfRound]:
    """Half-rounds until nothing changes; returns what each of them did."""
    shards = workers.ranges(level.count)
    side, other = row_side, column_side
    done: list[HalfRound] = []
    queues: Queues | None = None  # the changes of the last half-round, if they are to be followed
    all_rows = True  # the side to move has not seen the other side's rows at all
    while True:
        clock = time.perf_counter()
        follow = queues is not None
        news = Queues(len(shards)) if follow or _collects(done) else None
        if follow:
            side.sparse(other, shards, queues, news, workers)
            if news.overflowed:
                # What changed is not known any more: start again from the planes as they are.
                queues, all_rows = None, True
                continue
            changed = sum(news.used)
            queues = news
        else:
            changed = _dense_half_round(side, other, shards, all_rows, news, workers)
            queues = news if worth_following(news, changed, side, level, row_side.links) else None
        done.append(HalfRound(side.name, not follow, changed, time.perf_counter() - clock))
        if all_rows:
            # The other side has seen none of this side's rows either.
            side.news[:] = ALL_CHANGED
            queues, all_rows = None, False
        elif changed == 0:
            return done
        side, other = other, side


def _dense_half_round(
    side: RowSide | ColumnSide,
    other: _Side,
    shards: list[tuple[int, int]],
    all_rows: bool,
    news: Queues | None,
    workers: Workers,
) -> int:
    """Evaluate the rows whose sources changed; returns the number of changes, queued in `news`."""
    used = workers.each(
        len(shards),
        lambda x: side.dense(
            other, shards[x], all_rows, NO_QUEUE if news is None else news.entries[x]
        ),
    )
    if news is not None:
        news.used = used
    return sum(used)


def _collects(done: list[HalfRound]) -> bool:
    """Whether the next dense half-round may have few enough changes to collect them."""
    return len(done) > 1 and may_be_few(max(done[-1].changed, done[-2].changed))


def may_be_few(changed: int) -> bool:
    """Whether after so many changes of either side the next ones are worth collecting."""
    return changed < _QUEUE_ENTRIES // 4


def worth_following(
    news: Queues | None, changed: int, side: _Side, level: Level, links: Links
) -> bool:
    """Whether following the collected changes costs less than evaluating rows."""
    if news is None or news.overflowed:
        return False
    slides = max(links.target.size / level.count, _USUAL_SLIDES)
    a_word = _CHANGES_A_WORD * (_USUAL_SLIDES / slides) ** 2
    return changed < np.count_nonzero(side.news) * level.words * a_word
