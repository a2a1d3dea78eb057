"""What the batch jobs of Lasca cost: memory of a task and of a job, disk, time.

Memory follows from the numbers of positions and moves; time from expanding some positions of the
job itself on this machine. Invariant: `task_memory` and `held_memory` are what a job is bounded by
and what its estimate says, so a job that was let in does not outgrow what it was let in for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from solver.lasca_game import Family, LascaGame, Task
from solver.retrograde import BLOCK, MOST_POSITIONS
from solver.room import Estimate

SCORES = np.uint16
"""The type of the scores of a family."""

REMEMBERED_BYTES = 1 << 30
"""What the plain engine may spend on keeping the moves of a task until they are reversed."""

# Memory of a task while it is solved, bytes: of a position its state and plies, where the list of
# its predecessors begins, and the counts that this is made from; of a move its source in that list.
# From 2**32 moves on the list needs wider numbers.
_POSITION_BYTES = 11
_MOVE_BYTES = 4
_WIDER_BYTES = 4

# Moves listed of a position, for each column that an officer commands: a square has 2.88 neighbours
# on average, half of the columns are the mover's, half of the positions are mirror images.
_MOVES_A_COLUMN = 2.88 / 4

# The interpreter with its compiled kernels, and what threads work with.
_SHARED_BYTES = 400_000_000

# A position in a finished table, by men and of the endings of officers.
_DISK_BYTES = 0.35
_OFFICERS_DISK_BYTES = 0.16

# How many blocks of positions, spread over a job, are expanded and how often, to measure the speed
# of the machine.
_SAMPLES = 40
_REPEATS = 3

# What solving and writing a position of a job takes is so many times expanding one of it, and so
# many times expanding one of this family for what depends on the machine alone; measured, see
# docs/performance.md.
_REFERENCE = Family(2, 2)
_TIMES_EXPANDING = 2.2
_TIMES_REFERENCE = 0.9


def estimate(families: Sequence[Family], threads: int = 1, memory: int | None = None) -> Estimate:
    """What solving these families takes, all of it, from a short measurement on this machine.

    Where no machine can do it, see `too_large`, it is what it would take. memory: the bytes that
    the job may take, as given to `solver.lasca_job.solve_families`.
    """
    positions = sum(family.size for family in families)
    busy = sum(busy_positions(family, threads) for family in families)
    job, reference = _seconds_to_expand(families), _seconds_to_expand((_REFERENCE,))
    return Estimate(
        tables=sum(len(task.classes) for family in families for task in family.tasks),
        positions=positions,
        disk=sum(map(_disk_bytes, families)),
        memory=max(_family_memory(family, threads, memory) for family in families),
        seconds=busy * (_TIMES_EXPANDING * job + _TIMES_REFERENCE * reference),
    )


def too_large(families: Sequence[Family]) -> str | None:
    """Why these families can't be solved at all, whatever the machine, or None."""
    for task in (task for family in families for task in family.tasks):
        if task.size >= MOST_POSITIONS:
            return (
                f"{task.name} has {task.size:,} positions, and the plain engine can number fewer "
                f"than {MOST_POSITIONS:,} at once"
            )
    return None


def task_memory(task: Task) -> int:
    """The bytes that solving a task takes at most, the values of its family apart.

    Somewhat too many: a square taken and a duty to capture leave fewer moves.
    """
    of = task.classes[0]
    officers = (of.white_officers + of.black_officers) / (of.white_men + of.black_men)
    moves = task.size * of.columns * _MOVES_A_COLUMN * (1 + officers) / 2  # a soldier has half
    remembered = min(REMEMBERED_BYTES, _MOVE_BYTES * moves + task.size)
    wider = task.size * _WIDER_BYTES if moves >= 1 << 32 else 0
    return int(task.size * _POSITION_BYTES + _MOVE_BYTES * moves + remembered + wider)


def _disk_bytes(family: Family) -> int:
    return int(family.size * (_OFFICERS_DISK_BYTES if family.officers_only else _DISK_BYTES))


def held_memory(family: Family) -> int:
    """The bytes that a job holds while it is at a family, whatever task it solves."""
    return _SHARED_BYTES + family.size * np.dtype(SCORES).itemsize


def _family_memory(family: Family, threads: int, allowed: int | None) -> int:
    """The bytes that a family takes with so many tasks solved at once, or if `allowed` bytes are
    too few for that, with fewer."""
    tasks = sorted((task_memory(task) for task in family.tasks), reverse=True)
    together = held_memory(family) + sum(tasks[:threads])
    if allowed is None:
        return together
    return max(held_memory(family) + tasks[0], min(together, allowed))


def busy_positions(family: Family, threads: int) -> float:
    """The positions that one thread solves while the family is solved: its share, or the longest
    chain of tasks that wait for one another."""
    chains: dict[int, int] = {}
    for task in family.tasks:
        before = (chains[id(needed)] for needed in family.needed(task))
        chains[id(task)] = task.size + max(before, default=0)
    return max(family.size / threads, *chains.values())


def _seconds_to_expand(families: Sequence[Family]) -> float:
    """Seconds of a core that listing the moves of a position takes here, compilation left out.

    The mean of blocks at equal distances in the order of all positions; of each the best of a few
    times, since other work on the machine can only slow it.
    """
    tasks = [(family, task) for family in families for task in family.tasks]
    ends = np.cumsum([task.size for _, task in tasks])
    seconds = positions = 0
    for sample in range(_SAMPLES):
        at = int(ends[-1]) * (2 * sample + 1) // (2 * _SAMPLES)
        number = int(ends.searchsorted(at, "right"))
        family, task = tasks[number]
        start = min(at - int(ends[number]) + task.size, max(0, task.size - BLOCK))
        stop = min(start + BLOCK, task.size)
        # Of earlier tasks some value is looked up; which one makes no difference to the time.
        game = LascaGame(family, task, np.zeros(max(1, task.first), SCORES))
        game.expand(start, stop)  # compiles, and makes what serves all positions of a group
        times = []
        for _ in range(_REPEATS):
            began = time.thread_time()
            game.expand(start, stop)
            times.append(time.thread_time() - began)
        seconds += min(times)
        positions += stop - start
    return seconds / positions
