"""C's moves inside a row and captures of both sides, as bitmaps, against single positions."""

from __future__ import annotations

import numpy as np
import pytest
from naive_rows import bits, canonical, column_values, symmetric, takeable

from engine.morris.board import ALL_POINTS, men_in_mills
from engine.morris.index import canonical_rows, compress, expand
from solver.rows.captures import column_captures, row_captures, turn_rows
from solver.rows.column_moves import (
    MOST_MOVES,
    MOVE_NUMBERS,
    closing,
    list_flights,
    list_moves,
    quiet,
)
from solver.rows.geometry import all_rows, canonical_forms, level
from solver.rows.permute import OFFSETS
from solver.rows.planes import columns_of_at_most, valid_blocks
from solver.rows.words import MARGIN

SAMPLES = 120


def random_plane(rng: np.random.Generator, rows: int, words: int, rare: int = 1) -> np.ndarray:
    """A plane with margins; a bit is set with probability 2**-rare."""
    plane = np.zeros(rows * words + 2 * MARGIN, dtype=np.uint64)
    inner = np.full(rows * words, ~np.uint64(0))
    for _ in range(rare):
        inner &= rng.integers(0, 2**64, rows * words, dtype=np.uint64)
    plane[MARGIN:-MARGIN] = inner
    return plane


def random_level(rng: np.random.Generator, k: int, rare: int) -> np.ndarray:
    """A random plane of level k in which the copies of a position agree."""
    here = level(k)
    plane = random_plane(rng, here.count, here.words, rare)
    for row in np.flatnonzero(here.stabilisers > 1):
        words = plane[MARGIN + row * here.words :][: here.words]
        words[:] = symmetric(words.copy(), int(here.rows[row]))
    return plane


@pytest.mark.parametrize("k", [0, 1, 3, 6, 8, 10])
@pytest.mark.parametrize("men", [3, 10])
def test_column_moves(k: int, men: int) -> None:
    rng = np.random.default_rng(k)
    words, axes = 1 << (18 - k), 24 - k
    moves = np.empty((MOST_MOVES, MOVE_NUMBERS), dtype=np.int64)
    partners = np.empty((MOST_MOVES, 2), dtype=np.int64)
    valid = valid_blocks(men, axes)
    columns = columns_of_at_most(men, axes)
    rows = canonical_rows(k)
    for row_men in map(int, rng.choice(rows, min(3, len(rows)), replace=False)):
        source = random_plane(rng, 1, words, rare=4)
        source[MARGIN:-MARGIN] &= columns
        free = ALL_POINTS & ~row_men
        for flights in (False, True) if row_men else (False,):
            if flights:
                count = list_flights(free, moves, partners)
            else:
                count = list_moves(free, row_men != 0, moves, partners)
            for kernel, closes in ((quiet, False), (closing, True)):
                out = np.zeros_like(source)
                kernel(source, MARGIN, out, MARGIN, valid, moves, partners, count)
                found = bits(out[MARGIN:-MARGIN].copy())
                for x in map(int, rng.integers(0, 1 << axes, SAMPLES)):
                    if x.bit_count() <= men:
                        expected = column_values(
                            row_men, source[MARGIN:-MARGIN].copy(), x, closes, flights
                        )
                        assert bool(found[x]) is expected


@pytest.mark.parametrize("k", [3, 7, 10])
def test_row_captures(k: int) -> None:
    rng = np.random.default_rng(k)
    here = level(k)
    wins, escapes = (random_plane(rng, 1, here.words, rare=2) for _ in range(2))
    men = 6
    out = [np.zeros(here.mill_count * here.words + 2 * MARGIN, dtype=np.uint64) for _ in range(2)]
    sources = np.full(here.count, MARGIN)
    rows = np.flatnonzero(here.mill_number >= 0)
    row = int(rng.choice(rows))
    row_captures(
        here.rows,
        here.mill_number,
        row,
        row + 1,
        here.axes,
        columns_of_at_most(men, here.axes),
        valid_blocks(men, here.axes)[0],
        wins,
        escapes,
        sources,
        *out,
    )
    free = ALL_POINTS & ~int(here.rows[row])
    at = MARGIN + int(here.mill_number[row]) * here.words
    for plane, filled in zip((wins, escapes), out, strict=True):
        source = bits(plane[MARGIN:-MARGIN].copy())
        found = bits(filled[at : at + here.words].copy())
        assert not found[0]
        for x in map(int, rng.integers(0, 1 << here.axes, SAMPLES)):
            column = expand(x, free)
            expected = x.bit_count() <= men and any(
                source[compress(column ^ 1 << point, free)] for point in takeable(column)
            )
            assert bool(found[x]) is bool(expected)


