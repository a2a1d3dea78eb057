"""Slow, obvious twins for Lasker Morris, made of the readable rules in engine.morris."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from naive_retrograde import ListedGame

from engine.morris import Position, Rules
from engine.morris.index import Subspace, locate, position_at
from solver.retrograde import DRAW, LOSS, WIN


def place(position: Position) -> tuple[Subspace, int]:
    """The subspace and index of a position."""
    subspace, row, column = locate(position)
    return subspace, row * subspace.columns + column


def moves(
    subspace: Subspace, index: int, rules: Rules, solved: Mapping[Subspace, np.ndarray]
) -> tuple[int, list[tuple[Subspace, int]]]:
    """Best outcome of the conversions of a position, and where its quiet slides lead.

    The outcome is LOSS when there is no conversion.
    """
    position = position_at(subspace, index)
    outcome = LOSS
    quiet = []
    for move in position.legal_moves(rules):
        after = position.play(move)
        if move.source is not None and move.capture is None:
            quiet.append(place(after))
        elif after.is_lost(rules):
            outcome = WIN
        else:
            reached, at = place(after)
            outcome = max(outcome, -int(solved[reached][at]))
    return outcome, quiet


def has_conversion(subspace: Subspace, index: int, rules: Rules) -> bool:
    """Whether the side to move can place or capture."""
    legal = position_at(subspace, index).legal_moves(rules)
    return any(move.source is None or move.capture is not None for move in legal)


def listed_class(
    subspaces: tuple[Subspace, ...], rules: Rules, solved: Mapping[Subspace, np.ndarray]
) -> ListedGame:
    """The class of these subspaces as lists, every index a position of its own."""
    base, size = {}, 0
    for subspace in subspaces:
        base[subspace] = size
        size += subspace.size
    outcomes, plies, successors = [], [], []
    for subspace in subspaces:
        for index in range(subspace.size):
            outcome, quiet = moves(subspace, index, rules, solved)
            converts = outcome != LOSS or has_conversion(subspace, index, rules)
            outcomes.append(outcome)
            plies.append(1 if converts and outcome != DRAW else 0)
            successors.append([base[reached] + at for reached, at in quiet])
    return ListedGame(outcomes, plies, successors)
