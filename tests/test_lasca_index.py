"""The perfect hash: dense, inverse both ways, and as large as the generating function says."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_lasca import placements

from engine.lasca import Position
from engine.lasca.index import LascaClass, classes, colex_unrank, locate

SMALL = [*classes(1, 1), *(c for c in classes(2, 1) if c.columns < 3), *classes(1, 2)[-1:]]
LARGE = [
    LascaClass(11, 11, 11, 11, 2),
    LascaClass(11, 11, 11, 11, 3),
    LascaClass(11, 11, 4, 7, 5),
    LascaClass(11, 11, 3, 2, 12),
    LascaClass(11, 11, 0, 0, 22),
    LascaClass(3, 3, 1, 2, 6),
    LascaClass(4, 2, 2, 2, 4),
]


Series = dict[tuple[int, int], Fraction]


def by_generating_function(white: int, black: int) -> int:
    """[x^white y^black] (1+W+B)^17 (1+W/2+B)^4 (1+W+B/2)^4 by truncated power series."""

    def times(a: Series, b: Series) -> Series:
        out: Series = {}
        for (i, j), x in a.items():
            for (k, m), y in b.items():
                if i + k <= white and j + m <= black:
                    out[i + k, j + m] = out.get((i + k, j + m), Fraction()) + x * y
        return out

    def square(white_share: Fraction, black_share: Fraction) -> Series:
        # W = sum of (2x)^i (2y)^j over i >= 1, j >= 0; B the same with the colours exchanged.
        out: Series = {(0, 0): Fraction(1)}
        for i in range(white + 1):
            for j in range(black + 1):
                if i + j:
                    share = white_share * (i > 0) + black_share * (j > 0)
                    out[i, j] = 2 ** (i + j) * share
        return out

    half, one = Fraction(1, 2), Fraction(1)
    total: Series = {(0, 0): one}
    for shares, count in (((one, one), 17), ((half, one), 4), ((one, half), 4)):
        for _ in range(count):
            total = times(total, square(*shares))
    assert total[white, black].denominator == 1
    return int(total[white, black])


@pytest.mark.parametrize(
    "men", [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (4, 1), (3, 3), (4, 2), (5, 1)]
)
def test_sizes_sum_to_the_closed_formula(men):
    assert sum(c.size for c in classes(*men)) == by_generating_function(*men)


def test_sizes_of_the_all_officers_classes():
    sizes = [LascaClass(11, 11, 11, 11, columns).size for columns in (1, 2, 3, 4)]
    assert sizes == [50, 144_600, 66_240_000, 9_554_292_000]


@pytest.mark.parametrize("small", SMALL, ids=lambda c: c.name)
def test_every_placement_has_a_number_of_its_own(small):
    men = "W" * small.white_officers + "w" * (small.white_men - small.white_officers)
    men += "B" * small.black_officers + "b" * (small.black_men - small.black_officers)
    numbers = [small.rank(position) for position in placements(men, small.columns)]
    assert sorted(numbers) == list(range(small.size))


@pytest.mark.parametrize("small", SMALL, ids=lambda c: c.name)
def test_unrank_inverts_rank_on_whole_classes(small):
    for index in range(0, small.size, 1 + small.size // 700):
        position = small.unrank(index)
        assert LascaClass.of(position) == small
        assert small.rank(position) == index


@given(st.sampled_from(LARGE), st.data())
def test_unrank_inverts_rank_on_large_classes(large, data):
    index = data.draw(st.integers(0, large.size - 1))
    position = large.unrank(index)
    assert LascaClass.of(position) == large
    assert large.rank(position) == index
    assert locate(position) == locate(position.colours_swapped()) == (large, index)


@pytest.mark.parametrize("large", LARGE, ids=lambda c: c.name)
def test_ends_of_every_group(large):
    for group in large.groups:
        for index in (group.base - 1, group.base):
            if index >= 0:
                assert large.rank(large.unrank(index)) == index
    with pytest.raises(IndexError):
        large.unrank(large.size)
    with pytest.raises(IndexError):
        large.unrank(-1)


def test_black_to_move_is_the_swapped_half_turn():
    black = Position.parse("B:a1w d4WbbB g7b")
    white = black.colours_swapped()
    assert str(white) == "W:a1w d4BwwW g7b"
    assert locate(black) == locate(white)
    found, index = locate(black)
    assert found.unrank(index) == white


def test_positions_of_another_class_are_refused():
    with pytest.raises(ValueError, match="no position of"):
        LascaClass(1, 1, 0, 0, 2).rank(Position.parse("W:a1W g7b"))
    with pytest.raises(ValueError, match="White to move"):
        LascaClass(1, 1, 0, 0, 2).rank(Position.parse("B:a1w g7b"))


def test_moves_lead_to_the_same_or_an_earlier_class():
    order = {c: i for i, c in enumerate(classes(2, 2))}
    rng = random.Random(5)
    kinds: Counter[bool] = Counter()
    for here in order:
        for _ in range(20):
            position = here.unrank(rng.randrange(here.size))
            for _, after in position.successors():
                there, _ = locate(after)
                inside = there in (here, here.swapped)
                kinds[inside] += 1
                assert inside or max(order[there], order[there.swapped]) < min(
                    order[here], order[here.swapped]
                )
    assert all(kinds[inside] for inside in (True, False))


@pytest.mark.parametrize("size", range(5))
def test_sets_are_in_the_order_of_their_masks(size):
    ranked = sorted(combinations(range(8), size), key=lambda s: sum(1 << m for m in s))
    assert [tuple(colex_unrank(rank, size)) for rank in range(len(ranked))] == ranked
