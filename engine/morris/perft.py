"""Counting move sequences (perft), the usual check of a move generator.

Invariant: the count is that of the plain tree; positions met again are only counted once and then
looked up, by position and remaining depth.
"""

from __future__ import annotations

from engine.morris.position import Position
from engine.morris.rules import Rules


def perft(position: Position, depth: int, rules: Rules | None = None) -> int:
    """The number of sequences of `depth` legal moves from `position`. ValueError if depth < 0."""
    if depth < 0:
        raise ValueError(f"depth must not be negative: {depth}")
    known_rules = rules or Rules()
    counted: dict[tuple[Position, int], int] = {}

    def count(here: Position, left: int) -> int:
        if left == 0:
            return 1
        key = (here, left)
        if key not in counted:
            moves = here.legal_moves(known_rules)
            # The last move need not be played to be counted.
            counted[key] = (
                len(moves) if left == 1 else sum(count(here.play(m), left - 1) for m in moves)
            )
        return counted[key]

    return count(position, depth)
