"""A folder of tables of one family: what is in it, adding to it, one writer at a time.

The tables speak for themselves (their headers hold rules and counts); beside them stands
`manifest.sha256` with the SHA-256 of each, as `sha256sum` prints and checks it.

Invariant: a table is *whole* when its file opens as the right table and the manifest lists it; the
manifest lists no table before it is on disk under its own name. A run that is killed at any moment
leaves whole tables whole; the next one that takes the lock removes its leftovers and lists a table
that was finished but not yet listed, after reading all of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from databases.cache import BlockCache
from databases.catalog import Family
from databases.errors import (
    CorruptTableError,
    MissingTableError,
    StoreAccessError,
    StoreBusyError,
    TableError,
)
from databases.format import Header
from databases.reader import TableFile
from databases.writer import (
    DEFAULT_LEVEL,
    TEMPORARY_SUFFIX,
    Section,
    WrittenTable,
    explained,
    sync_folder,
    write_table,
)

MANIFEST = "manifest.sha256"
LOCK = "lock"

_MANIFEST_LINE = re.compile(r"([0-9a-f]{64})  ([^/\s]+)")
_HASH_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class TableState:
    """One whole table: its size in bytes and its header."""

    size: int
    header: Header

    @property
    def entries(self) -> int:
        """The number of positions in the table."""
        return sum(section.entries for section in self.header.sections)


@dataclass(frozen=True, slots=True)
class Report:
    """What is in a folder of tables, from their headers and the manifest.

    whole: state by name, in order of name. missing: planned tables of which there is no file.
    damaged: name and what is wrong with it. unlisted: tables that open, but are not in the manifest
    (a run was killed; the next one lists them). leftovers: temporary files of killed runs.
    """

    whole: Mapping[str, TableState]
    missing: tuple[str, ...]
    damaged: Mapping[str, str]
    unlisted: tuple[str, ...]
    leftovers: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The bytes of all whole tables."""
        return sum(state.size for state in self.whole.values())

    @property
    def entries(self) -> int:
        """The positions in all whole tables."""
        return sum(state.entries for state in self.whole.values())


