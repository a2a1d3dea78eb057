"""Verification of distances to conversion: right ones pass, each kind of wrong one is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_tables import distances, write_distances, write_morris

from databases import CorruptTableError, Store
from databases.pack import Section
from engine.morris.index import Subspace, position_at
from engine.morris.rules import FLYING_OPTIONS
from solver.morris_game import Distances
from solver.progress import Progress
from solver.retrograde import DRAW, WIN
from solver.verification import Check
from solver.verify_conversion import Subject, check_distances, check_whole
from solver.verify_fixpoint import check_fixpoint
from solver.verify_job import verify_morris
from solver.verify_morris import Values, sides

MEN = 3
FAR = Subspace(3, 3, 3, 3, "C")
QUIET = Progress(quiet=True)


def write(root: Path, flying: str, found: dict[Subspace, Distances]) -> tuple[Store, Store]:
    values = {subspace: each.value for subspace, each in found.items()}
    return write_morris(root, flying, values), write_distances(root, flying, found)


def solved_again(stores: tuple[Store, Store]) -> Check:
    """The check of distances by solving again."""
    store, of_distances = stores
    checks, large = check_fixpoint(store, MEN, distances=of_distances)
    assert not large
    return checks[1]


def by_moves(stores: tuple[Store, Store], sample: int | None = 1000, *tables: str) -> Check:
    """The check of distances by the moves."""
    store, of_distances = stores
    tables = tables or tuple(of_distances.report().whole)
    return check_distances(store, of_distances, tables, sample=sample)


def at(stores: tuple[Store, Store], subspace: Subspace, index: int) -> list[tuple[int, ...]]:
    """The faults (index, stored, derived) that the moves show at one entry."""
    store, of_distances = stores
    (side,) = [s for s in sides(MEN) if (s.table, s.section) == (subspace.stem, subspace.section)]
    with Values(store, 1 << 30, 1, whole=True) as values:
        return Subject.of(side, "board", values, of_distances).check(index, index + 1)[0]


@pytest.mark.parametrize("flying", FLYING_OPTIONS)
def test_right_distances_are_clean(flying: str, tmp_path: Path) -> None:
    found = distances(MEN, flying)
    stores = write(tmp_path, flying, found)
    again = solved_again(stores)
    assert again.positions == sum(int(each.stored.sum()) for each in found.values())
    sampled = by_moves(stores)
    assert sampled.positions == sum(min(1000, each.value.size) for each in found.values())
    whole = by_moves(stores, None, "r03c03k01")
    assert whole.positions == sum(each.value.size for s, each in found.items() if s.k == 1)
    assert again.faults == sampled.faults == whole.faults == 0


def changed(subspace: Subspace, index: int, plies: int) -> dict[Subspace, Distances]:
    """The distances of three men a side with one entry changed."""
    found = dict(distances(MEN, "board"))
    entries = found[subspace].plies.copy()
    entries[index] = plies
    found[subspace] = found[subspace]._replace(plies=entries)
    return found


@pytest.mark.parametrize("wrong", [0, 8, 10, 209])
def test_a_wrong_distance_is_found(wrong: int, tmp_path: Path) -> None:
    right = distances(MEN, "board")[FAR]
    index = int(np.flatnonzero(right.stored & (right.plies == 9))[0])
    stores = write(tmp_path, "board", changed(FAR, index, wrong))
    check = solved_again(stores)
    place = f"{FAR.stem} {FAR.section} {index}: {position_at(FAR, index)}"
    assert str(check.examples[0]) == f"{place} is stored as {wrong}, should be 9"
    # The header, counted from it, is wrong with it.
    assert check.faults == 2 and "its header counts" in str(check.examples[1])
    assert at(stores, FAR, index) == [(index, wrong, 9)]


def test_the_moves_name_a_wrong_distance(tmp_path: Path) -> None:
    level = Subspace(3, 3, 2, 3, "C")
    right = distances(MEN, "board")[level]
    index = int(np.flatnonzero(right.stored)[0])
    plies = int(right.plies[index])
    stores = write(tmp_path, "board", changed(level, index, 77))
    check = by_moves(stores, None, level.stem)
    place = f"{level.stem} {level.section} {index}: {position_at(level, index)}"
    assert f"{place} is stored as 77, should be {plies}" in map(str, check.examples)
    read_as_needed = by_moves(stores, 1 << 40, level.stem)
    assert (read_as_needed.faults, read_as_needed.examples) == (check.faults, check.examples)


def test_a_win_that_is_none_has_no_distance(tmp_path: Path) -> None:
    """A draw that passes for a win, in the values and with a distance."""
    found = dict(distances(MEN, "off"))
    right = found[FAR]
    index = int(np.flatnonzero(right.value == DRAW)[0])
    value, plies = right.value.copy(), right.plies.copy()
    value[index], plies[index] = WIN, 4
    stored = right.stored.copy()
    stored[index] = True
    found[FAR] = Distances(value, plies, stored)
    store, of_distances = write(tmp_path, "off", found)
    side = next(s for s in sides(MEN) if (s.table, s.section) == (FAR.stem, FAR.section))
    with Values(store, 1 << 30, 1, whole=False) as values:
        subject = Subject.of(side, "off", values, of_distances)
        ((fault,),) = subject.check(index, index + 1)
        assert "is stored as 4, should be no win" in str(subject.fault(*fault))


def test_entries_without_a_meaning_may_be_anything(tmp_path: Path) -> None:
    right = distances(MEN, "board")[FAR]
    index = int(np.flatnonzero(~right.stored)[5])
    found = changed(FAR, index, 77)
    stores = write(tmp_path, "board", found)
    assert solved_again(stores).faults == 0
    assert at(stores, FAR, index) == []


def test_only_some_tables(tmp_path: Path) -> None:
    """Distances may be solved up to fewer men than values, or half of a level's be there."""
    found = distances(MEN, "board")
    write_morris(tmp_path, "board", {subspace: each.value for subspace, each in found.items()})
    some = {subspace: each for subspace, each in found.items() if subspace.k > 1}
    write_distances(tmp_path, "board", some)
    report = verify_morris(tmp_path, "board", None, known=False, threads=1, progress=QUIET)
    assert report.is_clean
    by_name = {check.what: check.positions for check in report.checks}
    assert by_name["distances to conversion are those of best play"] == sum(
        int(each.stored.sum()) for each in some.values()
    )
    entries = sum(each.value.size for each in some.values())
    assert by_name["tables of distances are whole"] == entries
    assert 0 < by_name["distances to conversion are those that the moves give"] <= entries


