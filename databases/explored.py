"""Sets of Lasca positions solved from one of them, kept as tables that are searched by key.

What is reached from a position of the real game fills no class densely, so the table of such a set
holds the packed positions themselves (`engine.lasca.packing`) as ascending keys beside value and
plies. Each set is a table of its own, named after the position it was explored from.

Invariant: a set says of each position what is certain whatever lies beyond it, so several sets that
hold a position never contradict each other; one may know the plies where another does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from databases.catalog import explored_family
from databases.format import UNKNOWN_PLIES
from databases.pack import Section
from databases.reader import TableFile
from databases.store import Store
from engine.lasca import Position
from engine.lasca.packing import LOW_BITS, pack

EXPLORED_SECTION = "white"
"""The one section of such a table: the positions as they are packed, White to move."""

_KEY_BYTES = 12


@dataclass(frozen=True)
class PositionSet:
    """Solved positions, ascending by (high, low).

    high, low: int64[n], the packed positions; value: int8[n], 1, 0 or -1 for the player to move;
    plies: uint16[n], 0 for draws, UNKNOWN_PLIES where only the value is certain. explored: how
    many positions were found; complete: whether these are all that can be reached.
    """

    high: np.ndarray
    low: np.ndarray
    value: np.ndarray
    plies: np.ndarray
    explored: int
    complete: bool

    def look_up(self, position: Position) -> tuple[int, int | None] | None:
        """Value and plies of a position (plies None for a draw and where not certain), or None."""
        number = pack(position)
        high, low = number >> LOW_BITS, number & (1 << LOW_BITS) - 1
        first, end = (int(np.searchsorted(self.high, high, side)) for side in ("left", "right"))
        at = first + int(np.searchsorted(self.low[first:end], low))
        if at == end or self.low[at] != low:
            return None
        value, plies = int(self.value[at]), int(self.plies[at])
        return value, None if value == 0 or plies == UNKNOWN_PLIES else plies

    def keys(self) -> np.ndarray:
        """uint8[n, bytes of a key]: the packed positions, most significant byte first."""
        numbers = np.empty((self.high.size, 2), ">u8")
        # The two words of LOW_BITS and more bits, pushed together.
        high, low = self.high.astype(np.uint64), self.low.astype(np.uint64)
        numbers[:, 0] = high >> np.uint64(64 - LOW_BITS)
        numbers[:, 1] = high << np.uint64(LOW_BITS) | low
        return np.ascontiguousarray(numbers.view(np.uint8)[:, 16 - _KEY_BYTES :])


def key_of(position: Position) -> bytes:
    """The key of a position: the same for its mirror image and its colour-swapped half turn."""
    return pack(position).to_bytes(_KEY_BYTES, "big")


def table_name(start: Position) -> str:
    """The table of the set explored from a position; the same for its symmetric images."""
    return hashlib.sha256(key_of(start)).hexdigest()[:16]


def write_explored(root: Path, start: Position, found: PositionSet) -> None:
    """Write the set explored from `start`, replacing an older one.

    Raises StoreBusyError, NoSpaceError, StoreAccessError.
    """
    win, loss = (np.packbits(found.value == value, bitorder="little") for value in (1, -1))
    section = Section(EXPLORED_SECTION, found.value.size, win, loss, found.plies, keys=found.keys())
    about = {"start": str(start), "explored": found.explored, "complete": found.complete}
    store = Store(root, explored_family())
    with store.lock():
        store.write(table_name(start), [section], about=about)


def explored_tables(root: Path) -> Iterator[str]:
    """The names of the tables of explored sets under the folder of all tables, in order."""
    family = explored_family()
    for path in sorted((root / family.folder).glob(f"*{family.suffix}")):
        if path.is_file():
            yield path.name.removesuffix(family.suffix)


def look_up_in(table: TableFile, position: Position) -> tuple[int, int | None] | None:
    """As PositionSet.look_up, from an open table. Raises CorruptTableError."""
    index = table.find(EXPLORED_SECTION, key_of(position))
    if index is None:
        return None
    return table.value(EXPLORED_SECTION, index), table.plies(EXPLORED_SECTION, index)
