"""The morris board: its incidence structure, counted and compared with a drawing of the board."""

from __future__ import annotations

from engine.morris.board import (
    ALL_POINTS,
    MILLS,
    MILLS_AT,
    NEIGHBOURS,
    NUMBER,
    POINT_COUNT,
    POINTS,
    SYMMETRIES,
    fingerprint,
    image,
    mask_of,
    men_in_mills,
    points_of,
)

# The lines of the board as a player sees them, point by point: each is a mill.
LINES = """
a1 d1 g1  b2 d2 f2  c3 d3 e3  a4 b4 c4  e4 f4 g4  c5 d5 e5  b6 d6 f6  a7 d7 g7
a1 a4 a7  b2 b4 b6  c3 c4 c5  d1 d2 d3  d5 d6 d7  e3 e4 e5  f2 f4 f6  g1 g4 g7
"""


def drawn_lines() -> list[tuple[str, str, str]]:
    names = LINES.split()
    return [tuple(names[i : i + 3]) for i in range(0, len(names), 3)]


def test_mills_are_the_lines_of_the_board() -> None:
    drawn = {tuple(sorted(NUMBER[name] for name in line)) for line in drawn_lines()}
    assert len(drawn) == 16
    assert set(MILLS) == drawn


def test_neighbours_are_next_to_each_other_on_a_line() -> None:
    joined = {frozenset(pair) for a, b, c in drawn_lines() for pair in ((a, b), (b, c))}
    found = {frozenset((POINTS[p], POINTS[q])) for p in range(POINT_COUNT) for q in NEIGHBOURS[p]}
    assert len(joined) == 32
    assert found == joined


def test_each_point_is_in_two_mills() -> None:
    assert all(len(mills) == 2 for mills in MILLS_AT)


def test_symmetries_form_a_group_of_16_that_keeps_the_board() -> None:
    assert len(set(SYMMETRIES)) == 16
    assert SYMMETRIES[0] == tuple(range(POINT_COUNT))
    products = {tuple(a[b[p]] for p in range(POINT_COUNT)) for a in SYMMETRIES for b in SYMMETRIES}
    assert products == set(SYMMETRIES)
    for permutation in SYMMETRIES:
        assert {tuple(sorted(permutation[p] for p in mill)) for mill in MILLS} == set(MILLS)
        for p in range(POINT_COUNT):
            assert {permutation[q] for q in NEIGHBOURS[p]} == set(NEIGHBOURS[permutation[p]])


def test_symmetries_keep_the_middle_ring() -> None:
    assert all(image(0xFF0000, s) == 0xFF0000 for s in range(16))


def test_masks_and_points_are_inverse() -> None:
    assert points_of(mask_of((3, 8, 23))) == (3, 8, 23)
    assert mask_of(points_of(ALL_POINTS)) == ALL_POINTS


def test_men_in_mills() -> None:
    mill = mask_of((NUMBER["a1"], NUMBER["a4"], NUMBER["a7"]))
    assert men_in_mills(mill | 1 << NUMBER["g4"]) == mill
    assert men_in_mills(mill & mill - 1) == 0
    assert men_in_mills(ALL_POINTS) == ALL_POINTS


def test_fingerprint_is_stable() -> None:
    assert fingerprint() == fingerprint()
    assert len(bytes.fromhex(fingerprint())) == 32
