"""Solves one level of a unit, given the values that its conversions lead to.

Order of work: what R gains by captures (from the unit with one man of C fewer), the constants of
both sides, then half-rounds, R and C in turn, until nothing changes. Each half-round is one ply.

Invariant: the result is the least fixpoint of the equations in `dense`; it does not depend on the
number of threads.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from engine.morris import Rules
from solver.rows.captures import row_captures
from solver.rows.dense import column_constants, row_constants
from solver.rows.geometry import Level
from solver.rows.planes import Planes, columns_of_at_most, columns_of_exactly, valid_blocks
from solver.rows.rounds import ColumnSide, HalfRound, RowSide, solve_rounds
from solver.rows.words import MARGIN
from solver.rows.workers import Workers

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
class Reduced:
    """The unit (r, c - 1) with C to move, which R's captures lead to.

    start: int64[rows], where the words of each of the level's rows begin in the planes; rows
    without a mill are never looked at.
    """

    planes: Planes
    start: np.ndarray


@dataclass(frozen=True, slots=True)
class Inputs:
    """The final values that the conversions of a level lead to; None where there are none.

    captures: of R on this level. above: R's placements (None: no man in hand). taken: C's captures,
    level k - 1 of the unit (r - 1, c) with R to move (None: R then has lost, or k = 0).
    """

    captures: Captures
    above: Arrivals | None
    taken: Planes | None


@dataclass(frozen=True, slots=True)
class SolvedLevel:
    """A finished level: planes for both sides to move, captures for the level below, the work done.

    constants_seconds: time for everything before the rounds.
    """

    row_side: Planes
    column_side: Planes
    captures: Captures
    constants_seconds: float
    rounds: list[HalfRound]


def capture_values(level: Level, men: int, reduced: Reduced | None, workers: Workers) -> Captures:
    """What R gains by taking one of C's `men` men, on the level's rows with a mill.

    reduced: None when C then has lost.
    """
    out = Planes.empty(level.mill_count, level.words)
    if reduced is None:
        everything = np.full(level.words + 2 * MARGIN, ~np.uint64(0))
        reduced = Reduced(
            Planes(everything, everything), np.full(level.count, MARGIN, dtype=np.int64)
        )
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
            reduced.planes.loss,
            reduced.planes.not_win,
            reduced.start,
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
    clock = time.perf_counter()
    captures = inputs.captures
    row_side, column_side = sides_with_constants(level, above, r, c, rules, inputs, workers)
    del inputs  # the planes behind C's captures have served; the rounds need the memory
    seconds = time.perf_counter() - clock
    rounds = solve_rounds(row_side, column_side, level, workers)
    return SolvedLevel(row_side.planes, column_side.planes, captures, seconds, rounds)


def settle_captures(level: Level, captures: Captures, column_side: Planes) -> None:
    """Give bit 0 of the captures the level's own value: a mill with nothing to take is quiet."""
    rows = np.flatnonzero(level.mill_number >= 0)
    sources = MARGIN + rows * level.words
    targets = MARGIN + np.arange(rows.size) * level.words
    captures.wins[targets] |= column_side.loss[sources] & np.uint64(1)
    captures.escapes[targets] |= column_side.not_win[sources] & np.uint64(1)


def sides_with_constants(
    level: Level,
    above: Level | None,
    r: int,
    c: int,
    rules: Rules,
    inputs: Inputs,
    workers: Workers,
    placing: bool = True,
) -> tuple[RowSide, ColumnSide]:
    """Both sides of a level with their constants, before the first round.

    placing: whether C's placements are moves of the rounds; else they are still to be folded in.
    """
    links = level.slides(rules.may_fly(level.k, r - level.k))
    flights = np.array([rules.may_fly(men, c - men) for men in range(c + 1)])
    flying = np.zeros(level.words, dtype=np.uint64)
    for men in np.flatnonzero(flights):
        flying |= columns_of_exactly(int(men), level.axes)
    valid = valid_blocks(c, level.axes)
    row_side = RowSide(level, valid, links)
    column_side = ColumnSide(level, valid, c if placing else 0, flights, flying)
    columns = columns_of_at_most(c, level.axes)
    _fill_row_constants(row_side, above, inputs.above, inputs.captures, columns, workers)
    if inputs.taken is None and level.k > 0 and r > 3:
        raise ValueError(f"level {level.k} of ({r}, {c}) needs the values behind C's captures")
    _fill_column_constants(column_side, inputs.taken, columns, workers)
    return row_side, column_side


def _fill_row_constants(
    side: RowSide,
    above: Level | None,
    arrivals: Arrivals | None,
    captures: Captures,
    columns: np.ndarray,
    workers: Workers,
) -> None:
    level = side.level
    slides = side.links
    here = (captures.wins, captures.escapes, level.mill_number)
    if above is None or arrivals is None:
        # An empty list of starts says that there are no placements; the links are not looked at.
        placements = (slides.start[:0], slides.target, slides.closes, slides.plan)
        landing = (here, here, (_NO_WORDS, _NO_WORDS, 0))
    else:
        links = level.placements()
        placements = (links.start, links.target, links.closes, links.plan)
        taken = (arrivals.captures.wins, arrivals.captures.escapes, above.mill_number)
        planes = (arrivals.column_side.loss, arrivals.column_side.not_win, above.words)
        landing = (here, taken, planes)
    workers.over(
        level.count,
        lambda first, last: row_constants(
            first,
            last,
            level.words,
            (slides.start, slides.target, slides.closes, slides.plan),
            placements,
            columns,
            side.valid,
            landing,
            side.planes.not_win,
            side.escapes,
        ),
    )


def _fill_column_constants(
    side: ColumnSide, taken: Planes | None, columns: np.ndarray, workers: Workers
) -> None:
    level = side.level
    links = level.removals()
    values = (_NO_WORDS, _NO_WORDS) if taken is None else (taken.loss, taken.not_win)
    workers.over(
        level.count,
        lambda first, last: column_constants(
            level.rows,
            first,
            last,
            level.words,
            columns,
            side.valid,
            side.flying,
            (links.start, links.target, links.left_point, links.plan),
            values,
            side.planes.not_win,
            side.escapes,
        ),
    )
