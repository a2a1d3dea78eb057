"""Lasca on the plain engine: published counts and values, and the naive solver on whole classes."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import naive_lasca
import numpy as np
import pytest

from engine.lasca import Position
from engine.lasca.index import classes, locate
from solver.lasca_game import Family, LascaGame, Task, enter_solution, values_of
from solver.lasca_kernels import OTHER, OWN, _is_least_image, _rank, successors, to_record
from solver.retrograde import DRAW, HOLE, LOSS, WIN, Expansion, solve

DATA = Path(__file__).parent / "data"
FAMILIES = [Family(1, 1), Family(2, 1), Family(2, 2), Family(3, 1)]
OUTCOME = {"win": WIN, "draw": DRAW, "loss": LOSS}


def solved(family: Family, remember: int = 1 << 30) -> np.ndarray:
    scores = np.zeros(family.size, np.uint8)
    for task in family.tasks:
        solution = solve(LascaGame(family, task, scores), np.uint8, remember)
        enter_solution(family, task, solution, scores)
    return scores


@pytest.fixture(scope="module")
def tables() -> dict[Family, np.ndarray]:
    return {family: solved(family) for family in FAMILIES}


def score_of(tables: dict[Family, np.ndarray], position: Position) -> int:
    of, index = locate(position)
    family = Family(max(of.white_men, of.black_men), min(of.white_men, of.black_men))
    starts = {one: first for t in family.tasks for one, first, _ in family.parts(t)}
    return int(tables[family][starts[of] + index])


def rows(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open() as file:
        yield from csv.DictReader(file)


def test_counts_are_the_published_ones(tables):
    published = {tuple(row.values())[:4]: list(map(int, list(row.values())[4:])) for row in
                 rows("lasca_counts.csv")}  # fmt: skip
    found: dict[tuple[str, ...], list[int]] = {}
    for family, scores in tables.items():
        for task in family.tasks:
            for of, first, end in family.parts(task):
                part = scores[first:end]
                value = values_of(part)
                counts = [part.size] + [int((value == v).sum()) for v in (WIN, DRAW, LOSS)]
                longest = [int(part[value == v].max(initial=0)) for v in (WIN, LOSS)]
                men = (str(of.white_men), str(of.black_men))
                officers = (str(of.white_officers), str(of.black_officers))
                for key in (men + officers, men + ("all", "all")):
                    sums = found.setdefault(key, [0] * 6)
                    sums[:4] = np.add(sums[:4], counts).tolist()
                    sums[4:] = np.maximum(sums[4:], longest).tolist()
    assert found == published


def test_values_are_the_published_ones(tables):
    for row in rows("lasca_values.csv"):
        score = score_of(tables, Position.parse(row["position"]))
        assert values_of(np.array([score], np.uint8))[0] == OUTCOME[row["value"]]
        if row["plies"]:
            assert score == int(row["plies"])


@pytest.mark.parametrize(
    ("position", "score"),
    [
        ("W:c1w b2w a7b g7b", 59),
        ("W:a1w e1w e7b g7b", 58),
        ("W:a1w c1w e7b g7b", 255),
        ("W:a7W c7W e7B g7B", 255),
        ("W:c7BB e7W g7W", 255),
        ("W:a1www e1B", 25),
    ],
)
def test_values_of_few_men(tables, position, score):
    assert score_of(tables, Position.parse(position)) == score


def test_best_moves_of_few_men(tables):
    def best(text: str) -> list[str]:
        after = Position.parse(text).successors()
        scores = {str(move): score_of(tables, q) for move, q in after}
        losses = [score for score in scores.values() if score % 2 == 0]
        wanted = min(losses) if losses else 255
        return [move for move, score in scores.items() if score == wanted]

    assert best("W:c1w b2w a7b g7b") == ["b2-a3", "b2-c3"]
    assert best("W:c7BB e7W g7W") == ["e7-f6"]
    assert best("W:a1www e1B") == ["a1-b2"]


def test_two_men_by_the_naive_solver(tables):
    positions = {c.unrank(i) for c in classes(1, 1) for i in range(c.size)}
    positions |= {position.colours_swapped() for position in positions}
    for position, plies in naive_lasca.solve(positions).items():
        assert score_of(tables, position) == (255 if plies is None else plies)


def test_mirror_images_have_the_same_value(tables):
    family = Family(2, 2)
    for task in family.tasks:
        for of, first, end in family.parts(task):
            for index in range(0, of.size, 1 + of.size // 40):
                position = of.unrank(index)
                mirrored = of.rank(position.mirrored())
                assert tables[family][first:end][index] == tables[family][first:end][mirrored]


def test_moves_remembered_or_asked_for_again_give_the_same(tables):
    assert np.array_equal(solved(Family(2, 1), remember=0), tables[Family(2, 1)])


@pytest.mark.parametrize(
    "family", [Family(2, 2), Family(4, 1), Family(11, 11, officers_only=True, max_columns=2)],
    ids=str,
)  # fmt: skip
def test_planned_steps_are_the_moves(family):
    """What is planned for all contents of some squares, against the moves of each record."""
    scores = np.random.default_rng(61).integers(0, 256, family.size, np.uint8)
    rng = random.Random(67)
    for task in family.tasks:
        for _ in range(10):
            start = rng.randrange(task.size)
            stop = min(start + 50, task.size)
            moves = LascaGame(family, task, scores).expand(start, stop)
            for i in range(stop - start):
                if moves.outcome[i] != HOLE:
                    assert expansion_of(moves, i) == one_by_one(family, task, start + i, scores)


def expansion_of(moves: Expansion, i: int) -> tuple[int, int, list[int]]:
    inside = moves.successors[moves.offsets[i] : moves.offsets[i + 1]]
    return int(moves.outcome[i]), int(moves.plies[i]), sorted(inside.tolist())


def one_by_one(
    family: Family, task: Task, index: int, scores: np.ndarray
) -> tuple[int, int, list[int]]:
    """(outcome, plies, internal successors) of a position from the moves of its record."""
    of, first, _ = next(p for p in family.parts(task) if p[1] <= task.first + index < p[2])
    record = to_record(of.unrank(task.first + index - first))
    bases = family.bases[family.sides - 1 - family.side(of)]
    inside, won, lost, draws = [], [], [0], False
    for after in successors(record):
        mirror = not _is_least_image(int(after[OWN]), int(after[OTHER]))
        number = _rank(after, mirror, bases)
        if task.first <= number < task.end:
            inside.append(int(number) - task.first)
            continue
        score = int(scores[number])
        draws |= score == 255
        if score != 255:
            (lost if score % 2 else won).append(score + 1)
    outcome = WIN if won else DRAW if draws else LOSS
    plies = min(won) if won else 0 if draws else max(lost)
    return outcome, plies, sorted(inside)


def test_every_task_leads_to_itself_and_earlier_ones_only():
    family = Family(2, 2)
    unsolved = 254  # an even score that no position of two and two men has
    for task in family.tasks:
        scores = np.full(family.size, unsolved, np.uint8)
        scores[: task.first] = 0
        moves = LascaGame(family, task, scores).expand(0, task.size)
        assert np.all(moves.plies <= 1)
