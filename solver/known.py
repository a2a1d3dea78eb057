"""Compares solved tables with what `databases/known` publishes: their counts, and their files.

Invariant: only what is both solved here and published is compared, and the check says how many
positions that holds; what is published and not solved is no fault. The bytes of a file depend on
the release of zstd that compressed it, so its checksum is compared with one of the same release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from databases.store import Store
from solver.counts import (
    LascaCounts,
    MorrisCounts,
    MorrisDistances,
    as_csv,
    lasca_counts,
    morris_counts,
    morris_distances,
)
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
    """The lines of a file of published counts, without the heading; none where there is no file."""
    file = files("databases") / "known" / name
    return file.read_text(encoding="utf-8").splitlines()[1:] if file.is_file() else []


def check_morris(root: Path, flying: str, men: int) -> Check:
    """Compares all solved subspaces of morris with totals up to `men`.

    Raises CorruptTableError and WrongRulesError.
    """
    rows = morris_counts(root, flying, men)
    return _compare(f"morris_{flying}.csv", rows, MorrisCounts, _MORRIS_KEYS)


def check_morris_distances(root: Path, flying: str, men: int) -> Check:
    """Compares the distances of all solved subspaces of morris as `check_morris` the values."""
    rows = morris_distances(root, flying, men)
    return _compare(f"morris_{flying}_dtc.csv", rows, MorrisDistances, _MORRIS_KEYS)


def check_lasca(root: Path, men: int) -> Check:
    """Compares all solved numbers of men and officers of Lasca up to `men` men in all.

    Raises CorruptTableError and WrongRulesError.
    """
    return _compare("lasca_men.csv", lasca_counts(root, men), LascaCounts, _LASCA_KEYS)


@dataclass(frozen=True)
class WrongFile:
    """A file that is not byte for byte as published."""

    table: str
    found: str
    published: str

    def __str__(self) -> str:
        return f"{self.table} has SHA-256 {self.found}, {self.published} is published"


def check_files(store: Store, name: str) -> Check:
    """Compares the checksums in a store's manifest with the published ones of `name`.

    name: such as `morris_board`. Raises StoreAccessError.
    """
    check = Check("the files are the published ones", f"databases/known/{name}.*.sha256")
    found = store.checksums()
    for table, state in store.report().whole.items():
        known = _published_checksums(f"{name}.zstd-{state.header.created_by['zstd']}.sha256")
        file = store.path(table).name
        if file not in known:
            continue
        check.positions += state.entries
        if found[file] != known[file]:
            check.add(WrongFile(file, found[file], known[file]))
    return check


@cache
def _published_checksums(name: str) -> dict[str, str]:
    """SHA-256 (hex) by file name; empty when nothing is published under this name."""
    file = files("databases") / "known" / name
    if not file.is_file():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    return {table: checksum for checksum, table in map(str.split, lines)}


def _compare(
    name: str,
    rows: list[MorrisCounts] | list[MorrisDistances] | list[LascaCounts],
    of: type,
    keys: int,
) -> Check:
    """Compares rows (of this class) with a file of which the first `keys` columns name the row."""
    check = Check("the counts are the published ones", f"databases/known/{name}")
    known = {tuple(line.split(",")[:keys]): line for line in published(name)}
    for row, line in zip(rows, as_csv(rows, of).splitlines()[1:], strict=True):
        wanted = known.get(tuple(line.split(",")[:keys]))
        if wanted is None:
            continue
        if "all" not in line.split(","):  # else a sum over rows that are counted
            check.positions += row.positions
        if line != wanted:
            check.add(WrongCounts(line, wanted))
    return check