class Store:
    """The tables of a family under the root folder `root`.

    Making a Store touches nothing on disk; reading never writes. To write, hold `lock`:

        with store.lock():
            for name in plan:
                if not store.has(name):
                    store.write(name, sections_of(name), threads=2)
    """

    def __init__(self, root: Path | str, family: Family) -> None:
        self.root = Path(root)
        self.family = family
        self.folder = self.root / family.folder
        self._locked = False
        self._sums: dict[str, str] = {}  # SHA-256 by file name, as in the manifest; while locked

    def path(self, name: str) -> Path:
        """The file of a table."""
        return self.family.path(self.root, name)

    def open(self, name: str) -> TableFile:
        """The open table, for its `header`, `planes` and so on; close it, or use it in a `with`.

        Raises MissingTableError, CorruptTableError, UnsupportedVersionError, WrongRulesError.
        """
        return open_table(self.root, self.family, name)

    def has(self, name: str) -> bool:
        """Whether a table is whole as far as its ends and the manifest tell; reads no block.

        A table of other rules is no table to be replaced silently: WrongRulesError.
        """
        listed = self._sums if self._locked else self._read_manifest()
        if self.path(name).name not in listed:
            return False
        try:
            self.open(name).close()
        except (MissingTableError, CorruptTableError):
            return False
        return True

    @contextmanager
    def lock(self, threads: int = 1) -> Iterator[None]:
        """Be the only writer: make the folder, tidy what a killed run left, and hold the lock.

        `threads` read a table that is there but not listed. Raises StoreBusyError when another run
        holds the lock, StoreAccessError when the folder cannot be written, WrongRulesError when it
        holds a table of something else. The lock ends with the process, however it ends.
        """
        with explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take(descriptor)
            self._locked = True
            self._tidy(threads)
            yield
            self._sync_manifest()
        finally:
            self._locked = False
            os.close(descriptor)

    def write(
        self,
        name: str,
        sections: Iterable[Section],
        *,
        about: Mapping[str, object] | None = None,
        created_by: Mapping[str, str] | None = None,
        threads: int = 1,
        level: int = DEFAULT_LEVEL,
    ) -> WrittenTable:
        """Write a table of this family and list it; see `write_table`. Only under `lock`."""
        self._must_be_locked()
        path = self.path(name)
        if self._sums.pop(path.name, None):
            self._write_manifest()  # the sum of the file to be replaced must not outlive it
        written = write_table(
            path,
            game=self.family.game,
            rules=self.family.rules,
            fingerprint=self.family.board,
            name=name,
            sections=sections,
            about=about,
            created_by=created_by,
            threads=threads,
            level=level,
        )
        self._sums[path.name] = written.sha256
        self._write_manifest()
        return written

    def discard(self, name: str) -> None:
        """Remove a table, if it is there, from manifest and disk. Only under `lock`."""
        self._must_be_locked()
        path = self.path(name)
        if self._sums.pop(path.name, None):
            self._write_manifest()
        with explained(path):
            path.unlink(missing_ok=True)
            sync_folder(self.folder)

    def report(self, planned: Iterable[str] = ()) -> Report:
        """What is whole, missing or damaged, among `planned` and all other tables of the folder."""
        listed = self._read_manifest()
        found = {path.name.removesuffix(self.family.suffix) for path in self._tables()}
        lost = {file.removesuffix(self.family.suffix) for file in listed} - found
        whole: dict[str, TableState] = {}
        damaged = {name: "in the manifest, but there is no file" for name in sorted(lost)}
        unlisted = []
        for name in sorted(found):
            try:
                with self.open(name) as table:
                    state = TableState(table.size, table.header)
            except TableError as error:
                damaged[name] = str(error)
                continue
            if self.path(name).name in listed:
                whole[name] = state
            else:
                unlisted.append(name)
        missing = tuple(name for name in planned if name not in found)
        return Report(whole, missing, damaged, tuple(unlisted), tuple(self._leftovers()))

    def check(self, name: str, threads: int = 1) -> None:
        """Read a whole table; CorruptTableError where a block, a count or its SHA-256 is wrong."""
        with self.open(name) as table:
            table.check(threads)
        path = self.path(name)
        listed = self._read_manifest().get(path.name)
        if listed is None:
            raise CorruptTableError(path, "manifest", "the table is not listed")
        if listed != file_sha256(path):
            raise CorruptTableError(path, "manifest", f"its SHA-256 is not {listed}")

    def checksums(self) -> dict[str, str]:
        """SHA-256 (hex) by file name, as the manifest lists them."""
        return self._read_manifest()

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise StoreBusyError(
                f"{self.folder}: another run (process {holder or 'unknown'}) writes here; "
                f"wait until it ends, or choose another folder with --tables"
            ) from error
        except OSError as error:
            raise StoreAccessError(f"{self.folder}: cannot be locked: {error.strerror}") from error
        with explained(self.folder / LOCK):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)

    def _tidy(self, threads: int) -> None:
        """Make folder and manifest agree: no leftovers, whole tables listed, no others."""
        for leftover in self._leftovers():
            with explained(leftover):
                leftover.unlink(missing_ok=True)
        before = self._read_manifest()
        self._sums = {}
        for path in self._tables():
            name = path.name.removesuffix(self.family.suffix)
            try:
                with self.open(name) as table:
                    if path.name not in before:
                        table.check(threads)
            except (CorruptTableError, MissingTableError):  # missing: removed a moment ago
                continue  # not listed, so `has` denies it and the run solves it again
            self._sums[path.name] = before.get(path.name) or file_sha256(path)
        if self._sums != before:
            self._write_manifest()

    def _must_be_locked(self) -> None:
        if not self._locked:
            raise RuntimeError(f"{self.folder}: not locked")

    def _tables(self) -> list[Path]:
        found = sorted(self.folder.glob(f"*{self.family.suffix}"))
        return [path for path in found if path.is_file()]

    def _leftovers(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{TEMPORARY_SUFFIX}"))

    def _read_manifest(self) -> dict[str, str]:
        """Sums by file name; a line that is damaged counts as not there."""
        try:
            lines = (self.folder / MANIFEST).read_text("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreAccessError(
                f"{self.folder / MANIFEST}: cannot be read: {error.strerror}"
            ) from error
        matches = (_MANIFEST_LINE.fullmatch(line) for line in lines)
        return {match[2]: match[1] for match in matches if match}

    def _write_manifest(self) -> None:
        """Replace the manifest at once as a whole.

        It is not forced to the disk, which would cost as much as a small table: after a power cut
        an older manifest only means that the next run reads the tables it does not list.
        """
        path = self.folder / MANIFEST
        temporary = path.with_name(f"{MANIFEST}.{os.getpid()}{TEMPORARY_SUFFIX}")
        lines = [f"{sha256}  {name}\n" for name, sha256 in sorted(self._sums.items())]
        with explained(path):
            try:
                temporary.write_text("".join(lines), encoding="utf-8")
                os.replace(temporary, path)
            except BaseException:
                with suppress(OSError):  # the error that led here is the one to report
                    temporary.unlink()
                raise

    def _sync_manifest(self) -> None:
        path = self.folder / MANIFEST
        with explained(path):
            if path.exists():
                with path.open("rb") as file:
                    os.fsync(file.fileno())
                sync_folder(self.folder)


def open_table(root: Path, family: Family, name: str, cache: BlockCache | None = None) -> TableFile:
    """The open table `name` of a family under `root`; see TableFile for `cache`.

    Raises MissingTableError, CorruptTableError, UnsupportedVersionError, WrongRulesError, or
    StoreAccessError when the file may not be read; OSError when too many files are open.
    """
    path = family.path(root, name)
    try:
        table = TableFile(path, cache)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingTableError(name, path, family.command(root, name)) from error
    except PermissionError as error:
        raise StoreAccessError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        table.require(
            game=family.game,
            rules=family.rules,
            fingerprint=family.board,
            name=name,
            contents=family.contents,
        )
    except BaseException:
        table.close()
        raise
    return table


def file_sha256(path: Path) -> str:
    """The SHA-256 (hex) of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_HASH_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
