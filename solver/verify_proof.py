"""Proves single values of morris tables by searching forward, where solving again takes too much.

A win is proved when the winner can force, by slides that keep the win, a conversion that wins; a
loss when each slide of the loser leads to a proved win. The values after conversions are taken from
the tables. Invariant: what is reported as proved has such a strategy without circles within the
positions looked at; what is reported as a fault has none, or values that contradict each other.
Draws need no proof of their own: where wins and losses are right and every value is the best that
its moves give, the draws are right.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from databases.store import Store
from solver.progress import Progress
from solver.verification import Check, workers
from solver.verify_morris import (
    ALL_POINTS,
    DRAW,
    LOSS,
    MOST,
    MOST_SLIDES,
    NEAR,
    UNREAD,
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
    stretched,
)

BOUND = 200_000
"""Positions looked at for one proof, unless told otherwise."""

# How many winning slides of a won position are followed: few first, for a small search.
_WIDTHS = (1, 3, MOST_SLIDES)
_TRIES = 50  # entries drawn near one place in search of a win or loss; they may be draws
_NEARBY = 1 << 16  # entries that are drawn from near a place
_EDGES = 8  # slides kept for each position that may be looked at

_PROVED, _REFUTED, _UNDECIDED, _WAITING = 1, 0, -1, -2
_NONE = -1
_UNSEEN = -1  # as the number of replies that must be proved


def check_proofs(
    store: Store,
    sections: Iterable[tuple[str, str]],
    *,
    sample: int = 20,
    bound: int = BOUND,
    memory: int = 1 << 30,
    threads: int = 1,
    progress: Progress | None = None,
) -> Check:
    """Searches for proofs of wins and losses of some sections, given as (table, section).

    sample: how many entries of each section, drawn at random; fewer where wins and losses are rare.
    bound: positions looked at for one of them; beyond, it counts as undecided. memory: bytes of
    values held at a time, though at least those that one class needs. threads: sections looked at
    at once.
    Raises MissingTableError, CorruptTableError and what else the store's tables raise.
    """
    progress = progress or Progress(quiet=True)
    check = Check(
        "wins can be forced and losses can't be escaped",
        f"forward search, at most {sample:,} of each subspace, {bound:,} positions for each",
    )
    by_name = {(side.table, side.section): side for side in sides(MOST)}
    chosen = [by_name[name] for name in sections]
    progress.begin(sample * len(chosen), "prove")
    try:
        with Values(store, memory, 1, whole=False) as values, workers(threads) as pool:
            flying = str(store.family.rules["flying"])
            prove_some = partial(_prove_some, flying, values, sample, bound)
            for found in pool.map(prove_some, chosen):
                check.positions += found.positions
                check.undecided += found.undecided
                for fault in found.examples:
                    check.add(fault)
                progress.advance(sample)
    finally:
        progress.end()
    return check


def _prove_some(flying: str, values: Values, sample: int, bound: int, side: Side) -> Check:
    """A check of one section; `examples` holds all its faults."""
    found = Check("", "")
    runs = (Run.of(side, flying, values), Run.of(side.opponent, flying, values))
    work = _Work.of(bound)
    for index in _drawn(runs[0], sample):
        found.positions += 1
        proved = prove(runs, index, work)
        if proved is None:
            found.undecided += 1
        elif not proved:
            found.examples.append(runs[0].fault(index, runs[0].stored(index), DRAW))
    return found


def _drawn(run: Run, sample: int) -> Iterator[int]:
    """Up to `sample` different entries that are won or lost; the same in each run.

    One is looked for near each of so many places, since a page must be read for each.
    """
    chance = random.Random(run.side.table + run.side.section)
    size = run.side.size
    seen: set[int] = set()
    for _ in range(sample):
        near = chance.randrange(size) // _NEARBY * _NEARBY
        for _ in range(_TRIES):
            index = chance.randrange(near, min(size, near + _NEARBY))
            if index not in seen and run.stored(index) != DRAW:
                seen.add(index)
                yield index
                break


class _Work(NamedTuple):
    """The positions of one search, n of them at most, and the slides between them.

    places int64[n]: index * 2 + subspace. table int64[at least 2 * n, a power of two]: numbers of
    positions by hash, or _NONE. missing int64[n]: replies that must be proved before the position
    is. last int64[n]: the slide entered last that leads to the position; before int64[m]: the one
    entered before a slide; source int64[m]: where it comes from. proved int64[n]. slides int64[2,
    MOST_SLIDES]. state int64[4]: positions that were looked at and that were found, slides entered,
    and whether no slide was left out.
    """

    places: np.ndarray
    table: np.ndarray
    missing: np.ndarray
    last: np.ndarray
    before: np.ndarray
    source: np.ndarray
    proved: np.ndarray
    slides: np.ndarray
    state: np.ndarray

    @classmethod
    def of(cls, bound: int) -> _Work:
        edges = bound * _EDGES + MOST_SLIDES
        return cls(
            np.empty(bound, np.int64),
            np.empty(1 << (2 * bound).bit_length(), np.int64),
            np.empty(bound, np.int64),
            np.empty(bound, np.int64),
            np.empty(edges, np.int64),
            np.empty(edges, np.int64),
            np.empty(bound, np.int64),
            np.empty((2, MOST_SLIDES), np.int64),
            np.empty(4, np.int64),
        )


def half_of(run: Run, pages: tuple[np.ndarray, ...]) -> tuple:
    """What kernels need to know of a subspace: (least masks of its rows, and of Run columns, may,
    rows, sizes, values, and a copy of its pages)."""
    least = numbering(MOST).least[run.side.row_board]
    return least, run.columns, run.may, run.rows, run.sizes, run.values, pages


def prove(runs: Sequence[Run], index: int, work: _Work) -> bool | None:
    """Whether the stored win or loss of entry `index` of the first of two subspaces can be proved.

    runs: the subspaces of a class, each after the slides of the other (one twice if it is alone).
    None when the positions that `work` has room for did not tell.
    """
    known = numbering(MOST)
    pages = [run.pages() for run in runs]
    both = tuple(half_of(*of_run) for of_run in zip(runs, pages, strict=True))
    turns = int(runs[0].side != runs[1].side)
    for width in _WIDTHS:
        _begin(index, work)
        while True:
            found = _search(turns, width, known.orbit, known.order, both, work)
            if found != _WAITING:
                break
            for run, of_run in zip(runs, pages, strict=True):
                run.source.fetch(run.held, of_run)
        if found != _UNDECIDED:
            return bool(found == _PROVED)
    return None


@kernel
def _enter(place, used, work):
    """The number of a place among the positions, and how many these are then; new ones go last.

    A new one for which there is no room gets _NONE.
    """
    mask = work.table.size - 1
    slot = (place * 0x9E3779B97F4A7C1 >> 20) & mask
    while work.table[slot] != _NONE:
        if work.places[work.table[slot]] == place:
            return work.table[slot], used
        slot = (slot + 1) & mask
    if used == work.places.size:
        return np.int64(_NONE), used
    work.table[slot] = used
    work.places[used] = place
    work.last[used] = _NONE
    return used, used + 1


@kernel
def masks_of(half, index):
    """Mover's and other's men of an entry, masks (int64); half: as `half_of` gives it."""
    least, columns, rows = half[0], half[1], half[3]
    row = index // columns.size
    row_men = np.int64(least[row])
    column_men = stretched(np.int64(columns[index - row * columns.size]), row_men)
    return (row_men, column_men) if rows[0] else (column_men, row_men)


@kernel
def _freedom(half, index):
    """How many slides the mover of an entry has; a man that flies counts as one slide."""
    mover, other = masks_of(half, index)
    empty = ALL_POINTS & ~(mover | other)
    count = 0
    while empty:
        sources = mover & NEAR[lowest_point(empty)]
        empty &= empty - 1
        while sources:
            sources &= sources - 1
            count += 1
    return count


@kernel
def _keep_replies(half, slides, count, wanted, width):
    """Of slides int64[2, count] (entries, of `half`) those stored as `wanted`, without repetition.

    If more than `width`, those that leave the opponent least freedom. Returns how many are kept,
    at the front, and whether others were left out.
    """
    kept = 0
    narrowed = False
    for i in range(count):
        reply = slides[0, i]
        if code_at(half[5][0], half[6][0], reply) != wanted:
            continue
        freedom = _freedom(half, reply)
        # Sorted by insertion: the freest stands last.
        at = kept
        while at and slides[1, at - 1] > freedom:
            at -= 1
        for j in range(kept):
            if slides[0, j] == reply:
                at = _NONE
                break
        if at == _NONE:
            continue
        if kept == width:
            narrowed = True
            if at == kept:
                continue
            kept -= 1
        for j in range(kept, at, -1):
            slides[0, j], slides[1, j] = slides[0, j - 1], slides[1, j - 1]
        slides[0, at], slides[1, at] = reply, freedom
        kept += 1
    return kept, narrowed


@kernel
def _begin(root, work):
    """Enters the position that is to be proved, entry `root` of the first subspace."""
    for slot in range(work.table.size):
        work.table[slot] = _NONE
    _enter(2 * root, np.int64(0), work)
    work.missing[0] = _UNSEEN
    work.state[0], work.state[1], work.state[2], work.state[3] = 0, 1, 0, 1


@kernel
def _is_unread(half, slides, count):
    """Whether one of the first `count` entries of a half is not there; marks all that are not."""
    unread = False
    for i in range(count):
        if code_at(half[5][0], half[6][0], slides[0, i]) == UNREAD:
            unread = True
    return unread


@kernel
def _search(turns, width, orbit, order, both, work):
    """Looks for a proof of the position entered: _PROVED, _REFUTED or _UNDECIDED.

    _WAITING if values are needed that are not there; once they are, it can be called again and goes
    on. turns: 1 where slides lead from one of `both` to the other, 0 where they stay in the first.
    width: slides of a won position that are followed. orbit, order: as in Numbering; both: of each
    subspace what `half_of` gives; work: as _Work says.
    """
    slides = work.slides
    seen, used, edges = work.state[0], work.state[1], work.state[2]
    complete = work.state[3] == 1
    while seen < used and edges + MOST_SLIDES <= work.source.size:
        place = work.places[seen]
        here, there = both[place & 1], both[(place & 1) ^ turns]
        mover, other = masks_of(here, place >> 1)
        best, count = derive(
            orbit, order, here[2], here[3], here[4], here[5], here[6], mover, other, slides[0]
        )
        stored = code_at(here[5][0], here[6][0], place >> 1)
        won = stored == WIN
        decided = won and best == 1
        if stored == UNREAD or best == UNREAD or (not decided and _is_unread(there, slides, count)):
            work.state[0], work.state[1], work.state[2] = seen, used, edges
            work.state[3] = np.int64(complete)
            return _WAITING
        if decided:
            kept = 0
        else:
            for i in range(count):
                if not won and code_at(there[5][0], there[6][0], slides[0, i]) != WIN:
                    return _REFUTED
            kept, narrowed = _keep_replies(
                there, slides, count, LOSS if won else WIN, width if won else MOST_SLIDES
            )
            complete &= not narrowed
            if (won and kept == 0) or (not won and best != -1):
                return _REFUTED
        work.missing[seen] = min(1, kept) if won else kept
        for i in range(kept):
            reply, more = _enter(2 * slides[0, i] + ((place & 1) ^ turns), used, work)
            if reply == _NONE:
                complete = False
                continue
            if more > used:
                work.missing[reply] = _UNSEEN
                used = more
            if work.missing[reply] == 0:
                work.missing[seen] = max(0, work.missing[seen] - 1)
            work.before[edges] = work.last[reply]
            work.source[edges] = seen
            work.last[reply] = edges
            edges += 1
        # From what is proved now back to all that it proves.
        waiting = 0
        if work.missing[seen] == 0:
            work.proved[0] = seen
            waiting = 1
        while waiting:
            waiting -= 1
            proved = work.proved[waiting]
            if proved == 0:
                return _PROVED
            edge = work.last[proved]
            while edge != _NONE:
                source = work.source[edge]
                edge = work.before[edge]
                if work.missing[source] > 0:
                    work.missing[source] -= 1
                    if work.missing[source] == 0:
                        work.proved[waiting] = source
                        waiting += 1
        seen += 1
    return _REFUTED if complete and seen == used else _UNDECIDED
