"""Slow, obvious twins of the fast Lasca code, and random positions for property tests.

Nothing here shares code with the index or the solvers: placements are enumerated one by one, values
come from repeated sweeps over a dictionary.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from engine.errors import IllegalPositionError
from engine.lasca import Column, Position
from engine.lasca.board import SQUARE_COUNT


def distinct_columns(men: str) -> list[str]:
    """Every way to pile up exactly these men (a multiset of letters) in Lasker-Landau form."""
    piles = set()
    for order in set(itertools.permutations(men)):
        try:
            piles.add(Column("".join(order)).men)
        except IllegalPositionError:
            continue
    return sorted(piles)


def _shared_out(men: str, columns: int) -> Iterator[tuple[str, ...]]:
    """Every way to share out the men over a sequence of columns, each as a tuple of piles."""
    kinds = "wbWB"
    totals = [men.count(kind) for kind in kinds]

    def share(left: list[int], parts: int) -> Iterator[tuple[str, ...]]:
        if parts == 0:
            if not any(left):
                yield ()
            return
        for taken in itertools.product(*(range(n + 1) for n in left)):
            if not any(taken):
                continue
            pile = "".join(kind * n for kind, n in zip(kinds, taken, strict=True))
            rest = [n - t for n, t in zip(left, taken, strict=True)]
            for others in share(rest, parts - 1):
                for order in distinct_columns(pile):
                    yield (order, *others)

    yield from share(totals, columns)


def placements(men: str, columns: int) -> Iterator[Position]:
    """Every position, White to move, with exactly these men in exactly so many columns."""
    piles = list(_shared_out(men, columns))
    for squares in itertools.combinations(range(SQUARE_COUNT), columns):
        for pile in piles:
            board: list[Column | None] = [None] * SQUARE_COUNT
            for square, order in zip(squares, pile, strict=True):
                board[square] = Column(order)
            try:
                yield Position(tuple(board))
            except IllegalPositionError:
                continue


def random_position(rng: random.Random, men: str, columns: int) -> Position:
    """A random position, White to move, with the given men; not uniform, but every one can come.

    Loops until the shuffled men fall into columns in Lasker-Landau form.
    """
    while True:
        piles: list[list[str]] = [[] for _ in range(columns)]
        for man in rng.sample(men, len(men)):
            rng.choice(piles).append(man)
        if not all(piles):
            continue
        board: list[Column | None] = [None] * SQUARE_COUNT
        for square, pile in zip(rng.sample(range(SQUARE_COUNT), columns), piles, strict=True):
            top = rng.choice("wb")
            pile.sort(key=lambda man, top=top: man.lower() != top)
            board[square] = Column("".join(pile))
        try:
            return Position(tuple(board))
        except IllegalPositionError:
            continue


def solve(positions: set[Position]) -> dict[Position, int | None]:
    """The plies to the end for every position of a set closed under moves; None is a draw.

    A loss has an even number, a win an odd one. Sweep n settles what ends in exactly n plies.
    """
    after = {p: [q for _, q in p.successors()] for p in positions}
    plies: dict[Position, int] = {}
    for n in itertools.count():
        settled = {}
        for position, replies in after.items():
            if position in plies:
                continue
            known = [plies[q] for q in replies if q in plies]
            wins = any(k % 2 == 0 for k in known)
            loses = len(known) == len(replies) and not wins
            if wins or loses:
                settled[position] = n
        if not settled:
            return {p: plies.get(p) for p in positions}
        plies.update(settled)
