"""Turns the values, plies and keys of a section into the compressed blocks of a table file.

Invariant: a block depends on the entries in it and on nothing else, neither on the number of
threads nor on what was packed before; what is no section raises ValueError.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import zstandard

from databases import format as layout

# Blocks handed to a thread at once: enough that a task costs more than its hand-over, few enough
# that the queue stays small. The number has no influence on the bytes.
_BATCH_BLOCKS = 32


@dataclass(frozen=True, slots=True)
class Section:
    """The values or the distances of `entries` positions, in the order of their index.

    Bit i % 8 of byte i // 8 of `win` (`loss`) is set when position i is a win (loss) for the
    mover; a position in neither is a draw, one in both is an error, as are bits past the end.
    win, loss: uint8[ceil(entries / 8)]. plies: uint8 or uint16 [entries], 0 for draws and
    UNKNOWN_PLIES of format.py where not known, or None. keys: uint8[entries, bytes of a key], most
    significant byte first, ascending, or None where the index follows from the position.

    A section of distances alone has neither `win` nor `loss`, and any numbers as `plies`. One whose
    values and plies are stored together has `scores`, uint8 or uint16 [entries], and none of these:
    odd plies of a win, even plies of a loss, the greatest number of the dtype for a draw.
    """

    name: str
    entries: int
    win: np.ndarray | None
    loss: np.ndarray | None
    plies: np.ndarray | None = None
    keys: np.ndarray | None = None
    scores: np.ndarray | None = None

    @property
    def has_values(self) -> bool:
        """Whether the section holds values, not distances alone."""
        return self.win is not None or self.scores is not None

    @property
    def plies_bytes(self) -> int:
        """The bytes that each of the plies or scores takes: the file does not depend on their
        dtype."""
        if self.scores is not None:
            draw = np.iinfo(self.scores.dtype).max
            small = draw == 255 or self.scores.max(initial=0, where=self.scores != draw) < 255
            return 1 if small else 2
        if self.plies is None:
            return 0
        small = self.plies.dtype == np.uint8 or self.entries == 0
        return 1 if small or self.plies.max() < 256 else 2

    @property
    def key_bytes(self) -> int:
        """The bytes of each key."""
        return 0 if self.keys is None else self.keys.shape[1]


@dataclass(frozen=True, slots=True)
class PackedBlock:
    """One block ready for the file, with what the header needs to know about it."""

    frame: bytes  # empty when all entries are alike
    check: int  # CRC-32 of the frame, or the value that all entries have
    win: int = 0
    loss: int = 0
    longest_win: int = -1
    longest_loss: int = -1


def check_section(section: Section) -> None:
    """Raise ValueError unless the arrays of a section are of the right type and size."""
    if section.scores is not None:
        others = (section.win, section.loss, section.plies, section.keys)
        if any(array is not None for array in others):
            raise ValueError(f"section {section.name}: scores, and something else beside")
        _check_numbers(section, "scores", section.scores)
        return
    size = layout.bitmap_size(section.entries)
    planes = [plane for plane in (section.win, section.loss) if plane is not None]
    if len(planes) == 1 or not (planes or section.plies is not None):
        raise ValueError(f"section {section.name}: neither win and loss nor distances alone")
    for plane in planes:
        if plane.dtype != np.uint8 or plane.shape != (size,) or not plane.flags.c_contiguous:
            raise ValueError(f"section {section.name}: a bitmap must be contiguous uint8[{size}]")
        if section.entries % 8 and plane[-1] >> (section.entries % 8):
            raise ValueError(f"section {section.name}: bits set past its {section.entries} entries")
    if section.plies is not None:
        _check_numbers(section, "plies", section.plies)
    keys = section.keys
    if keys is not None and (
        keys.dtype != np.uint8
        or keys.ndim != 2
        or len(keys) != section.entries
        or not keys.flags.c_contiguous
    ):
        raise ValueError(f"section {section.name}: keys must be contiguous uint8, a row an entry")


def _check_numbers(section: Section, what: str, numbers: np.ndarray) -> None:
    if numbers.dtype not in (np.uint8, np.uint16) or numbers.shape != (section.entries,):
        raise ValueError(f"section {section.name}: {what} must be uint8 or uint16, one an entry")


class BlockPacker:
    """Packs the blocks of sections, in order, with a number of threads; a context manager."""

    def __init__(self, level: int, block_entries: int, threads: int) -> None:
        self._level = level
        self.block_entries = block_entries
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> BlockPacker:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def pack(self, section: Section) -> Iterator[list[PackedBlock]]:
        """The value blocks of a section, its plies blocks, its key blocks, or else its score
        blocks; some at a time."""
        span = _BATCH_BLOCKS * self.block_entries
        starts = range(0, section.entries, span)
        if section.scores is not None:
            pack_scores = partial(self._pack_scores, section.plies_bytes)
            return self._in_order([(pack_scores, section, start, start + span) for start in starts])
        calls = []
        if section.has_values:
            calls += [(self._pack_values, section, start, start + span) for start in starts]
        if section.plies is not None:
            pack = self._pack_plies if section.has_values else self._pack_distances
            pack_plies = partial(pack, section.plies_bytes)
            calls += [(pack_plies, section, start, start + span) for start in starts]
        if section.keys is not None:
            calls += [(self._pack_keys, section, start, start + span) for start in starts]
        return self._in_order(calls)

    def _in_order(
        self, calls: list[tuple[Callable, Section, int, int]]
    ) -> Iterator[list[PackedBlock]]:
        if self._pool is None or len(calls) == 1:
            for function, *arguments in calls:
                yield function(*arguments)
            return
        waiting: deque[Future[list[PackedBlock]]] = deque()
        for call in calls:
            waiting.append(self._pool.submit(*call))
            if len(waiting) > 2 * self._threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _compressor(self) -> zstandard.ZstdCompressor:
        # A new one for each batch: a compressor may serve one thread at a time only, and what it
        # did before can then have no influence on its output.
        return zstandard.ZstdCompressor(
            level=self._level, write_checksum=True, write_content_size=True
        )

    def _blocks(self, section: Section, start: int, stop: int) -> Iterator[tuple[int, int]]:
        stop = min(stop, section.entries)
        for first in range(start, stop, self.block_entries):
            yield first, min(first + self.block_entries, stop)

    def _pack_values(self, section: Section, start: int, stop: int) -> list[PackedBlock]:
        compressor = self._compressor()
        packed = []
        for first, last in self._blocks(section, start, stop):
            win = section.win[first // 8 : layout.bitmap_size(last)]
            loss = section.loss[first // 8 : layout.bitmap_size(last)]
            wins, losses = _count(win), _count(loss)
            if wins and losses and np.bitwise_and(win, loss).any():
                raise ValueError(f"section {section.name}: a position is both won and lost")
            alike = {
                (0, 0): layout.DRAW,
                (last - first, 0): layout.WIN,
                (0, last - first): layout.LOSS,
            }
            value = alike.get((wins, losses))
            if value is not None:
                packed.append(PackedBlock(b"", value, wins, losses))
                continue
            frame = compressor.compress(np.concatenate((win, loss)))
            packed.append(PackedBlock(frame, zlib.crc32(frame), wins, losses))
        return packed

    def _pack_plies(
        self, plies_bytes: int, section: Section, start: int, stop: int
    ) -> list[PackedBlock]:
        compressor = self._compressor()
        packed = []
        for first, last in self._blocks(section, start, stop):
            plies = section.plies[first:last]
            decided = []
            for plane in (section.win, section.loss):
                bits = plane[first // 8 : layout.bitmap_size(last)]
                decided.append(
                    np.unpackbits(bits, bitorder="little", count=last - first).view(bool)
                )
            if plies[~(decided[0] | decided[1])].any():
                raise ValueError(f"section {section.name}: a draw has plies")
            known = plies != layout.UNKNOWN_PLIES
            longest = [
                int(plies[mask & known].max()) if (mask & known).any() else -1 for mask in decided
            ]
            if (plies == plies[0]).all():
                packed.append(PackedBlock(b"", int(plies[0]), 0, 0, *longest))
                continue
            frame = compressor.compress(_planes_of(plies, plies_bytes))
            packed.append(PackedBlock(frame, zlib.crc32(frame), 0, 0, *longest))
        return packed

    def _pack_scores(
        self, width: int, section: Section, start: int, stop: int
    ) -> list[PackedBlock]:
        compressor = self._compressor()
        draw = layout.draw_score(width)
        packed = []
        for first, last in self._blocks(section, start, stop):
            scores = section.scores[first:last]
            if scores.dtype == np.uint16 and width == 1:
                scores = np.minimum(scores, draw)  # the draws
            numbers = np.bincount(scores, minlength=draw + 1)
            counts = []
            longest = []
            for of_value in (numbers[1:draw:2], numbers[0:draw:2]):
                counts.append(int(of_value.sum()))
                found = np.flatnonzero(of_value)
                longest.append(2 * int(found[-1]) if found.size else -1)
            longest[0] += longest[0] >= 0  # the odd ones, counted from 1
            alike = scores[0] if numbers[scores[0]] == scores.size else None
            if alike is not None:
                packed.append(PackedBlock(b"", int(alike), *counts, *longest))
                continue
            frame = compressor.compress(_planes_of(scores, width))
            packed.append(PackedBlock(frame, zlib.crc32(frame), *counts, *longest))
        return packed

    def _pack_distances(
        self, plies_bytes: int, section: Section, start: int, stop: int
    ) -> list[PackedBlock]:
        compressor = self._compressor()
        packed = []
        for first, last in self._blocks(section, start, stop):
            plies = section.plies[first:last]
            longest = int(plies.max())
            if plies.min() == longest:
                packed.append(PackedBlock(b"", longest, longest_win=longest or -1))
                continue
            frame = compressor.compress(_planes_of(plies, plies_bytes))
            packed.append(PackedBlock(frame, zlib.crc32(frame), longest_win=longest))
        return packed

    def _pack_keys(self, section: Section, start: int, stop: int) -> list[PackedBlock]:
        compressor = self._compressor()
        # With the last key before, so that the order is checked across blocks too. As strings of
        # a fixed length keys compare byte by byte.
        rows = section.keys[max(0, start - 1) : stop]
        keys = rows.view(f"S{rows.shape[1]}")[:, 0]
        if not (keys[1:] > keys[:-1]).all():
            raise ValueError(f"section {section.name}: keys do not ascend")
        packed = []
        for first, last in self._blocks(section, start, stop):
            # All first bytes, then all second bytes: neighbouring keys begin alike.
            frame = compressor.compress(np.ascontiguousarray(section.keys[first:last].T))
            packed.append(PackedBlock(frame, zlib.crc32(frame)))
        return packed


def _planes_of(plies: np.ndarray, plies_bytes: int) -> np.ndarray:
    """The low bytes of all plies, then, if they are stored, the high bytes: uint8[...].

    So alike stands beside alike. What is stored as it is, is not copied.
    """
    if plies_bytes == 1:
        return np.ascontiguousarray(plies, np.uint8)
    return np.concatenate([(plies >> 8 * byte).astype(np.uint8) for byte in range(plies_bytes)])


def _count(plane: np.ndarray) -> int:
    """The number of bits set in a bitmap, uint8[...]; an empty one, a usual case, is quick."""
    if not plane.max():
        return 0
    whole = plane.size // 8 * 8
    words = np.bitwise_count(plane[:whole].view(np.uint64)).sum(dtype=np.int64)
    return int(words + np.bitwise_count(plane[whole:]).sum(dtype=np.int64))
