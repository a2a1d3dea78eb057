"""Pulls: every kind of axis permutation against its bit-by-bit twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_rows import bits, popcounts, pulled

from solver.rows.permute import OFFSETS, PLAN_BYTES, make_plan, pull
from solver.rows.planes import columns_of_at_most, valid_blocks

MARGIN_WORD = np.uint64(0x0123456789ABCDEF)


@st.composite
def pulls(draw: st.DrawFn) -> tuple[int, int, list[int], int]:
    """(target axes, source axes, source axis of each target axis, dropped source axis)."""
    axes = draw(st.integers(10, 12))
    kind = draw(st.sampled_from(["slide", "placement", "removal"]))
    source_axes = axes + {"slide": 0, "placement": -1, "removal": 1}[kind]
    dropped = -1 if kind == "placement" else draw(st.integers(0, source_axes - 1))
    order = draw(st.permutations([a for a in range(source_axes) if a != dropped]))
    if kind != "removal":
        order.insert(draw(st.integers(0, axes - 1)), -1)
    return axes, source_axes, order, dropped


def run(source: np.ndarray, axes: int, order: list[int], dropped: int, men: int) -> np.ndarray:
    plan = np.empty(PLAN_BYTES, dtype=np.int8)
    make_plan(np.array(order), axes, dropped, plan)
    words = 1 << (axes - 6)
    out = np.zeros(words + 16, dtype=np.uint64)
    out[:8] = out[-8:] = MARGIN_WORD
    scratch = np.full(words, MARGIN_WORD)
    work = (scratch, np.empty(OFFSETS, dtype=np.int64), *valid_blocks(men, axes))
    pull(source, 0, plan, out, 8, work)
    assert (out[:8] == MARGIN_WORD).all() and (out[-8:] == MARGIN_WORD).all()
    return out[8:-8]


@settings(max_examples=settings.default.max_examples // 2)
@given(pulls(), st.integers(0, 2**32 - 1))
def test_pull(case: tuple[int, int, list[int], int], seed: int) -> None:
    axes, source_axes, order, dropped = case
    source = np.random.default_rng(seed).integers(0, 2**64, 1 << (source_axes - 6), dtype=np.uint64)
    assert (bits(run(source, axes, order, dropped, 24)) == pulled(source, order, axes)).all()


@settings(max_examples=settings.default.max_examples // 2)
@given(pulls(), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_pull_of_few_men(case: tuple[int, int, list[int], int], men: int, seed: int) -> None:
    """With few men most blocks are skipped; they hold nothing."""
    axes, source_axes, order, dropped = case
    source = np.random.default_rng(seed).integers(0, 2**64, 1 << (source_axes - 6), dtype=np.uint64)
    source &= columns_of_at_most(men, source_axes)
    assert (bits(run(source, axes, order, dropped, men)) == pulled(source, order, axes)).all()


def test_columns_of_at_most() -> None:
    for axes, men in ((9, 0), (10, 3), (13, 13)):
        assert (bits(columns_of_at_most(men, axes)) == (popcounts(axes) <= men)).all()
