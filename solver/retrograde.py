"""The plain engine: exact retrograde analysis of one strongly connected class of any indexed game.

A *class* is a set of positions numbered 0..size-1, of which every move either stays inside
(an *internal* move, to another number) or leaves for positions that are solved already (an
*external* move, of which only the best outcome matters). The engine knows no game: it asks the
game for blocks of moves as plain arrays, so its kernels compile once for all games.

Values are for the player to move. Each decided position carries its distance in plies: a win is
1 + the least distance of a lost successor, a loss 1 + the greatest distance of its successors, a
player without any move has lost in 0. What is not decided by that least fixpoint is a draw.

The method is counting, in order of distance. A position that is open holds the number of its
internal successors not yet known to be won for the opponent; at nought it is lost. Round p
takes every position decided at distance p and tells its predecessors: a loss makes them won in
p + 1, a win takes one from their count. Invariant: when round p begins, all positions whose
distance is p or less have their final value and distance, for whatever could still improve
them (an external win is entered at its distance in advance) was told in an earlier round.

Where distances do not matter, or the count is to start again at external moves (distance to
conversion), the game reports its external outcomes with distance 1 and the rest is the same.

Positions wait in lists by the distance at which they are to tell. Invariant: a position decided and
not yet told is in the list of its distance; it may also stand in a later one, since an external win
was found too late, and is passed over there.

Predecessors are what the game's own `retract` lists, or else the engine reverses the moves itself.
Memory: one byte a position and one more per byte of `plies`, and four for a position that waits;
reversing costs four bytes a move and four a position (eight from 2**32 moves on), and while it is
done four more a position and at most `remember` bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

WIN, DRAW, LOSS = 1, 0, -1
HOLE = 2  # an index that stands for no position

# The state of an index while solving: 0 lost, 1..MAX_INTERNAL open with that many internal
# successors not known to be won by the opponent, or one of:
_LOST = 0
MAX_INTERNAL = 252
_SAFE = 253  # open, and never lost: an external move draws
_WON = 254
_HOLE = 255

MOST_POSITIONS = 1 << 32
"""A class has fewer positions than this."""

BLOCK = 1 << 15  # positions expanded, or predecessors asked for, at a time


class Expansion(NamedTuple):
    """The moves of the n positions start..stop-1 of a class.

    outcome: int8[n], what the external moves give at best: WIN (one wins), DRAW (none wins, one
        draws), LOSS (all lose, or there are none), or HOLE where the index is no position.
    plies: uint16[n], distance that goes with it, counted from this position (so the distance
        at the successor plus one): the least for WIN, the greatest for LOSS, 0 when there are no
        external moves or they draw.
    offsets: int64[n + 1], internal successors of position start + i are
        successors[offsets[i]:offsets[i + 1]]. A HOLE has none; a WIN in one ply need list none,
        since nothing inside can win sooner.
    successors: uint32[at least offsets[n]], indices; one listed twice counts twice.
    """

    outcome: np.ndarray
    plies: np.ndarray
    offsets: np.ndarray
    successors: np.ndarray


class IndexedGame(Protocol):
    """One class of a game, as the engine asks for it. `size` < MOST_POSITIONS."""

    size: int

    def expand(self, start: int, stop: int) -> Expansion:
        """The moves of positions start..stop-1. Pure: asked twice, it answers the same.

        The arrays are the engine's until the next call (so a game may reuse its buffers).
        """
        ...


class ReversibleGame(IndexedGame, Protocol):
    """A game that can also go backwards; spares the engine the reversed moves in memory."""

    def retract(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Internal predecessors of the positions `indices` (uint32[m]).

        Returns (offsets int64[m + 1], predecessors uint32[...]). A position must be listed as
        often as `expand` lists the successor for it: exactly the same moves, backwards.
        """
        ...


class Solution(NamedTuple):
    """value: int8[size], WIN, DRAW or LOSS for the player to move, HOLE at indices that are no
    position. plies: distance to the end where decided, else 0; the dtype asked for."""

    value: np.ndarray
    plies: np.ndarray


