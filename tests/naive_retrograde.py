"""A slow, obvious twin of the plain engine, and an indexed game made of plain lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.retrograde import DRAW, HOLE, LOSS, WIN, Expansion


@dataclass(frozen=True)
class ListedGame:
    """A class given as lists: outcome and plies of the external moves, internal successors."""

    outcome: list[int]
    plies: list[int]
    successors: list[list[int]]

    @property
    def size(self) -> int:
        return len(self.outcome)

    def expand(self, start: int, stop: int) -> Expansion:
        lists = self.successors[start:stop]
        return Expansion(
            np.array(self.outcome[start:stop], np.int8),
            np.array(self.plies[start:stop], np.uint16),
            np.cumsum([0] + [len(targets) for targets in lists]),
            np.array([target for targets in lists for target in targets], np.uint32),
        )


class ReversibleListedGame(ListedGame):
    """The same with its moves listed backwards too."""

    def retract(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sources = [
            [s for s, targets in enumerate(self.successors) for t in targets if t == index]
            for index in indices.tolist()
        ]
        return (
            np.cumsum([0] + [len(found) for found in sources]),
            np.array([s for found in sources for s in found], np.uint32),
        )


def solve(game: ListedGame, horizon: int) -> tuple[list[int], list[int]]:
    """(values, plies) by the definition: who can force the end within d plies, for d = 0, 1, ...

    `horizon` is a distance that no position exceeds.
    """
    value = [HOLE if outcome == HOLE else DRAW for outcome in game.outcome]
    plies = [0] * game.size
    for distance in range(horizon + 1):
        found = []
        for i in range(game.size):
            if value[i] != DRAW:
                continue
            inside = [value[t] for t in game.successors[i]]
            if LOSS in inside or (game.outcome[i] == WIN and game.plies[i] <= distance):
                found.append((i, WIN))
            elif (
                all(v == WIN for v in inside)
                and game.outcome[i] == LOSS
                and game.plies[i] <= distance
            ):
                found.append((i, LOSS))
        for i, outcome in found:
            value[i], plies[i] = outcome, distance
    return value, plies
