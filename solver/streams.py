"""The standard streams of a run: whatever state they are in, they don't change what it does.

Invariant: no file that the program opens stands in the place of a closed standard stream; a job
goes on when nobody can hear its progress; results that cannot be written are an error once, and
never a second time when the interpreter ends.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


@contextmanager
def standard_streams() -> Iterator[None]:
    """Makes the streams safe for one run of the command line."""
    _fill_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A path may hold bytes that the terminal's encoding has no letters for.
        sys.stdout.reconfigure(errors="backslashreplace")
    stderr = sys.stderr
    sys.stderr = _Notices(stderr)
    try:
        yield
    finally:
        sys.stderr = stderr
        try:
            sys.stdout.flush()
        except OSError:  # reported where it was met first, or an error was reported instead
            discard(sys.stdout)


def discard(stream: TextIO) -> None:
    """Leads a stream nowhere, so that what is still in its buffer does no harm."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _fill_closed() -> None:
    """Opens the standard streams that were closed when the program began, leading nowhere.

    In their order, so that each gets the number that it should have: the lowest that is free.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


class _Notices:
    """stderr; what it can't take is lost without harm."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Writes, or loses, a text."""
        try:
            return self._stream.write(text)
        except OSError:
            discard(self._stream)
            return len(text)

    def flush(self) -> None:
        """Writes, or loses, what is in the buffer."""
        try:
            self._stream.flush()
        except OSError:
            discard(self._stream)
