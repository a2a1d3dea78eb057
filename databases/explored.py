"""Sets of Lasca positions solved from one of them, as files that a look-up can search.

What is reached from a position of the real game fills no class densely, so such a set is stored as
the sorted packed positions (`engine.lasca.packing`) with value and plies. A file is

    magic 8 bytes, u32 format version, u32 header size, u32 CRC-32 of the header; the header, JSON;
    then the blocks: each a zstd frame with content size and checksum, of n entries: int64[n] high
    words, int64[n] low words, int8[n] values (1, 0, -1 for the player to move), uint16[n] plies,
    65535 where only the value is certain.

The header names game, rules and board, the position explored from, how many positions were found
and whether that is all, and for each block its size and its first position. All numbers are little
endian. Invariant: entries ascend over the whole file, and a file under its own name is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import zstandard

from databases.catalog import lasca_family
from databases.errors import CorruptTableError, UnsupportedVersionError, WrongRulesError
from databases.writer import TEMPORARY_SUFFIX, explained, sync_folder
from engine.lasca import Position
from engine.lasca.packing import LOW_BITS, pack

FOLDER = "lasca/explored"
SUFFIX = ".pos"
UNKNOWN_PLIES = 65535

_MAGIC = b"LASKPOS\x1a"
_VERSION = 1
_FRONT = struct.Struct("<8sIII")
_BLOCK_ENTRIES = 1 << 14
_COLUMNS = (("high", "<i8"), ("low", "<i8"), ("value", "i1"), ("plies", "<u2"))


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


def explored_path(root: Path, start: Position) -> Path:
    """The file of the set explored from a position; the same for its symmetric images."""
    digest = hashlib.sha256(f"{pack(start):x}".encode()).hexdigest()[:16]
    return root / FOLDER / f"{digest}{SUFFIX}"


def write_explored(root: Path, start: Position, found: PositionSet) -> Path:
    """Writes the set explored from `start`, replacing an older one; returns its file.

    Raises NoSpaceError, StoreAccessError.
    """
    path = explored_path(root, start)
    compressor = zstandard.ZstdCompressor(level=3, write_checksum=True, write_content_size=True)
    frames, firsts = [], []
    for first in range(0, found.high.size, _BLOCK_ENTRIES):
        span = slice(first, first + _BLOCK_ENTRIES)
        arrays = (getattr(found, name)[span].astype(kind) for name, kind in _COLUMNS)
        frames.append(compressor.compress(b"".join(array.tobytes() for array in arrays)))
        firsts.append(int(found.high[first]) << LOW_BITS | int(found.low[first]))
    family = lasca_family()
    header = json.dumps(
        {
            "game": family.game,
            "rules": dict(family.rules),
            "board": family.board,
            "start": str(start),
            "entries": int(found.high.size),
            "explored": found.explored,
            "complete": found.complete,
            "block_entries": _BLOCK_ENTRIES,
            "blocks": [
                {"size": len(frame), "first": f"{number:x}"}
                for frame, number in zip(frames, firsts, strict=True)
            ],
        }
    ).encode()
    front = _FRONT.pack(_MAGIC, _VERSION, len(header), zlib.crc32(header))
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.writelines((front, header, *frames))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):  # the error that led here is the one to report
                temporary.unlink()
            raise
    return path


class ExploredFile:
    """One file of explored positions.

    Raises CorruptTableError, UnsupportedVersionError and WrongRulesError; FileNotFoundError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            front = file.read(_FRONT.size)
            if len(front) < _FRONT.size or not front.startswith(_MAGIC):
                raise CorruptTableError(path, "front", "it is no set of explored positions")
            _, version, size, check = _FRONT.unpack(front)
            if version != _VERSION:
                raise UnsupportedVersionError(path, version, _VERSION)
            header = file.read(size)
        if len(header) != size or zlib.crc32(header) != check:
            raise CorruptTableError(path, "header", "checksum mismatch")
        self.header = json.loads(header)
        family = lasca_family()
        wanted = {"game": family.game, "rules": dict(family.rules), "board": family.board}
        for what, value in wanted.items():
            if self.header[what] != value:
                raise WrongRulesError(path, what, str(self.header[what]), str(value))
        self._firsts = [int(block["first"], 16) for block in self.header["blocks"]]
        self._sizes = [block["size"] for block in self.header["blocks"]]
        self._offsets = np.cumsum([_FRONT.size + size, *self._sizes]).tolist()

    def look_up(self, position: Position) -> tuple[int, int | None] | None:
        """As PositionSet.look_up. Raises CorruptTableError."""
        number = pack(position)
        # The last block that begins at or before the position.
        at = sum(first <= number for first in self._firsts) - 1
        return self.block(at).look_up(position) if at >= 0 else None

    def block(self, number: int) -> PositionSet:
        """The positions of one block. Raises CorruptTableError."""
        return _block(self, number)

    def read_block(self, number: int) -> PositionSet:
        """The positions of one block, read from the disk."""
        place = f"block {number}"
        with self.path.open("rb") as file:
            file.seek(self._offsets[number])
            frame = file.read(self._sizes[number])
        first = number * self.header["block_entries"]
        entries = min(self.header["block_entries"], self.header["entries"] - first)
        try:
            if zstandard.frame_content_size(frame) != entries * _entry_bytes():
                raise CorruptTableError(self.path, place, "it has not the size it should have")
            data = zstandard.ZstdDecompressor().decompress(frame)
        except zstandard.ZstdError as error:
            reason = f"it does not decompress: {error}"
            raise CorruptTableError(self.path, place, reason) from error
        arrays, start = [], 0
        for _, kind in _COLUMNS:
            arrays.append(np.frombuffer(data, kind, entries, start))
            start += arrays[-1].nbytes
        return PositionSet(*arrays, self.header["explored"], self.header["complete"])


def _entry_bytes() -> int:
    return sum(np.dtype(kind).itemsize for _, kind in _COLUMNS)


@lru_cache(maxsize=32)
def _block(file: ExploredFile, number: int) -> PositionSet:
    return file.read_block(number)


def explored_files(root: Path) -> list[Path]:
    """The files of explored positions under the folder of all tables, by name."""
    return sorted((root / FOLDER).glob(f"*{SUFFIX}"))


def look_up_explored(root: Path, position: Position) -> tuple[int, int | None] | None:
    """Value and plies of a position from any explored set that holds it, or None.

    A set that tells the plies is preferred. Raises as ExploredFile does.
    """
    best = None
    for path in explored_files(root):
        found = _opened(path, path.stat().st_mtime_ns).look_up(position)
        if found is not None and (best is None or best[1] is None):
            best = found
    return best


@lru_cache(maxsize=32)
def _opened(path: Path, _modified: int) -> ExploredFile:
    return ExploredFile(path)
