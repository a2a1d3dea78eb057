"""A few threads that share the rows of a level.

The kernels release the interpreter's lock, so plain threads run side by side. Invariant: ranges
given out are disjoint and together all rows, in chunks that are a multiple of the asked size.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")

_CHUNKS_EACH = 24


class Workers:
    """A pool of threads for kernels over ranges of rows; a context manager."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def ranges(self, rows: int, multiple: int = 1) -> list[tuple[int, int]]:
        """All rows in ranges, so small that a thread with easy rows takes more of them."""
        chunk = max(1, rows // (self.threads * _CHUNKS_EACH))
        chunk = -(-chunk // multiple) * multiple
        return [(at, min(rows, at + chunk)) for at in range(0, rows, chunk)]

    def over(self, rows: int, kernel: Callable[[int, int], object], multiple: int = 1) -> None:
        """Run kernel(first, last) over all rows."""
        for _ in self._pool.map(lambda span: kernel(*span), self.ranges(rows, multiple)):
            pass

    def each(self, count: int, task: Callable[[int], _T]) -> list[_T]:
        """Run task(0) .. task(count - 1); returns their results in order."""
        return list(self._pool.map(task, range(count)))
