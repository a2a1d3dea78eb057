"""What can go wrong with tables, one class for each thing a caller may want to do about it.

Invariant: the text of every error is one line that says what is wrong, where, and what to do; a
caller may print it as it is. Errors of the operating system that a user can cause (no space, no
permission) are turned into these classes where tables are written or opened.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import IllegalPositionError

__all__ = [
    "CorruptTableError",
    "IllegalPositionError",
    "MissingTableError",
    "NoSpaceError",
    "StoreAccessError",
    "StoreBusyError",
    "TableError",
    "UnsupportedVersionError",
    "WrongRulesError",
]


class TableError(Exception):
    """Base of all errors of this package."""


class MissingTableError(TableError, KeyError):
    """The table that holds a position is not there.

    `subspace` names what was looked for, `command` is the command line that makes it.
    """

    def __init__(self, subspace: str, path: Path, command: str) -> None:
        super().__init__(subspace, path, command)
        self.subspace = subspace
        self.path = path
        self.command = command

    def __str__(self) -> str:  # KeyError would show the repr of its arguments
        return f"no table for {self.subspace}: {self.path} is missing; make it with: {self.command}"


class CorruptTableError(TableError):
    """Bytes of a table file are not what was written: cut off, changed, or unreadable.

    `path` is the file, `place` the part of it ("front", "trailer", "index", "header" or a block).
    """

    def __init__(self, path: Path | str, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.path = Path(path)
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.path}: corrupt in {self.place}: {self.reason}; delete the file and solve again"
        )


class WrongRulesError(TableError):
    """A whole table, but not the one asked for: another game, other rules, board or name."""

    def __init__(self, path: Path | str, what: str, found: str, wanted: str) -> None:
        super().__init__(path, what, found, wanted)
        self.path = Path(path)
        self.what = what
        self.found = found
        self.wanted = wanted

    def __str__(self) -> str:
        return (
            f"{self.path}: this table has {self.what} {self.found}, not {self.wanted}; "
            f"remove it or choose another tables folder"
        )


class UnsupportedVersionError(WrongRulesError):
    """A table file of a format version that this program does not read."""

    def __init__(self, path: Path | str, found: int, wanted: int) -> None:
        super().__init__(path, "format version", str(found), str(wanted))


class StoreBusyError(TableError):
    """Another run writes to the same folder of tables."""


class StoreAccessError(TableError):
    """A folder of tables cannot be written or read by this user."""


class NoSpaceError(TableError):
    """The disk is full; the table that was being written is gone, all others are whole."""
