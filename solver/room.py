"""Whether a job fits this machine: its estimate as text, and what is short.

Invariant: a job is refused with the name and the size of what is short, before it begins.
"""

from __future__ import annotations

import os
import resource
import shutil
from dataclasses import dataclass
from pathlib import Path

from solver.errors import ResourceError

_GIB = 1 << 30
_MEMINFO = Path("/proc/meminfo")
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")


@dataclass(frozen=True)
class Estimate:
    """What a job needs: table files, positions, bytes on disk and in memory, seconds."""

    tables: int
    positions: int
    disk: int
    memory: int
    seconds: float


def free_memory() -> int:
    """The bytes of memory that a process could still take, as the system tells."""
    if not _MEMINFO.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
    free = int(lines["MemAvailable"].split()[0]) << 10
    if _CGROUP_LIMIT.exists() and (limit := _CGROUP_LIMIT.read_text().strip()) != "max":
        free = min(free, int(limit) - int(_CGROUP_USED.read_text()))
    return free


def peak_memory() -> int:
    """The most memory this process has had, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def free_disk(folder: Path) -> int:
    """The bytes free for files in a folder, which need not exist yet."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def describe(estimate: Estimate, folder: Path, threads: int) -> str:
    """The estimate as lines of text, with what the machine has."""
    of = "thread" if threads == 1 else "threads"
    lines = [
        ("positions", f"{estimate.positions:,}"),
        ("files", f"{estimate.tables:,}"),
        ("disk", f"{gigabytes(estimate.disk)} ({gigabytes(free_disk(folder))} free)"),
        ("memory", f"{gigabytes(estimate.memory)} ({gigabytes(free_memory())} free)"),
        ("time", f"{duration(estimate.seconds)} with {threads} {of}"),
    ]
    return "\n".join(f"{name + ':':<10} {text}" for name, text in lines)


def require(estimate: Estimate, folder: Path, memory: int | None) -> None:
    """Raise ResourceError, naming each shortfall, unless disk and memory suffice.

    memory: the bytes that the job may take, None for all that is free.
    """
    allowed = free_memory() if memory is None else memory
    short = [
        f"{what} (needs {gigabytes(needed)}, has {gigabytes(there)})"
        for what, needed, there in (
            (f"disk in {folder}", estimate.disk, free_disk(folder)),
            ("memory", estimate.memory, allowed),
        )
        if needed > there
    ]
    if short:
        raise ResourceError(
            f"not enough {' and '.join(short)}; make room, ask for less, or start it with --force"
        )


def gigabytes(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / _GIB:.1f} GiB" if size >= _GIB / 10 else f"{size / (1 << 20):.1f} MiB"


def duration(seconds: float) -> str:
    """A length of time for people."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
