"""The distances to conversion of one unit, level by level, from the finished tables of its values.

Levels go from k = r down to 0 like those of the solve, and each is independent of the distances of
the others: a conversion ends the count. What conversions lead to is read from the tables of values;
so are R's values on the level itself, into which C's placements lead. Only a diagonal unit does not
store them; there the level is solved again.

Invariant: the rounds for distances end in the very values that the tables hold, or nothing is
written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from databases.errors import CorruptTableError
from databases.format import Header
from databases.store import Store
from engine.morris import Rules
from solver.rows.distance import DistanceRounds, Step, WinSteps, fold_placements
from solver.rows.distance_sections import distance_sections
from solver.rows.geometry import Level, level
from solver.rows.level import (
    Arrivals,
    Captures,
    column_side_of,
    row_side_of,
    settle_captures,
)
from solver.rows.planes import Planes, columns_of_at_most, columns_of_exactly
from solver.rows.unit import UnitSolver, level_name
from solver.rows.workers import Workers


@dataclass(frozen=True, slots=True)
class DistanceReport:
    """A level's distances as they were written, and where the time went (seconds).

    recorded: how many wins have no winning conversion; longest: the greatest distance of a win.
    """

    name: str
    header: Header
    recorded: int
    longest: int
    seconds: float
    constants_seconds: float
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class _Distances:
    """A level when its rounds are done: C to move, what R gains by captures, and the steps of the
    wins of each side that the tables hold.
    """

    column_side: Planes
    captures: Captures
    recorded: dict[str, WinSteps]
    constants_seconds: float
    steps: list[Step]


class DistanceSolver:
    """Computes the levels of the unit (r, c) into `distances`; `solve` yields after each level."""

    def __init__(
        self, values: Store, distances: Store, r: int, c: int, rules: Rules, workers: Workers
    ) -> None:
        """values: the tables of values, of which all that the unit leads to are there."""
        self._values = values
        self._distances = distances
        self._unit = UnitSolver(values, r, c, rules, workers)
        self._r = r
        self._c = c
        self._rules = rules
        self._workers = workers
        self._above: Arrivals | None = None  # on the level above the next one, if kept

    def solve(self) -> Iterator[DistanceReport]:
        """Compute and write every missing level, most men on the board first."""
        for k in range(self._r, -1, -1):
            if self._distances.has(level_name(self._r, self._c, k)):
                self._above = None
            else:
                yield self._solve_level(level(k))

    def _solve_level(self, here: Level) -> DistanceReport:
        """Compute and write one level, and keep the arrivals on it for the next one."""
        clock = time.perf_counter()
        # With single changes followed, which is faster, or by whole rows, which always ends.
        found = self._run(here, True) or self._run(here, False)
        header, counts = self._write(here, found.recorded)
        settle_captures(here, found.captures, found.column_side)
        self._above = Arrivals(here, found.column_side, found.captures)
        return DistanceReport(
            level_name(self._r, self._c, here.k),
            header,
            sum(map(sum, counts.values())),
            max(map(len, counts.values())),
            time.perf_counter() - clock,
            found.constants_seconds,
            found.steps,
        )

    def _run(self, here: Level, follow: bool) -> _Distances | None:
        """The rounds of a level; None if they must begin anew without following changes."""
        clock = time.perf_counter()
        r, c, k = self._r, self._c, here.k
        # What the rounds don't need is dropped on the way, for their sake.
        above = self._arrivals_above(k)
        row_values, captures = self._row_values(k, above)
        taken = self._unit.taken(k)
        column_side = column_side_of(here, r, c, self._rules, taken, self._workers, placing=False)
        del taken
        fold_placements(column_side, row_values, self._workers)
        del row_values
        row_side = row_side_of(here, r, c, self._rules, captures, above, self._workers)
        del above
        recorded = {mover: WinSteps(here) for mover in ("C" if r == c else "RC")}
        columns = columns_of_at_most(c, here.axes)
        rounds = DistanceRounds(row_side, column_side, columns, recorded, self._workers)
        seconds = time.perf_counter() - clock
        row_may_end = k == r and not self._rules.may_fly(k, 0)
        ending = columns_of_exactly(c, here.axes)
        if self._rules.may_fly(c, 0):
            ending = np.zeros_like(ending)
        if not rounds.run(row_may_end, ending, follow):
            return None
        self._compare(here, {"R": row_side.planes, "C": column_side.planes})
        return _Distances(column_side.planes, captures, recorded, seconds, rounds.done)

    def _arrivals_above(self, k: int) -> Arrivals | None:
        """The arrivals on the level above k, None on the highest; they are given away."""
        above, self._above = self._above, None
        if above is None and k < self._r:
            return self._unit.restore(k + 1)
        return above

    def _row_values(self, k: int, above: Arrivals | None) -> tuple[Planes, Captures]:
        """R to move on a level, final, and what R gains by captures."""
        if self._r == self._c:
            solved = self._unit.solve_level(k, above)
            return solved.row_side, solved.captures
        return self._unit.read(self._r, self._c, k, "R"), self._unit.captures(k)

    def _compare(self, here: Level, found: dict[str, Planes]) -> None:
        """CorruptTableError unless as many are won and lost as in the table of values."""
        name = level_name(self._r, self._c, here.k)
        columns = columns_of_at_most(self._c, here.axes)
        positions = here.count * _bits(columns)
        with self._values.open(name) as table:
            for mover, planes in found.items():
                sections = [info for each, info in table.sections.items() if each[0] == mover]
                if not sections:
                    continue
                stored = tuple(
                    sum(getattr(i, field) for i in sections) for field in ("win", "loss")
                )
                if stored != (positions - _bits(planes.not_win), _bits(planes.loss)):
                    raise CorruptTableError(
                        self._values.path(name),
                        f"the sections with {mover} to move",
                        "their values are not those that the moves lead to",
                    )

    def _write(
        self, here: Level, recorded: dict[str, WinSteps]
    ) -> tuple[Header, dict[str, list[int]]]:
        """Write a level; its header, and how often each distance occurs in each section."""
        counts: dict[str, list[int]] = {}
        written = self._distances.write(
            level_name(self._r, self._c, here.k),
            distance_sections(here, self._c, recorded, counts, self._workers),
            about={"distances": counts},
            threads=self._workers.threads,
        )
        return written.header, counts


def _bits(words: np.ndarray) -> int:
    """The number of bits set in an array of uint64."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))
