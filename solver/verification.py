"""What a verification says: which checks were made, how, on how many positions, and what is wrong.

Invariant: a check that was made is in the report with the number of positions it looked at, whether
it found a fault or not; so a report that is clean says what it is clean of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from databases.errors import CorruptTableError
from databases.store import Store

EXAMPLES = 5
"""Faults of a check that are kept with their positions; the others are only counted."""


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


def stored_planes(
    store: Store, table: str, section: str, entries: int, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The win and the loss bitmap of a section, uint8[ceil(entries / 8)] each.

    Raises what opening and reading the table raise, and CorruptTableError when it has no such
    section or another number of entries.
    """
    with store.open(table) as file:
        info = file.sections.get(section)
        if info is None or info.entries != entries:
            found = "missing" if info is None else f"{info.entries} entries long"
            raise CorruptTableError(
                file.path, f"section {section}", f"it is {found}, not {entries} entries long"
            )
        return file.planes(section, threads)
