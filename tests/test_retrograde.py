"""The plain engine against its naive twin, on random classes of every shape."""

from __future__ import annotations

import naive_retrograde
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_retrograde import ListedGame, ReversibleListedGame

from solver import retrograde
from solver.retrograde import DRAW, HOLE, LOSS, MAX_INTERNAL, WIN

LONGEST_EXTERNAL = 12


@st.composite
def classes(draw: st.DrawFn, kind: type[ListedGame] = ListedGame) -> ListedGame:
    """Random classes: sparse enough that long forced lines and cycles are common."""
    size = draw(st.integers(1, 24))
    outcome, plies, successors = [], [], []
    for _ in range(size):
        here = draw(st.sampled_from([LOSS] * 6 + [WIN, DRAW, HOLE]))
        outcome.append(here)
        plies.append(draw(st.integers(1, LONGEST_EXTERNAL)) if here == WIN else 0)
        if here == LOSS and draw(st.booleans()):
            plies[-1] = draw(st.integers(1, LONGEST_EXTERNAL))
        targets = st.lists(st.integers(0, size - 1), max_size=4)
        successors.append([] if here == HOLE else draw(targets))
    successors = [[t for t in targets if outcome[t] != HOLE] for targets in successors]
    return kind(outcome, plies, successors)


def horizon(game: ListedGame) -> int:
    return game.size + LONGEST_EXTERNAL + 1


@given(classes())
def test_equals_naive(game: ListedGame) -> None:
    solution = retrograde.solve(game)
    assert (solution.value.tolist(), solution.plies.tolist()) == naive_retrograde.solve(
        game, horizon(game)
    )


@given(classes(ReversibleListedGame))
def test_game_retracting_itself(game: ReversibleListedGame) -> None:
    solution = retrograde.solve(game, np.uint8)
    assert solution.plies.dtype == np.uint8
    assert (solution.value.tolist(), solution.plies.tolist()) == naive_retrograde.solve(
        game, horizon(game)
    )


@given(classes(), st.integers(1, 5), st.integers(0, 200))
def test_block_borders_and_memory_do_not_matter(
    game: ListedGame, block: int, remember: int
) -> None:
    whole = retrograde.solve(game)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrograde, "BLOCK", block)
        parts = retrograde.solve(game, remember=remember)
    assert np.array_equal(whole.value, parts.value)
    assert np.array_equal(whole.plies, parts.plies)


def chain(length: int) -> ListedGame:
    """Position i leads to i - 1 only; position 0 has no move."""
    return ListedGame(
        [LOSS] * (length + 1), [0] * (length + 1), [[]] + [[i] for i in range(length)]
    )


def test_external_win_competes_with_internal_ones() -> None:
    # 2 wins outside in 7, or inside in 1 by moving to 0, which has lost.
    game = ListedGame([LOSS, LOSS, WIN], [0, 5, 7], [[], [2], [0]])
    solution = retrograde.solve(game)
    assert solution.value.tolist() == [LOSS, LOSS, WIN]
    assert solution.plies.tolist() == [0, 5, 1]  # 1 loses outside in 5, later than inside in 2


def test_endless_play_is_a_draw() -> None:
    game = ListedGame([LOSS, LOSS, LOSS], [0, 0, 0], [[1], [0, 2], [1]])
    solution = retrograde.solve(game)
    assert solution.value.tolist() == [DRAW] * 3
    assert solution.plies.tolist() == [0] * 3


def test_empty_class() -> None:
    solution = retrograde.solve(ListedGame([], [], []))
    assert solution.value.size == solution.plies.size == 0


def test_distance_too_large_for_the_dtype() -> None:
    assert retrograde.solve(chain(255), np.uint8).plies[-1] == 255
    with pytest.raises(OverflowError, match="uint8"):
        retrograde.solve(chain(256), np.uint8)
    assert retrograde.solve(chain(300)).plies[-1] == 300
    with pytest.raises(OverflowError, match="uint8"):
        retrograde.solve(ListedGame([WIN], [256], [[]]), np.uint8)


def test_too_many_successors() -> None:
    most = ListedGame([LOSS, LOSS], [0, 0], [[], [0] * MAX_INTERNAL])
    assert retrograde.solve(most).value.tolist() == [LOSS, WIN]
    with pytest.raises(ValueError, match="internal successors"):
        retrograde.solve(ListedGame([LOSS, LOSS], [0, 0], [[], [0] * (MAX_INTERNAL + 1)]))
