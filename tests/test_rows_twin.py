"""Levels taken over from other rules: what they depend on, and that they are the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from test_rows_solver import files, solve

from databases.writer import Section
from engine.morris import Rules
from engine.morris.index import Subspace, locate, position_at, subspaces_of_level
from solver.morris_job import units
from solver.rows.twin import Twin, behind_conversions

SAMPLES = 40


@pytest.mark.parametrize("unit", [(3, 3), (3, 4), (3, 6), (4, 4), (4, 5), (5, 5), (6, 9), (10, 10)])
def test_every_conversion_leads_to_a_listed_table(unit: tuple[int, int]) -> None:
    """By the rules' own moves, from random positions of both sides to move."""
    rng = np.random.default_rng(unit[0] * 16 + unit[1])
    r, c = unit
    rules = Rules()
    for k in range(r + 1):
        own = Subspace(r, c, k, 0, "C").stem
        listed = behind_conversions(r, c, k)
        met = set()
        for subspace in _both_sides_to_move(r, c, k):
            for index in rng.integers(0, subspace.size, SAMPLES):
                position = position_at(subspace, int(index))
                for move in position.legal_moves(rules):
                    after = position.play(move)
                    if not after.is_short_of_men:
                        met.add((locate(after)[0].stem, move.capture is not None))
        quiet = {stem for stem, captured in met if not captured}
        taken = {stem for stem, captured in met if captured}
        assert taken <= listed
        if r < c:
            assert quiet <= listed | {own}


def _both_sides_to_move(r: int, c: int, k: int) -> Iterator[Subspace]:
    """The subspaces with k men of R on the board; in a diagonal unit R to move is stored as C."""
    yield from subspaces_of_level(r, c, k)
    if r == c:
        yield from (Subspace(r, r, other, k, "C") for other in range(r + 1))


def test_unit_order_makes_them_first() -> None:
    order = [f"r{r:02d}c{c:02d}k{k:02d}" for r, c in units(10) for k in range(r, -1, -1)]
    place = {name: number for number, name in enumerate(order)}
    for r, c in units(10):
        for k in range(r + 1):
            own = place[f"r{r:02d}c{c:02d}k{k:02d}"]
            assert all(place[name] < own for name in behind_conversions(r, c, k))


def test_takes_over_what_other_rules_have_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = solve(tmp_path / "alone", "total", 4)
    solve(tmp_path / "shared", "board", 4)
    taken: list[str] = []
    sections = Twin.sections

    def counting(self: Twin, r: int, c: int, k: int, threads: int) -> Iterator[Section]:
        taken.append(f"r{r:02d}c{c:02d}k{k:02d}")
        return sections(self, r, c, k, threads)

    monkeypatch.setattr(Twin, "sections", counting)
    shared = solve(tmp_path / "shared", "total", 4)
    assert files(shared) == files(alone)
    # Where the rules part: three men of a side, one of them in hand.
    assert "r03c04k03" in taken
    assert "r03c03k03" not in taken and "r03c04k02" not in taken
