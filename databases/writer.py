"""Writes one table file, section by section, from win and loss bitmaps.

Sections are taken one at a time from an iterable and their blocks compressed by a few threads, so
memory holds one section and a few blocks. The file grows under a temporary name and gets its own
name only when all of it is on disk.

Invariant: a file under its own name is whole; its bytes depend on the arguments alone, not on the
number of threads or on time. (They do depend on the release of zstd, which the header names.)
"""

from __future__ import annotations

import errno
import hashlib
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import zstandard

from databases import format as layout
from databases.errors import NoSpaceError, StoreAccessError

TEMPORARY_SUFFIX = ".part"
DEFAULT_LEVEL = 1

# Blocks handed to a thread at once: enough that a task costs more than its hand-over, few enough
# that the queue stays small. The number has no influence on the bytes.
_BATCH_BLOCKS = 32


@dataclass(frozen=True, slots=True)
class Section:
    """The values of `entries` positions, in the order of their index.

    Bit i % 8 of byte i // 8 of `win` (`loss`) is set when position i is a win (loss) for the
    mover; a position in neither is a draw, one in both is an error, as are bits past the end.
    win, loss: uint8[ceil(entries / 8)]. plies: uint8 or uint16 [entries], 0 for draws and
    UNKNOWN_PLIES of format.py where not known, or None. keys: uint8[entries, bytes of a key], most
    significant byte first, ascending, or None where the index follows from the position.
    """

    name: str
    entries: int
    win: np.ndarray
    loss: np.ndarray
    plies: np.ndarray | None = None
    keys: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A finished file: its SHA-256 (hex), its size in bytes, and its header."""

    sha256: str
    size: int
    header: layout.Header


@dataclass(frozen=True, slots=True)
class _Packed:
    """One block ready for the file, with what the header needs to know about it."""

    frame: bytes  # empty when all entries are alike
    check: int  # CRC-32 of the frame, or the value that all entries have
    win: int = 0
    loss: int = 0
    longest_win: int = -1
    longest_loss: int = -1


def write_table(
    path: Path,
    *,
    game: str,
    rules: Mapping[str, object],
    fingerprint: str,
    name: str,
    sections: Iterable[Section],
    about: Mapping[str, object] | None = None,
    created_by: Mapping[str, str] | None = None,
    threads: int = 1,
    level: int = DEFAULT_LEVEL,
    block_entries: int = layout.BLOCK_ENTRIES,
) -> WrittenTable:
    """Write the table `name` to `path`, replacing a file that is there.

    `sections` may be a generator; the arrays of a section are not touched any more when the next
    one is asked for, so it may use them again. `about` and `created_by` (the solver's version, say)
    go into the header as they are and must not hold anything that differs from run to run. `level`
    is zstd's. Raises ValueError for arrays that are no section, NoSpaceError when the disk is
    full, StoreAccessError when the folder cannot be written; then no new file is left behind.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
    fields = dict(
        game=game,
        rules=dict(rules),
        board=fingerprint,
        name=name,
        about=dict(about or {}),
        created_by={**(created_by or {}), "zstd": _zstd_version()},
        block_entries=block_entries,
    )
    try:
        written = _write_temporary(
            temporary, sections, _Frames(level, block_entries, threads), fields
        )
        with explained(path):
            os.replace(temporary, path)
            sync_folder(path.parent)
    except BaseException:  # an interrupt too must not leave half a file
        with suppress(OSError):  # the error that led here is the one to report
            temporary.unlink()
        raise
    return written


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's errors in writing `path` into NoSpaceError or StoreAccessError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NoSpaceError(
                f"{path}: no space left on the disk ({error.strerror}); "
                f"make room, then solve again to go on"
            ) from error
        raise StoreAccessError(f"{path}: cannot be written: {error.strerror}") from error


def sync_folder(folder: Path) -> None:
    """Force the names in `folder` to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _zstd_version() -> str:
    return ".".join(map(str, zstandard.ZSTD_VERSION))


class _Sink:
    """The file being written: appends bytes, counts and hashes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hash = hashlib.sha256()
        self.size = 0
        with explained(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            self._descriptor = os.open(path, flags, 0o644)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        with explained(self._path):
            while view:  # the system may take less than it is given, above all when space is short
                view = view[os.write(self._descriptor, view) :]
        self._hash.update(data)
        self.size += len(data)

    def sync(self) -> None:
        with explained(self._path):
            os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)

    def sha256(self) -> str:
        return self._hash.hexdigest()


def _write_temporary(
    path: Path, sections: Iterable[Section], frames: _Frames, fields: dict
) -> WrittenTable:
    sink = _Sink(path)
    with closing(sink):
        sink.write(layout.encode_front())
        infos: list[layout.SectionInfo] = []
        index: list[tuple[int, int]] = []
        with frames:
            for section in sections:
                infos.append(_write_section(sink, section, frames, index))
        header = layout.Header(sections=tuple(infos), **fields)
        layout.check_header(header)
        _write_end(sink, index, header)
        sink.sync()
    return WrittenTable(sink.sha256(), sink.size, header)


def _write_end(sink: _Sink, index: list[tuple[int, int]], header: layout.Header) -> None:
    index_offset = sink.size
    index_bytes, header_bytes = layout.encode_index(index), layout.encode_header(header)
    trailer = layout.Trailer(
        index_offset=index_offset,
        index_size=len(index_bytes),
        header_size=len(header_bytes),
        file_size=index_offset + len(index_bytes) + len(header_bytes) + layout.TRAILER_SIZE,
        index_crc=zlib.crc32(index_bytes),
        header_crc=zlib.crc32(header_bytes),
    )
    sink.write(index_bytes + header_bytes + layout.encode_trailer(trailer))


