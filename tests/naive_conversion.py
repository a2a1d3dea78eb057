"""Slow, obvious twins for the distance to conversion of Lasker Morris.

`definition` says it of one position by those of its successors. `three_against_three` finds it for
all positions of three men a side that fly and have none in hand, with no index and no symmetry: a
position is a pair of sets of three points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np

from engine.morris import Position, Rules
from engine.morris.board import MILL_MASKS, POINT_COUNT

SETS = np.array([sum(1 << p for p in men) for men in combinations(range(POINT_COUNT), 3)])
"""The masks of all sets of three points."""


def definition(
    position: Position,
    rules: Rules,
    value: Callable[[Position], int],
    distance: Callable[[Position], int],
) -> int | None:
    """The distance of a position, given those of its successors."""
    if not position.legal_moves(rules):
        return 0
    won = value(position)
    if won == 0:
        return None
    choices = []
    for move in position.legal_moves(rules):
        after = position.play(move)
        if value(after) != -won:
            continue
        conversion = move.source is None or move.capture is not None
        choices.append(1 if conversion else 1 + distance(after))
    return min(choices) if won > 0 else max(choices)


@cache
def three_against_three() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """int8 values, uint8 distances and bool "a capture wins", each [2024 movers, 2024 others].

    The pair of sets i, j is SETS[i], SETS[j]; where they meet, nothing is said. A capture leaves
    two men and wins; so does no other move at once, since a man that flies can't be shut in.
    """
    apart = SETS[:, None] & SETS[None, :] == 0
    # moves[i]: the sets that differ from set i by one man.
    moves = [np.flatnonzero(np.bitwise_count(men & SETS) == 2) for men in SETS]
    mill = np.isin(SETS, MILL_MASKS)
    capture = np.array([(mill[to, None] & apart[to]).any(axis=0) for to in moves])
    value = np.where(capture, 1, 0).astype(np.int8)
    plies = np.where(capture, 1, 0).astype(np.uint8)
    for distance in range(2, 100):
        # After a move to set t against set j, the side with j moves: the pair (j, t).
        after = np.ascontiguousarray(np.where(apart, value, 2).T)
        changed = False
        for i, to in enumerate(moves):
            worst = after[to].min(axis=0)  # for the opponent, of all moves that there are
            found = (value[i] == 0) & (worst != 0)
            value[i][found] = np.where(worst[found] < 0, 1, -1)
            plies[i][found] = distance
            changed |= bool(found.any())
        if not changed:
            return value, plies, capture
    raise AssertionError("distances grow on and on")
