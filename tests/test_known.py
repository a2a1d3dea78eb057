"""Published counts compared with solved tables, right and wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from small_tables import distances, write_distances

from databases import MissingTableError, Section, Store, lasca_family, morris_family
from engine.morris.index import subspaces_of_level
from engine.morris.rules import FLYING_OPTIONS
from solver import known
from solver.counts import MorrisDistances, as_csv, morris_distances
from solver.known import (
    check_files,
    check_lasca,
    check_manifest,
    check_morris,
    check_morris_distances,
    check_officers,
    file_sums,
    published,
)
from solver.lasca_job import families_by_men, officers_family, solve_families, table_names

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("flying", FLYING_OPTIONS)
def test_published_morris_holds_what_others_published(flying: str) -> None:
    with (DATA / "morris_counts.csv").open(newline="") as file:
        known = {",".join(row) for row in csv.reader(file) if row[0] == flying}
    assert known <= set(published(f"morris_{flying}.csv"))


def test_published_lasca_holds_what_others_published() -> None:
    with (DATA / "lasca_counts.csv").open(newline="") as file:
        known = [",".join(row) for row in csv.reader(file)][1:]
    assert published("lasca_men.csv")[: len(known)] == known


def write_level(root: Path, values: dict[str, int]) -> None:
    """Level 0 of unit (3, 3), where each of the sections is one value throughout."""
    sections = []
    for subspace in subspaces_of_level(3, 3, 0):
        ones = np.packbits(np.ones(subspace.size, np.uint8), bitorder="little")
        planes = [ones if values[subspace.section] == value else ones * 0 for value in (1, -1)]
        sections.append(Section(subspace.section, subspace.size, *planes))
    store = Store(root, morris_family("board"))
    with store.lock():
        store.write("r03c03k00", sections)


def test_right_counts(tmp_path: Path) -> None:
    # With three men a side whoever moves against an empty board wins.
    write_level(tmp_path, {"C0": 1, "C1": 1, "C2": 1, "C3": 1})
    check = check_morris(tmp_path, "board", 3)
    assert check.what == "the counts are the published ones"
    assert check.how == "databases/known/morris_board.csv"
    assert (check.positions, check.faults) == (1 + 24 + 276 + 2024, 0)


def test_wrong_counts_are_faults(tmp_path: Path) -> None:
    write_level(tmp_path, {"C0": 1, "C1": -1, "C2": 1, "C3": 1})
    check = check_morris(tmp_path, "board", 3)
    assert check.faults == 1
    assert any("board,1,0,2,3,0,0,24 is published as" in str(fault) for fault in check.examples)


def test_distances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {s: each for s, each in distances(3, "board").items() if s.k == 3}
    write_distances(tmp_path, "board", found)
    rows = as_csv(morris_distances(tmp_path, "board"), MorrisDistances).splitlines()[1:]
    positions = sum(int(each.stored.sum()) for each in found.values())
    monkeypatch.setattr(known, "published", lambda name: rows if "board_dtc" in name else [])
    check = check_morris_distances(tmp_path, "board", 3)
    assert (check.positions, check.faults) == (positions, 0)
    assert check.how == "databases/known/morris_board_dtc.csv"
    longest = rows[-1].split(",")
    rows[-1] = ",".join([*longest[:-1], longest[-1] + " 1"])
    assert check_morris_distances(tmp_path, "board", 3).faults == 1
    rows.pop()
    assert check_morris_distances(tmp_path, "board", 3).positions < positions
    assert published("no such file") == []


def test_what_is_not_solved_is_no_fault(tmp_path: Path) -> None:
    checks = (check_morris(tmp_path, "off", 10), check_lasca(tmp_path, 4), check_officers(tmp_path))
    for check in checks:
        assert (check.positions, check.faults) == (0, 0)


def test_files_as_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_level(tmp_path, {"C0": 1, "C1": 1, "C2": 1, "C3": 1})
    store = Store(tmp_path, morris_family("board"))
    asked: list[str] = []
    known_sums = dict(store.checksums())

    def checksums(name: str) -> dict[str, str]:
        asked.append(name)
        return known_sums

    monkeypatch.setattr(known, "_published_checksums", checksums)
    sums = file_sums(store, ["r03c03k00"])
    check = check_files(store, "morris_board", sums)
    assert (check.positions, check.faults) == (1 + 24 + 276 + 2024, 0)
    with store.open("r03c03k00") as table:
        assert asked == [f"morris_board.zstd-{table.header.created_by['zstd']}.sha256"]
    known_sums["r03c03k00.wdl"] = "0" * 64
    assert check_files(store, "morris_board", sums).faults == 1
    known_sums.clear()
    check = check_files(store, "morris_board", sums)
    assert (check.positions, check.faults) == (0, 0)
    assert check_files(store, "morris_board", {}).positions == 0


def test_checksums_are_those_of_the_bytes(tmp_path: Path) -> None:
    """A file replaced behind the manifest's back is seen."""
    write_level(tmp_path / "other", {"C0": 1, "C1": -1, "C2": 1, "C3": 1})
    write_level(tmp_path, {"C0": 1, "C1": 1, "C2": 1, "C3": 1})
    store = Store(tmp_path, morris_family("board"))
    check = check_manifest(store, file_sums(store, ["r03c03k00"]))
    assert (check.positions, check.faults) == (1 + 24 + 276 + 2024, 0)
    other = Store(tmp_path / "other", store.family)
    other.path("r03c03k00").rename(store.path("r03c03k00"))
    check = check_manifest(store, file_sums(store, ["r03c03k00"]))
    assert check.faults == 1
    assert "the manifest says" in str(check.examples[0])
    with store.lock():
        store.discard("r03c03k00")
    with pytest.raises(MissingTableError, match="r03c03k00"):
        file_sums(store, ["r03c03k00"])


