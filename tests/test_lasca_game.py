"""Lasca on the plain engine: published counts and values, and the naive solver on whole classes."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import naive_lasca
import numpy as np
import pytest

from engine.lasca import Position
from engine.lasca.index import classes, locate
from solver.lasca_game import Family, LascaGame, enter_solution, values_of
from solver.retrograde import DRAW, LOSS, WIN, solve

DATA = Path(__file__).parent / "data"
FAMILIES = [Family(1, 1), Family(2, 1), Family(2, 2), Family(3, 1)]
OUTCOME = {"win": WIN, "draw": DRAW, "loss": LOSS}


def solved(family: Family, keep: bool = True) -> np.ndarray:
    scores = np.zeros(family.size, np.uint8)
    for task in family.tasks:
        game = LascaGame(family, task, scores, keep)
        enter_solution(family, task, solve(game, np.uint8), scores)
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


def test_blocks_kept_or_made_again_give_the_same(tables):
    assert np.array_equal(solved(Family(2, 1), keep=False), tables[Family(2, 1)])


def test_every_task_leads_to_itself_and_earlier_ones_only():
    family = Family(2, 2)
    unsolved = 254  # an even score that no position of two and two men has
    for task in family.tasks:
        scores = np.full(family.size, unsolved, np.uint8)
        scores[: task.first] = 0
        moves = LascaGame(family, task, scores).expand(0, task.size)
        assert np.all(moves.plies <= 1)
