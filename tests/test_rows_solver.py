"""The row solver as a whole: equal to the plain engine bit for bit, and repeatable."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from naive_rows import canonical

from databases.catalog import morris_family
from databases.store import Store
from engine.morris import Position, Rules
from engine.morris.board import ALL_POINTS
from engine.morris.index import Subspace, compress, expand, subspaces_of_level
from solver.errors import ResourceError
from solver.morris_game import solve_all
from solver.morris_job import estimate, solve_morris, table_names, unit_memory, units
from solver.retrograde import LOSS, WIN
from solver.rows import rounds
from solver.rows.geometry import level
from solver.rows.planes import columns_of_at_most, columns_of_exactly, valid_blocks
from solver.rows.rounds import ColumnSide, RowSide
from solver.rows.words import MARGIN
from solver.rows.workers import Workers


def solve(root: Path, flying: str, men: int, threads: int = 1) -> Store:
    store = Store(root, morris_family(flying))
    solve_morris(store, men, Rules(flying=flying), threads=threads)
    return store


@cache
def plain(men: int, flying: str) -> dict[Subspace, np.ndarray]:
    solved = solve_all(men, Rules(flying=flying))
    return {subspace: solution.value for subspace, solution in solved.items()}


def stored(store: Store, men: int) -> Iterator[tuple[Subspace, np.ndarray, np.ndarray]]:
    """Each subspace with the bitmaps of its won and lost positions."""
    for r, c in units(men):
        for k in range(r + 1):
            subspaces = subspaces_of_level(r, c, k)
            with store.open(subspaces[0].stem) as table:
                for subspace in subspaces:
                    yield subspace, *table.planes(subspace.section)


def files(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.glob("*.wdl")}


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `board` solved for four men, `total` and `off` for three; not to be changed."""
    root = tmp_path_factory.mktemp("solved")
    solve(root, "board", 4, threads=2)
    solve(root, "total", 3)
    solve(root, "off", 3)
    return root


@pytest.mark.parametrize(("flying", "men"), [("board", 4), ("total", 3), ("off", 3)])
def test_equals_the_plain_engine(solved: Path, flying: str, men: int) -> None:
    store = Store(solved, morris_family(flying))
    reference = plain(men, flying)
    seen = set()
    for subspace, win, loss in stored(store, men):
        value = reference[subspace]
        assert (np.unpackbits(win, count=value.size, bitorder="little") == (value == WIN)).all()
        assert (np.unpackbits(loss, count=value.size, bitorder="little") == (value == LOSS)).all()
        seen.add(subspace)
    assert seen == set(reference)


