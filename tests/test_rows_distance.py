"""Distances to conversion by rows: equal to the plain engine's, and repeatable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from small_tables import write_levels

from databases.catalog import morris_dtc_family, morris_family
from databases.errors import CorruptTableError
from databases.store import Store
from engine.morris import Rules
from engine.morris.index import Subspace, locate, position_at, subspaces_of_level
from solver import morris_job
from solver.errors import ResourceError
from solver.known import check_morris_distances
from solver.morris_game import solve_all
from solver.morris_job import solve_distances, solve_morris, unit_distance_memory, units
from solver.retrograde import LOSS, WIN, Solution
from solver.rows import distance, rounds
from solver.rows.distance import WinSteps
from solver.rows.distance_sections import _fill, distance_sections
from solver.rows.geometry import level
from solver.rows.workers import Workers

SOLVED = (("board", 4), ("total", 3), ("off", 3))


def values_of(root: Path, flying: str) -> Store:
    return Store(root, morris_family(flying))


def distances_of(root: Path, flying: str) -> Store:
    return Store(root, morris_dtc_family(flying))


def solve(root: Path, flying: str, men: int, threads: int = 1) -> None:
    rules = Rules(flying=flying)
    solve_distances(
        values_of(root, flying), distances_of(root, flying), men, rules, threads=threads
    )


@cache
def plain(men: int, flying: str) -> dict[Subspace, Solution]:
    return solve_all(men, Rules(flying=flying))


def stored(store: Store, men: int) -> Iterator[tuple[Subspace, np.ndarray, list[int]]]:
    """Each subspace with its entries and how often each distance occurs."""
    for r, c in units(men):
        for k in range(r + 1):
            subspaces = subspaces_of_level(r, c, k)
            with store.open(subspaces[0].stem) as table:
                counts = table.header.about["distances"]
                for subspace in subspaces:
                    entries = table.plies_array(subspace.section)
                    yield subspace, entries, counts[subspace.section]


def files(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.glob("*.dtc")}


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the values and distances of `SOLVED`; not to be changed."""
    root = tmp_path_factory.mktemp("solved")
    for flying, men in SOLVED:
        solve_morris(values_of(root, flying), men, Rules(flying=flying), threads=2)
        solve(root, flying, men, threads=2)
    return root


def with_values_of(solved: Path, root: Path, flying: str = "board") -> Path:
    """A new folder with the same values."""
    (root / "morris").mkdir()
    (root / "morris" / flying).mkdir()
    for path in values_of(solved, flying).folder.glob("*.*"):
        (root / "morris" / flying / path.name).write_bytes(path.read_bytes())
    return root


@pytest.mark.parametrize(("flying", "men"), SOLVED)
def test_equals_the_plain_engine(solved: Path, flying: str, men: int) -> None:
    seen = set()
    for subspace, entries, counts in stored(distances_of(solved, flying), men):
        value, plies = plain(men, flying)[subspace]
        # A win in one ply by the plain engine is a conversion or ends the game.
        far = (value == WIN) & (plies > 1)
        assert np.array_equal(entries[far], plies[far])
        occurring = np.bincount(plies[far], minlength=2)[2:]
        assert counts[1:] == np.trim_zeros(occurring, "b").tolist() or not far.any()
        seen.add(subspace)
    assert seen == set(plain(men, flying))


@pytest.mark.parametrize(("flying", "men"), SOLVED)
def test_wins_that_end_the_game_by_a_slide(solved: Path, flying: str, men: int) -> None:
    rules = Rules(flying=flying)
    found = 0
    for subspace, entries, counts in stored(distances_of(solved, flying), min(men, 3)):
        value, plies = plain(men, flying)[subspace]
        values = {part: solution.value for part, solution in plain(men, flying).items()}
        near = np.flatnonzero((value == WIN) & (plies == 1))
        without = [i for i in near if not has_winning_conversion(subspace, int(i), values, rules)]
        assert (entries[without] == 1).all()
        assert (counts[:1] or [0]) == [len(without)]
        found += len(without)
    assert found or flying != "off"


