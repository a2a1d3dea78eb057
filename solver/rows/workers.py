"""A few threads that share the rows of a level.

The kernels release the interpreter's lock, so plain threads run side by side. Invariant: ranges
given out are disjoint and together all rows, in chunks that are a multiple of the asked size.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

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

    def over(self, rows: int, kernel: Callable[[int, int], int | None], multiple: int = 1) -> int:
        """Run kernel(first, last) over all rows; returns the sum of what it returned (None is 0).

        Chunks are small, so that a thread with easy rows takes more of them.
        """
        chunk = max(1, rows // (self.threads * _CHUNKS_EACH))
        chunk = -(-chunk // multiple) * multiple
        starts = range(0, rows, chunk)
        results = self._pool.map(kernel, starts, [min(rows, at + chunk) for at in starts])
        return sum(result or 0 for result in results)
