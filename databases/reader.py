"""Reads one table file: single values, whole sections as bitmaps, and a check of every block.

Invariant: what is returned has passed the checks of format.py, down to the block it came from;
anything else raises CorruptTableError naming file and block. Damaged bytes never give a value.
Reads go through pread on one descriptor, so a TableFile may be used from several threads; it must
not be closed while one of them still reads.
"""

from __future__ import annotations

import os
import stat
import threading
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import zstandard

from databases import format as layout
from databases.errors import CorruptTableError, WrongRulesError

if TYPE_CHECKING:
    from databases.cache import BlockCache

# Blocks read and decompressed by a thread at once.
_BATCH_BLOCKS = 32

# A named pipe in the place of a table must not make the opening wait.
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

# Read at once from the end of a file when it is opened.
_TAIL_SIZE = 1 << 16

_T = TypeVar("_T")

_local = threading.local()  # a decompressor may serve one thread at a time only


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    return _local.decompressor


@dataclass(frozen=True, slots=True)
class _Part:
    """The run of blocks of one kind in one section: its "values", "plies", "keys" or "scores"."""

    info: layout.SectionInfo
    kind: str
    first_block: int

    @property
    def largest(self) -> int:
        """The greatest number that may stand for a block whose entries are all alike."""
        if self.kind == "keys":
            return -1  # keys are never alike
        return layout.WIN if self.kind == "values" else 256**self.info.plies_bytes - 1

    def place(self, number: int) -> str:
        """The name of block `number` in error messages."""
        return f"block {number} of the {self.kind} of section {self.info.name}"


@dataclass(frozen=True, slots=True)
class _Checked:
    """What one block adds to the counts and to the content checksum of its section.

    greatest: the greatest entry of a block of distances alone, else 0.
    """

    win: int
    loss: int
    greatest: int
    content: tuple[bool, int]


