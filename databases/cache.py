"""Two bounded caches for look-ups: blocks by bytes, open files by number; both for many threads.

Invariant: the bytes of all cached blocks stay within the bound, and a file is closed only when no
thread uses it any more. Open files exceed their bound only by those in use at that moment.
"""

from __future__ import annotations

import errno
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from databases.reader import TableFile

_T = TypeVar("_T")

_BLOCK_OVERHEAD = 500
"""Bytes that a cached block takes besides its own: key, entry and object headers."""


class BlockCache:
    """Decompressed blocks, the least recently used dropped first; at most `limit` bytes in all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._blocks: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """The bytes that all blocks take."""
        return self._size

    def get(self, key: Hashable, read: Callable[[], bytes | int]) -> bytes | int:
        """The block of `key`, from `read` when it is not cached.

        A number, which stands for a block without bytes, is passed on and not cached. Two threads
        may read the same block at once; that is cheaper than to make one wait.
        """
        with self._lock:
            block = self._blocks.get(key)
            if block is not None:
                self._blocks.move_to_end(key)
                return block
        block = read()
        if isinstance(block, bytes):
            self._put(key, block)
        return block

    def clear(self) -> None:
        """Drop all blocks."""
        with self._lock:
            self._blocks.clear()
            self._size = 0

    def _put(self, key: Hashable, block: bytes) -> None:
        with self._lock:
            if key in self._blocks:
                return
            self._blocks[key] = block
            self._size += len(block) + _BLOCK_OVERHEAD
            while self._size > self._limit:
                _, dropped = self._blocks.popitem(last=False)
                self._size -= len(dropped) + _BLOCK_OVERHEAD


class _Entry:
    __slots__ = ("table", "users")

    def __init__(self, table: TableFile) -> None:
        self.table = table
        self.users = 0


class OpenFiles:
    """Table files, of which the least recently used are suspended when more than `limit` are open.

    A suspended file keeps what was read from its ends (12 bytes a block), so to go on with it costs
    one system call. When the process may open no more files, unused ones are suspended before their
    turn.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: dict[Hashable, _Entry] = {}
        self._open: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, key: Hashable, open_file: Callable[[], TableFile]) -> Iterator[TableFile]:
        """The file of `key`, open until the end of the `with`; from `open_file` the first time."""
        with self._lock:
            if key not in self._open:
                self._suspend_unused(self._limit - 1)
                self._open[key] = self._entries[key] = self._awake(key, open_file)
            entry = self._open[key]
            self._open.move_to_end(key)
            entry.users += 1
        try:
            yield entry.table
        finally:
            with self._lock:
                entry.users -= 1
                if not entry.users and self._open.get(key) is not entry:
                    entry.table.close()  # `close` was called in the meantime

    def close(self) -> None:
        """Close all files, those in use as soon as they are not."""
        with self._lock:
            self._suspend_unused(0)
            self._open.clear()
            self._entries.clear()

    def _awake(self, key: Hashable, open_file: Callable[[], TableFile]) -> _Entry:
        entry = self._entries.pop(key, None)
        if entry is not None and self._opened(entry.table.resume):
            return entry
        return _Entry(self._opened(open_file))

    def _opened(self, open_file: Callable[[], _T]) -> _T:
        while True:
            try:
                return open_file()
            except OSError as error:
                too_many = error.errno in (errno.EMFILE, errno.ENFILE)
                if not too_many or not self._suspend_unused(len(self._open) // 2):
                    raise

    def _suspend_unused(self, limit: int) -> int:
        """Suspend files until at most `limit` are open or all are in use; how many it suspended."""
        unused = [key for key, entry in self._open.items() if not entry.users]
        chosen = unused[: max(0, len(self._open) - limit)]
        for key in chosen:
            self._open.pop(key).table.close()
        return len(chosen)
