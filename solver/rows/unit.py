"""Solves one unit level by level, with table files as its only input and output.

Levels go from k = r down to 0. What a level needs of other units is read from their files, what it
needs of the level above is kept from one level to the next, or read back when a run starts in the
middle. So a killed run goes on at the first missing level.

Invariant: a level's file is written after all of the level is final.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from databases.format import Header
from databases.store import Store
from databases.writer import Section, WrittenTable
from engine.morris import Rules
from engine.morris.index import Subspace, subspaces_of_level
from solver.rows.captures import turn_rows
from solver.rows.geometry import Level, all_rows, canonical_forms, level
from solver.rows.level import (
    Arrivals,
    Captures,
    Reduced,
    SolvedLevel,
    capture_values,
    settle_captures,
    solve_level,
)
from solver.rows.planes import Planes
from solver.rows.rounds import HalfRound
from solver.rows.sections import ROWS_TOGETHER, Streams
from solver.rows.twin import Twin
from solver.rows.words import MARGIN
from solver.rows.workers import Workers


def level_name(r: int, c: int, k: int) -> str:
    """The name of the table of a level."""
    return Subspace(r, c, k, 0, "C").stem


@dataclass(frozen=True, slots=True)
class _AllLevels:
    """The planes of every level of a unit for one side to move, word by word in pairs.

    pairs: uint64[words, 2], loss and not_win; start: int64[levels + 1], the first of each level.
    """

    pairs: np.ndarray
    start: np.ndarray

    def of_level(self, k: int) -> Planes:
        """A copy of the planes of one level."""
        here = level(k)
        planes = Planes.empty(here.count, here.words)
        part = self.pairs[self.start[k] : self.start[k + 1]]
        planes.loss[MARGIN:-MARGIN] = part[:, 0]
        planes.not_win[MARGIN:-MARGIN] = part[:, 1]
        return planes


@dataclass(frozen=True, slots=True)
class LevelReport:
    """A level as it was written: its table's name and header, and where the time went (seconds).

    rounds: None when the level was taken over from other rules.
    """

    name: str
    header: Header
    seconds: float
    constants_seconds: float
    rounds: list[HalfRound] | None


class UnitSolver:
    """Solves the levels of the unit (r, c) into a store; `solve` yields after each level."""

    def __init__(
        self,
        store: Store,
        r: int,
        c: int,
        rules: Rules,
        workers: Workers,
        twins: Sequence[Twin] = (),
    ) -> None:
        """twins: tables of other rules, of which a level may be taken over."""
        self._store = store
        self._twins = twins
        self._r = r
        self._c = c
        self._rules = rules
        self._workers = workers
        self._turned: _AllLevels | None = None

    def solve(self) -> Iterator[LevelReport]:
        """Solve and write every missing level, most men on the board first; yields each of them."""
        above: Arrivals | None = None
        for k in range(self._r, -1, -1):
            name = level_name(self._r, self._c, k)
            if self._store.has(name):
                above = None
                continue
            clock = time.perf_counter()
            twin = next((t for t in self._twins if t.serves(self._r, self._c, k)), None)
            if twin is not None:
                sections = twin.sections(self._r, self._c, k, self._workers.threads)
                written = self._store.write(name, sections, threads=self._workers.threads)
                above = None
                seconds = time.perf_counter() - clock
                yield LevelReport(name, written.header, seconds, 0.0, None)
                continue
            if above is None and k < self._r:
                above = self.restore(k + 1)
            solved = self.solve_level(k, above)
            written = self._write(name, level(k), solved)
            settle_captures(level(k), solved.captures, solved.column_side)
            above = Arrivals(level(k), solved.column_side, solved.captures)
            yield LevelReport(
                name,
                written.header,
                time.perf_counter() - clock,
                solved.constants_seconds,
                solved.rounds,
            )

    def solve_level(self, k: int, above: Arrivals | None) -> SolvedLevel:
        """Solve one level; above: the arrivals on the level above, None on the highest."""
        return solve_level(
            level(k),
            self._r,
            self._c,
            self._rules,
            self.captures(k),
            above,
            self.taken(k),
            self._workers,
        )

    def restore(self, k: int) -> Arrivals:
        """The arrivals of a level that an earlier run has finished."""
        column_side = self.read(self._r, self._c, k, "C")
        captures = self.captures(k)
        settle_captures(level(k), captures, column_side)
        return Arrivals(level(k), column_side, captures)

    def captures(self, k: int) -> Captures:
        """What R gains by captures on level k."""
        here = level(k)
        reduced: Reduced | None = None
        if self._r == self._c > 3:
            start = MARGIN + here.mill_number.astype(np.int64) * here.words
            reduced = Reduced(self._turn(here, self._greater_side()), start)
        elif self._c > 3:
            start = MARGIN + np.arange(here.count, dtype=np.int64) * here.words
            reduced = Reduced(self.read(self._r, self._c - 1, k, "C"), start)
        return capture_values(here, self._c, reduced, self._workers)

    def taken(self, k: int) -> Planes | None:
        """Level k - 1 of (r - 1, c), R to move: what C's captures on level k lead to."""
        if k == 0 or self._r == 3:
            return None
        if self._r == self._c:
            return self._greater_side().of_level(k - 1)
        return self.read(self._r - 1, self._c, k - 1, "R")

    def _greater_side(self) -> _AllLevels:
        """Below a diagonal unit (r, r): all of (r - 1, r), R to move; read once."""
        if self._turned is None:
            levels = [level(k) for k in range(self._r)]
            start = np.cumsum([0] + [here.count * here.words for here in levels], dtype=np.int64)
            pairs = np.empty((int(start[-1]), 2), dtype=np.uint64)
            for k in range(self._r):
                planes = self.read(self._r - 1, self._c, k, "R")
                part = pairs[start[k] : start[k + 1]]
                part[:, 0] = planes.loss[MARGIN:-MARGIN]
                part[:, 1] = planes.not_win[MARGIN:-MARGIN]
            self._turned = _AllLevels(pairs, start)
        return self._turned

    def _turn(self, here: Level, source: _AllLevels) -> Planes:
        """(r, r - 1) with C to move on rows with a mill, from (r - 1, r) with R to move."""
        out = Planes.empty(here.mill_count, here.words)
        forms = canonical_forms()
        self._workers.over(
            here.count,
            lambda first, last: turn_rows(
                here.rows,
                here.mill_number,
                first,
                last,
                here.axes,
                self._r - 1,
                (forms.rank, forms.symmetry, *all_rows()),
                source.pairs.reshape(-1),
                source.start,
                out.loss,
                out.not_win,
            ),
        )
        return out

    def read(self, r: int, c: int, k: int, mover: str) -> Planes:
        """The planes of a level that is on disk."""
        here = level(k)
        planes = Planes.empty(here.count, here.words)
        streams = Streams(here.count, here.axes, c)
        with self._store.open(level_name(r, c, k)) as table:
            for men in range(c + 1):
                win, loss = streams.section(men)
                win[:], loss[:] = table.planes(f"{mover}{men}", self._workers.threads)
        self._workers.over(
            here.count,
            lambda first, last: streams.unpack(
                here.words, (first, last), planes.loss, planes.not_win
            ),
        )
        return planes

    def _write(self, name: str, here: Level, solved: SolvedLevel) -> WrittenTable:
        return self._store.write(name, self._sections(here, solved), threads=self._workers.threads)

    def _sections(self, here: Level, solved: SolvedLevel) -> Iterator[Section]:
        planes_of = {"R": solved.row_side, "C": solved.column_side}
        streams: Streams | None = None
        mover = ""
        for subspace in subspaces_of_level(self._r, self._c, here.k):
            if subspace.mover != mover:
                mover = subspace.mover
                streams = self._pack(here, planes_of[mover])
            win, loss = streams.section(subspace.l)
            yield Section(subspace.section, streams.entries[subspace.l], win, loss)

    def _pack(self, here: Level, planes: Planes) -> Streams:
        streams = Streams(here.count, here.axes, self._c)
        self._workers.over(
            here.count,
            lambda first, last: streams.pack(
                planes.loss, planes.not_win, here.words, (first, last)
            ),
            multiple=ROWS_TOGETHER,
        )
        return streams
