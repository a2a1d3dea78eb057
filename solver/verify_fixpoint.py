"""Solves morris classes again with the plain engine and compares the tables bit for bit.

Each class is solved from the stored values of the classes it leads to, so that classes can be
checked in any order and at the same time. Invariant: when all classes up to a number of men are
found equal, their values are the least fixpoint, by induction over the order of the classes: wins
are won in finitely many moves, and no circle of slides passes for a win. Distances to conversion
come out with the values, and are compared where there are tables of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from databases.store import Store
from engine.morris.index import Subspace, position_at
from engine.morris.rules import Rules
from solver.counts import counted_distances
from solver.morris_game import (
    DISTANCES_BYTES,
    Distances,
    class_bytes,
    classes,
    conversions_of_class,
    solve_class,
    solve_distances,
    subspaces_of_class,
)
from solver.progress import Progress
from solver.retrograde import DRAW, LOSS, WIN
from solver.verification import Check, Fault, opened, workers

_NAMED = {WIN: "win", DRAW: "draw", LOSS: "loss"}


def check_fixpoint(
    store: Store,
    men: int,
    *,
    distances: Store | None = None,
    memory: int = 2 << 30,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[list[Check], list[Subspace]]:
    """Solves again the classes with totals up to `men` that take at most `memory` bytes.

    distances: the store of distances to conversion, of which the tables that are there are compared
    too. threads: classes solved at once, which share the memory. Returns the check of the values
    and, with `distances`, that of these; and of each class that takes more memory one subspace.
    Raises MissingTableError, CorruptTableError and what else the stores' tables raise.
    """
    progress = progress or Progress(quiet=True)
    how = "solved again by the plain engine"
    checks = [Check("the values are the least fixpoint", how)]
    if distances is not None:
        checks.append(Check("distances to conversion are those of best play", how))
    job = _Job.of(store, distances)
    fitting, large = [], []
    for subspace in classes(men):
        (fitting if job.memory(subspace) <= memory // threads else large).append(subspace)
    progress.begin(sum(_size(subspace) for subspace in fitting), "solve again")
    try:
        with workers(threads) as pool:
            for subspace, found in zip(fitting, pool.map(job.solve_again, fitting), strict=True):
                for check, of_check in zip(checks, found, strict=False):
                    check.positions += of_check.positions
                    for fault in of_check.faults:
                        check.add(fault)
                progress.advance(_size(subspace))
    finally:
        progress.end()
    return checks, large


class _Found(NamedTuple):
    """What one class adds to a check."""

    positions: int
    faults: list[Fault | WrongHeader]


@dataclass(frozen=True)
class WrongHeader:
    """A header that counts the distances of a section otherwise than they are."""

    table: str
    section: str
    stored: list[int]
    derived: list[int]

    def __str__(self) -> str:
        return (
            f"{self.table} {self.section}: its header counts {self.stored} with distances 1, 2, ..,"
            f" should be {self.derived}"
        )


def _size(subspace: Subspace) -> int:
    """The positions of a subspace's class."""
    return sum(part.size for part in subspaces_of_class(subspace))


class _Job(NamedTuple):
    """What solving classes again needs. listed: the tables of distances that are there."""

    store: Store
    rules: Rules
    distances: Store | None
    listed: Collection[str]

    @classmethod
    def of(cls, store: Store, distances: Store | None) -> _Job:
        rules = Rules(flying=str(store.family.rules["flying"]))
        listed = () if distances is None else distances.report().whole.keys()
        return cls(store, rules, distances, listed)

    def memory(self, subspace: Subspace) -> int:
        """The bytes that solving a class again takes."""
        more = DISTANCES_BYTES * _size(subspace) if self._has_distances(subspace) else 0
        return class_bytes(subspace) + more

    def solve_again(self, subspace: Subspace) -> list[_Found]:
        """The positions of a class whose stored values, and distances, are not those found."""
        solved = {to: _stored(self.store, to) for to in conversions_of_class(subspace)}
        if not self._has_distances(subspace):
            found = solve_class(subspace, self.rules, solved)
            return [self._compare_values({part: s.value for part, s in found.items()})]
        found = solve_distances(subspace, self.rules, solved)
        return [
            self._compare_values({part: s.value for part, s in found.items()}),
            self._compare_distances(found),
        ]

    def _has_distances(self, subspace: Subspace) -> bool:
        return any(part.stem in self.listed for part in subspaces_of_class(subspace))

    def _compare_values(self, found: dict[Subspace, np.ndarray]) -> _Found:
        faults: list[Fault | WrongHeader] = []
        for part, value in found.items():
            stored = _stored(self.store, part)
            faults += [
                _fault(part, index, _NAMED[int(stored[index])], _NAMED[int(value[index])])
                for index in np.flatnonzero(value != stored).tolist()
            ]
        return _Found(sum(value.size for value in found.values()), faults)

    def _compare_distances(self, found: dict[Subspace, Distances]) -> _Found:
        positions = 0
        faults: list[Fault | WrongHeader] = []
        for part, solved in found.items():
            if part.stem not in self.listed:
                continue
            with opened(self.distances, part.stem, part.section, part.size) as table:
                stored = table.plies_array(part.section)
                counted = counted_distances(table, part.section)
            faults += [
                _fault(part, index, str(stored[index]), str(solved.plies[index]))
                for index in np.flatnonzero(solved.stored & (solved.plies != stored)).tolist()
            ]
            histogram = np.bincount(solved.plies[solved.stored])[1:].tolist()
            if counted != histogram:
                faults.append(WrongHeader(part.stem, part.section, counted, histogram))
            positions += int(solved.stored.sum())
        return _Found(positions, faults)


def _fault(part: Subspace, index: int, stored: str, derived: str) -> Fault:
    return Fault(part.stem, part.section, index, str(position_at(part, index)), stored, derived)


def _stored(store: Store, subspace: Subspace) -> np.ndarray:
    """int8[size]: the values of a table, WIN, DRAW or LOSS."""
    with opened(store, subspace.stem, subspace.section, subspace.size) as table:
        win, loss = table.planes(subspace.section)
    value = np.unpackbits(win, count=subspace.size, bitorder="little").view(np.int8)
    value -= np.unpackbits(loss, count=subspace.size, bitorder="little").view(np.int8)
    return value
