"""Writes one table file, section by section.

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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import zstandard

from databases import format as layout
from databases.errors import NoSpaceError, StoreAccessError
from databases.pack import BlockPacker, Section, check_section

TEMPORARY_SUFFIX = ".part"
DEFAULT_LEVEL = 1


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A finished file: its SHA-256 (hex), its size in bytes, and its header."""

    sha256: str
    size: int
    header: layout.Header


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
    go into the header as they are and must not hold anything that differs from run to run; `about`
    is read after the last section, so what yields the sections may fill it. `level` is zstd's.
    Raises ValueError for arrays that are no section, NoSpaceError when the disk is full,
    StoreAccessError when the folder cannot be written; then no new file is left behind.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
    fields = dict(
        game=game,
        rules=dict(rules),
        board=fingerprint,
        name=name,
        about={} if about is None else about,
        created_by={**(created_by or {}), "zstd": _zstd_version()},
        block_entries=block_entries,
    )
    try:
        packer = BlockPacker(level, block_entries, threads)
        written = _write(_Sink(temporary, path), sections, packer, fields)
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

    def __init__(self, temporary: Path, path: Path) -> None:
        self._path = path  # the name that errors show: that of the table
        self._hash = hashlib.sha256()
        self.size = 0
        with explained(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            self._descriptor = os.open(temporary, flags, 0o644)

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


def _write(
    sink: _Sink, sections: Iterable[Section], packer: BlockPacker, fields: dict
) -> WrittenTable:
    with closing(sink):
        sink.write(layout.encode_front())
        infos: list[layout.SectionInfo] = []
        index: list[tuple[int, int]] = []
        with packer:
            for section in sections:
                infos.append(_write_section(sink, section, packer, index))
        header = layout.Header(sections=tuple(infos), **{**fields, "about": dict(fields["about"])})
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
    sink: _Sink, section: Section, packer: BlockPacker, index: list[tuple[int, int]]
) -> layout.SectionInfo:
    check_section(section)
    contents: list[tuple[bool, int]] = []
    win = loss = 0
    longest_win = longest_loss = -1
    for batch in packer.pack(section):
        sink.write(b"".join(block.frame for block in batch))
        for block in batch:
            index.append((len(block.frame), block.check))
            content = layout.frame_content_checksum(block.frame) if block.frame else block.check
            contents.append((not block.frame, content))
            win += block.win
            loss += block.loss
            longest_win = max(longest_win, block.longest_win)
            longest_loss = max(longest_loss, block.longest_loss)
    firsts = [] if section.keys is None else section.keys[:: packer.block_entries]
    counts = (win, section.entries - win - loss, loss)
    return layout.SectionInfo(
        section.name,
        section.entries,
        *(counts if section.has_values else (None, None, None)),
        plies_bytes=section.plies_bytes,
        longest_win=longest_win if longest_win >= 0 else None,
        longest_loss=longest_loss if longest_loss >= 0 else None,
        key_bytes=section.key_bytes,
        first_keys=tuple(key.tobytes().hex() for key in firsts),
        content=layout.content_checksum(contents),
        scores=section.scores is not None,
    )
