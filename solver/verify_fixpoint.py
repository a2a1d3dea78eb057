"""Solves morris classes again with the plain engine and compares the tables bit for bit.

Each class is solved from the stored values of the classes it leads to, so that classes can be
checked in any order and at the same time. Invariant: when all classes up to a number of men are
found equal, their values are the least fixpoint, by induction over the order of the classes: wins
are won in finitely many moves, and no circle of slides passes for a win.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from databases.store import Store
from engine.morris.index import Subspace, position_at
from engine.morris.rules import Rules
from solver.morris_game import (
    class_bytes,
    classes,
    conversions_of_class,
    solve_class,
    subspaces_of_class,
)
from solver.progress import Progress
from solver.retrograde import DRAW, LOSS, WIN
from solver.verification import Check, Fault, opened

_NAMED = {WIN: "win", DRAW: "draw", LOSS: "loss"}


def check_fixpoint(
    store: Store,
    men: int,
    *,
    memory: int = 2 << 30,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Check, list[Subspace]]:
    """Solves again the classes with totals up to `men` that take at most `memory` bytes.

    threads: classes solved at once, which share the memory. Returns the check and, of each class
    that takes more, one subspace.
    Raises MissingTableError, CorruptTableError and what else the store's tables raise.
    """
    progress = progress or Progress(quiet=True)
    check = Check("the values are the least fixpoint", "solved again by the plain engine")
    rules = Rules(flying=str(store.family.rules["flying"]))
    fitting, large = [], []
    for subspace in classes(men):
        (fitting if class_bytes(subspace) <= memory // threads else large).append(subspace)
    progress.begin(sum(_size(subspace) for subspace in fitting), "solve again")
    try:
        with ThreadPoolExecutor(threads) as pool:
            found = pool.map(lambda subspace: _solve_again(store, rules, subspace), fitting)
            for subspace, faults in zip(fitting, found, strict=True):
                check.positions += _size(subspace)
                for fault in faults:
                    check.add(fault)
                progress.advance(_size(subspace))
    finally:
        progress.end()
    return check, large


def _size(subspace: Subspace) -> int:
    """The positions of a subspace's class."""
    return sum(part.size for part in subspaces_of_class(subspace))


def _solve_again(store: Store, rules: Rules, subspace: Subspace) -> list[Fault]:
    """The positions of a class whose stored value is not the one found."""
    solved = {reached: _stored(store, reached) for reached in conversions_of_class(subspace)}
    faults = []
    for part, solution in solve_class(subspace, rules, solved).items():
        stored = _stored(store, part)
        faults += [
            Fault(
                part.stem,
                part.section,
                index,
                str(position_at(part, index)),
                _NAMED[int(stored[index])],
                _NAMED[int(solution.value[index])],
            )
            for index in np.flatnonzero(solution.value != stored).tolist()
        ]
    return faults


def _stored(store: Store, subspace: Subspace) -> np.ndarray:
    """int8[size]: the values of a table, WIN, DRAW or LOSS."""
    with opened(store, subspace.stem, subspace.section, subspace.size) as table:
        win, loss = table.planes(subspace.section)
    value = np.unpackbits(win, count=subspace.size, bitorder="little").view(np.int8)
    value -= np.unpackbits(loss, count=subspace.size, bitorder="little").view(np.int8)
    return value