def has_winning_conversion(subspace: Subspace, index: int, values: dict, rules: Rules) -> bool:
    position = position_at(subspace, index)
    for move in position.legal_moves(rules):
        if move.source is not None and move.capture is None:
            continue
        after = position.play(move)
        if after.is_lost(rules):
            return True
        place, row, column = locate(after)
        if values[place][row * place.columns + column] == LOSS:
            return True
    return False


def test_longest_win_of_three_against_three(solved: Path) -> None:
    """With all men on the board a capture ends the game; the longest win takes 25 plies."""
    for subspace, _, counts in stored(distances_of(solved, "board"), 3):
        if (subspace.k, subspace.l) == (3, 3):
            assert len(counts) == 25


def test_distances_are_the_published_ones(solved: Path) -> None:
    check = check_morris_distances(solved, "board", 4)
    assert check.positions > 0
    assert check.faults == 0


@pytest.mark.parametrize("change", ["threads", "dense only", "overflow", "late start"])
def test_threads_and_kinds_of_steps_change_nothing(
    solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    root = with_values_of(solved, tmp_path)
    ended = []
    run = distance.DistanceRounds.run
    monkeypatch.setattr(
        distance.DistanceRounds,
        "run",
        lambda *arguments: ended.append(run(*arguments)) or ended[-1],
    )
    if change == "dense only":
        monkeypatch.setattr(distance, "may_be_few", lambda changed: False)
    if change == "overflow":
        monkeypatch.setattr(rounds, "_QUEUE_ENTRIES", 2000)
        monkeypatch.setattr(distance, "may_be_few", lambda changed: True)
        monkeypatch.setattr(
            distance, "worth_following", lambda news, *_arguments: not news.overflowed
        )
    if change == "late start":
        monkeypatch.setattr(rounds, "_CHANGES_A_WORD", 1 / 5000)
    solve(root, "board", 3, threads=2 if change == "threads" else 1)
    ours, theirs = files(distances_of(root, "board")), files(distances_of(solved, "board"))
    assert ours
    assert (False in ended) is (change == "overflow")
    assert all(theirs[name] == content for name, content in ours.items())


def test_goes_on_where_it_stopped(solved: Path, tmp_path: Path) -> None:
    root = with_values_of(solved, tmp_path)
    solve(root, "board", 3)
    store = distances_of(root, "board")
    before = files(store)
    with store.lock():
        store.discard("r03c03k01")
    solve(root, "board", 3)
    assert files(store) == before


def test_values_that_do_not_follow_are_refused(solved: Path, tmp_path: Path) -> None:
    root = with_values_of(solved, tmp_path)
    store = values_of(root, "board")

    values = {
        subspace: solution.value.copy()
        for subspace, solution in plain(4, "board").items()
        if subspace.stem == "r03c04k03"
    }
    changed = next(v for s, v in values.items() if s.section == "R3")
    changed[np.flatnonzero(changed == WIN)[0]] = 0
    with store.lock():
        write_levels(store, values)
    with pytest.raises(CorruptTableError, match="r03c04k03"):
        solve(root, "board", 4)


def test_a_unit_that_needs_more_memory_is_refused(solved: Path, tmp_path: Path) -> None:
    root = with_values_of(solved, tmp_path)
    with pytest.raises(ResourceError, match=r"unit \(3, 3\)"):
        morris_job.solve_distances(
            values_of(root, "board"),
            distances_of(root, "board"),
            3,
            Rules(),
            memory=unit_distance_memory(3, 3) - 1,
        )


def test_fill_takes_the_number_before() -> None:
    entries = np.array([0, 0, 3, 0, 2, 0, 0, 0, 0, 7, 0], np.uint8)
    _fill(entries, 4)
    assert entries.tolist() == [3, 3, 3, 3, 2, 2, 2, 2, 7, 7, 7]
    nothing = np.zeros(5, np.uint8)
    _fill(nothing, 4)
    assert not nothing.any()


def test_a_distance_of_more_than_16_bits_is_refused() -> None:
    steps = WinSteps(level(3))
    steps.found.append((1 << 16, np.zeros(1, dtype=np.uint32)))
    with Workers(1) as workers, pytest.raises(OverflowError, match="65536 plies"):
        next(distance_sections(level(3), 3, {"C": steps}, {}, workers))
