"""The batch job of Lasker Morris: all units up to a number of men, in the order of their needs.

A capture leads to a unit with one man fewer, so units go by their total number of men. Invariant: a
level begins only when every level that its moves lead to is written, and is written whole before
the next one begins; so a killed job loses at most the level it was at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from databases.catalog import morris_family
from databases.format import Header
from databases.store import Store
from engine.morris import Rules
from engine.morris.board import POINT_COUNT
from engine.morris.index import Subspace, canonical_rows, subspaces_of_level
from engine.morris.rules import FLYING_OPTIONS, LOSING_TOTAL
from solver.errors import ResourceError
from solver.progress import Progress, closing_line
from solver.room import Estimate, gigabytes, peak_memory

if TYPE_CHECKING:
    from solver.rows.distance_unit import DistanceReport
    from solver.rows.unit import LevelReport
    from solver.rows.workers import Workers

# Bytes on disk per position of the whole game, and how many half-rounds of R over all bits of a
# level solving it takes as long as, on two threads that share memory and wait for the disk; both
# measured (docs/performance.md).
_DISK_BYTES = 0.067
_HALF_ROUNDS = 65

# The same for distances, in addition.
_DISTANCE_DISK_BYTES = 0.011
_DISTANCE_HALF_ROUNDS = 98

# Links between rows, queues of changes, and the interpreter with its compiled kernels.
_SHARED_BYTES = 1_000_000_000

# The wins without a winning conversion of a level: bytes for each, and for all of them at most; the
# whole game has at most 266 million on a level.
_WIN_BYTES = 4
_MOST_WIN_BYTES = 1_100_000_000

# The level and the number of its rows on which the speed of this machine is measured.
_SAMPLE_LEVEL = 6
_SAMPLE_ROWS = 256
_SAMPLES = 4

_LEAST = LOSING_TOTAL + 1


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
    """The bytes that solving a unit takes at most, reached on its largest level.

    Loss, not-win and escape planes of both sides, or the streams that are written instead of the
    escapes; what R's captures gain on rows with a mill, here and on the level above with its
    planes; in a diagonal unit all levels of the unit below. For (9, 9) 7.32 GiB; measured 7.28.
    """
    most = max(_solve_planes(r, k) for k in range(r + 1))
    return most + _levels_below(r, c) + _SHARED_BYTES


def unit_distance_memory(r: int, c: int) -> int:
    """The bytes that the distances of a unit take at most, reached on its largest level.

    During the rounds the planes of both sides, R's and the new wins once more (later the changes
    that are followed instead), and the wins found; when they are written a byte for each position
    of a side to move instead of most of the planes.
    """
    most = 0
    for k in range(r + 1):
        wins = min(_WIN_BYTES * level_positions(r, c, k), _MOST_WIN_BYTES)
        rounds = 10 * _plane(k) + wins
        writing = 3 * _plane(k) + wins + _valid_bits(c, k)
        most = max(most, _solve_planes(r, k) + _plane(k), rounds, writing)
    return most + _levels_below(r, c) + _SHARED_BYTES


def _solve_planes(r: int, k: int) -> int:
    """The bytes of the planes that solving a level of a unit of r men takes."""
    return 8 * _plane(k) + (3 * _plane(k + 1) if k < r else 0)


def _plane(k: int) -> int:
    """The bytes of a plane of level k."""
    return len(canonical_rows(k)) << (POINT_COUNT - k - 3)


def _valid_bits(c: int, k: int) -> int:
    """The positions in a plane of level k, at most c men of C on the board."""
    columns = sum(comb(POINT_COUNT - k, men) for men in range(c + 1))
    return len(canonical_rows(k)) * columns


def _levels_below(r: int, c: int) -> int:
    """The bytes of all levels of the unit below a diagonal one, which it keeps in memory."""
    return 2 * sum(_plane(k) for k in range(r)) if r == c else 0


def estimate(men: int, threads: int = 1, metric: str = "wdl") -> Estimate:
    """What solving all units up to `men` men a side takes, from a short measurement here.

    metric: "wdl", values alone, or "dtc", values and distances.
    """
    distances = metric == "dtc"
    positions = 0
    bits = 0
    for r, c in units(men):
        for k in range(r + 1):
            positions += level_positions(r, c, k)
            bits += len(canonical_rows(k)) << (POINT_COUNT - k)
    half_rounds = _HALF_ROUNDS + (_DISTANCE_HALF_ROUNDS if distances else 0)
    memory = unit_distance_memory if distances else unit_memory
    return Estimate(
        tables=len(table_names(men)) * (2 if distances else 1),
        positions=positions,
        disk=int(positions * (_DISK_BYTES + (_DISTANCE_DISK_BYTES if distances else 0))),
        memory=max(memory(r, c) for r, c in units(men)),
        seconds=bits * half_rounds * half_round_seconds() / threads,
    )


def half_round_seconds() -> float:
    """Seconds of a core that a half-round of R takes per bit: the best of a few, since other work
    on the machine can only slow it.
    """
    from solver.rows.geometry import level
    from solver.rows.planes import valid_blocks
    from solver.rows.rounds import ColumnSide, RowSide

    here = level(_SAMPLE_LEVEL)
    valid = valid_blocks(POINT_COUNT, here.axes)
    row_side = RowSide(here, valid, here.slides(False))
    no_flights = np.zeros(POINT_COUNT + 1, dtype=bool)
    column_side = ColumnSide(here, valid, POINT_COUNT, no_flights, np.zeros(0, dtype=np.uint64))
    no_queue = np.zeros(0, dtype=np.int64)
    row_side.dense(column_side, (0, 1), True, no_queue)  # compiles
    seconds = []
    for _ in range(_SAMPLES):
        began = time.thread_time()
        row_side.dense(column_side, (0, _SAMPLE_ROWS), True, no_queue)
        seconds.append(time.thread_time() - began)
    return min(seconds) / (_SAMPLE_ROWS << here.axes)


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

    Levels that are the same under other rules of flying, and solved there, are taken over. memory:
    bytes that the job may take; ResourceError before anything begins when a unit needs more. Raises
    StoreBusyError, NoSpaceError and what else `Store` raises.
    """
    from solver.rows.twin import Twin
    from solver.rows.unit import UnitSolver

    twins = [
        Twin(store, rules, Store(store.root, morris_family(flying)), Rules(flying=flying))
        for flying in FLYING_OPTIONS
        if flying != rules.flying
    ]

    def levels(r: int, c: int, workers: Workers) -> Iterator[tuple[Header, str]]:
        for report in UnitSolver(store, r, c, rules, workers, twins).solve():
            yield report.header, _level_line(report)

    job = _Job(store, f"morris, flying {rules.flying}", unit_memory, levels)
    _carry_out(job, men, threads, memory, progress)


