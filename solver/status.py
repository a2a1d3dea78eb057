"""What is in a folder of tables: solved, whole, missing, damaged; bytes and positions.

Invariant: the report comes from the headers of the files and the manifest alone, so it is quick
and writes nothing; `lasker verify` reads the contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from databases.catalog import (
    LASCA_MOST_MEN,
    LASCA_MOST_OFFICER_COLUMNS,
    explored_family,
    lasca_family,
    morris_dtc_family,
    morris_family,
)
from databases.store import Report, Store
from engine.lasca.index import LascaClass, classes
from engine.lasca.rules import MEN_PER_SIDE
from engine.morris.index import Subspace
from engine.morris.rules import FLYING_OPTIONS, LOSING_TOTAL, MOST_MEN


def morris_levels(men: int, least: int = LOSING_TOTAL + 1) -> list[str]:
    """The names of all tables of units whose greater total is `least` to `men`."""
    return [
        Subspace(r, c, k, 0, "C").stem
        for c in range(least, men + 1)
        for r in range(LOSING_TOTAL + 1, c + 1)
        for k in range(r + 1)
    ]


def lasca_classes(men: int, least: int = 2) -> list[str]:
    """The names of all tables of classes with `least` to `men` men, one at least of each colour."""
    return [
        each.name
        for total in range(least, men + 1)
        for white in range(1, total)
        for each in classes(white, total - white)
    ]


def status(root: Path) -> Iterator[str]:
    """Lines about each family of tables that has any under `root`. Raises StoreAccessError."""
    yield f"tables in {root}"
    morris_tiers = {f"up to {n} men a side": morris_levels(n, n) for n in range(3, MOST_MEN + 1)}
    lasca_tiers = {f"{n} men in all": lasca_classes(n, n) for n in range(2, LASCA_MOST_MEN + 1)}
    for columns in range(1, LASCA_MOST_OFFICER_COLUMNS + 1):
        ending = LascaClass(*[MEN_PER_SIDE] * 4, columns)
        lasca_tiers[f"all men officers, {columns} columns"] = [ending.name]
    families = [
        (f"morris, flying {flying}{what}", family(flying), morris_tiers)
        for flying in FLYING_OPTIONS
        for what, family in (("", morris_family), (", distances", morris_dtc_family))
    ]
    families.append(("lasca", lasca_family(), lasca_tiers))
    families.append(("lasca, from positions", explored_family(), {}))
    empty = True
    for title, family, tiers in families:
        report = Store(root, family).report()
        if report.whole or report.damaged or report.unlisted or report.leftovers:
            empty = False
            yield from _family_lines(title, report, tiers)
    if empty:
        yield "none yet; begin with: lasker quickstart"


def _family_lines(title: str, report: Report, tiers: dict[str, list[str]]) -> Iterator[str]:
    """Lines about one family; `tiers` are the tables that each further man takes."""
    count = len(report.whole)
    yield f"{title}: {count} tables whole, {report.entries:,} positions, {report.size:,} bytes"
    for tier, names in tiers.items():
        missing = [name for name in names if name not in report.whole]
        if not missing:
            yield f"  {tier}: solved, {len(names)} tables"
        elif len(missing) < len(names):
            yield f"  {tier}: {len(missing)} of {len(names)} tables missing, such as {missing[0]}"
    for name, reason in report.damaged.items():
        yield f"  damaged: {name}: {reason}"
    for name in report.unlisted:
        yield f"  not listed: {name}; the next run of lasker solve checks and lists it"
    for path in report.leftovers:
        yield f"  left over: {path.name}; the next run of lasker solve removes it"