def test_a_damaged_table_is_an_error(tmp_path: Path) -> None:
    _, store = write(tmp_path, "board", distances(MEN, "board"))
    tables = [name for name in store.report().whole]
    assert check_whole(store, tables).positions == 311_133
    path = store.path("r03c03k02")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(CorruptTableError, match=r"r03c03k02\.dtc"):
        check_whole(store, tables)
    with pytest.raises(CorruptTableError, match=r"r03c03k02\.dtc"):
        verify_morris(tmp_path, "board", None, known=False, threads=1, progress=QUIET)


def test_a_header_without_counts_is_corrupt(tmp_path: Path) -> None:
    store, of_distances = write(tmp_path, "board", distances(MEN, "board"))
    with of_distances.open("r03c03k00") as table:
        sections = [
            Section(name, info.entries, None, None, table.plies_array(name))
            for name, info in table.sections.items()
        ]
    for about in ({}, {"distances": {}}, {"distances": {"C0": [0]}}, {"distances": {"C0": "1"}}):
        with of_distances.lock():
            of_distances.write("r03c03k00", sections, about=about)
        with pytest.raises(CorruptTableError, match="distances of C"):
            check_fixpoint(store, MEN, distances=of_distances)


def test_distances_of_other_rules_are_wrong(tmp_path: Path) -> None:
    """The verifier knows the rules by itself."""
    off = distances(MEN, "off")[FAR]
    board = distances(MEN, "board")
    stores = write(tmp_path, "board", {**board, FAR: board[FAR]._replace(plies=off.plies)})
    assert solved_again(stores).faults > 1
    assert by_moves(stores).faults > 1
