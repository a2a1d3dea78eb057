"""The numba kernels of Lasca against the readable engine and the index, which share no code."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import numpy as np
import pytest
from naive_lasca import random_position

from engine.lasca import Position
from engine.lasca.index import LascaClass, classes, locate
from solver import lasca_kernels as kernels
from solver.lasca_game import Family, _group_of

DATA = Path(__file__).parent / "data"
THREE_MEN = [c for men in ((1, 1), (2, 1), (1, 2)) for c in classes(*men)]
ALL_MEN = "w" * 11 + "b" * 11


def readable_successors(position: Position) -> list[tuple[int, ...]]:
    after = (kernels.to_record(q) for _, q in position.successors())
    return sorted(tuple(record.tolist()) for record in after)


def fast_successors(position: Position) -> list[tuple[int, ...]]:
    return sorted(map(tuple, kernels.successors(kernels.to_record(position)).tolist()))


def unranked(family: Family, index: int) -> np.ndarray:
    """The record with a number in a family, by the kernels."""
    task = next(t for t in family.tasks if t.first <= index < t.end)
    group = task.groups[_group_of(task.groups, index)]
    number = index - group[kernels._BASE]
    contents = int(np.prod(group[kernels._RADIX + 5 : kernels._RADIX + 9]))
    own, other = kernels._squares_of(number // contents, group)
    record = np.empty(kernels.RECORD, np.int32)
    scratch = np.empty((2, kernels.RECORD), np.int64)
    kernels._put_men(number % contents, group, own, other, *scratch, record)
    return record


@pytest.mark.parametrize("small", THREE_MEN, ids=lambda c: c.name)
def test_moves_agree_on_every_position_of_three_men(small):
    for index in range(small.size):
        position = small.unrank(index)
        assert fast_successors(position) == readable_successors(position)


def test_moves_agree_on_random_positions_of_the_real_game():
    rng = random.Random(17)
    captures = runs = promotions = 0
    for _ in range(1500):
        men = "".join(man.upper() if rng.random() < 0.5 else man for man in ALL_MEN)
        position = random_position(rng, men, rng.randint(2, 12))
        moves = position.legal_moves()
        captures += any(move.captures for move in moves)
        runs += any(len(move.path) > 2 for move in moves)
        promotions += any(move.promotes for move in moves)
        assert fast_successors(position) == readable_successors(position)
    assert min(captures, runs, promotions) > 50


def test_moves_agree_along_random_games():
    rng = random.Random(23)
    for _ in range(20):
        position = Position.START
        for _ in range(80):
            assert fast_successors(position) == readable_successors(position)
            moves = position.legal_moves()
            if not moves:
                break
            position = position.play(rng.choice(moves))


def test_long_runs_agree():
    position = Position.parse("B:b2WB d2WB f2WB b4WB d4WB f4WB b6WB d6WB f6WB g7BBww")
    assert len(fast_successors(position)) == 9
    assert fast_successors(position) == readable_successors(position)


def test_records_are_read_back():
    rng = random.Random(29)
    for _ in range(100):
        position = random_position(rng, "wwwWWbbbBB", rng.randint(1, 7))
        assert kernels.to_position(kernels.to_record(position)) == position
        turned = kernels.to_record(position.colours_swapped())
        assert np.array_equal(turned, kernels.to_record(position))


def test_perft_by_routes_and_by_results():
    with (DATA / "lasca_perft.csv").open() as file:
        for row in csv.DictReader(file):
            expected = (int(row["routes"]), int(row["distinct_results"]))
            assert kernels.perft(Position.START, int(row["ply"])) == expected
    assert kernels.perft(Position.START, 0) == (1, 1)
    with pytest.raises(ValueError, match="depth"):
        kernels.perft(Position.START, -1)


@pytest.mark.parametrize("family", [Family(1, 1), Family(2, 1)], ids=str)
def test_ranks_agree_on_every_position(family):
    for task in family.tasks:
        for of, first, end in family.parts(task):
            bases = family.bases[family.side(of)]
            for index in range(first, end, 1 if family.men == 2 else 7):
                position = of.unrank(index - first)
                record = kernels.to_record(position)
                assert np.array_equal(unranked(family, index), record)
                assert kernels._rank(record, False, bases) == index
                mirrored = first + of.rank(position.mirrored())
                assert kernels._rank(record, True, bases) == mirrored


@pytest.mark.parametrize(
    "family",
    [Family(3, 3), Family(4, 2), Family(5, 1), Family(11, 11, officers_only=True, max_columns=4)],
    ids=str,
)
def test_ranks_agree_on_random_positions(family):
    rng = random.Random(31)
    for task in family.tasks:
        for of, first, end in family.parts(task):
            bases = family.bases[family.side(of)]
            ends = {end - 1, *(first + g.base for g in of.groups)}
            for index in [*ends, *(rng.randrange(first, end) for _ in range(3))]:
                position = of.unrank(index - first)
                record = kernels.to_record(position)
                assert np.array_equal(unranked(family, index), record)
                assert kernels._rank(record, False, bases) == index


def test_a_family_is_dense_and_closed_under_moves():
    family = Family(2, 1)
    assert family.size == sum(c.size for men in ((2, 1), (1, 2)) for c in classes(*men))
    starts = {of: first for task in family.tasks for of, first, _ in family.parts(task)}
    rng = random.Random(37)
    for task in family.tasks:
        for of, first, end in family.parts(task):
            for _ in range(10):
                position = of.unrank(rng.randrange(end - first))
                for _, after in position.successors():
                    there, index = locate(after)
                    assert starts[there] + index < task.end


def test_a_class_outside_the_family_has_no_number():
    record = kernels.to_record(LascaClass(2, 1, 0, 1, 3).unrank(5))
    family = Family(2, 1, officers_only=True)
    assert kernels._rank(record, False, family.bases[0]) == kernels.NOWHERE
