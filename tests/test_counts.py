"""Raw counts against a loop over rows, and the rows of the CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from databases import Section, Store, morris_family
from engine.morris.board import image
from engine.morris.index import Subspace, canonical_rows, subspaces_of_level
from solver.counts import MorrisCounts, as_csv, morris_counts, raw_counts


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
