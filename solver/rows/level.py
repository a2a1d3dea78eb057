"""Solves one level of a unit, given the values that its conversions lead to.

Order of work: what R gains by captures (from the unit with one man of C fewer), the constants of
both sides, then half-rounds, R and C in turn, until nothing changes. Each half-round is one ply.

Invariant: the result is the least fixpoint of the equations in `dense`; it does not depend on the
number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.morris import Rules
from solver.rows.captures import row_captures
from solver.rows.dense import (
    LOSS_CHANGED,
    NOT_WIN_CHANGED,
    column_constants,
    column_half_round,
    row_constants,
    row_half_round,
)
from solver.rows.geometry import Level
from solver.rows.planes import Planes, columns_of_at_most, columns_of_exactly, valid_blocks
from solver.rows.workers import Workers
from solver.rows.words import MARGIN

_NO_WORDS = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Captures:
    """What R gains on rows with a mill: planes over those rows only.

    wins, escapes: uint64[MARGIN + mill rows * words + MARGIN].
    """

    wins: np.ndarray
    escapes: np.ndarray


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What R's arrival on a level's rows leads to: its planes with C to move, and the captures.

    For the level itself the planes are unknown at first; for the level above they are final and
    bit 0 of the captures (no man of C to take) holds the planes' own value.
    """

    column_side: Planes
    captures: Captures


@dataclass(frozen=True, slots=True)
class Inputs:
    """The final values that the conversions of a level lead to; None where there are none.

    above: R's placements (None: no man in hand). reduced: R's captures, the unit (r, c - 1) with C
    to move (None: C has lost); its row of row number x begins at reduced_start[x]. taken: C's
    captures, level k - 1 of the unit (r - 1, c) with R to move (None: R has lost, or k = 0).
    """

    above: Arrivals | None
    reduced: Planes | None
    reduced_start: np.ndarray
    taken: Planes | None


@dataclass(frozen=True, slots=True)
class SolvedLevel:
    """The planes of a finished level for both sides to move, and its captures for the level below."""

    row_side: Planes
    column_side: Planes
    captures: Captures


def capture_values(level: Level, men: int, inputs: Inputs, workers: Workers) -> Captures:
    """What R gains by taking one of C's `men` men, on the level's rows with a mill."""
    out = Planes.empty(level.mill_count, level.words)
    reduced = inputs.reduced
    starts = inputs.reduced_start
    if reduced is None:
        everything = np.full(level.words + 2 * MARGIN, ~np.uint64(0))
        reduced = Planes(everything, everything)
        starts = np.full(level.count, MARGIN, dtype=np.int64)
    workers.over(
        level.count,
        lambda first, last: row_captures(
            level.rows,
            level.mill_number,
            first,
            last,
            level.axes,
            columns_of_at_most(men, level.axes),
            valid_blocks(men, level.axes)[0],
            reduced.loss,
            reduced.not_win,
            starts,
            out.loss,
            out.not_win,
        ),
    )
    return Captures(out.loss, out.not_win)


def solve_level(
    level: Level,
    above: Level | None,
    r: int,
    c: int,
    rules: Rules,
    inputs: Inputs,
    workers: Workers,
) -> SolvedLevel:
    """Solve level k of the unit (r, c); `above` is the level k + 1 when R has a man in hand."""
    captures = capture_values(level, c, inputs, workers)
    game = _LevelGame(level, above, r, c, rules, inputs, captures, workers)
    game.solve()
    _settle_captures(level, captures, game.column_side)
    return SolvedLevel(game.row_side, game.column_side, captures)


def _settle_captures(level: Level, captures: Captures, column_side: Planes) -> None:
    """Give bit 0 of the captures the level's own value: a mill with nothing to take is quiet."""
    rows = np.flatnonzero(level.mill_number >= 0)
    sources = MARGIN + rows * level.words
    targets = MARGIN + np.arange(rows.size) * level.words
    captures.wins[targets] |= column_side.loss[sources] & np.uint64(1)
    captures.escapes[targets] |= column_side.not_win[sources] & np.uint64(1)


