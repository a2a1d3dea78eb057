"""Which checks a verification makes, of all that is solved or of as much of it as is asked for.

Invariant: every table of the selection is looked at by the checks of its game; position by position
where it is small and no samples are asked for, else at samples of each subspace, and the report
says which. Units of morris too large for the plain engine get samples of forward proofs instead.
Where every position is looked at, so is every byte of the files.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from solver.known import check_files, check_manifest, check_officers, file_sums
from solver.known import check_lasca as known_lasca
from solver.known import check_morris as known_morris
from solver.known import check_morris_distances as known_distances
from solver.morris_job import level_positions, table_names, units
from solver.progress import Progress
from solver.status import lasca_classes, morris_levels
from solver.verification import Check, Report
from solver.verify_conversion import check_distances, check_whole
from solver.verify_fixpoint import check_fixpoint
from solver.verify_lasca import VerifiedClass, check_lasca, classes_by_men, officer_classes
from solver.verify_morris import check_values, sides
from solver.verify_proof import check_proofs

WHOLE_CHECK = 2_000_000_000
"""The most positions of which each is looked at."""

SAMPLE = 1_000_000
"""Positions of a subspace that are looked at where there are more than WHOLE_CHECK in all."""

DISTANCE_SAMPLE = 20_000
"""Positions of a subspace of which the distances are derived anew."""

SOLVED_AGAIN = 200_000_000
"""The most positions of morris that are solved again by the plain engine."""

PROOFS = 20
"""Forward proofs in a subspace of morris."""

_PROOF_SHARE = 500  # positions of a sample for which there is one proof


def verify_morris(
    root: Path,
    flying: str,
    men: int | None,
    *,
    sample: int | None = None,
    known: bool,
    threads: int,
    progress: Progress,
) -> Report:
    """Verifies the units up to `men` men a side, or if None all that are solved.

    sample: positions to look at in each subspace; solving again and forward proofs are bounded
    likewise. None for all, or SAMPLE of each where there are too many. known: also compare with the
    published counts and checksums. Raises MissingTableError, CorruptTableError and what else the
    tables raise.
    """
    store = Store(root, morris_family(flying))
    distances = Store(root, morris_dtc_family(flying))
    if men is None:
        whole = store.report().whole.keys()
        tiers = {n: morris_levels(n, n) for n in range(LOSING_TOTAL + 1, MOST_MEN + 1)}
        men = _reached(tiers, whole) or LOSING_TOTAL + 1
    bounded = sample is not None
    solved_again, proofs = SOLVED_AGAIN, PROOFS
    if sample is not None:
        solved_again = min(SOLVED_AGAIN, sample * len(sides(men)))
        proofs = min(PROOFS, -(-sample // _PROOF_SHARE))
    elif _positions(men) > WHOLE_CHECK:
        sample = SAMPLE
    report = Report(check_values(store, men, sample=sample, threads=threads, progress=progress))
    fitting = (n for n in range(LOSING_TOTAL + 1, men + 1) if _positions(n) <= solved_again)
    again = max(fitting, default=LOSING_TOTAL)
    tables = _tables_there(distances, men)
    work = {"threads": threads, "progress": progress}
    large = []
    if again > LOSING_TOTAL:
        compared = distances if tables else None
        checks, large = check_fixpoint(store, again, distances=compared, **work)
        report.checks += checks
    large += [
        subspace
        for r, c in units(men)
        if c > again
        for k in range(r + 1)
        for subspace in subspaces_of_level(r, c, k)
    ]
    if large:
        sections = [(subspace.stem, subspace.section) for subspace in large]
        report.checks.append(check_proofs(store, sections, sample=proofs, **work))
    report.checks += _file_checks(
        store, table_names(men), bounded, f"morris_{flying}" if known else None
    )
    if tables:
        if not bounded:
            report.checks.append(check_whole(distances, tables, **work))
        of_each = min(DISTANCE_SAMPLE, sample or DISTANCE_SAMPLE)
        report.checks.append(check_distances(store, distances, tables, sample=of_each, **work))
    if known:
        report.checks.append(known_morris(root, flying, men))
    if known and tables:
        report.checks.append(known_distances(root, flying, men))
        sums = file_sums(distances, tables)
        report.checks.append(check_files(distances, f"morris_{flying}_dtc", sums))
    return report


def verify_lasca(
    root: Path,
    men: int | None,
    *,
    sample: int | None = None,
    known: bool,
    threads: int,
    progress: Progress,
) -> Report:
    """Verifies the classes up to `men` men, or if None all that are solved, as `verify_morris`."""
    store = Store(root, lasca_family())
    selected: list[VerifiedClass] = []
    columns = 0
    if men is None:
        whole = store.report().whole.keys()
        men = _reached({n: lasca_classes(n, n) for n in range(2, LASCA_MOST_MEN + 1)}, whole)
        endings = officer_classes(LASCA_MOST_OFFICER_COLUMNS)
        columns = _reached({ending.columns: [ending.table] for ending in endings}, whole)
        selected += endings[:columns]
        if not (men or columns):
            men = 2  # to be told what is missing
    selected += classes_by_men(men)
    bounded = sample is not None
    if sample is None and sum(one.size for one in selected) > WHOLE_CHECK:
        sample = SAMPLE
    checks = check_lasca(store, selected, sample=sample, threads=threads, progress=progress)
    names = [one.table for one in selected]
    checks += _file_checks(store, names, bounded, "lasca" if known else None)
    if known:
        checks.append(known_lasca(root, men))
        if columns:
            checks.append(check_officers(root))
    return Report(checks)


def _file_checks(
    store: Store, tables: Sequence[str], bounded: bool, published: str | None
) -> list[Check]:
    """The checks of whole files; `bounded`: only if they are to be compared with published ones."""
    if bounded and published is None:
        return []
    sums = file_sums(store, tables)
    checks = [check_manifest(store, sums)]
    if published is not None:
        checks.append(check_files(store, published, sums))
    return checks


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