def solve_distances(
    values: Store,
    distances: Store,
    men: int,
    rules: Rules,
    *,
    threads: int = 1,
    memory: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Computes what is missing of the distances to conversion; takes the lock of `distances`.

    values: the tables of values, which must be there up to `men` men a side; the rest as in
    `solve_morris`. Raises MissingTableError and CorruptTableError for them.
    """
    from solver.rows.distance_unit import DistanceSolver

    def levels(r: int, c: int, workers: Workers) -> Iterator[tuple[Header, str]]:
        for report in DistanceSolver(values, distances, r, c, rules, workers).solve():
            yield report.header, _distance_line(report)

    title = f"morris, flying {rules.flying}, distances"
    _carry_out(_Job(distances, title, unit_distance_memory, levels), men, threads, memory, progress)


@dataclass(frozen=True)
class _Job:
    """What is written where: `levels` makes those of a unit that `store` lacks, and yields for each
    its header and its line in the log; `needs` says how many bytes the unit takes.
    """

    store: Store
    title: str
    needs: Callable[[int, int], int]
    levels: Callable[[int, int, Workers], Iterator[tuple[Header, str]]]


def _carry_out(
    job: _Job, men: int, threads: int, memory: int | None, progress: Progress | None
) -> None:
    """Make what is missing of the units up to `men` men a side, telling of each level."""
    from solver.rows.workers import Workers

    progress = progress or Progress(quiet=True)
    with job.store.lock(threads), Workers(threads) as workers:
        todo, positions = _missing(job.store, men, memory, job.needs)
        progress.begin(positions, job.title)
        began = time.perf_counter()
        try:
            for r, c in todo:
                for header, line in job.levels(r, c, workers):
                    progress.advance(_entries(header))
                    progress.line(line)
            if todo:
                progress.line(closing_line(positions, time.perf_counter() - began))
        finally:
            progress.end()


def _missing(
    store: Store, men: int, memory: int | None, needs: Callable[[int, int], int]
) -> tuple[list[tuple[int, int]], int]:
    """The units up to `men` men with a level missing, and the positions of the missing levels.

    needs: the bytes that a unit takes. ResourceError when one takes more than `memory`.
    """
    levels = [(r, c, k) for r, c in units(men) for k in range(r, -1, -1)]
    missing = [each for each in levels if not store.has(Subspace(*each, 0, "C").stem)]
    todo = list(dict.fromkeys((r, c) for r, c, _ in missing))
    for r, c in todo:
        if memory is not None and needs(r, c) > memory:
            raise ResourceError(
                f"unit ({r}, {c}) needs {gigabytes(needs(r, c))} of memory, "
                f"{gigabytes(memory)} are allowed; allow more with --memory"
            )
    return todo, sum(level_positions(*each) for each in missing)


def _entries(header: Header) -> int:
    return sum(section.entries for section in header.sections)


def _level_line(report: LevelReport) -> str:
    """One line about a finished level, for the log."""
    win, draw, loss = (
        sum(getattr(section, field) for section in report.header.sections)
        for field in ("win", "draw", "loss")
    )
    how = "taken over in" if report.rounds is None else f"{len(report.rounds)} plies in"
    return (
        f"{report.name}: {_entries(report.header):,} positions, {win:,} won, {draw:,} drawn, "
        f"{loss:,} lost, {how} {report.seconds:.1f} s, peak memory {gigabytes(peak_memory())}"
    )


def _distance_line(report: DistanceReport) -> str:
    """One line about a level whose distances are finished, for the log."""
    return (
        f"{report.name}: {_entries(report.header):,} positions, {report.recorded:,} won without a "
        f"winning conversion, longest {report.longest} plies, {len(report.steps)} steps in "
        f"{report.seconds:.1f} s, peak memory {gigabytes(peak_memory())}"
    )
