"""Which checks a verification makes, of all that is solved or of as much of it as is asked for.

Invariant: every table of the selection is looked at by the checks of its game; position by position
where it is small, else at samples of each subspace, and the report says which. Units of morris too
large for the plain engine get samples of forward proofs instead.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile
from pathlib import Path

from databases.catalog import (
    LASCA_MOST_MEN,
    LASCA_MOST_OFFICER_COLUMNS,
    lasca_family,
    morris_dtc_family,
    morris_family,
)
from databases.store import Store
from engine.morris.index import subspaces_of_level
from engine.morris.rules import LOSING_TOTAL, MOST_MEN
from solver.known import check_files
from solver.known import check_lasca as known_lasca
from solver.known import check_morris as known_morris
from solver.known import check_morris_distances as known_distances
from solver.morris_job import level_positions, units
from solver.progress import Progress
from solver.status import lasca_classes, morris_levels
from solver.verification import Report
from solver.verify_conversion import check_distances, check_whole
from solver.verify_fixpoint import check_fixpoint
from solver.verify_lasca import VerifiedClass, check_lasca, classes_by_men, officer_classes
from solver.verify_morris import check_values
from solver.verify_proof import check_proofs

WHOLE_CHECK = 2_000_000_000
"""The most positions of which each is looked at."""

SAMPLE = 1_000_000
"""Positions of a subspace that are looked at where there are more than WHOLE_CHECK in all."""

DISTANCE_SAMPLE = 20_000
"""Positions of a subspace of which the distances are derived anew."""

SOLVED_AGAIN = 200_000_000
"""The most positions of morris that are solved again by the plain engine."""


def verify_morris(
    root: Path, flying: str, men: int | None, *, known: bool, threads: int, progress: Progress
) -> Report:
    """Verifies the units up to `men` men a side, or if None all that are solved.

    known: also compare with the published counts. Raises MissingTableError, CorruptTableError and
    what else the tables raise.
    """
    store = Store(root, morris_family(flying))
    distances = Store(root, morris_dtc_family(flying))
    if men is None:
        whole = store.report().whole.keys()
        tiers = {n: morris_levels(n, n) for n in range(LOSING_TOTAL + 1, MOST_MEN + 1)}
        men = _reached(tiers, whole) or LOSING_TOTAL + 1
    sample = None if _positions(men) <= WHOLE_CHECK else SAMPLE
    report = Report(check_values(store, men, sample=sample, threads=threads, progress=progress))
    again = max(n for n in range(LOSING_TOTAL + 1, men + 1) if _positions(n) <= SOLVED_AGAIN)
    tables = _tables_there(distances, men)
    solved_again, large = check_fixpoint(
        store, again, distances=distances if tables else None, threads=threads, progress=progress
    )
    report.checks += solved_again
    large += [
        subspace
        for r, c in units(men)
        if c > again
        for k in range(r + 1)
        for subspace in subspaces_of_level(r, c, k)
    ]
    if large:
        sections = [(subspace.stem, subspace.section) for subspace in large]
        report.checks.append(check_proofs(store, sections, progress=progress))
    if tables:
        work = {"threads": threads, "progress": progress}
        report.checks.append(check_whole(distances, tables, **work))
        settings = {"sample": DISTANCE_SAMPLE, **work}
        report.checks.append(check_distances(store, distances, tables, **settings))
    if known:
        report.checks.append(known_morris(root, flying, men))
        report.checks.append(check_files(store, f"morris_{flying}"))
    if known and tables:
        report.checks.append(known_distances(root, flying, men))
        report.checks.append(check_files(distances, f"morris_{flying}_dtc"))
    return report


def verify_lasca(
    root: Path, men: int | None, *, known: bool, threads: int, progress: Progress
) -> Report:
    """Verifies the classes up to `men` men, or if None all that are solved, as `verify_morris`."""
    store = Store(root, lasca_family())
    selected: list[VerifiedClass] = []
    if men is None:
        whole = store.report().whole.keys()
        men = _reached({n: lasca_classes(n, n) for n in range(2, LASCA_MOST_MEN + 1)}, whole)
        endings = officer_classes(LASCA_MOST_OFFICER_COLUMNS)
        columns = _reached({ending.columns: [ending.table] for ending in endings}, whole)
        selected += endings[:columns]
        if not (men or columns):
            men = 2  # to be told what is missing
    selected += classes_by_men(men)
    sample = None if sum(one.size for one in selected) <= WHOLE_CHECK else SAMPLE
    checks = check_lasca(store, selected, sample=sample, threads=threads, progress=progress)
    if known:
        checks.append(known_lasca(root, men))
    return Report(checks)


def _reached(tiers: dict[int, list[str]], whole: Collection[str]) -> int:
    """The last tier up to which all tables are whole, 0 when not even the first one's are."""
    reached = takewhile(lambda tier: all(name in whole for name in tiers[tier]), tiers)
    return max(reached, default=0)


def _tables_there(store: Store, men: int) -> list[str]:
    """The tables of a store of units up to `men` men a side, whole or damaged."""
    report = store.report()
    there = report.whole.keys() | report.damaged.keys()
    return [name for name in morris_levels(men) if name in there]


def _positions(men: int) -> int:
    """The positions of all units of morris up to `men` men a side."""
    return sum(level_positions(r, c, k) for r, c in units(men) for k in range(r + 1))
