"""What a long job tells its user: one bar over positions, and one line for each finished level.

Invariant: everything goes to stderr or to the log file, never to stdout. On a terminal stderr shows
the bar, elsewhere the lines; with `quiet` only the log file is written.
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from tqdm import tqdm

from solver.errors import ResourceError
from solver.streams import discard


class Progress:
    """The progress of one job. Methods may be called from the thread that made it only.

    quiet: no bar and no lines on stderr. log: an open text file that gets every line with the time
    of day, or None.
    """

    def __init__(self, *, quiet: bool = False, log: TextIO | None = None) -> None:
        self._log = log
        self._draws_bar = not quiet and sys.stderr.isatty()
        self._shows_lines = not quiet and not sys.stderr.isatty()
        self._bar: tqdm | None = None

    def begin(self, positions: int, what: str) -> None:
        """A new stretch of work over so many positions begins; it ends the one before."""
        self.end()
        self._bar = tqdm(
            total=positions,
            desc=what,
            unit="pos",
            unit_scale=True,
            leave=False,
            dynamic_ncols=True,
            file=sys.stderr,
            disable=not self._draws_bar,
        )

    def advance(self, positions: int) -> None:
        """So many more positions are done."""
        if self._bar is not None:
            self._bar.update(positions)

    def line(self, text: str) -> None:
        """One line that stays, such as a finished level. ResourceError if the log can't take it."""
        if self._log is not None:
            try:
                self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
                self._log.flush()
            except OSError as error:
                name = self._log.name
                discard(self._log)
                raise ResourceError(
                    f"{name}: the log cannot be written: {error.strerror}"
                ) from error
        if self._shows_lines:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """The work is over, done or not; the bar goes away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def closing_line(positions: int, seconds: float) -> str:
    """The last line of a job's log: so much was solved in such a time."""
    rate = positions / seconds / 1e6
    return f"solved {positions:,} positions in {seconds:.0f} s, {rate:.1f} million a second"
