"""Raw win/draw/loss counts of solved subspaces, in the columns in which they are published; and how
far from conversion their wins are, by index, as the headers of the tables of distances say.

Morris tables hold one row for each orbit of R's placements; raw counts are over all placements, so
a position counts 16 / s times, s the number of symmetries that fix its row. Nearly all rows have
s = 1: sixteen times the count of the whole section is right but for the few others, which alone
are counted one by one. Invariant: win + draw + loss of a morris subspace is the number of all its
placements, C(24, k) * C(24 - k, l).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from functools import cache
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from databases.catalog import (
    LASCA_MOST_OFFICER_COLUMNS,
    LASCA_SECTION,
    lasca_family,
    morris_dtc_family,
    morris_family,
)
from databases.errors import CorruptTableError, MissingTableError
from databases.format import SectionInfo
from databases.reader import TableFile
from databases.store import Store
from engine.lasca.index import LascaClass, classes
from engine.lasca.rules import MEN_PER_SIDE
from engine.morris.board import POINT_COUNT, SYMMETRIES
from engine.morris.index import Subspace, canonical_rows, stabiliser_sizes, subspaces_of_level
from engine.morris.rules import LOSING_TOTAL, MOST_MEN


class Counts(NamedTuple):
    """Positions by value for the side to move."""

    win: int
    draw: int
    loss: int


@dataclass(frozen=True, order=True)
class MorrisCounts:
    """The raw counts of one subspace of morris, as one row of the CSV."""

    flying: str
    board_mover: int
    board_other: int
    hand_mover: int
    hand_other: int
    win: int
    draw: int
    loss: int

    @property
    def positions(self) -> int:
        """How many positions the row is about."""
        return self.win + self.draw + self.loss


@dataclass(frozen=True, order=True)
class MorrisDistances:
    """How far the wins of one subspace of morris are from conversion, as one row of the CSV.

    Only of positions that are won but by no conversion at once; all others can be told from the
    values. They are counted by index, so one that its row's symmetries give several indices counts
    as often. positions: how many these are; longest: the greatest distance, 0 where there is none;
    distances: how many have distance 1, 2, 3, ..., separated by blanks.
    """

    flying: str
    board_mover: int
    board_other: int
    hand_mover: int
    hand_other: int
    positions: int
    longest: int
    distances: str


@cache
def _rows_of_their_own_symmetry(k: int) -> tuple[tuple[int, int], ...]:
    """(row, s) of each row of level k that s > 1 symmetries map to itself."""
    sizes = stabiliser_sizes(canonical_rows(k))
    rows = np.flatnonzero(sizes > 1)
    return tuple(zip(rows.tolist(), sizes[rows].tolist(), strict=True))


def _bits_between(plane: memoryview, start: int, stop: int) -> int:
    """The number of bits set among bits start .. stop - 1 of a bitmap of bytes."""
    bits = int.from_bytes(plane[start // 8 : -(-stop // 8)], "little") >> start % 8
    return (bits & (1 << stop - start) - 1).bit_count()


def _over_all_placements(plane: np.ndarray, count: int, subspace: Subspace) -> int:
    """The raw count of a bitmap (uint8[ceil(size / 8)], in index order) with `count` bits set."""
    view = memoryview(plane)
    columns = subspace.columns
    raw = len(SYMMETRIES) * count
    for row, fixing in _rows_of_their_own_symmetry(subspace.k):
        surplus = len(SYMMETRIES) - len(SYMMETRIES) // fixing
        raw -= surplus * _bits_between(view, row * columns, (row + 1) * columns)
    return raw


def raw_counts(table: TableFile, subspace: Subspace) -> Counts:
    """The raw counts of a subspace from the table of its level. Raises CorruptTableError."""
    section = table.sections[subspace.section]
    placements = comb(POINT_COUNT, subspace.k) * subspace.columns
    if section.constant is not None:
        return Counts(*(placements * (section.constant == value) for value in (1, 0, -1)))
    win_plane, loss_plane = table.planes(subspace.section)
    win = _over_all_placements(win_plane, section.win, subspace)
    loss = _over_all_placements(loss_plane, section.loss, subspace)
    return Counts(win, placements - win - loss, loss)


def morris_counts(root: Path, flying: str, men: int = MOST_MEN) -> list[MorrisCounts]:
    """The raw counts of every solved subspace with totals up to `men`, in the order of the CSV.

    root: the folder of all tables. Raises CorruptTableError and WrongRulesError.
    """
    store = Store(root, morris_family(flying))
    return sorted(
        MorrisCounts(flying, *_men(subspace), *raw_counts(table, subspace))
        for table, subspace in _solved(store, men)
    )


def morris_distances(root: Path, flying: str, men: int = MOST_MEN) -> list[MorrisDistances]:
    """The distances of every subspace that has them, else as `morris_counts`."""
    store = Store(root, morris_dtc_family(flying))
    found = []
    for table, subspace in _solved(store, men):
        counts = counted_distances(table, subspace.section)
        text = " ".join(map(str, counts))
        row = MorrisDistances(flying, *_men(subspace), sum(counts), len(counts), text)
        found.append(row)
    return sorted(found)


def counted_distances(table: TableFile, section: str) -> list[int]:
    """How many entries the header says to be stored with distance 1, 2, 3, ...; the last is not 0.

    Raises CorruptTableError when it does not say so.
    """
    by_section = table.header.about.get("distances")
    counts = by_section.get(section) if isinstance(by_section, dict) else None
    if not isinstance(counts, list) or any(type(n) is not int or n < 0 for n in counts):
        raise CorruptTableError(table.path, "header", f"it counts no distances of {section}")
    if (counts and not counts[-1]) or sum(counts) > table.sections[section].entries:
        raise CorruptTableError(table.path, "header", f"it counts distances of {section} wrongly")
    return counts


def _solved(store: Store, men: int) -> Iterator[tuple[TableFile, Subspace]]:
    """Each subspace with totals up to `men` that a store holds, with its table, open so long."""
    for c in range(LOSING_TOTAL + 1, men + 1):
        for r in range(LOSING_TOTAL + 1, c + 1):
            for k in range(r + 1):
                subspaces = subspaces_of_level(r, c, k)
                try:
                    table = store.open(subspaces[0].stem)
                except MissingTableError:
                    continue
                with table:
                    for subspace in subspaces:
                        yield table, subspace


def _men(subspace: Subspace) -> tuple[int, int, int, int]:
    """Men on the board of the mover and of the other, men in hand of both."""
    row, column = (subspace.k, subspace.row_hand), (subspace.l, subspace.column_hand)
    mover, other = (row, column) if subspace.mover == "R" else (column, row)
    return mover[0], other[0], mover[1], other[1]


@dataclass(frozen=True)
class LascaCounts:
    """The counts of the positions with given men and officers, as one row of the CSV.

    The officers are numbers or "all", for the sum over all numbers of officers. A longest distance
    is empty where no position has the value.
    """

    white_men: int
    black_men: int
    white_officers: int | str
    black_officers: int | str
    total: int
    win: int
    draw: int
    loss: int
    longest_win_plies: int | str
    longest_loss_plies: int | str

    @property
    def positions(self) -> int:
        """How many positions the row is about."""
        return self.total


def lasca_counts(root: Path, men: int) -> list[LascaCounts]:
    """The counts of all classes up to `men` men of both colours, each side having one at least.

    Numbers of men and officers of which not every class is solved are left out. In the order of
    the CSV. Raises CorruptTableError and WrongRulesError.
    """
    store = Store(root, lasca_family())
    pairs = [(white, total - white) for total in range(2, men + 1) for white in range(1, total)]
    pairs.sort(key=lambda pair: (sum(pair), abs(pair[0] - pair[1]), pair))
    return [row for pair in pairs for row in _men_counts(store, *pair)]


def _men_counts(store: Store, white_men: int, black_men: int) -> list[LascaCounts]:
    by_officers: dict[tuple[int, int], list[LascaClass]] = defaultdict(list)
    for each in classes(white_men, black_men):
        by_officers[each.white_officers, each.black_officers].append(each)
    rows = []
    everything: list[SectionInfo] = []
    for officers, its_classes in sorted(by_officers.items()):
        sections = [_lasca_section(store, each) for each in its_classes]
        if None not in sections:
            rows.append(LascaCounts(white_men, black_men, *officers, *_sums(sections)))
            everything += sections
    if len(rows) == len(by_officers):
        rows.insert(0, LascaCounts(white_men, black_men, "all", "all", *_sums(everything)))
    return rows


def _lasca_section(store: Store, of: LascaClass) -> SectionInfo | None:
    """What the table of a class says about its positions, None where it has no table."""
    try:
        with store.open(of.name) as table:
            return table.sections[LASCA_SECTION]
    except MissingTableError:
        return None


def _sums(sections: list[SectionInfo]) -> list[int | str]:
    """Positions, those won, drawn and lost, and the longest win and loss, of several classes."""
    sums = [sum(getattr(s, name) for s in sections) for name in ("entries", "win", "draw", "loss")]
    wins = [s.longest_win for s in sections if s.longest_win is not None]
    losses = [s.longest_loss for s in sections if s.longest_loss is not None]
    return [*sums, max(wins, default=""), max(losses, default="")]


@dataclass(frozen=True)
class OfficerCounts:
    """The counts of one class of endings of all officers, as one row of the CSV."""

    white_men: int
    black_men: int
    white_officers: int
    black_officers: int
    columns: int
    total: int
    win: int
    draw: int
    loss: int
    longest_win_plies: int | str
    longest_loss_plies: int | str

    @property
    def positions(self) -> int:
        """How many positions the row is about."""
        return self.total


def officer_counts(root: Path) -> list[OfficerCounts]:
    """The counts of the solved endings of eleven officers a side, by columns.

    Raises CorruptTableError and WrongRulesError.
    """
    store = Store(root, lasca_family())
    rows = []
    for columns in range(1, LASCA_MOST_OFFICER_COLUMNS + 1):
        ending = LascaClass(*[MEN_PER_SIDE] * 4, columns)
        section = _lasca_section(store, ending)
        if section is not None:
            rows.append(OfficerCounts(*astuple(ending), *_sums([section])))
    return rows


def as_csv(
    rows: list[MorrisCounts] | list[MorrisDistances] | list[LascaCounts] | list[OfficerCounts],
    of: type,
) -> str:
    """The rows with their heading; `of` is their class."""
    lines = [",".join(field.name for field in fields(of))]
    lines += [",".join(map(str, astuple(row))) for row in rows]
    return "\n".join(lines)