_Predecessors = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""From indices to (first, end, sources): sources[first[i]:end[i]] have a move to indices[i]."""


def solve(
    game: IndexedGame | ReversibleGame,
    plies_dtype: type = np.uint16,
    remember: int = 1 << 30,
) -> Solution:
    """The exact values and distances of one class.

    remember: bytes that may be spent on keeping the moves of a game without `retract` until they
        are reversed; those beyond are asked for a second time.
    Raises OverflowError when a distance does not fit `plies_dtype` (np.uint8 or np.uint16), and
    ValueError when the game lists more than MAX_INTERNAL internal successors for a position.
    """
    size = game.size
    if not 0 <= size < MOST_POSITIONS:
        raise ValueError(f"a class has fewer than 2**32 positions, not {size}")
    largest = int(np.iinfo(plies_dtype).max)
    state = np.empty(size, np.uint8)
    plies = np.empty(size, plies_dtype)
    decided = np.zeros(largest + 1, np.int64)  # how many, by distance
    reversal = None if hasattr(game, "retract") else _Reversal(size, remember)
    for start, stop, moves in _expansions(game, 0):
        error = _enter(*moves[:3], state[start:stop], plies[start:stop], decided)
        if error == _TOO_MANY:
            raise ValueError(f"over {MAX_INTERNAL} internal successors within {start}..{stop - 1}")
        _require(error != _TOO_FAR, plies_dtype)
        if reversal is not None:
            reversal.count(stop, moves)
    predecessors = _asking(game) if reversal is None else reversal.finish(game)

    waiting = _by_distance(state, plies, decided)
    while waiting:
        distance = min(waiting)
        those = np.concatenate(waiting.pop(distance))
        those.sort()  # so that what belongs to neighbours is read together
        for start in range(0, those.size, BLOCK):
            block = those[start : start + BLOCK]
            block = block[plies[block] == distance]
            first, end, sources = predecessors(block)
            told = np.empty(int((end - first).sum(dtype=np.int64)), np.uint32)
            count = int(_tell(block, first, end, sources, distance, state, plies, largest, told))
            _require(count != _TOO_FAR, plies_dtype)
            _wait(waiting, told[:count], plies[told[:count]], distance + 1)
    value = state.view(np.int8)
    _conclude(state, plies, value)
    return Solution(value, plies)


def _require(fits: bool, plies_dtype: type) -> None:
    if not fits:
        raise OverflowError(f"a distance does not fit {np.dtype(plies_dtype)}")


_Waiting = dict[int, list[np.ndarray]]
"""Positions by the distance at which they tell their predecessors, uint32[any] each."""


def _by_distance(state: np.ndarray, plies: np.ndarray, decided: np.ndarray) -> _Waiting:
    """All positions decided so far, of which there are decided[distance] (int64)."""
    ends = np.cumsum(decided)
    places = ends - decided
    listed = np.empty(int(ends[-1]), np.uint32)
    _list_decided(state, plies, places, listed)
    found = np.flatnonzero(decided)
    return {int(at): [listed[ends[at] - decided[at] : ends[at]]] for at in found}


def _wait(waiting: _Waiting, positions: np.ndarray, distances: np.ndarray, least: int) -> None:
    """Adds positions (uint32[n]) decided at these distances, nearly all of them the least."""
    late = distances != least
    if not late.all():
        waiting.setdefault(least, []).append(positions[~late])
    for distance in np.unique(distances[late]).tolist():
        waiting.setdefault(distance, []).append(positions[distances == distance])


def _expansions(game: IndexedGame, begin: int) -> Iterator[tuple[int, int, Expansion]]:
    """The moves of positions `begin` and up, in blocks: (start, stop, moves)."""
    for start in range(begin, game.size, BLOCK):
        stop = min(start + BLOCK, game.size)
        yield start, stop, game.expand(start, stop)


def _asking(game: ReversibleGame) -> _Predecessors:
    """Predecessors as the game itself lists them."""

    def predecessors(indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        offsets, sources = game.retract(indices)
        return offsets[:-1], offsets[1:], sources

    return predecessors


class _Reversal:
    """Lists all internal moves of a game by their target (compressed sparse rows).

    Two passes over the moves: the first counts those into each position, the second enters them.
    The first pass keeps what it saw, up to a bound in bytes.
    """

    def __init__(self, size: int, remember: int) -> None:
        self._counts = np.zeros(size, np.uint32)
        self._room = remember
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []  # a block's numbers of moves, moves
        self._kept_positions = 0

    def count(self, stop: int, moves: Expansion) -> None:
        """Takes notice of the moves of the next block, which ends before position `stop`."""
        first, end = int(moves.offsets[0]), int(moves.offsets[-1])
        successors = moves.successors[first:end]
        _count_targets(successors, self._counts)
        self._room -= successors.nbytes + len(moves.offsets)
        if self._room >= 0:
            self._kept.append((_numbers(moves.offsets), successors.copy()))
            self._kept_positions = stop

    def finish(self, game: IndexedGame) -> _Predecessors:
        """Predecessors by the moves listed backwards."""
        total = int(self._counts.sum(dtype=np.uint64))
        # bounds[i + 1] first is where the list of i begins. Entering a move puts it on by one, so
        # at last it is where the list of i ends and that of i + 1 begins.
        bounds = np.zeros(game.size + 1, np.uint32 if total < 1 << 32 else np.uint64)
        np.cumsum(self._counts[:-1], out=bounds[2:])
        del self._counts
        sources = np.empty(total, np.uint32)
        self._kept.reverse()
        start = 0
        while self._kept:
            numbers, successors = self._kept.pop()
            _enter_sources(start, numbers, successors, bounds, sources)
            start += len(numbers)
        for start, _, moves in _expansions(game, self._kept_positions):
            successors = moves.successors[moves.offsets[0] :]
            _enter_sources(start, _numbers(moves.offsets), successors, bounds, sources)

        def predecessors(indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return bounds[indices], bounds[indices + np.uint32(1)], sources

        return predecessors


def _numbers(offsets: np.ndarray) -> np.ndarray:
    """uint8[n]: how many moves each position has, at most MAX_INTERNAL."""
    return np.diff(offsets).astype(np.uint8)


_TOO_MANY, _TOO_FAR = -2, -3


@njit(cache=True, nogil=True)
def _enter(outcome, external, offsets, state, plies, decided):
    """Enters what the external moves decide for one block.

    outcome int8[n], external uint16[n], offsets int64[n + 1] as in Expansion; writes state
    uint8[n] and plies uint8/16[n], and adds to decided (int64, by distance, as many as fit plies).
    An open position keeps in `plies` the distance below which it can't be lost: its longest
    external loss. Returns 0, _TOO_MANY or _TOO_FAR.
    """
    for i in range(outcome.size):
        internal = offsets[i + 1] - offsets[i]
        if internal > MAX_INTERNAL:
            return _TOO_MANY
        distance = np.int64(external[i])
        if distance >= decided.size:
            return _TOO_FAR
        plies[i] = distance
        if outcome[i] == HOLE:
            state[i] = _HOLE
        elif outcome[i] == WIN:
            state[i] = _WON
        elif outcome[i] == DRAW:
            state[i] = _SAFE
        else:
            state[i] = internal
        if state[i] == _WON or state[i] == _LOST:
            decided[distance] += 1
    return 0


@njit(cache=True, nogil=True)
def _list_decided(state, plies, places, listed):
    """Lists the decided positions by distance: those at d from listed[places[d]] on.

    places int64 by distance, is changed; listed uint32[all of them].
    """
    for i in range(state.size):
        if state[i] == _WON or state[i] == _LOST:
            listed[places[plies[i]]] = i
            places[plies[i]] += 1


@njit(cache=True, nogil=True)
def _tell(block, first, end, sources, distance, state, plies, largest, told):
    """Tells the predecessors of the positions `block` (uint32[m], at `distance`) their values.

    The predecessors of block[i] are sources[first[i]:end[i]]. Writes those that this decides to
    told (uint32, room for all) and returns how many, or _TOO_FAR when distance + 1 exceeds
    `largest`.
    """
    count = 0
    reached = distance + 1
    for i in range(block.size):
        lost = state[block[i]] == _LOST
        for at in range(first[i], end[i]):
            source = sources[at]
            if lost:
                # An open position is now won; one won through an external move maybe sooner.
                if state[source] == _WON and plies[source] <= reached:
                    continue
                state[source] = _WON
                entered = reached
            elif state[source] <= MAX_INTERNAL:
                state[source] -= 1
                if state[source] != _LOST:
                    continue
                entered = max(np.int64(plies[source]), reached)
            else:
                continue
            if entered > largest:
                return _TOO_FAR
            plies[source] = entered
            told[count] = source
            count += 1
    return count


@njit(cache=True, nogil=True)
def _conclude(state, plies, value):
    """Turns states (uint8[n]) into values (int8[n], may be the same memory); open is a draw."""
    for i in range(state.size):
        found = state[i]
        if found == _WON:
            value[i] = WIN
        elif found == _LOST:
            value[i] = LOSS
        else:
            value[i] = HOLE if found == _HOLE else DRAW
            plies[i] = 0


@njit(cache=True, nogil=True)
def _count_targets(successors, counts):
    """Adds one to counts (uint32[size]) for each move in successors (uint32[m])."""
    for target in successors:
        counts[target] += np.uint32(1)


@njit(cache=True, nogil=True)
def _enter_sources(start, numbers, successors, bounds, sources):
    """Enters the sources of moves in the lists of their targets, each at bounds[target + 1].

    The positions from `start` on have numbers[0], numbers[1], ... (uint8[n]) of the moves in
    successors (uint32). bounds uint32/64[size + 1], sources uint32[all moves].
    """
    at = 0
    for i in range(numbers.size):
        for _ in range(numbers[i]):
            place = successors[at] + 1
            at += 1
            sources[bounds[place]] = start + i
            bounds[place] += 1
