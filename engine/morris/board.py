"""The morris board: 24 points, their neighbours, the 16 mills and the 16 symmetries.

A set of points is a 24-bit *mask*: bit p stands for point p. The numbering is chosen so that the
symmetry group keeps two ranges of bits apart: bits 0-15 hold the outer and the inner ring, which
the group may exchange, bits 16-23 the middle ring, which it maps to itself. Inside a ring of eight
the points follow the ring, corners at even and side midpoints at odd places, so ring neighbours
differ by one (modulo 8) and spoke neighbours by a multiple of eight.

Invariant: every symmetry is a permutation of the 24 points that maps neighbours to neighbours and
mills to mills; symmetry 0 is the identity.
"""

from __future__ import annotations

import hashlib

OUTER = ("a7", "d7", "g7", "g4", "g1", "d1", "a1", "a4")
INNER = ("c5", "d5", "e5", "e4", "e3", "d3", "c3", "c4")
MIDDLE = ("b6", "d6", "f6", "f4", "f2", "d2", "b2", "b4")

POINTS: tuple[str, ...] = OUTER + INNER + MIDDLE
NUMBER: dict[str, int] = {name: p for p, name in enumerate(POINTS)}
POINT_COUNT = len(POINTS)
ALL_POINTS = (1 << POINT_COUNT) - 1

# Rings by the number of their first point, from the outside in: on a spoke one follows the other.
_RINGS_OUTSIDE_IN = (0, 16, 8)


def mask_of(points: tuple[int, ...]) -> int:
    """The mask with exactly the given point numbers set."""
    return sum(1 << p for p in points)


def points_of(mask: int) -> tuple[int, ...]:
    """The point numbers of a mask, ascending."""
    return tuple(p for p in range(POINT_COUNT) if mask >> p & 1)


def _neighbours() -> tuple[tuple[int, ...], ...]:
    joined: list[set[int]] = [set() for _ in range(POINT_COUNT)]
    pairs = [(ring + p, ring + (p + 1) % 8) for ring in _RINGS_OUTSIDE_IN for p in range(8)]
    for midpoint in (1, 3, 5, 7):
        outer, middle, inner = (ring + midpoint for ring in _RINGS_OUTSIDE_IN)
        pairs += [(outer, middle), (middle, inner)]
    for a, b in pairs:
        joined[a].add(b)
        joined[b].add(a)
    return tuple(tuple(sorted(s)) for s in joined)


def _mills() -> tuple[tuple[int, int, int], ...]:
    sides = [
        (ring + p, ring + p + 1, ring + (p + 2) % 8)
        for ring in _RINGS_OUTSIDE_IN
        for p in (0, 2, 4, 6)
    ]
    spokes = [tuple(ring + p for ring in _RINGS_OUTSIDE_IN) for p in (1, 3, 5, 7)]
    return tuple(sorted(tuple(sorted(mill)) for mill in sides + spokes))


def _symmetries() -> tuple[tuple[int, ...], ...]:
    permutations = []
    for swap in (False, True):
        for reflect in (False, True):
            for turn in (0, 2, 4, 6):
                permutation = []
                for point in range(POINT_COUNT):
                    ring, place = divmod(point, 8)
                    place = (turn - place if reflect else turn + place) % 8
                    if swap and ring < 2:
                        ring = 1 - ring
                    permutation.append(8 * ring + place)
                permutations.append(tuple(permutation))
    return tuple(permutations)


NEIGHBOURS: tuple[tuple[int, ...], ...] = _neighbours()
NEIGHBOUR_MASKS: tuple[int, ...] = tuple(mask_of(near) for near in NEIGHBOURS)
MILLS: tuple[tuple[int, int, int], ...] = _mills()
MILL_MASKS: tuple[int, ...] = tuple(mask_of(mill) for mill in MILLS)
MILLS_AT: tuple[tuple[int, ...], ...] = tuple(
    tuple(mill for mill in MILL_MASKS if mill >> p & 1) for p in range(POINT_COUNT)
)
SYMMETRIES: tuple[tuple[int, ...], ...] = _symmetries()


def image(mask: int, symmetry: int) -> int:
    """The image of a mask under symmetry number `symmetry`: bit p goes to bit SYMMETRIES[s][p]."""
    permutation = SYMMETRIES[symmetry]
    return sum(1 << permutation[p] for p in points_of(mask))


def men_in_mills(mask: int) -> int:
    """The men of `mask` that stand in a mill of their own."""
    found = 0
    for mill in MILL_MASKS:
        if mask & mill == mill:
            found |= mill
    return found


def fingerprint() -> str:
    """A SHA-256 (hex) over point names, neighbours, mills and symmetries.

    Tables carry it, so that a table made for a board numbered otherwise is refused.
    """
    text = repr((POINTS, NEIGHBOURS, MILLS, SYMMETRIES))
    return hashlib.sha256(text.encode()).hexdigest()
