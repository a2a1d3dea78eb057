"""Counts of move sequences (perft) as CSV lines, in the columns in which they are published.

Invariant: morris is counted by the readable engine; Lasca by the compiled kernels, which the tests
compare with the readable engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from solver.games import Game


def sequence_counts(game: Game, position: Any, depth: int) -> Iterator[str]:
    """A heading, then one line for each number of plies up to `depth`, as each is counted."""
    plies = range(min(1, depth), depth + 1)
    if game.name == "morris":
        from engine.morris.perft import perft

        yield "ply,sequences"
        for ply in plies:
            yield f"{ply},{perft(position, ply, game.rules)}"
    else:
        from solver.lasca_kernels import perft as lasca_perft

        yield "ply,routes,distinct_results"
        for ply in plies:
            routes, distinct = lasca_perft(position, ply)
            yield f"{ply},{routes},{distinct}"
