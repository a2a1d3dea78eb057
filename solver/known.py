"""Compares the counts of solved tables with the published ones of `databases/known`.

Invariant: only rows that are both solved here and published are compared, and the check says how
many positions these hold; a row that is published and not solved is no fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from solver.counts import LascaCounts, MorrisCounts, as_csv, lasca_counts, morris_counts
from solver.verification import Check

# Columns that say which subspace a row is about.
_MORRIS_KEYS = 5
_LASCA_KEYS = 4


@dataclass(frozen=True)
class WrongCounts:
    """A row that is not as published."""

    found: str
    published: str

    def __str__(self) -> str:
        return f"{self.found} is published as {self.published}"


def published(name: str) -> list[str]:
    """The lines of a file of published counts, without the heading."""
    text = (files("databases") / "known" / name).read_text(encoding="utf-8")
    return text.splitlines()[1:]


def check_morris(root: Path, flying: str, men: int) -> Check:
    """Compares all solved subspaces of morris with totals up to `men`.

    Raises CorruptTableError and WrongRulesError.
    """
    rows = morris_counts(root, flying, men)
    return _compare(f"morris_{flying}.csv", rows, MorrisCounts, _MORRIS_KEYS)


def check_lasca(root: Path, men: int) -> Check:
    """Compares all solved numbers of men and officers of Lasca up to `men` men in all.

    Raises CorruptTableError and WrongRulesError.
    """
    return _compare("lasca_men.csv", lasca_counts(root, men), LascaCounts, _LASCA_KEYS)


def _compare(name: str, rows: list[MorrisCounts] | list[LascaCounts], of: type, keys: int) -> Check:
    """Compares rows (of this class) with a file of which the first `keys` columns name the row."""
    check = Check("the counts are the published ones", f"databases/known/{name}")
    known = {tuple(line.split(",")[:keys]): line for line in published(name)}
    for row, line in zip(rows, as_csv(rows, of).splitlines()[1:], strict=True):
        wanted = known.get(tuple(line.split(",")[:keys]))
        if wanted is None:
            continue
        if "all" not in line.split(","):  # else a sum over rows that are counted
            check.positions += row.win + row.draw + row.loss
        if line != wanted:
            check.add(WrongCounts(line, wanted))
    return check
