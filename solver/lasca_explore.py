"""Solving Lasca from one position: all that can be reached from it, explored and solved.

Positions are found breadth first, packed as `engine.lasca.packing` says, the smaller of two mirror
images, in two words: `high` holds squares and ends of columns, `low` White's men and officers. A
hash table finds a position again. When nothing new is found the set is closed, and the plain engine
solves it as one class.

When the bound on positions is met first, the positions not expanded can have any value, so every
position is solved twice: as if each open end were best for the player to move, and as if it were
worst. Who moves changes with each ply, so the best of one leads to the worst of the next, and the
two make one class of twice the size. Invariant: value (plies) of a position are given only where
both agree on them, that is where no play beyond the bound can change them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from databases.explored import UNKNOWN_PLIES, PositionSet
from databases.probe import Value
from engine.lasca import Position, Rules
from engine.lasca.packing import MEN
from solver.errors import ResourceError
from solver.lasca_kernels import (
    _COUNT,
    _LOW,
    _MIRROR,
    _RANKS,
    _TOP,
    MAX_MOVES,
    OTHER,
    OWN,
    RECORD,
    _lowest,
    _mirrored_mask,
    _moves,
    _popcount,
    to_position,
    to_record,
)
from solver.progress import Progress
from solver.retrograde import DRAW, LOSS, WIN, Expansion, solve
from solver.room import Estimate

DEFAULT_MOST_POSITIONS = 10_000_000

# At most, a position: on disk, and in memory where the bound is met (90 measured from the start of
# the game; positions with more moves take more).
_DISK_BYTES = 4
_MEMORY_BYTES = 160

_CALIBRATION_POSITIONS = 100_000

_FIRST_CAPACITY = 1 << 14
_MOST_POSITIONS = (1 << 31) - 1  # the engine numbers twice as many with 32 bits
_CHUNK = 1 << 18  # positions expanded between two reports of progress
_EMPTY = -1
_MAN_MASK = (1 << MEN) - 1


class UnknownValueError(ResourceError):
    """The positions explored do not force the value that was asked for."""


class Explored(PositionSet):
    """The positions found from one whose values are certain."""

    def probe(self, position: Position, rules: Rules | None = None) -> Value:
        """Value and plies of a position; plies are None for a draw or where not certain.

        Raises UnknownValueError where the explored positions do not force the value.
        """
        found = self.look_up(position)
        if found is None:
            raise UnknownValueError(f"{position}: unknown within {self.explored:,} positions")
        return Value(*found)

    def settles(self, position: Position) -> bool:
        """Whether value and plies of a position are certain."""
        found = self.look_up(position)
        return found is not None and (found[0] == DRAW or found[1] is not None)


def solve_from(
    position: Position,
    max_positions: int = DEFAULT_MOST_POSITIONS,
    progress: Progress | None = None,
) -> Explored:
    """Explores what can be reached from a position, at most `max_positions`, and solves it.

    Stops early when what was explored so far settles, with plies, the position and each of its
    moves: that is tried at the first positions and whenever there are four times as many. Raises
    UnknownValueError when the bound is met and what was explored does not force the value of the
    position itself, ValueError for a bound below 1.
    """
    if not 1 <= max_positions <= _MOST_POSITIONS:
        raise ValueError(f"the bound must be 1 to {_MOST_POSITIONS:,} positions")
    progress = progress or Progress(quiet=True)
    progress.begin(max_positions, "explored")
    after = [position, *(q for _, q in position.successors())]
    exploration = _Exploration(position)
    try:
        bound = _FIRST_CAPACITY // 4
        while True:
            bound = min(4 * bound, max_positions)
            exploration.go_on(bound, progress)
            found = _solved(exploration.graph())
            if found.complete or bound == max_positions or all(map(found.settles, after)):
                break
    finally:
        progress.end()
    found.probe(position)
    return found


def positions_within(memory: int) -> int:
    """How many positions may be explored within so many bytes, at least 1."""
    return max(1, min(memory // _MEMORY_BYTES, _MOST_POSITIONS))


def estimate_from(max_positions: int = DEFAULT_MOST_POSITIONS) -> Estimate:
    """What `solve_from` takes at most, from a short measurement on this machine."""
    exploration = _Exploration(Position.START)
    exploration.go_on(1, Progress(quiet=True))
    _solved(exploration.graph())  # now all is compiled
    began = time.perf_counter()
    exploration.go_on(_CALIBRATION_POSITIONS, Progress(quiet=True))
    _solved(exploration.graph())
    seconds = time.perf_counter() - began
    return Estimate(
        tables=1,
        positions=max_positions,
        disk=max_positions * _DISK_BYTES,
        memory=max_positions * _MEMORY_BYTES,
        seconds=seconds * max_positions / _CALIBRATION_POSITIONS,
    )


@dataclass
class _Graph:
    """Explored positions in the order found, and the moves of the first `expanded` of them.

    high, low: int64[n]. Moves of position i: successors[offsets[i]:offsets[i + 1]].
    """

    high: np.ndarray
    low: np.ndarray
    offsets: np.ndarray
    successors: np.ndarray
    expanded: int

    @property
    def size(self) -> int:
        return self.high.size

    @property
    def complete(self) -> bool:
        return self.expanded == self.size


class _ClosedGame:
    """A graph without open ends, for the engine."""

    def __init__(self, graph: _Graph) -> None:
        self.size = graph.size
        self._graph = graph

    def expand(self, start: int, stop: int) -> Expansion:
        graph, count = self._graph, stop - start
        offsets = graph.offsets[start : stop + 1]
        return Expansion(
            np.full(count, LOSS, np.int8),
            np.zeros(count, np.uint16),
            offsets - offsets[0],
            graph.successors[offsets[0] : offsets[-1]],
        )


class _BoundedGame:
    """A graph with open ends, each position twice: i at its best for the mover, n + i at worst.

    An open end wins in one ply at best and has lost at worst, the soonest that can be, so that
    distances too are bounds: a value whose distance agrees in both is exact.
    """

    def __init__(self, graph: _Graph) -> None:
        self.size = 2 * graph.size
        self._graph = graph

    def expand(self, start: int, stop: int) -> Expansion:
        graph, count = self._graph, stop - start
        outcome = np.empty(count, np.int8)
        plies = np.empty(count, np.uint16)
        offsets = np.empty(count + 1, np.int64)
        _count_moves(start, graph.size, graph.expanded, graph.offsets, outcome, plies, offsets)
        successors = np.empty(offsets[-1], np.uint32)
        _copy_moves(start, graph.size, graph.offsets, graph.successors, offsets, successors)
        return Expansion(outcome, plies, offsets, successors)


class _Exploration:
    """Positions found breadth first from one; it can be gone on with under a higher bound."""

    def __init__(self, position: Position) -> None:
        capacity = _FIRST_CAPACITY
        self._record = to_record(position)
        self._board = np.empty(RECORD, np.int32)
        self._after = np.empty((MAX_MOVES, RECORD), np.int32)
        self._high, self._low = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        self._offsets = np.zeros(capacity + 1, np.int64)
        self._successors = np.empty(8 * capacity, np.uint32)
        self._table = _hash_table(self._high[:0], self._low[:0], capacity)
        key = _canonical(self._record)
        _find_or_add(*key, 0, 1, self._high, self._low, self._table)
        self._count, self._expanded = 1, 0

    def go_on(self, most: int, progress: Progress) -> None:
        """Finds more positions, until there are `most` or no more to find."""
        reason = _PAUSED
        while reason not in (_CLOSED, _BOUND):
            before = self._count
            self._count, self._expanded, reason = _explore(
                before, self._expanded, self._expanded + _CHUNK, most, self._high, self._low,
                self._table, self._offsets, self._successors, self._record, self._board,
                self._after,
            )  # fmt: skip
            progress.advance(self._count - before)
            if reason == _TOO_MANY_MOVES:
                position = to_position(self._record)
                raise OverflowError(f"more than {MAX_MOVES} moves in {position}")
            if reason == _POSITIONS_FULL:
                capacity = 2 * self._high.size
                self._high, self._low = _grown(self._high, capacity), _grown(self._low, capacity)
                self._offsets = _grown(self._offsets, capacity + 1)
                self._table = _hash_table(
                    self._high[: self._count], self._low[: self._count], capacity
                )
            elif reason == _MOVES_FULL:
                self._successors = _grown(self._successors, self._successors.size * 3 // 2)

    def graph(self) -> _Graph:
        """What was found so far; it shares the memory of this object."""
        offsets = self._offsets[: self._expanded + 1]
        return _Graph(
            self._high[: self._count],
            self._low[: self._count],
            offsets,
            self._successors[: offsets[-1]],
            self._expanded,
        )


def _solved(graph: _Graph) -> Explored:
    """Solves a graph and sorts what is certain."""
    size = graph.size
    value, plies = solve(_ClosedGame(graph) if graph.complete else _BoundedGame(graph))
    certain = np.arange(size)
    if not graph.complete:
        certain = np.flatnonzero(value[:size] == value[size:])
        plies = np.where(plies[:size] == plies[size:], plies[:size], UNKNOWN_PLIES)
    order = certain[np.lexsort((graph.low[certain], graph.high[certain]))]
    return Explored(
        graph.high[order],
        graph.low[order],
        value[order],
        plies[order].astype(np.uint16),
        size,
        graph.complete,
    )


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    grown = np.empty(size, array.dtype)
    grown[: array.size] = array
    return grown


def _hash_table(high: np.ndarray, low: np.ndarray, capacity: int) -> np.ndarray:
    """int32[power of two]: the numbers of the positions by hash, at most half full at capacity."""
    table = np.full(1 << (2 * capacity - 1).bit_length(), _EMPTY, np.int32)
    _enter_all(high, low, table)
    return table


_PAUSED, _CLOSED, _BOUND, _POSITIONS_FULL, _MOVES_FULL, _TOO_MANY_MOVES = range(6)


@njit(cache=True, nogil=True)
def _key(record, mirror):
    """The packed position (high, low), int64 each, of a record or of its mirror image."""
    own, occupied = np.int64(record[OWN]), np.int64(record[OWN]) | np.int64(record[OTHER])
    if mirror:
        own, occupied = _mirrored_mask(own), _mirrored_mask(occupied)
    lasts = white = officers = men = np.int64(0)
    rest = occupied
    while rest:
        s = _lowest(rest)
        rest &= rest - 1
        code = np.int64(record[_MIRROR[s] if mirror else s])
        top, low = code >> _TOP & _COUNT, code >> _LOW
        officers |= (code & _RANKS) << men
        if own >> s & 1:
            white |= ((1 << top) - 1) << men
        else:
            white |= ((1 << low) - 1) << (men + top)
        men += top + low
        lasts |= np.int64(1) << (men - 1)
    return occupied << MEN | lasts, white << MEN | officers


@njit(cache=True, nogil=True)
def _canonical(record):
    """The smaller of the packed positions of a record and its mirror image."""
    occupied = np.int64(record[OWN]) | np.int64(record[OTHER])
    image = _mirrored_mask(occupied)
    if occupied != image:
        return _key(record, image < occupied)
    high, low = _key(record, False)
    other_high, other_low = _key(record, True)
    if other_high < high or (other_high == high and other_low < low):
        return other_high, other_low
    return high, low


@njit(cache=True, nogil=True)
def _unpack(high, low, record):
    """Writes the record (int32[27]) of a packed position."""
    officers, white = low & _MAN_MASK, low >> MEN
    lasts, occupied = high & _MAN_MASK, high >> MEN
    record[:] = 0
    own = np.int64(0)
    rest = occupied
    while rest:
        s = _lowest(rest)
        rest &= rest - 1
        men = _lowest(lasts) + 1
        everyone = (np.int64(1) << men) - 1
        whites = _popcount(white & everyone)
        top, bottom = men - whites, whites
        if white & 1:
            own |= np.int64(1) << s
            top, bottom = whites, men - whites
        record[s] = (officers & everyone) | top << _TOP | bottom << _LOW
        officers >>= men
        white >>= men
        lasts >>= men
    record[OWN], record[OTHER] = own, occupied ^ own


@njit(cache=True, nogil=True)
def _slot(high, low, slots):
    """Where the search for a packed position begins in a hash table of 2**k slots."""
    word = np.uint64(high) * np.uint64(0x9E3779B97F4A7C15)
    word ^= np.uint64(low) * np.uint64(0xC2B2AE3D27D4EB4F)
    word ^= word >> np.uint64(29)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(32)
    return np.int64(word & np.uint64(slots - 1))


@njit(cache=True, nogil=True)
def _find_or_add(key_high, key_low, count, most, high, low, table):
    """The number of a packed position, `count` when it is new and was added; -1 if it is new but
    there are `most` already. high, low: int64[at least most]; table: int32[2**k]."""
    at = _slot(key_high, key_low, table.size)
    while table[at] != _EMPTY:
        found = np.int64(table[at])
        if high[found] == key_high and low[found] == key_low:
            return found
        at = (at + 1) & (table.size - 1)
    if count == most:
        return np.int64(-1)
    table[at] = count
    high[count], low[count] = key_high, key_low
    return np.int64(count)


@njit(cache=True, nogil=True)
def _enter_all(high, low, table):
    """Enters all packed positions (int64[n] twice, all different) into an empty table."""
    for i in range(high.size):
        at = _slot(high[i], low[i], table.size)
        while table[at] != _EMPTY:
            at = (at + 1) & (table.size - 1)
        table[at] = i


@njit(cache=True, nogil=True)
def _explore(
    count, expanded, upto, most, high, low, table, offsets, successors, record, board, after
):
    """Expands positions in the order found, up to number `upto`; the arrays as in _Graph.

    Returns (positions found, positions expanded, why it ended). A position for whose moves there
    was no room is not expanded; those of its successors that were new stay found.
    """
    used = offsets[expanded]
    room = min(most, high.size)
    while expanded < count:
        if expanded == upto:
            return count, expanded, _PAUSED
        _unpack(high[expanded], low[expanded], record)
        moves = _moves(record, board, after)
        if moves < 0:
            return count, expanded, _TOO_MANY_MOVES
        if used + moves > successors.size:
            return count, expanded, _MOVES_FULL
        for k in range(moves):
            key_high, key_low = _canonical(after[k])
            found = _find_or_add(key_high, key_low, count, room, high, low, table)
            if found < 0:
                return count, expanded, _BOUND if count == most else _POSITIONS_FULL
            count += found == count
            successors[used + k] = found
        used += moves
        expanded += 1
        offsets[expanded] = used
    return count, expanded, _CLOSED


@njit(cache=True, nogil=True)
def _count_moves(start, size, expanded, graph_offsets, outcome, plies, offsets):
    """Writes outcome int8[n], plies uint16[n] and offsets int64[n + 1] of positions `start` on of
    a _BoundedGame over a graph of `size` positions."""
    offsets[0] = 0
    for i in range(outcome.size):
        position = (start + i) % size
        outcome[i], plies[i] = LOSS, 0
        offsets[i + 1] = offsets[i]
        if position < expanded:
            offsets[i + 1] += graph_offsets[position + 1] - graph_offsets[position]
        elif start + i < size:
            outcome[i], plies[i] = WIN, 1


@njit(cache=True, nogil=True)
def _copy_moves(start, size, graph_offsets, graph_successors, offsets, successors):
    """Writes the moves (uint32) of positions `start` on of a _BoundedGame to where offsets say:
    from the best half to the worst and back."""
    for i in range(offsets.size - 1):
        best = start + i < size
        first = graph_offsets[(start + i) % size] if offsets[i + 1] > offsets[i] else 0
        for k in range(offsets[i + 1] - offsets[i]):
            target = np.int64(graph_successors[first + k])
            successors[offsets[i] + k] = target + size if best else target