class TableFile:
    """An open table file.

    `header` is what the file says about itself, `sections` the SectionInfo of each section by
    name, in the order of the file, `size` the bytes of the file. `value`, `plies` and `find` keep
    the blocks they read in `cache`, if there is one. Raises OSError when there is no such file or
    it may not be opened, CorruptTableError, or UnsupportedVersionError. Opening reads the ends of
    the file only.

    >>> with TableFile(Path("morris/board/r03c03k03.wdl")) as table:  # doctest: +SKIP
    ...     table.value("R3", 0)
    1
    """

    def __init__(self, path: Path | str, cache: BlockCache | None = None) -> None:
        self.path = Path(path)
        self._cache = cache
        self._descriptor = os.open(self.path, _OPEN_FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise CorruptTableError(self.path, "front", "it is no regular file")
            self._stamp = self._stat()
            self._read_ends()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> TableFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def resume(self) -> bool:
        """Open the file again after `close`; whether it is still there and the same.

        If not, it stays closed. Raises OSError when too many files are open.
        """
        try:
            self._descriptor = os.open(self.path, _OPEN_FLAGS)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return False
        if self._stat() == self._stamp:
            return True
        self.close()
        return False

    def require(
        self,
        *,
        game: str,
        rules: Mapping[str, object] | None = None,
        fingerprint: str | None = None,
        name: str | None = None,
        contents: str | None = None,
    ) -> None:
        """Raise WrongRulesError, naming both sides, unless this is the table asked for.

        contents: what its sections hold, VALUES or DISTANCES of format.py.
        """
        wanted = {
            "game": game,
            "rules": rules,
            "board fingerprint": fingerprint,
            "name": name,
            "contents": contents,
        }
        header = self.header
        found = {
            "game": header.game,
            "rules": dict(header.rules),
            "board fingerprint": header.board,
            "name": header.name,
            "contents": " and ".join(sorted({info.contents for info in header.sections})),
        }
        for what, want in wanted.items():
            if want is not None and found[what] != (dict(want) if what == "rules" else want):
                raise WrongRulesError(self.path, what, str(found[what]), str(want))

    def value(self, section: str, index: int) -> int:
        """The value -1, 0, 1 (mover's view) of entry `index` of a section.

        Raises IndexError, or CorruptTableError, also where the file has no such section.
        """
        if self._info(section).scores:
            score, draw = self._score(section, index)
            return 0 if score == draw else 1 if score & 1 else -1
        number, offset = self._place(section, index)
        block = self._block(self._part(section, "values"), number)
        if isinstance(block, int):
            return (0, -1, 1)[block]
        byte, bit = divmod(offset, 8)
        if block[byte] >> bit & 1:
            return 1
        return -(block[len(block) // 2 + byte] >> bit & 1)

    def plies(self, section: str, index: int) -> int | None:
        """The plies to the end of the game of entry `index`; None for draws and where not known.

        Raises as `value`.
        """
        if self._info(section).scores:
            score, draw = self._score(section, index)
            return None if score == draw else score
        number, offset = self._place(section, index)
        width = self.sections[section].plies_bytes
        if not width or self.value(section, index) == 0:
            return None
        plies = self._block(self._parts[section, "plies"], number)
        if isinstance(plies, bytes):
            plies = self._number(section, plies, offset)
        return None if plies == layout.UNKNOWN_PLIES else plies

    def entry(self, section: str, index: int) -> int:
        """Entry `index` of a section of distances alone, whatever it means. Raises as `value`."""
        number, offset = self._place(section, index)
        plies = self._block(self._part(section, "plies"), number)
        return plies if isinstance(plies, int) else self._number(section, plies, offset)

    def find(self, section: str, key: bytes) -> int | None:
        """The index of the entry with a key, in a section with keys, or None. Raises as `value`."""
        info = self._info(section)
        if len(key) != info.key_bytes:
            raise ValueError(f"keys of section {section} have {info.key_bytes} bytes: {key.hex()}")
        number = bisect_right(info.first_keys, key.hex()) - 1
        if number < 0:
            return None
        block = self._block(self._parts[section, "keys"], number)
        planes = np.frombuffer(block, np.uint8).reshape(len(key), -1)
        first, last = 0, planes.shape[1]
        for plane, byte in zip(planes, np.frombuffer(key, np.uint8), strict=True):
            # Between first and last all bytes before are alike, so these ascend.
            here = plane[first:last]
            first, last = (first + int(here.searchsorted(byte, side)) for side in ("left", "right"))
        return number * self.header.block_entries + first if first < last else None

    def planes(
        self,
        section: str,
        threads: int = 1,
        out: tuple[np.ndarray, np.ndarray] | None = None,
        span: tuple[int, int] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The win and the loss bitmap of a whole section, uint8[ceil(entries / 8)] each.

        They are written into the two arrays `out`, if given, and else into new ones, of which the
        blocks that are all draws are not touched: a drawn section then costs nothing. With `span`,
        (first, end), they are those of entries first..end-1 only, and no other block is read; both
        must be multiples of 8, but for the end of the section.
        Raises KeyError for an unknown section, ValueError for an impossible span or `out`,
        CorruptTableError, also for distances alone.
        """
        info = self.sections[section]
        if not info.scores:
            self._part(section, "values")
        begin, end = span or (0, info.entries)
        if not 0 <= begin <= end <= info.entries or begin % 8 or (end % 8 and end < info.entries):
            raise ValueError(f"section {section} of {info.entries} entries has no span {span}")
        size = layout.bitmap_size(end - begin)
        win, loss = out or (np.zeros(size, np.uint8), np.zeros(size, np.uint8))
        if win.shape != (size,) or loss.shape != (size,):
            raise ValueError(f"section {section} needs bitmaps of {size} bytes")

        def place(part: _Part, number: int) -> tuple[slice, slice]:
            """Where a block's part of the span stands in the bitmaps (bytes), and in the block."""
            block_first, block_last = self._span(part.info, number)
            first, last = max(begin, block_first), min(end, block_last)
            here = slice((first - begin) // 8, layout.bitmap_size(last - begin))
            return here, slice(first - block_first, last - block_first)

        def store(part: _Part, number: int) -> None:
            block = self._read_block(part, number)
            here, there = place(part, number)
            if isinstance(block, bytes):
                raw = np.frombuffer(block, np.uint8).reshape(2, -1)
                win[here], loss[here] = raw[:, there.start // 8 : layout.bitmap_size(there.stop)]
                return
            for plane, value in ((win, layout.WIN), (loss, layout.LOSS)):
                if block == value:
                    plane[here] = 0xFF
                    if there.stop % 8:
                        plane[here.stop - 1] = (1 << there.stop % 8) - 1
                elif out:
                    plane[here] = 0

        def store_scores(part: _Part, number: int) -> None:
            here, there = place(part, number)
            scores = self._scores_of(part, number)[there]
            decided, odd = scores != layout.draw_score(info.plies_bytes), (scores & 1).astype(bool)
            win[here] = np.packbits(decided & odd, bitorder="little")
            loss[here] = np.packbits(decided & ~odd, bitorder="little")

        if size and (out or info.constant != 0):
            entries = self.header.block_entries
            blocks = range(begin // entries, layout.blocks_of(end, entries))
            kind, use = ("scores", store_scores) if info.scores else ("values", store)
            deque(self._each_block(section, kind, threads, use, blocks), maxlen=0)
        return win, loss

    def scores_array(self, section: str, threads: int = 1) -> np.ndarray:
        """uint8 or uint16 [entries]: the scores of a section that has them.

        Plies, odd for a win and even for a loss; the greatest number of the dtype for a draw.
        Raises KeyError for an unknown section, CorruptTableError, also for one without scores.
        """
        info = self.sections[section]
        self._part(section, "scores")
        scores = np.empty(info.entries, _dtype(info))

        def store(part: _Part, number: int) -> None:
            first, last = self._span(info, number)
            scores[first:last] = self._scores_of(part, number)

        deque(self._each_block(section, "scores", threads, store), maxlen=0)
        return scores

    def plies_array(self, section: str, threads: int = 1) -> np.ndarray | None:
        """The plies of a whole section, uint8 or uint16 [entries], or None where not stored."""
        info = self.sections[section]
        if not info.plies_bytes:
            return None
        if info.scores:
            scores = self.scores_array(section, threads)
            scores[scores == layout.draw_score(info.plies_bytes)] = 0
            return scores
        plies = np.zeros(info.entries, _dtype(info))

        def store(part: _Part, number: int) -> None:
            block = self._read_block(part, number)
            first, last = self._span(info, number)
            if isinstance(block, int):
                plies[first:last] = block
                return
            for byte, plane in enumerate(np.frombuffer(block, np.uint8).reshape(-1, last - first)):
                plies[first:last] |= plane.astype(plies.dtype) << 8 * byte

        deque(self._each_block(section, "plies", threads, store), maxlen=0)
        return plies

    def check(self, threads: int = 1) -> None:
        """Read every block; CorruptTableError unless all is whole and the counts are right."""
        for name, info in self.sections.items():
            contents: list[tuple[bool, int]] = []
            win = loss = greatest = 0
            for kind in info.kinds:
                for checked in self._each_block(name, kind, threads, self._check_block):
                    contents.append(checked.content)
                    win += checked.win
                    loss += checked.loss
                    greatest = max(greatest, checked.greatest)
            if info.has_values and (win, loss) != (info.win, info.loss):
                raise CorruptTableError(self.path, f"section {name}", "its counts are not as said")
            if not info.has_values and (greatest or None) != info.longest_win:
                reason = "its greatest entry is not as said"
                raise CorruptTableError(self.path, f"section {name}", reason)
            if layout.content_checksum(contents) != info.content:
                raise CorruptTableError(self.path, f"section {name}", "content checksum mismatch")

    def _stat(self) -> tuple[int, ...]:
        """What tells a file from one that took its place."""
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def _read_ends(self) -> None:
        self.size = size = os.fstat(self._descriptor).st_size
        # From a cold disk each read costs more than all the rest. So trailer, header and, but for
        # the largest files, index are one read, which the system does while it does the first.
        tail_at = max(0, size - _TAIL_SIZE)
        os.posix_fadvise(self._descriptor, tail_at, size - tail_at, os.POSIX_FADV_WILLNEED)
        layout.check_front(self._pread("front", layout.FRONT_SIZE, 0), self.path)
        tail = self._pread("trailer", size - tail_at, tail_at)
        trailer = layout.decode_trailer(tail[-layout.TRAILER_SIZE :], size, self.path)
        ends = tail
        if trailer.index_offset < tail_at:
            rest = tail_at - trailer.index_offset
            ends = self._pread("index", rest, trailer.index_offset) + tail
        ends = ends[-(size - trailer.index_offset) : -layout.TRAILER_SIZE]
        index, raw = ends[: trailer.index_size], ends[trailer.index_size :]
        if zlib.crc32(index) != trailer.index_crc:
            raise CorruptTableError(self.path, "index", "checksum mismatch")
        if zlib.crc32(raw) != trailer.header_crc:
            raise CorruptTableError(self.path, "header", "checksum mismatch")
        self.header = layout.decode_header(raw, self.path)
        self.sections = {section.name: section for section in self.header.sections}
        # The index holds a checksum of every block, so its own stands for the content: a file that
        # is replaced while its blocks are cached has another identity.
        self._identity = (str(self.path), trailer.index_crc, trailer.header_crc)
        self._place_blocks(index, trailer.index_offset)

    def _place_blocks(self, index: bytes, blocks_end: int) -> None:
        self._parts: dict[tuple[str, str], _Part] = {}
        blocks = 0
        for name, info in self.sections.items():
            for kind in info.kinds:
                self._parts[name, kind] = _Part(info, kind, blocks)
                blocks += layout.blocks_of(info.entries, self.header.block_entries)
        if len(index) != blocks * layout.INDEX_ENTRY_SIZE:
            raise CorruptTableError(self.path, "index", "it does not fit the header")
        sizes, self._checks = layout.decode_index(index)
        self._offsets = np.full(blocks + 1, layout.FRONT_SIZE, np.int64)
        self._offsets[1:] += np.cumsum(sizes)
        if self._offsets[-1] != blocks_end:
            raise CorruptTableError(self.path, "index", "it does not fit the size of the file")

    def _pread(self, place: str, size: int, offset: int) -> bytes:
        """`size` bytes at `offset`, fewer only where the file ends."""
        try:
            return os.pread(self._descriptor, size, offset)
        except OSError as error:  # a failing disk
            raise CorruptTableError(self.path, place, f"read error: {error.strerror}") from error

    def _info(self, section: str) -> layout.SectionInfo:
        if section not in self.sections:
            raise CorruptTableError(self.path, "header", f"there is no section {section}")
        return self.sections[section]

    def _part(self, section: str, kind: str) -> _Part:
        self._info(section)
        if (section, kind) not in self._parts:
            raise CorruptTableError(self.path, "header", f"section {section} holds no {kind}")
        return self._parts[section, kind]

    def _score(self, section: str, index: int) -> tuple[int, int]:
        """The score of an entry, and that of a draw."""
        number, offset = self._place(section, index)
        block = self._block(self._parts[section, "scores"], number)
        if isinstance(block, bytes):
            block = self._number(section, block, offset)
        return block, layout.draw_score(self.sections[section].plies_bytes)

    def _scores_of(self, part: _Part, number: int) -> np.ndarray:
        """uint8 or uint16: the scores of a block."""
        block = self._read_block(part, number)
        if isinstance(block, int):
            first, last = self._span(part.info, number)
            return np.full(last - first, block, _dtype(part.info))
        return _joined(part.info, block)

    def _number(self, section: str, block: bytes, offset: int) -> int:
        """The distance of an entry in an uncompressed block."""
        stride = len(block) // self.sections[section].plies_bytes
        return int.from_bytes(block[offset::stride], "little")

    def _place(self, section: str, index: int) -> tuple[int, int]:
        """The block of a section that holds entry `index`, and the entry's number in it."""
        entries = self._info(section).entries
        if not 0 <= index < entries:
            raise IndexError(f"{self.path}: section {section} has {entries} entries, not {index}")
        return divmod(index, self.header.block_entries)

    def _block(self, part: _Part, number: int) -> bytes | int:
        """A block, uncompressed and checked, from the cache if it is there.

        A block whose entries are all alike is the number that stands for them instead: DRAW, LOSS,
        WIN of format.py, or the plies.
        """
        if self._cache is None:
            return self._read_block(part, number)
        key = (self._identity, part.first_block + number)
        return self._cache.get(key, lambda: self._read_block(part, number))

    def _read_block(self, part: _Part, number: int) -> bytes | int:
        return self._expand(part, number, self._stored(part, number))

    def _stored(self, part: _Part, number: int) -> bytes | int:
        """The frame of a block as it stands in the file, or the number that stands for it."""
        at = part.first_block + number
        offset, check = int(self._offsets[at]), int(self._checks[at])
        size = int(self._offsets[at + 1]) - offset
        if size == 0:
            if check > part.largest:
                raise self._corrupt(part, number, f"no entry can be {check}")
            return check
        frame = self._pread(part.place(number), size, offset)
        if len(frame) != size or zlib.crc32(frame) != check:
            raise self._corrupt(part, number, "checksum mismatch")
        return frame

    def _expand(self, part: _Part, number: int, stored: bytes | int) -> bytes | int:
        """The uncompressed bytes of a frame; a number stays what it is."""
        if isinstance(stored, int):
            return stored
        first, last = self._span(part.info, number)
        size = part.info.raw_size(part.kind, last - first)
        try:
            # The size first: a frame made to burst must not be given the memory.
            if zstandard.frame_content_size(stored) != size:
                raise self._corrupt(part, number, "it has not the size it should have")
            return _decompressor().decompress(stored, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise self._corrupt(part, number, f"it does not decompress: {error}") from error

    def _corrupt(self, part: _Part, number: int, reason: str) -> CorruptTableError:
        return CorruptTableError(self.path, part.place(number), reason)

    def _span(self, info: layout.SectionInfo, number: int) -> tuple[int, int]:
        first = number * self.header.block_entries
        return first, min(first + self.header.block_entries, info.entries)

    def _each_block(
        self,
        section: str,
        kind: str,
        threads: int,
        use: Callable[[_Part, int], _T],
        blocks: range | None = None,
    ) -> Iterator[_T]:
        """What `use` returns for each block, or those given, of a section's values or plies."""
        part = self._parts[section, kind]
        if blocks is None:
            blocks = range(layout.blocks_of(part.info.entries, self.header.block_entries))
        if threads == 1 or len(blocks) <= _BATCH_BLOCKS:
            yield from (use(part, number) for number in blocks)
            return
        batches = [blocks[at : at + _BATCH_BLOCKS] for at in blocks[::_BATCH_BLOCKS]]
        with ThreadPoolExecutor(threads) as pool:
            for done in pool.map(lambda batch: [use(part, number) for number in batch], batches):
                yield from done

    def _check_block(self, part: _Part, number: int) -> _Checked:
        stored = self._stored(part, number)
        block = self._expand(part, number, stored)
        win = loss = greatest = 0
        if part.kind == "values":
            first, last = self._span(part.info, number)
            if isinstance(block, int):
                win, loss = ((last - first) * (block == code) for code in (layout.WIN, layout.LOSS))
            else:
                planes = np.frombuffer(block, np.uint8).reshape(2, -1)
                if (planes[0] & planes[1]).any():
                    raise self._corrupt(part, number, "a position is both won and lost")
                win, loss = np.bitwise_count(planes).sum(axis=1, dtype=np.int64).tolist()
        elif part.kind == "scores":
            scores = self._scores_of(part, number)
            decided = scores[scores != layout.draw_score(part.info.plies_bytes)]
            win = int((decided & 1).sum(dtype=np.int64))
            loss = decided.size - win
        elif not part.info.has_values:
            greatest = block if isinstance(block, int) else int(_joined(part.info, block).max())
        content = (
            (True, stored)
            if isinstance(stored, int)
            else (False, layout.frame_content_checksum(stored))
        )
        return _Checked(win, loss, greatest, content)


def _dtype(info: layout.SectionInfo) -> type:
    """The type of the plies or scores of a section."""
    return np.uint8 if info.plies_bytes == 1 else np.uint16


def _joined(info: layout.SectionInfo, block: bytes) -> np.ndarray:
    """uint8 or uint16: the plies or scores in an uncompressed block."""
    planes = np.frombuffer(block, np.uint8).reshape(info.plies_bytes, -1)
    if info.plies_bytes == 1:
        return planes[0]
    return planes[0] | planes[1].astype(np.uint16) << 8