@pytest.mark.parametrize("k", [3, 5, 8])
def test_column_captures(k: int) -> None:
    rng = np.random.default_rng(k)
    here, below = level(k), level(k - 1)
    links = here.removals()
    planes = [random_level(rng, k - 1, rare=4) for _ in range(2)]
    work = (
        np.empty(below.words, dtype=np.uint64),
        np.empty(OFFSETS, dtype=np.int64),
        *valid_blocks(24, here.axes),
    )
    milled = [row for row in range(here.count) if here.mill_number[row] >= 0]
    for row in (int(rng.choice(milled)), int(rng.integers(here.count)), milled[0]):
        men = int(here.rows[row])
        out = [np.zeros(here.words, dtype=np.uint64) for _ in range(2)]
        column_captures(
            men,
            links.start[row],
            links.start[row + 1],
            links.left_point,
            links.target,
            links.plan,
            below.words,
            *planes,
            (*out, 0),
            work,
        )
        rank = {int(other): number for number, other in enumerate(below.rows)}
        free = ALL_POINTS & ~men
        for plane, filled in zip(planes, out, strict=True):
            found = bits(filled)
            for x in map(int, rng.integers(0, 1 << here.axes, SAMPLES)):
                expected = False
                for point in takeable(men):
                    rest, column = canonical(men ^ 1 << point, expand(x, free))
                    y = compress(column, ALL_POINTS & ~rest)
                    word = plane[MARGIN + rank[rest] * below.words + (y >> 6)]
                    expected |= bool(int(word) >> (y & 63) & 1)
                assert bool(found[x]) is expected


@pytest.mark.parametrize("k", [3, 5])
def test_turn_rows(k: int) -> None:
    """C's column becomes the row of the stored unit, R's row its column."""
    rng = np.random.default_rng(k)
    most = 3
    here = level(k)
    levels = [level(size) for size in range(most + 1)]
    starts = np.cumsum([0] + [each.count * each.words for each in levels], dtype=np.int64)
    planes = [
        np.concatenate(
            [random_level(rng, size, rare=1)[MARGIN:-MARGIN] for size in range(most + 1)]
        )
        for _ in range(2)
    ]
    out = [np.zeros(here.mill_count * here.words + 2 * MARGIN, dtype=np.uint64) for _ in range(2)]
    forms = canonical_forms()
    turn_rows(
        here.rows,
        here.mill_number,
        0,
        here.count,
        here.axes,
        most,
        (forms.rank, forms.symmetry, *all_rows()),
        np.stack(planes, axis=1).reshape(-1),
        starts,
        *out,
    )
    rows = np.flatnonzero(here.mill_number >= 0)
    for row in map(int, rows[:3]):
        men = int(here.rows[row])
        free = ALL_POINTS & ~men
        at = MARGIN + int(here.mill_number[row]) * here.words
        words = [filled[at : at + here.words].copy() for filled in out]
        for _ in range(SAMPLES):
            axes = rng.choice(here.axes, int(rng.integers(most + 1)), replace=False)
            x = sum(1 << int(axis) for axis in axes)
            column = expand(x, free)
            size = column.bit_count()
            stored_row, stored_column = canonical(column, men)
            number = int(np.searchsorted(canonical_rows(size), stored_row))
            y = compress(stored_column, ALL_POINTS & ~stored_row)
            source = starts[size] + number * (1 << (18 - size)) + (y >> 6)
            expected = [int(plane[source]) >> (y & 63) & 1 for plane in planes]
            assert [int(w[x >> 6]) >> (x & 63) & 1 for w in words] == expected


def test_mills_of_rows() -> None:
    here = level(6)
    has_mill = [men_in_mills(int(men)) != 0 for men in here.rows]
    assert (np.array(has_mill) == (here.mill_number >= 0)).all()
    assert here.mill_count == sum(has_mill)
