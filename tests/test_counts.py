"""Raw counts against a loop over rows, the rows of the CSV, and published counts of both games."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from small_tables import distances, write_distances

from databases import Section, Store, lasca_family, morris_family
from engine.morris import Rules
from engine.morris.board import image
from engine.morris.index import Subspace, canonical_rows, subspaces_of_level
from engine.morris.rules import FLYING_OPTIONS
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
    raw_counts,
)
from solver.lasca_job import families_by_men, officers_family, scores_of, solve_families
from solver.morris_job import solve_morris

DATA = Path(__file__).parent / "data"


def values_of(subspace: Subspace, kind: str) -> np.ndarray:
    """int8[size]: made-up values."""
    if kind == "draws":
        return np.zeros(subspace.size, np.int8)
    random = np.random.default_rng(subspace.size)
    return random.integers(-1, 2, subspace.size, dtype=np.int8)


def section_of(subspace: Subspace, values: np.ndarray) -> Section:
    win, loss = (np.packbits(values == value, bitorder="little") for value in (1, -1))
    return Section(subspace.section, subspace.size, win, loss)


def orbit_size(mask: int) -> int:
    return len({image(mask, s) for s in range(16)})


@pytest.mark.parametrize("level", [(3, 4, 0), (3, 4, 1), (3, 4, 2), (5, 5, 3)])
def test_raw_counts_weight_each_row_by_its_orbit(level: tuple, tmp_path: Path) -> None:
    subspaces = subspaces_of_level(*level)[:4]
    values = {s: values_of(s, "mixed" if s.l else "draws") for s in subspaces}
    store = Store(tmp_path, morris_family("board"))
    with store.lock():
        store.write(subspaces[0].stem, [section_of(s, v) for s, v in values.items()])
    with store.open(subspaces[0].stem) as table:
        for subspace, flat in values.items():
            expected = {1: 0, 0: 0, -1: 0}
            rows = flat.reshape(subspace.rows, subspace.columns)
            for mask, row in zip(canonical_rows(subspace.k).tolist(), rows, strict=True):
                for value in expected:
                    expected[value] += orbit_size(mask) * int((row == value).sum())
            assert raw_counts(table, subspace) == (expected[1], expected[0], expected[-1])


def test_rows_name_the_men_of_the_side_to_move(tmp_path: Path) -> None:
    subspaces = subspaces_of_level(3, 4, 1)
    store = Store(tmp_path, morris_family("off"))
    with store.lock():
        sections = [section_of(s, values_of(s, "draws")) for s in subspaces]
        store.write(subspaces[0].stem, sections)
    found = morris_counts(tmp_path, "off")
    assert len(found) == len(subspaces)
    assert found == sorted(found)
    # R: one man on the board and two in hand; C: three and one.
    assert MorrisCounts("off", 1, 3, 2, 1, 0, 24 * 1771, 0) in found
    assert MorrisCounts("off", 3, 1, 1, 2, 0, 24 * 1771, 0) in found
    assert morris_counts(tmp_path, "off", men=3) == []
    assert morris_counts(tmp_path, "board") == []
    lines = as_csv(found, MorrisCounts).splitlines()
    assert lines[0] == "flying,board_mover,board_other,hand_mover,hand_other,win,draw,loss"
    assert lines[1] == "off,0,1,4,2,0,24,0"


def test_distances_are_counted_by_index(tmp_path: Path) -> None:
    found = distances(3, "board")
    write_distances(tmp_path, "board", found)
    rows = morris_distances(tmp_path, "board")
    assert len(rows) == len(found) and rows == sorted(rows)
    for subspace, solved in found.items():
        # In unit (3, 3) R, the side not to move, has k men on the board.
        men = (subspace.l, subspace.k, subspace.column_hand, subspace.row_hand)
        plies = solved.plies[solved.stored].tolist()
        counts = [plies.count(n) for n in range(1, max(plies, default=0) + 1)]
        text = " ".join(map(str, counts))
        assert MorrisDistances("board", *men, len(plies), len(counts), text) in rows
    lines = as_csv(rows, MorrisDistances).splitlines()
    assert lines[0] == (
        "flying,board_mover,board_other,hand_mover,hand_other,positions,longest,distances"
    )
    assert lines[-1].startswith("board,3,3,0,0,") and lines[-1].split(",")[6] == "25"
    assert morris_distances(tmp_path, "off") == morris_distances(tmp_path, "board", men=2) == []


@pytest.mark.parametrize("flying", FLYING_OPTIONS)
def test_published_counts_of_morris(flying: str, tmp_path: Path) -> None:
    """What is published is found, and beyond it only positions no game reaches: the side that has
    just moved has no man on the board."""
    solve_morris(Store(tmp_path, morris_family(flying)), 4, Rules(flying=flying), threads=2)
    found = as_csv(morris_counts(tmp_path, flying, men=4), MorrisCounts).splitlines()
    with (DATA / "morris_counts.csv").open(newline="") as file:
        heading, *rows = [",".join(row) for row in csv.reader(file)]
    known = [row for row in rows if row.startswith(f"{flying},")]
    assert len(known) == 63
    assert found[0] == heading
    assert [row for row in found[1:] if row.split(",")[2] != "0"] == known


def test_published_counts_of_lasca(tmp_path: Path) -> None:
    solve_families(Store(tmp_path, lasca_family()), families_by_men(4), threads=2)
    with (DATA / "lasca_counts.csv").open(newline="") as file:
        known = [",".join(row) for row in csv.reader(file)]
    assert as_csv(lasca_counts(tmp_path, 4), LascaCounts).splitlines() == known


def test_counts_of_endings_of_officers(tmp_path: Path) -> None:
    store = Store(tmp_path, lasca_family())
    assert officer_counts(tmp_path) == []
    family = officers_family(2)
    solve_families(store, [family])
    found = officer_counts(tmp_path)
    assert lasca_counts(tmp_path, 6) == []
    assert len(found) == len(family.tasks) == 2
    for row, task in zip(found, family.tasks, strict=True):
        scores = scores_of(store, task.classes[0])
        value = np.where(scores == 65535, 0, np.where(scores % 2, 1, -1))
        assert (row.win, row.draw, row.loss) == tuple(int((value == v).sum()) for v in (1, 0, -1))
        assert row.total == task.size
        assert row.longest_win_plies == scores[value == 1].max()
        assert row.longest_loss_plies == scores[value == -1].max()
    lines = as_csv(found, OfficerCounts).splitlines()
    assert lines[0] == (
        "white_men,black_men,white_officers,black_officers,columns,"
        "total,win,draw,loss,longest_win_plies,longest_loss_plies"
    )
    # One column is White's, who wins at once, or Black's, who has won.
    assert lines[1] == "11,11,11,11,1,50,25,0,25,1,0"
