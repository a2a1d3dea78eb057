"""The Lasca board: the 25 squares of the corner colour, steps, jumps and the two symmetries.

Squares carry Lasker's order from White's bottom left, rank by rank, counted from 0 here: a1 c1 e1
g1 are 0-3, b2 d2 f2 are 4-6, ..., a7 c7 e7 g7 are 21-24. Lasker's own numbers are one more.

Invariant: `MIRROR` (a <-> g) and `HALF_TURN` are permutations of the squares that map steps to
steps; the mirror keeps the ranks, the half turn maps square s to 24 - s and forward to backward.
"""

from __future__ import annotations

import hashlib

FILES = "abcdefg"
SIDE = 7

_PLACES = [(file, rank) for rank in range(SIDE) for file in range(SIDE) if (file + rank) % 2 == 0]
_SQUARE_AT = {place: square for square, place in enumerate(_PLACES)}

SQUARES: tuple[str, ...] = tuple(f"{FILES[file]}{rank + 1}" for file, rank in _PLACES)
SQUARE_COUNT = len(SQUARES)
NUMBER: dict[str, int] = {name: square for square, name in enumerate(SQUARES)}
RANK: tuple[int, ...] = tuple(rank for _, rank in _PLACES)

# A direction is (file step, rank step); White's soldiers go up the ranks, Black's down.
UP: tuple[tuple[int, int], ...] = ((-1, 1), (1, 1))
DOWN: tuple[tuple[int, int], ...] = ((-1, -1), (1, -1))


def _neighbour(square: int, direction: tuple[int, int], steps: int) -> int | None:
    (file, rank), (right, up) = _PLACES[square], direction
    return _SQUARE_AT.get((file + steps * right, rank + steps * up))


# STEPS[s][direction] is the adjacent square, JUMPS[s][direction] the pair (square jumped over,
# landing square); a direction that leaves the board is not a key.
STEPS: tuple[dict[tuple[int, int], int], ...] = tuple(
    {d: t for d in UP + DOWN if (t := _neighbour(s, d, 1)) is not None} for s in range(SQUARE_COUNT)
)
JUMPS: tuple[dict[tuple[int, int], tuple[int, int]], ...] = tuple(
    {d: (STEPS[s][d], t) for d in UP + DOWN if (t := _neighbour(s, d, 2)) is not None}
    for s in range(SQUARE_COUNT)
)

MIRROR: tuple[int, ...] = tuple(_SQUARE_AT[SIDE - 1 - file, rank] for file, rank in _PLACES)
HALF_TURN: tuple[int, ...] = tuple(SQUARE_COUNT - 1 - s for s in range(SQUARE_COUNT))

# Where a side's soldiers become officers: the far rank as its owner sees it.
FAR_RANK: dict[str, frozenset[int]] = {
    "w": frozenset(s for s in range(SQUARE_COUNT) if RANK[s] == SIDE - 1),
    "b": frozenset(s for s in range(SQUARE_COUNT) if RANK[s] == 0),
}


def parse_square(text: str) -> int:
    """The square, 0-24, named `c3` or by Lasker's number `10`; ValueError if there is none."""
    if text in NUMBER:
        return NUMBER[text]
    if text.isascii() and text.isdigit() and 1 <= int(text) <= SQUARE_COUNT:
        return int(text) - 1
    raise ValueError(f"{text!r} is no square: squares are a1, c1, ... g7 or 1 to {SQUARE_COUNT}")


def fingerprint() -> str:
    """A SHA-256 (hex) over square names, steps, jumps and symmetries, which tables carry."""
    text = repr((SQUARES, [sorted(s.items()) for s in STEPS], MIRROR, HALF_TURN))
    return hashlib.sha256(text.encode()).hexdigest()