class _LevelGame:
    """The planes of a level while they are being solved."""

    def __init__(
        self,
        level: Level,
        above: Level | None,
        r: int,
        c: int,
        rules: Rules,
        inputs: Inputs,
        captures: Captures,
        workers: Workers,
    ) -> None:
        self._level = level
        self._workers = workers
        links = level.slides(rules.may_fly(level.k, r - level.k))
        self._slides = (links.start, links.target, links.closes, links.plan)
        self._flying = _column_flights(level, c, rules)
        self.row_side = Planes.empty(level.count, level.words)
        self.column_side = Planes.empty(level.count, level.words)
        self._row_escapes = np.empty_like(self.row_side.loss)
        self._column_escapes = np.empty_like(self.row_side.loss)
        self._valid = valid_blocks(c, level.axes)
        columns = columns_of_at_most(c, level.axes)
        self._row_constants(above, inputs.above, captures, columns)
        self._column_constants(inputs.taken, level.k > 0 and r == 3, columns)

    def _row_constants(
        self,
        above: Level | None,
        arrivals: Arrivals | None,
        captures: Captures,
        columns: np.ndarray,
    ) -> None:
        level = self._level
        here = (captures.wins, captures.escapes, level.mill_number)
        if arrivals is None or above is None:
            links = level.slides(False)  # any links: their start is cut off, so none is followed
            placements = (links.start[:0], links.target, links.closes, links.plan)
            landing = (here, here, (_NO_WORDS, _NO_WORDS, 0))
        else:
            links = level.placements()
            placements = (links.start, links.target, links.closes, links.plan)
            taken = (arrivals.captures.wins, arrivals.captures.escapes, above.mill_number)
            planes = (arrivals.column_side.loss, arrivals.column_side.not_win, above.words)
            landing = (here, taken, planes)
        self._workers.over(
            level.count,
            lambda first, last: row_constants(
                first,
                last,
                level.words,
                self._slides,
                placements,
                columns,
                self._valid,
                landing,
                self.row_side.not_win,
                self._row_escapes,
            ),
        )

    def _column_constants(
        self, taken: Planes | None, row_side_lost: bool, columns: np.ndarray
    ) -> None:
        level = self._level
        links = level.removals()
        removals = (links.start, links.target, links.left_point, links.plan)
        if taken is None:
            values = (_NO_WORDS, _NO_WORDS)
        else:
            values = (taken.loss, taken.not_win)
        if taken is None and level.k > 0 and not row_side_lost:
            raise ValueError(f"level {level.k} needs the values behind C's captures")
        self._workers.over(
            level.count,
            lambda first, last: column_constants(
                level.rows,
                first,
                last,
                level.words,
                columns,
                self._valid,
                self._flying,
                removals,
                values,
                self.column_side.not_win,
                self._column_escapes,
            ),
        )

    def solve(self) -> None:
        """Half-rounds until nothing changes."""
        count = self._level.count
        row_news = np.zeros(count, dtype=np.uint8)
        column_news = np.full(count, NOT_WIN_CHANGED, dtype=np.uint8)
        self._row_half_round(column_news, row_news, always=NOT_WIN_CHANGED)
        row_news |= NOT_WIN_CHANGED  # all that C's rows have not seen yet
        while self._column_half_round(row_news, column_news):
            if not self._row_half_round(column_news, row_news):
                break

    def _row_half_round(self, changes: np.ndarray, news: np.ndarray, always: int = 0) -> int:
        return self._workers.over(
            self._level.count,
            lambda first, last: row_half_round(
                first,
                last,
                self._level.words,
                self._valid,
                self._slides,
                self.column_side.loss,
                self.column_side.not_win,
                changes,
                always,
                self.row_side.loss,
                self.row_side.not_win,
                self._row_escapes,
                news,
            ),
        )

    def _column_half_round(self, changes: np.ndarray, news: np.ndarray) -> int:
        level = self._level
        return self._workers.over(
            level.count,
            lambda first, last: column_half_round(
                level.rows,
                first,
                last,
                level.words,
                self._valid,
                self._flying,
                self.row_side.loss,
                self.row_side.not_win,
                changes,
                self.column_side.loss,
                self.column_side.not_win,
                self._column_escapes,
                news,
            ),
        )


def _column_flights(level: Level, c: int, rules: Rules) -> tuple[bool, np.ndarray]:
    """Whether C may fly on some column of the level, and the bitmap of those columns."""
    flying = np.zeros(level.words, dtype=np.uint64)
    for men in range(c + 1):
        if rules.may_fly(men, c - men):
            flying |= columns_of_exactly(men, level.axes)
    return bool(flying.any()), flying
