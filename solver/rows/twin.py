"""Levels that are the same under other rules, taken over instead of solved again.

Rules of flying differ only for a side of three men. The equations of a level depend on them through
nothing but who may fly on it, and else on the values of the levels that its conversions lead to.
Where both are the same under rules that are solved already, so is the level: with `total` instead
of `board` that holds for every level without a man of R in hand but the smallest, about half the
game.

Invariant: a level is taken over only if every value it depends on was compared, or was itself taken
over; checksums do not count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from databases.store import Store
from databases.writer import Section
from engine.morris import Rules
from engine.morris.index import Subspace, subspaces_of_level


class Twin:
    """The tables of other rules, as far as they serve for `store` and `rules`."""

    def __init__(self, store: Store, rules: Rules, other: Store, other_rules: Rules) -> None:
        self._store = store
        self._rules = rules
        self._other = other
        self._other_rules = other_rules
        self._same: dict[str, bool] = {}

    def serves(self, r: int, c: int, k: int) -> bool:
        """Whether level k of the unit (r, c) is there and must be the same under both rules."""
        return (
            self._same_flights(r, c, k)
            and self._other.has(_name(r, c, k))
            and all(self._is_same(name) for name in behind_conversions(r, c, k))
        )

    def sections(self, r: int, c: int, k: int, threads: int) -> Iterator[Section]:
        """The sections of a level that `serves`, to be written under the own rules."""
        name = _name(r, c, k)
        self._same[name] = True
        with self._other.open(name) as table:
            for subspace in subspaces_of_level(r, c, k):
                win, loss = table.planes(subspace.section, threads)
                yield Section(subspace.section, subspace.size, win, loss)

    def _same_flights(self, r: int, c: int, k: int) -> bool:
        sides = [(k, r - k), *((men, c - men) for men in range(c + 1))]
        return all(self._rules.may_fly(*s) == self._other_rules.may_fly(*s) for s in sides)

    def _is_same(self, name: str) -> bool:
        """Whether a table has the same values under both rules."""
        if name not in self._same:
            self._same[name] = self._other.has(name) and self._compare(name)
        return self._same[name]

    def _compare(self, name: str) -> bool:
        with self._store.open(name) as mine, self._other.open(name) as other:
            for section, info in mine.sections.items():
                if info.content != other.sections[section].content:
                    return False
            return all(
                np.array_equal(ours, theirs)
                for section in mine.sections
                for ours, theirs in zip(mine.planes(section), other.planes(section), strict=True)
            )


def _name(r: int, c: int, k: int) -> str:
    return Subspace(r, c, k, 0, "C").stem


def behind_conversions(r: int, c: int, k: int) -> set[str]:
    """The tables that the captures and R's placements of a level lead to."""
    levels = {(r, c, k + 1)} if k < r else set()
    if c > 3:
        # R takes a man after a slide, or after a placement.
        after = {k, min(k + 1, r)}
        if r < c:
            levels |= {(r, c - 1, men) for men in after}
        else:
            # With the colours exchanged: C's men on the board, any number, are the rows there.
            levels |= {(r - 1, r, men) for men in range(r)}
    if r > 3 and k > 0:
        levels.add((r - 1, c, k - 1))
    return {_name(*level) for level in levels}
