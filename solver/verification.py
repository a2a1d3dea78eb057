"""What a verification says: which checks were made, how, on how many positions, and what is wrong.

Invariant: a check that was made is in the report with the number of positions it looked at, whether
it found a fault or not; so a report that is clean says what it is clean of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from databases.errors import CorruptTableError
from databases.reader import TableFile
from databases.store import Store
from solver.progress import Progress

EXAMPLES = 5
"""Faults of a check that are kept with their positions; the others are only counted."""

_STRETCH = 1 << 14  # entries looked at at a time
_SAMPLED_STRETCH = 1 << 10  # the same where only some are looked at


@dataclass(frozen=True)
class Fault:
    """One entry of a table that is wrong: where it stands, its position, what is there and what
    should be."""

    table: str
    section: str
    index: int
    position: str
    stored: str
    derived: str

    def __str__(self) -> str:
        return (
            f"{self.table} {self.section} {self.index}: {self.position} is stored as"
            f" {self.stored}, should be {self.derived}"
        )


@dataclass
class Check:
    """One kind of check: `what` holds if it finds nothing, and `how` that was looked at.

    positions: how many were looked at. faults: how many of them were wrong; `examples` holds the
    first. undecided: how many neither passed nor failed within the bound of the check.
    """

    what: str
    how: str
    positions: int = 0
    faults: int = 0
    undecided: int = 0
    examples: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> None:
        """Counts a fault, and keeps it if it is among the first."""
        self.faults += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(fault)


@dataclass
class Report:
    """The checks of one verification, in the order in which they were made."""

    checks: list[Check] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether no check found a fault."""
        return not any(check.faults for check in self.checks)

    def lines(self) -> Iterator[str]:
        """The report for a reader, one line for each check and each fault kept."""
        for check in self.checks:
            found = f"{check.faults:,} faults" if check.faults else "no fault"
            if check.undecided:
                found += f", {check.undecided:,} undecided"
            yield f"{check.what}: {found} in {check.positions:,} positions ({check.how})"
            yield from (f"  {fault}" for fault in check.examples)
            if check.faults > len(check.examples):
                yield f"  and {check.faults - len(check.examples):,} more"


class Subject(Protocol):
    """One section of a table, as `run_checks` looks at it."""

    def check(self, first: int, end: int) -> Sequence[list[tuple[int, int, int]]]:
        """For each check the faults (index, stored, derived) among entries first..end-1."""

    def fault(self, index: int, stored: int, derived: int) -> Fault:
        """A fault, named."""


def run_checks(
    checks: Sequence[Check],
    sections: Sequence[tuple[str, int, Callable[[], Subject]]],
    *,
    sample: int | None,
    threads: int,
    progress: Progress | None,
) -> None:
    """Looks at sections, given as name, entries and what makes the subject, one after another.

    sample: look at about so many entries of each section, None for all. threads: stretches of a
    section that are looked at at once.
    """
    progress = progress or Progress(quiet=True)
    work = [(list(_stretches(*named, sample)), make) for *named, make in sections]
    progress.begin(sum(end - first for stretches, _ in work for first, end in stretches), "verify")
    try:
        with workers(threads) as pool:
            for stretches, make in work:
                subject = make()
                found = pool.map(subject.check, *zip(*stretches, strict=True))
                for (first, end), of_checks in zip(stretches, found, strict=True):
                    for check, faults in zip(checks, of_checks, strict=True):
                        check.positions += end - first
                        for fault in faults:
                            check.add(subject.fault(*fault))
                    progress.advance(end - first)
    finally:
        progress.end()


def _stretches(name: str, entries: int, sample: int | None) -> Iterator[tuple[int, int]]:
    """The stretches (first, end) of a section to look at: all, or some at random places."""
    if sample is None or sample >= entries:
        for first in range(0, entries, _STRETCH):
            yield first, min(first + _STRETCH, entries)
        return
    length = min(sample, _SAMPLED_STRETCH)
    # The same places in each run, others in each section.
    random = np.random.default_rng([ord(letter) for letter in name])
    for first in sorted(random.integers(0, entries - length + 1, -(-sample // length)).tolist()):
        yield first, first + length


@contextmanager
def workers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for a check; what they have not begun when an error ends it, they never begin."""
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def opened(store: Store, table: str, section: str, entries: int) -> Iterator[TableFile]:
    """The open table.

    Raises what opening it raises, and CorruptTableError when it has no such section or one with
    another number of entries.
    """
    with store.open(table) as file:
        require_section(file, section, entries)
        yield file


def require_section(file: TableFile, section: str, entries: int) -> None:
    """Raises CorruptTableError unless a table has this section with so many entries."""
    info = file.sections.get(section)
    if info is None or info.entries != entries:
        found = "missing" if info is None else f"{info.entries} entries long"
        raise CorruptTableError(
            file.path, f"section {section}", f"it is {found}, not {entries} entries long"
        )