def test_published_checksums_name_every_table_of_the_whole_game() -> None:
    found = known._published_checksums("morris_board.zstd-1.5.7.sha256")
    assert len(found) == 228 and all(len(checksum) == 64 for checksum in found.values())
    assert known._published_checksums("no such file") == {}


LASCA = (*families_by_men(2), officers_family(2))


@pytest.fixture(scope="module")
def lasca(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Lasca up to two men, and the endings of officers in up to two columns."""
    store = Store(tmp_path_factory.mktemp("lasca"), lasca_family())
    solve_families(store, LASCA)
    return store


def test_lasca_as_published(lasca: Store) -> None:
    men, officers = check_lasca(lasca.root, 2), check_officers(lasca.root)
    assert (men.positions, men.faults) == (2216, 0)
    assert (officers.positions, officers.faults) == (50 + 144_600, 0)


def test_wrong_counts_of_officers_are_faults(lasca: Store, tmp_path: Path) -> None:
    name = table_names(LASCA)[-1]
    store = Store(tmp_path, lasca_family())
    with lasca.open(name) as table, store.lock():
        win, loss = table.planes("white")
        store.write(name, [Section("white", 144_600, loss, win, table.plies_array("white"))])
    check = check_officers(tmp_path)
    assert (check.positions, check.faults) == (144_600, 1)
    assert "11,11,11,11,2,144600," in str(check.examples[0])


def test_published_checksums_of_lasca(lasca: Store) -> None:
    published_by = "1.5.7"
    found = known._published_checksums(f"lasca.zstd-{published_by}.sha256")
    names = table_names((*families_by_men(6), officers_family(3)))
    assert {f"{name}.tbl" for name in names} == found.keys()
    check = check_files(lasca, "lasca", file_sums(lasca, table_names(LASCA)))
    with lasca.open(table_names(LASCA)[0]) as table:
        same = table.header.created_by["zstd"] == published_by
    assert (check.positions, check.faults) == (2216 + 50 + 144_600 if same else 0, 0)
