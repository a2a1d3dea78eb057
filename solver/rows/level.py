"""Solves one level of a unit, given the values that its conversions lead to.

Order of work: what R gains by captures (from the unit with one man of C fewer), the constants of C,
those of R, then half-rounds, R and C in turn, until nothing changes. Each half-round is one ply.

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
    """What R's arrival on a finished level leads to: its planes with C to move, and the captures.

    Bit 0 of the captures (no man of C to take) holds the planes' own value.
    """

    level: Level
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
    r: int,
    c: int,
    rules: Rules,
    captures: Captures,
    above: Arrivals | None,
    taken: Planes | None,
    workers: Workers,
) -> SolvedLevel:
    """Solve level k of the unit (r, c) from the final values that its conversions lead to.

    captures: of R on this level; above: R's placements (None: no man in hand); taken: see
    `column_side_of`.
    """
    clock = time.perf_counter()
    column_side = column_side_of(level, r, c, rules, taken, workers)
    del taken  # the rest needs the memory
    row_side = row_side_of(level, r, c, rules, captures, above, workers)
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


def column_side_of(
    level: Level,
    r: int,
    c: int,
    rules: Rules,
    taken: Planes | None,
    workers: Workers,
    placing: bool = True,
) -> ColumnSide:
    """C to move on a level of the unit (r, c), with its constants, before the first round.

    taken: what C's captures lead to, level k - 1 of the unit (r - 1, c) with R to move (None: R
    then has lost, or k = 0). placing: whether C's placements are moves of the rounds; else they are
    still to be folded in.
    """
    if taken is None and level.k > 0 and r > 3:
        raise ValueError(f"level {level.k} of ({r}, {c}) needs the values behind C's captures")
    flights = np.array([rules.may_fly(men, c - men) for men in range(c + 1)])
    flying = np.zeros(level.words, dtype=np.uint64)
    for men in np.flatnonzero(flights):
        flying |= columns_of_exactly(int(men), level.axes)
    side = ColumnSide(level, valid_blocks(c, level.axes), c if placing else 0, flights, flying)
    links = level.removals()
    values = (_NO_WORDS, _NO_WORDS) if taken is None else (taken.loss, taken.not_win)
    columns = columns_of_at_most(c, level.axes)
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
    return side


def row_side_of(
    level: Level,
    r: int,
    c: int,
    rules: Rules,
    captures: Captures,
    above: Arrivals | None,
    workers: Workers,
) -> RowSide:
    """R to move on a level, with its constants, before the first round; see `solve_level`."""
    slides = level.slides(rules.may_fly(level.k, r - level.k))
    side = RowSide(level, valid_blocks(c, level.axes), slides)
    columns = columns_of_at_most(c, level.axes)
    here = (captures.wins, captures.escapes, level.mill_number)
    if above is None:
        # An empty list of starts says that there are no placements; the links are not looked at.
        placements = (slides.start[:0], slides.target, slides.closes, slides.plan)
        landing = (here, here, (_NO_WORDS, _NO_WORDS, 0))
    else:
        links = level.placements()
        placements = (links.start, links.target, links.closes, links.plan)
        taken = (above.captures.wins, above.captures.escapes, above.level.mill_number)
        planes = (above.column_side.loss, above.column_side.not_win, above.level.words)
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
    return side