def test_threads_and_kinds_of_rounds_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files from two threads, from whole rows only, from single bits and full queues."""
    expected = files(solve(tmp_path / "one", "off", 3))
    assert files(solve(tmp_path / "two", "off", 3, threads=2)) == expected
    monkeypatch.setattr(rounds, "_CHANGES_A_WORD", 0.0)
    assert files(solve(tmp_path / "dense", "off", 3)) == expected
    monkeypatch.setattr(rounds, "_CHANGES_A_WORD", 1 / 8)
    assert files(solve(tmp_path / "sparse", "off", 3)) == expected
    monkeypatch.setattr(rounds, "_QUEUE_ENTRIES", 1 << 17)
    assert files(solve(tmp_path / "overflow", "off", 3)) == expected


def test_goes_on_at_the_first_missing_level(solved: Path, tmp_path: Path) -> None:
    whole = Store(solved, morris_family("board"))
    expected = files(whole)
    for name in ("r03c03k01", "r03c04k02", "r04c04k03"):
        root = tmp_path / name
        store = Store(root, whole.family)
        shutil.copytree(whole.folder, store.folder)
        with store.lock():
            for missing in table_names(4)[table_names(4).index(name) :]:
                store.discard(missing)
        assert files(solve(root, "board", 4)) == expected


def test_does_nothing_when_all_is_there(tmp_path: Path) -> None:
    store = solve(tmp_path, "off", 3)
    before = {path: path.stat().st_mtime_ns for path in store.folder.glob("*.wdl")}
    solve_morris(store, 3, Rules(flying="off"))
    assert {path: path.stat().st_mtime_ns for path in store.folder.glob("*.wdl")} == before


def test_refuses_less_memory_than_it_needs(tmp_path: Path) -> None:
    store = Store(tmp_path, morris_family("board"))
    with pytest.raises(ResourceError, match=r"unit \(3, 3\) needs"):
        solve_morris(store, 3, Rules(), memory=1 << 20)
    assert not list(store.folder.glob("*.wdl"))


def test_plan() -> None:
    order = units(10)
    assert len(order) == 36 and len(set(order)) == 36
    for r, c in order:
        for smaller in ((r, c - 1), (r - 1, c)):
            smaller = tuple(sorted(smaller))
            assert smaller[0] < 3 or order.index(smaller) < order.index((r, c))
    assert max(unit_memory(*unit) for unit in order) == unit_memory(10, 10)
    small, large = estimate(3), estimate(4)
    assert small.tables == 4 and large.tables == 13
    assert 0 < small.positions < large.positions and 0 < small.seconds < large.seconds


def random_side(rng: np.random.Generator, side: RowSide | ColumnSide, men: int) -> None:
    """Random values, in which copies of a position agree, since whole rows are without symmetry."""
    here = side.level
    columns = np.tile(columns_of_at_most(men, here.axes), here.count)
    not_win = rng.integers(0, 2**64, columns.size, dtype=np.uint64) & columns
    side.planes.not_win[MARGIN:-MARGIN] = not_win
    side.planes.loss[MARGIN:-MARGIN] = not_win & rng.integers(
        0, 2**64, columns.size, dtype=np.uint64
    )


def test_one_half_round() -> None:
    """Dense half-rounds from random values against single positions of the rules themselves."""
    k, men = 3, 3
    rules = Rules(flying="off")
    here = level(k)
    rng = np.random.default_rng(1)
    valid = valid_blocks(men, here.axes)
    flights = np.array([rules.may_fly(size, men - size) for size in range(men + 1)])
    flying_columns = np.zeros(here.words, dtype=np.uint64)
    for size in np.flatnonzero(flights):
        flying_columns |= columns_of_exactly(int(size), here.axes)
    row_side = RowSide(here, valid, here.slides(rules.may_fly(k, 0)))
    column_side = ColumnSide(here, valid, men, flights, flying_columns)
    for side in (row_side, column_side):
        # No final move escapes; where there is no position nothing may be lost.
        columns = np.tile(columns_of_at_most(men, here.axes), here.count)
        side.escapes[MARGIN:-MARGIN] = ~columns
        random_side(rng, side, men)
    plain_rows = np.flatnonzero(here.stabilisers == 1)
    number = {int(row): place for place, row in enumerate(here.rows)}

    def bit(plane: np.ndarray, row_men: int, column_men: int) -> bool:
        stored_row, stored_column = canonical(row_men, column_men)
        x = compress(stored_column, ALL_POINTS & ~stored_row)
        word = int(plane[MARGIN + number[stored_row] * here.words + (x >> 6)])
        return bool(word >> (x & 63) & 1)

    for side, other, row_moves in (
        (row_side, column_side, True),
        (column_side, row_side, False),
    ):
        before_loss, before_not_win = side.planes.loss.copy(), side.planes.not_win.copy()
        with Workers(1) as workers:
            shards = workers.ranges(here.count)
            for shard in shards:
                side.dense(other, shard, True, np.zeros(0, dtype=np.int64))
        checked = 0
        while checked < 60:
            row_men = int(here.rows[rng.choice(plain_rows)])
            free = ALL_POINTS & ~row_men
            points = rng.choice(here.axes, men, replace=False)
            column_men = expand(sum(1 << int(a) for a in points), free)
            mover, rest = (row_men, column_men) if row_moves else (column_men, row_men)
            position = Position(mover, rest, 0, 0, True)
            after = [position.play(move) for move in position.legal_moves(rules)]
            if any(p.black.bit_count() < men for p in after):
                continue  # a capture: its value is a constant, not the half-round's
            reached = [(p.white, p.black) if row_moves else (p.black, p.white) for p in after]
            if any(_copies(men_of_row) > 1 for men_of_row, _ in reached):
                continue  # random values of its copies differ
            wins = any(bit(other.planes.loss, *masks_after) for masks_after in reached)
            loses = not any(bit(other.planes.not_win, *masks_after) for masks_after in reached)
            had_loss = bit(before_loss, row_men, column_men)
            had_not_win = bit(before_not_win, row_men, column_men)
            assert bit(side.planes.loss, row_men, column_men) is (had_loss or loses)
            assert bit(side.planes.not_win, row_men, column_men) is (had_not_win and not wins)
            checked += 1


def _copies(row_men: int) -> int:
    from engine.morris.board import image

    return sum(image(row_men, s) == row_men for s in range(16))
