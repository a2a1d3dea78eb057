"""The batch job of Lasker Morris: all units up to a number of men, in the order of their needs.

A capture leads to a unit with one man fewer, so units go by their total number of men. Invariant: a
level begins only when every level that its moves lead to is written, and is written whole before
the next one begins; so a killed job loses at most the level it was at.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from math import comb

from databases.format import Header
from databases.store import Store
from engine.morris import Rules
from engine.morris.board import POINT_COUNT
from engine.morris.index import Subspace, canonical_rows, subspaces_of_level
from engine.morris.rules import LOSING_TOTAL
from solver.errors import ResourceError
from solver.progress import Progress
from solver.room import gigabytes

# Bytes on disk and seconds on one thread, per position, of the whole game (docs/performance.md); the
# seconds are for a machine on which the calibration takes _CALIBRATION_SECONDS.
_DISK_BYTES = 0.05
_POSITION_SECONDS = 1 / 20e6
_CALIBRATION_SECONDS = 1.0

_LEAST = LOSING_TOTAL + 1


@dataclass(frozen=True)
class Estimate:
    """What a job needs: table files, positions, bytes on disk and in memory, seconds."""

    tables: int
    positions: int
    disk: int
    memory: int
    seconds: float


def units(men: int) -> list[tuple[int, int]]:
    """All units (r, c) of at most `men` men a side, in the order in which they can be solved."""
    pairs = [(r, c) for r in range(_LEAST, men + 1) for c in range(r, men + 1)]
    return sorted(pairs, key=lambda unit: (sum(unit), unit))


def table_names(men: int) -> list[str]:
    """The names of all tables of these units, in the order in which they are made."""
    return [Subspace(r, c, k, 0, "C").stem for r, c in units(men) for k in range(r, -1, -1)]


def level_positions(r: int, c: int, k: int) -> int:
    """The positions (indices) that the table of a level holds."""
    return sum(subspace.size for subspace in subspaces_of_level(r, c, k))


def unit_memory(r: int, c: int) -> int:
    """The bytes that the planes of a unit take at most while one of its levels is solved.

    Counted as on its largest level: loss, not-win and escape planes of both sides, what R's captures
    and placements and C's captures gain, the level above, and the streams that are written.
    """

    def plane(k: int) -> int:
        return len(canonical_rows(k)) << (POINT_COUNT - k - 3)

    def valid(k: int) -> int:
        columns = sum(comb(POINT_COUNT - k, men) for men in range(c + 1))
        return len(canonical_rows(k)) * columns >> 3

    most = 0
    for k in range(r + 1):
        above = plane(k + 1) if k < r else 0
        behind = plane(k - 1) if k else 0
        most = max(most, 8 * plane(k) + 4 * above + 2 * behind + 2 * valid(k))
    if r == c:
        most += 2 * sum(plane(k) for k in range(r))
    return most + _SHARED_BYTES


# Links between rows, queues of changes, and the interpreter with its compiled kernels.
_SHARED_BYTES = 1_500_000_000


def solve_morris(
    store: Store,
    men: int,
    rules: Rules,
    *,
    threads: int = 1,
    memory: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Solves what is missing of the units up to `men` men a side; takes the store's lock.

    memory: bytes that the job may take; ResourceError before anything begins when a unit needs more.
    Raises StoreBusyError, NoSpaceError and what else `Store` raises.
    """
    from solver.rows.unit import UnitSolver
    from solver.rows.workers import Workers

    progress = progress or Progress(quiet=True)
    with store.lock(threads), Workers(threads) as workers:
        missing = {name for name in table_names(men) if not store.has(name)}
        todo = [
            unit
            for unit in units(men)
            if any(Subspace(*unit, k, 0, "C").stem in missing for k in range(unit[0] + 1))
        ]
        for r, c in todo:
            if memory is not None and unit_memory(r, c) > memory:
                raise ResourceError(
                    f"unit ({r}, {c}) needs {gigabytes(unit_memory(r, c))} of memory, "
                    f"{gigabytes(memory)} are allowed; allow more with --memory"
                )
        positions = sum(
            level_positions(r, c, k)
            for r, c in todo
            for k in range(r + 1)
            if Subspace(r, c, k, 0, "C").stem in missing
        )
        progress.begin(positions, f"morris, flying {rules.flying}")
        began = time.perf_counter()
        try:
            for r, c in todo:
                for report in UnitSolver(store, r, c, rules, workers).solve():
                    progress.advance(_entries(report.header))
                    progress.line(_level_line(report.name, report.header, report.seconds))
            if todo:
                progress.line(_closing_line(positions, time.perf_counter() - began))
        finally:
            progress.end()


def _entries(header: Header) -> int:
    return sum(section.entries for section in header.sections)


def _level_line(name: str, header: Header, seconds: float) -> str:
    """One line about a finished level, for the log."""
    win, draw, loss = (
        sum(getattr(section, field) for section in header.sections)
        for field in ("win", "draw", "loss")
    )
    return (
        f"{name}: {_entries(header):,} positions, {win:,} won, {draw:,} drawn, {loss:,} lost, "
        f"{seconds:.1f} s, peak memory {gigabytes(peak_memory())}"
    )


def _closing_line(positions: int, seconds: float) -> str:
    rate = positions / seconds / 1e6
    return f"solved {positions:,} positions in {seconds:.0f} s, {rate:.1f} million a second"


def peak_memory() -> int:
    """The most memory this process has had, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
