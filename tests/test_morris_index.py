"""The morris index: dense, inverse both ways, and the same place for every image of a position."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_morris_position import positions

from engine.morris import Position
from engine.morris.board import ALL_POINTS, POINT_COUNT, image
from engine.morris.index import (
    Subspace,
    canonical_rows,
    colex_rank,
    colex_unrank,
    compress,
    expand,
    image_tables,
    locate,
    position_at,
    stabiliser_sizes,
    subspaces_of_level,
)

# Orbits of k of the 24 points under the 16 symmetries.
ORBITS = (1, 4, 30, 158, 757, 2830, 8774, 22188, 46879, 82880, 124124)

masks = st.integers(0, ALL_POINTS)


def images(position: Position) -> list[Position]:
    """The 16 images of a position."""
    hands = (position.white_hand, position.black_hand, position.white_to_move)
    return [Position(image(position.white, s), image(position.black, s), *hands) for s in range(16)]


def colours_swapped(position: Position) -> Position:
    hands = (position.black_hand, position.white_hand)
    return Position(position.black, position.white, *hands, not position.white_to_move)


@st.composite
def subspaces(draw: st.DrawFn) -> Subspace:
    r = draw(st.integers(3, 10))
    c = draw(st.integers(r, 10))
    mover = "C" if r == c else draw(st.sampled_from("RC"))
    return Subspace(r, c, draw(st.integers(0, r)), draw(st.integers(0, c)), mover)


# Masks


def test_colex_rank_is_the_numeric_order_exhaustively() -> None:
    for popcount in range(9):
        ordered = [mask for mask in range(1 << 8) if mask.bit_count() == popcount]
        assert [colex_rank(mask) for mask in ordered] == list(range(len(ordered)))
        assert [colex_unrank(rank, popcount) for rank in range(len(ordered))] == ordered


@given(masks)
def test_colex_ranks_are_inverse_and_in_range(mask: int) -> None:
    rank = colex_rank(mask)
    assert 0 <= rank < comb(POINT_COUNT, mask.bit_count())
    assert colex_unrank(rank, mask.bit_count()) == mask


@pytest.mark.parametrize(("rank", "popcount"), [(-1, 3), (2024, 3), (1, 0), (0, -1), (0, 25)])
def test_colex_unrank_refuses_what_is_out_of_range(rank: int, popcount: int) -> None:
    with pytest.raises(ValueError):
        colex_unrank(rank, popcount)


@given(masks, masks)
def test_compress_and_expand(mask: int, within: int) -> None:
    packed = compress(mask, within)
    assert packed < 1 << within.bit_count()
    assert expand(packed, within) == mask & within
    assert compress(expand(mask, within), within) == mask & (1 << within.bit_count()) - 1


@given(masks, st.integers(0, 15))
def test_image_tables(mask: int, symmetry: int) -> None:
    table = image_tables()[symmetry]
    found = table[0][mask & 255] | table[1][mask >> 8 & 255] | table[2][mask >> 16]
    assert int(found) == image(mask, symmetry)


# Rows


@pytest.mark.parametrize("k", range(11))
def test_number_of_rows(k: int) -> None:
    rows = canonical_rows(k)
    assert len(rows) == ORBITS[k]
    assert (rows[1:] > rows[:-1]).all()


@pytest.mark.parametrize("k", range(5))
def test_rows_are_the_least_images_exhaustively(k: int) -> None:
    masks_of_k = [colex_unrank(rank, k) for rank in range(comb(POINT_COUNT, k))]
    least = [m for m in masks_of_k if m == min(image(m, s) for s in range(16))]
    assert canonical_rows(k).tolist() == least


@pytest.mark.parametrize("k", range(11))
def test_orbits_cover_all_masks(k: int) -> None:
    """Orbit sizes 16 / |stabiliser| add up to all masks of k points."""
    sizes = stabiliser_sizes(canonical_rows(k))
    assert int((16 // sizes.astype(int)).sum()) == comb(POINT_COUNT, k)


def test_rows_of_other_sizes_are_refused() -> None:
    for k in (-1, 11):
        with pytest.raises(ValueError):
            canonical_rows(k)


# Subspaces


def test_names() -> None:
    subspace = Subspace(5, 6, 5, 3, "C")
    assert (subspace.stem, subspace.section) == ("r05c06k05", "C3")
    assert (subspace.row_hand, subspace.column_hand) == (0, 3)
    assert subspace.size == 2830 * comb(19, 3)


@pytest.mark.parametrize(
    "fields",
    [
        (2, 4, 1, 1, "R"),
        (5, 4, 1, 1, "R"),
        (4, 11, 1, 1, "R"),
        (4, 4, 5, 1, "R"),
        (4, 4, 1, 5, "R"),
        (4, 4, -1, 1, "R"),
        (4, 4, 1, 1, "R"),
        (4, 5, 1, 1, "W"),
    ],
)
def test_no_such_subspace(fields: tuple) -> None:
    with pytest.raises(ValueError):
        Subspace(*fields)


def test_size_of_the_whole_game() -> None:
    """The index has 5.7 % slack over the 133 G positions that differ by more than a symmetry."""
    size = sum(
        subspace.size
        for r in range(3, 11)
        for c in range(r, 11)
        for k in range(r + 1)
        for subspace in subspaces_of_level(r, c, k)
    )
    assert size == 141_029_893_768
    assert round(size / 133_466_246_771, 3) == 1.057


SMALL = [
    subspace
    for r, c in ((3, 3), (3, 4))
    for k in range(4)
    for subspace in subspaces_of_level(r, c, k)
    if subspace.size <= 6000
]


@pytest.mark.parametrize("subspace", SMALL, ids=str)
def test_index_is_dense_and_inverse_exhaustively(subspace: Subspace) -> None:
    for index in range(subspace.size):
        found, row, column = locate(position_at(subspace, index))
        assert found == subspace
        assert row * subspace.columns + column == index


@pytest.mark.parametrize("subspace", SMALL, ids=str)
def test_every_placement_has_an_index(subspace: Subspace) -> None:
    """The positions of a subspace, all images of its indices, are all placements there are."""
    found = {
        (turned.white, turned.black)
        for index in range(subspace.size)
        for turned in images(position_at(subspace, index))
    }
    k, on_board = subspace.k, subspace.l
    assert len(found) == comb(POINT_COUNT, k) * comb(POINT_COUNT - k, on_board)


@given(subspaces(), st.data())
def test_index_is_inverse(subspace: Subspace, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, subspace.size - 1))
    position = position_at(subspace, index)
    assert position.white_to_move
    found, row, column = locate(position)
    assert (found, row * subspace.columns + column) == (subspace, index)


@given(subspaces())
def test_indices_out_of_range(subspace: Subspace) -> None:
    for index in (-1, subspace.size):
        with pytest.raises(ValueError):
            position_at(subspace, index)


@given(positions().filter(lambda p: not p.is_short_of_men))
def test_images_and_colour_swap_share_a_place(position: Position) -> None:
    """Same subspace, same row; columns that differ at most by a symmetry of the row."""
    subspace, row, column = locate(position)
    free = ALL_POINTS & ~int(canonical_rows(subspace.k)[row])
    men = expand(colex_unrank(column, subspace.l), free)
    row_mask = ALL_POINTS & ~free
    copies = {image(men, s) for s in range(16) if image(row_mask, s) == row_mask}
    for twin in images(position) + images(colours_swapped(position)):
        found, its_row, its_column = locate(twin)
        assert (found, its_row) == (subspace, row)
        assert expand(colex_unrank(its_column, subspace.l), free) in copies


@given(positions().filter(lambda p: p.is_short_of_men))
def test_a_finished_game_has_no_place(position: Position) -> None:
    with pytest.raises(ValueError, match="the game is over"):
        locate(position)