def _write_section(
    sink: _Sink, section: Section, frames: _Frames, index: list[tuple[int, int]]
) -> layout.SectionInfo:
    _check_section(section)
    contents: list[tuple[bool, int]] = []
    win = loss = 0
    longest_win = longest_loss = -1
    plies_bytes = _plies_bytes(section)
    for batch in frames.pack(section, plies_bytes):
        sink.write(b"".join(block.frame for block in batch))
        for block in batch:
            index.append((len(block.frame), block.check))
            content = layout.frame_content_checksum(block.frame) if block.frame else block.check
            contents.append((not block.frame, content))
            win += block.win
            loss += block.loss
            longest_win = max(longest_win, block.longest_win)
            longest_loss = max(longest_loss, block.longest_loss)
    firsts = [] if section.keys is None else section.keys[:: frames.block_entries]
    return layout.SectionInfo(
        name=section.name,
        entries=section.entries,
        win=win,
        draw=section.entries - win - loss,
        loss=loss,
        plies_bytes=plies_bytes,
        longest_win=longest_win if longest_win >= 0 else None,
        longest_loss=longest_loss if longest_loss >= 0 else None,
        key_bytes=0 if section.keys is None else section.keys.shape[1],
        first_keys=tuple(key.tobytes().hex() for key in firsts),
        content=layout.content_checksum(contents),
    )


def _check_section(section: Section) -> None:
    size = layout.bitmap_size(section.entries)
    for plane in (section.win, section.loss):
        if plane.dtype != np.uint8 or plane.shape != (size,) or not plane.flags.c_contiguous:
            raise ValueError(f"section {section.name}: a bitmap must be contiguous uint8[{size}]")
        if section.entries % 8 and plane[-1] >> (section.entries % 8):
            raise ValueError(f"section {section.name}: bits set past its {section.entries} entries")
    if section.plies is not None and (
        section.plies.dtype not in (np.uint8, np.uint16)
        or section.plies.shape != (section.entries,)
    ):
        raise ValueError(f"section {section.name}: plies must be uint8 or uint16, one an entry")
    keys = section.keys
    if keys is not None and (
        keys.dtype != np.uint8
        or keys.ndim != 2
        or len(keys) != section.entries
        or not keys.flags.c_contiguous
    ):
        raise ValueError(f"section {section.name}: keys must be contiguous uint8, a row an entry")


def _plies_bytes(section: Section) -> int:
    """One byte where that is enough: the file must not depend on the type of the array."""
    if section.plies is None:
        return 0
    return 1 if section.entries == 0 or section.plies.max() < 256 else 2


class _Frames:
    """Turns the blocks of a section into frames, in their order, with a number of threads."""

    def __init__(self, level: int, block_entries: int, threads: int) -> None:
        self._level = level
        self.block_entries = block_entries
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> _Frames:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def pack(self, section: Section, plies_bytes: int) -> Iterator[list[_Packed]]:
        """The value blocks of a section, its plies blocks, its key blocks; some at a time."""
        span = _BATCH_BLOCKS * self.block_entries
        starts = range(0, section.entries, span)
        calls = [(self._pack_values, section, start, start + span) for start in starts]
        if section.plies is not None:
            pack_plies = partial(self._pack_plies, plies_bytes)
            calls += [(pack_plies, section, start, start + span) for start in starts]
        if section.keys is not None:
            calls += [(self._pack_keys, section, start, start + span) for start in starts]
        return self._in_order(calls)

    def _in_order(self, calls: list[tuple[Callable, Section, int, int]]) -> Iterator[list[_Packed]]:
        if self._pool is None or len(calls) == 1:
            for function, *arguments in calls:
                yield function(*arguments)
            return
        waiting: deque[Future[list[_Packed]]] = deque()
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

    def _pack_values(self, section: Section, start: int, stop: int) -> list[_Packed]:
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
                packed.append(_Packed(b"", value, wins, losses))
                continue
            frame = compressor.compress(np.concatenate((win, loss)))
            packed.append(_Packed(frame, zlib.crc32(frame), wins, losses))
        return packed

    def _pack_plies(
        self, plies_bytes: int, section: Section, start: int, stop: int
    ) -> list[_Packed]:
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
                packed.append(_Packed(b"", int(plies[0]), 0, 0, *longest))
                continue
            # The low bytes of all, then the high bytes: alike stands beside alike.
            planes = [(plies >> 8 * byte).astype(np.uint8) for byte in range(plies_bytes)]
            frame = compressor.compress(np.concatenate(planes))
            packed.append(_Packed(frame, zlib.crc32(frame), 0, 0, *longest))
        return packed

    def _pack_keys(self, section: Section, start: int, stop: int) -> list[_Packed]:
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
            packed.append(_Packed(frame, zlib.crc32(frame)))
        return packed


def _count(plane: np.ndarray) -> int:
    """The number of bits set in a bitmap, uint8[...]; an empty one, a usual case, is quick."""
    if not plane.max():
        return 0
    whole = plane.size // 8 * 8
    words = np.bitwise_count(plane[:whole].view(np.uint64)).sum(dtype=np.int64)
    return int(words + np.bitwise_count(plane[whole:]).sum(dtype=np.int64))
