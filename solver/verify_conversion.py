"""Re-derives distances to conversion of morris tables from what they lead to, by code of its own.

As in `verify_morris.py` nothing comes from the engine or from a solver. A win that no conversion
keeps at once is as far away as its nearest slide to a loss says, one more; and a loss as its
farthest reply to a win says, one more again. So a stored distance is compared with those of the
same subspace two plies on, by the values of all that is reached.

Invariant: where all stored distances pass, each win has a way to a conversion that keeps it, on
which the distances fall from ply to ply whatever the loser does; so this proves the wins too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from databases.store import Store
from solver.progress import Progress
from solver.verification import Check, Fault, opened, run_checks
from solver.verify_morris import (
    ALL_POINTS,
    LOSS,
    MOST,
    MOST_SLIDES,
    NEAR,
    WIN,
    Run,
    Side,
    Values,
    code_at,
    derive,
    kernel,
    lowest_point,
    numbering,
    sides,
)
from solver.verify_proof import half_of, masks_of

_NEVER = 1 << 20  # as the distance of a win from which no slide leads to a loss


def check_whole(
    store: Store, tables: Collection[str], *, threads: int = 1, progress: Progress | None = None
) -> Check:
    """Reads all bytes of tables of distances. Raises CorruptTableError where one is not right."""
    progress = progress or Progress(quiet=True)
    check = Check("tables of distances are whole", "every block read, checksums compared")
    sizes = {name: state.entries for name, state in store.report().whole.items()}
    progress.begin(sum(sizes.get(name, 0) for name in tables), "read distances")
    try:
        for name in tables:
            store.check(name, threads)
            check.positions += sizes[name]
            progress.advance(sizes[name])
    finally:
        progress.end()
    return check


def check_distances(
    store: Store,
    distances: Store,
    tables: Collection[str],
    *,
    sample: int | None = None,
    memory: int = 1 << 30,
    threads: int = 1,
    progress: Progress | None = None,
) -> Check:
    """Re-derives the distances in some tables of `distances`, whose values are in `store`.

    sample, memory, threads and errors as in `verify_morris.check_values`.
    """
    flying = str(store.family.rules["flying"])
    how = "all wins" if sample is None else f"the wins among samples of {sample:,} of each subspace"
    check = Check("distances to conversion are those that the moves give", how)
    chosen = [side for side in sides(MOST) if side.table in tables]
    with Values(store, memory, threads, whole=sample is None) as values:
        sources = flying, values, distances
        sections = [
            (side.table + side.section, side.size, partial(Subject.of, side, *sources))
            for side in chosen
        ]
        run_checks([check], sections, sample=sample, threads=threads, progress=progress)
    return check


class Subject(NamedTuple):
    """One subspace with what its slides lead to, and its stored distances (uint8 or uint16)."""

    here: Run
    there: Run
    entries: np.ndarray

    @classmethod
    def of(cls, side: Side, flying: str, values: Values, distances: Store) -> Subject:
        with opened(distances, side.table, side.section, side.size) as table:
            entries = table.plies_array(side.section)
        return cls(Run.of(side, flying, values), Run.of(side.opponent, flying, values), entries)

    def check(self, first: int, end: int) -> tuple[list[tuple[int, int, int]]]:
        """The faults among entries first..end-1, as `run_checks` wants them."""
        known = numbering(MOST)
        found = np.empty((end - first, 3), np.int64)
        slides = np.empty((3, MOST_SLIDES), np.int64)
        runs = self.here, self.there
        pages = [run.pages() for run in runs]
        both = [half_of(*of_run) for of_run in zip(runs, pages, strict=True)]
        unread = True
        while unread:
            count = _check(first, end, known.orbit, known.order, *both, self.entries, slides, found)
            # Where a value was not there, what was found means nothing.
            unread = any(
                [run.source.fetch(run.held, marks) for run, marks in zip(runs, pages, strict=True)]
            )
        return ([tuple(fault) for fault in found[:count].tolist()],)

    def fault(self, index: int, stored: int, derived: int) -> Fault:
        named = self.here.fault(index, WIN, WIN)
        right = "no win" if derived == _NEVER else str(derived)
        return replace(named, stored=str(stored), derived=right)


@kernel
def _slides(orbit, order, half, index, listed):
    """Lists in int64[MOST_SLIDES] where the quiet slides of an entry lead; how many there are, or
    -1 if a conversion wins at once."""
    mover, other = masks_of(half, index)
    best, count = derive(
        orbit, order, half[2], half[3], half[4], half[5], half[6], mover, other, listed
    )
    return np.int64(-1) if best == 1 else np.int64(count)


@kernel
def _can_move(half, index):
    """Whether the mover of an entry has a legal move."""
    in_hand, flies, _ = half[2]
    if in_hand or flies:
        return True
    mover, other = masks_of(half, index)
    empty = ALL_POINTS & ~(mover | other)
    while empty:
        if mover & NEAR[lowest_point(empty)]:
            return True
        empty &= empty - 1
    return False


@kernel
def _of_loss(orbit, order, here, there, entries, index, bound, slides):
    """The distance of a loss, entry `index` of `there`, or `bound` if it is not less.

    Its slides lead to wins of `here`; slides: int64[2, MOST_SLIDES].
    """
    count = _slides(orbit, order, there, index, slides[0])
    if count <= 0:
        return 1 if _can_move(there, index) else 0
    longest = 1
    for i in range(count):
        reply = slides[0, i]
        if entries[reply] > longest and _slides(orbit, order, here, reply, slides[1]) != -1:
            longest = np.int64(entries[reply])
            if 1 + longest >= bound:
                return bound
    return 1 + longest


@kernel
def _nearest(orbit, order, here, there, entries, count, bound, slides):
    """The distance of a win by slides alone, or `bound` if it is not less.

    slides int64[3, MOST_SLIDES]: the first row holds where `count` slides lead.
    """
    nearest = bound
    for i in range(count):
        reply = slides[0, i]
        if code_at(there[5][0], there[6][0], reply) == LOSS:
            far = _of_loss(orbit, order, here, there, entries, reply, nearest - 1, slides[1:])
            nearest = min(nearest, 1 + far)
    return nearest


@kernel
def _check(first, end, orbit, order, here, there, entries, slides, found):
    """Checks the distances of entries first..end-1 of `here`.

    orbit, order: as in Numbering; here, there: the subspace and the one after a slide, as `half_of`
    gives them; entries: the stored distances of `here`; slides int64[3, MOST_SLIDES]. Writes
    (index, stored, derived) to found int64[n, 3]; returns how many.
    """
    wrong = 0
    for index in range(first, end):
        if code_at(here[5][0], here[6][0], index) != WIN:
            continue
        count = _slides(orbit, order, here, index, slides[0])
        if count == -1:
            continue
        # What is farther away than stored need not be known exactly, unless there is a fault.
        bound = np.int64(entries[index]) + 1
        nearest = _nearest(orbit, order, here, there, entries, count, bound, slides)
        if nearest == bound:
            bound = np.int64(_NEVER)
            nearest = _nearest(orbit, order, here, there, entries, count, bound, slides)
        if entries[index] != nearest:
            found[wrong, 0], found[wrong, 1], found[wrong, 2] = index, entries[index], nearest
            wrong += 1
    return wrong
