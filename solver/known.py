"""Compares solved tables with what is said of them: by their manifest, and by `databases/known`,
which publishes their counts and the checksums of their files.

Invariant: checksums are those of the bytes on disk now, not what the manifest says they are. Only
what is both solved here and published is compared, and the check says how many positions that
holds; what is published and not solved is no fault. The bytes of a file depend on the release of
zstd that compressed it, so its checksum is compared with one of the same release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from databases.store import Store, file_sha256
from solver.counts import (
    LascaCounts,
    MorrisCounts,
    MorrisDistances,
    OfficerCounts,
    as_csv,
    lasca_counts,
    morris_counts,
    morris_distances,
    officer_counts,
)
from solver.verification import Check

# Columns that say which subspace a row is about.
_MORRIS_KEYS = 5
_LASCA_KEYS = 4
_OFFICERS_KEYS = 5


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


def check_officers(root: Path) -> Check:
    """Compares all solved endings of Lasca in which all men are officers.

    Raises CorruptTableError and WrongRulesError.
    """
    return _compare("lasca_officers.csv", officer_counts(root), OfficerCounts, _OFFICERS_KEYS)


@dataclass(frozen=True)
class WrongFile:
    """A file that is not byte for byte as it should be; `source` says so."""

    file: Path
    found: str
    wanted: str
    source: str

    def __str__(self) -> str:
        return f"{self.file} has SHA-256 {self.found}, {self.source} says {self.wanted}"


def file_sums(store: Store, tables: Iterable[str]) -> dict[str, str]:
    """SHA-256 (hex) of the files of these tables as they are on disk, by table.

    Raises MissingTableError, CorruptTableError and what else opening a table raises.
    """
    sums = {}
    for table in tables:
        store.open(table).close()  # whose errors say more than those of a file
        sums[table] = file_sha256(store.path(table))
    return sums


def check_manifest(store: Store, sums: Mapping[str, str]) -> Check:
    """Compares what `file_sums` found with a store's manifest. Raises StoreAccessError."""
    check = Check("the files are those of the manifest", "SHA-256 of every byte")
    listed = store.checksums()
    for table, found in sums.items():
        with store.open(table) as opened:
            check.positions += sum(section.entries for section in opened.sections.values())
        path = store.path(table)
        wanted = listed.get(path.name, "nothing of it")
        if found != wanted:
            check.add(WrongFile(path, found, wanted, "the manifest"))
    return check


def check_files(store: Store, name: str, sums: Mapping[str, str]) -> Check:
    """Compares what `file_sums` found with the published checksums of `name`.

    name: such as `morris_board`. Raises what opening a table raises.
    """
    check = Check("the files are the published ones", f"databases/known/{name}.*.sha256")
    for table, found in sums.items():
        with store.open(table) as opened:
            release = opened.header.created_by.get("zstd")
            positions = sum(section.entries for section in opened.sections.values())
        source = f"{name}.zstd-{release}.sha256"
        path = store.path(table)
        known = _published_checksums(source)
        if path.name not in known:
            continue
        check.positions += positions
        if found != known[path.name]:
            check.add(WrongFile(path, found, known[path.name], source))
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
    rows: list[MorrisCounts] | list[MorrisDistances] | list[LascaCounts] | list[OfficerCounts],
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
