"""Lasker Morris in the plain engine: known counts, a naive twin, the meaning of its values."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import naive_morris
import naive_retrograde
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.morris import Rules
from engine.morris.index import Subspace, canonical_rows, stabiliser_sizes
from engine.morris.rules import FLYING_OPTIONS
from solver import retrograde
from solver.morris_game import MorrisClass, classes, solve_all, solve_class
from solver.retrograde import DRAW, HOLE, LOSS, WIN, Expansion, Solution

DATA = Path(__file__).parent / "data"


@cache
def solved(men: int, flying: str) -> dict[Subspace, Solution]:
    return solve_all(men, Rules(flying=flying))


@cache
def values(men: int, flying: str) -> dict[Subspace, np.ndarray]:
    return {subspace: solution.value for subspace, solution in solved(men, flying).items()}


def raw_counts(subspace: Subspace, value: np.ndarray) -> tuple[int, int, int]:
    """(win, draw, loss) over all placements: each row counts as often as its orbit is large."""
    by_row = value.reshape(subspace.rows, subspace.columns)
    orbits = 16 // stabiliser_sizes(canonical_rows(subspace.k)).astype(np.int64)
    win, draw, loss = (int((by_row == v).sum(axis=1) @ orbits) for v in (WIN, DRAW, LOSS))
    return win, draw, loss


def of_mover(board: int, other_board: int, hand: int, other_hand: int) -> Subspace:
    """The subspace by the side to move's and the other side's men on the board and in hand."""
    total, other_total = board + hand, other_board + other_hand
    if total < other_total:
        return Subspace(total, other_total, board, other_board, "R")
    return Subspace(other_total, total, other_board, board, "C")


@pytest.mark.parametrize("flying", FLYING_OPTIONS)
def test_known_counts(flying: str) -> None:
    with (DATA / "morris_counts.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["flying"] == flying]
    assert rows
    columns = ("board_mover", "board_other", "hand_mover", "hand_other")
    for row in rows:
        subspace = of_mover(*(int(row[column]) for column in columns))
        expected = int(row["win"]), int(row["draw"]), int(row["loss"])
        assert raw_counts(subspace, values(4, flying)[subspace]) == expected, subspace


def test_longest_win_and_loss_of_three_against_three() -> None:
    # A capture ends the game here, so the distance is that to the end.
    solution = solved(4, "board")[Subspace(3, 3, 3, 3, "C")]
    assert solution.plies[solution.value == WIN].max() == 25
    assert solution.plies[solution.value == LOSS].max() == 26


SMALL = [
    subspace
    for subspace in classes(4)
    if subspace.size <= 3_000 and subspace.k + subspace.l <= 4 and subspace.k <= subspace.l
]


@pytest.mark.parametrize("flying", FLYING_OPTIONS)
@pytest.mark.parametrize("subspace", SMALL, ids=str)
def test_small_classes_equal_naive(subspace: Subspace, flying: str) -> None:
    rules = Rules(flying=flying)
    known = values(4, flying)
    found = solve_class(subspace, rules, known)
    game = naive_morris.listed_class(tuple(found), rules, known)
    value, plies = naive_retrograde.solve(game, horizon=40)
    assert np.concatenate([part.value for part in found.values()]).tolist() == value
    assert np.concatenate([part.plies for part in found.values()]).tolist() == plies


@st.composite
def places(draw: st.DrawFn) -> tuple[str, Subspace, int]:
    """A flying rule and any index of any subspace with totals up to four."""
    flying = draw(st.sampled_from(FLYING_OPTIONS))
    subspace = draw(st.sampled_from(sorted(values(4, flying))))
    return flying, subspace, draw(st.integers(0, subspace.size - 1))


@settings(max_examples=4 * settings.default.max_examples)
@given(places())
def test_values_and_distances_follow_from_the_moves(place: tuple[str, Subspace, int]) -> None:
    flying, subspace, index = place
    rules, tables = Rules(flying=flying), solved(4, flying)
    outcome, quiet = naive_morris.moves(subspace, index, rules, values(4, flying))
    replies = [(int(tables[s].value[i]), int(tables[s].plies[i])) for s, i in quiet]
    value, plies = int(tables[subspace].value[index]), int(tables[subspace].plies[index])
    assert value == max([outcome] + [-v for v, _ in replies])
    if value == WIN:
        # Wins get nearer to a conversion or the end: no cycle of slides passes for a win.
        nearest = [1] if outcome == WIN else []
        assert plies == min(nearest + [1 + p for v, p in replies if v == LOSS])
    elif value == LOSS:
        ends = [1] if naive_morris.has_conversion(subspace, index, rules) else [0]
        assert plies == max(ends + [1 + p for _, p in replies])
    else:
        assert plies == 0


def test_copies_of_a_position_are_equal() -> None:
    # Every symmetric row of the unit holds positions several times; see the index.
    for subspace, solution in solved(4, "board").items():
        assert not (solution.value == HOLE).any(), subspace
    subspace = Subspace(3, 3, 3, 3, "C")
    game = MorrisClass(subspace, Rules(), values(4, "board"))
    alone = retrograde.solve(game, np.uint8)
    assert (alone.value == HOLE).any()


@given(st.sampled_from([s for s in classes(4) if s.k + s.l >= 3]), st.data())
def test_expand_and_retract_are_inverse(subspace: Subspace, data: st.DataObject) -> None:
    game = MorrisClass(subspace, Rules(), values(4, "board"))
    index = data.draw(st.integers(0, game.size - 1))
    outcome, successors = one(game.expand(index, index + 1))
    if outcome == HOLE:
        assert not successors
        return
    for successor in successors:
        assert back(game, successor).count(index) == 1
    for source in back(game, index):
        outcome, successors = one(game.expand(source, source + 1))
        assert outcome != HOLE
        assert successors.count(index) == 1 or outcome == WIN


def one(moves: Expansion) -> tuple[int, list[int]]:
    """Outcome and internal successors of the single position of an expansion."""
    return int(moves.outcome[0]), moves.successors[: int(moves.offsets[1])].tolist()


def back(game: MorrisClass, index: int) -> list[int]:
    offsets, found = game.retract(np.array([index], np.uint32))
    return found[: int(offsets[1])].tolist()


class ForwardOnly:
    """A game without its way back, so that the engine has to list the moves itself."""

    def __init__(self, game: MorrisClass) -> None:
        self.size = game.size
        self.expand = game.expand


@pytest.mark.parametrize("subspace", list(classes(3)), ids=str)
def test_both_ways_of_finding_predecessors_agree(subspace: Subspace) -> None:
    game = MorrisClass(subspace, Rules(), values(4, "board"))
    first = retrograde.solve(game)
    second = retrograde.solve(ForwardOnly(game))
    assert np.array_equal(first.value, second.value)
    assert np.array_equal(first.plies, second.plies)


def test_missing_successors_are_named() -> None:
    with pytest.raises(KeyError) as caught:
        solve_class(Subspace(3, 3, 2, 3, "C"), Rules(), {})
    assert isinstance(caught.value.args[0], Subspace)
