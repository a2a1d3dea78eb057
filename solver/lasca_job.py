"""The batch jobs of Lasca: every class of so many men, and the all-officers endings of eleven men.

A job solves families of classes (`solver.lasca_game`) task by task and writes one table a class.
Tasks that do not lead to one another are solved at the same time. Invariant: a task begins only
when every task its moves can lead to is solved or read back, and its tables are written before it
counts as done; so a killed job loses at most the tasks it was at and goes on where it stopped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from databases.catalog import LASCA_MOST_MEN, LASCA_SECTION
from databases.store import Store
from databases.writer import Section
from engine.lasca.index import LascaClass
from engine.lasca.rules import MEN_PER_SIDE
from solver.errors import ResourceError
from solver.lasca_game import Family, LascaGame, Task, enter_solution, values_of
from solver.progress import Progress
from solver.retrograde import LOSS, WIN, Solution, solve
from solver.room import gigabytes, peak_memory

MOST_OFFICER_COLUMNS = 4
"""The most columns of all-officers endings that can be asked for; see `solve_families`."""

_SCORES = np.uint16

# Memory of a task while it is solved, bytes: of a position its state and plies, where the list of
# its predecessors begins, and the counts that this is made from; of a move its source in that list.
# Beside it at most so much to keep the moves until they are listed backwards.
_POSITION_BYTES = 11
_MOVE_BYTES = 4
_REMEMBERED_BYTES = 1 << 30

# Moves listed of a position, for each column that an officer commands: a square has 2.88 neighbours
# on average, half of the columns are the mover's, half of the positions are mirror images.
_MOVES_A_COLUMN = 2.88 / 4

# The interpreter with its compiled kernels, and what threads work with.
_SHARED_BYTES = 400_000_000

_DISK_BYTES = 0.4  # a position in a finished table

_MEASURED_FAMILY = Family(2, 2)


@dataclass(frozen=True)
class Estimate:
    """What a job needs: table files, positions, bytes on disk and in memory, seconds."""

    tables: int
    positions: int
    disk: int
    memory: int
    seconds: float


def families_by_men(men: int) -> tuple[Family, ...]:
    """The families of all classes with both colours present and at most so many men in all.

    Raises ValueError unless 2 <= men <= LASCA_MOST_MEN.
    """
    if not 2 <= men <= LASCA_MOST_MEN:
        raise ValueError(f"classes are solved by 2 to {LASCA_MOST_MEN} men, not {men}")
    return tuple(
        Family(total - black, black) for total in range(2, men + 1)
        for black in range(1, total // 2 + 1)
    )  # fmt: skip


def officers_family(columns: int) -> Family:
    """The endings of eleven officers a side in at most so many columns.

    Raises ValueError unless 1 <= columns <= MOST_OFFICER_COLUMNS.
    """
    if not 1 <= columns <= MOST_OFFICER_COLUMNS:
        raise ValueError(
            f"all-officers endings are solved in 1 to {MOST_OFFICER_COLUMNS} columns, not {columns}"
        )
    return Family(MEN_PER_SIDE, MEN_PER_SIDE, officers_only=True, max_columns=columns)


def table_names(families: Sequence[Family]) -> list[str]:
    """The names of all tables of these families, in the order in which they are begun."""
    return [of.name for family in families for task in family.tasks for of in task.classes]


def solve_families(
    store: Store,
    families: Sequence[Family],
    *,
    threads: int = 1,
    memory: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Solves what is missing of the families and writes it to `store`; takes the store's lock.

    threads: tasks solved at once, and threads that compress. memory: bytes that the job may take;
    fewer tasks are solved at once where more would not fit, but one is begun whatever it needs.
    Raises StoreBusyError, NoSpaceError and what else `Store` raises, and ResourceError for a task
    too large for the plain engine's numbers, as the all-officers endings of four columns are.
    """
    progress = progress or Progress(quiet=True)
    for task in (task for family in families for task in family.tasks):
        if task.size >= 1 << 32:
            raise ResourceError(
                f"{task.name} has {task.size:,} positions, more than the plain engine can number"
            )
    with store.lock(threads):
        missing = {
            family: [task for task in family.tasks if not _is_solved(store, task)]
            for family in families
        }
        positions = sum(task.size for tasks in missing.values() for task in tasks)
        progress.begin(positions, "Lasca")
        try:
            for family, tasks in missing.items():
                if tasks:
                    _FamilyRun(store, family, tasks, threads, memory, progress).run()
        finally:
            progress.end()


def estimate(families: Sequence[Family], threads: int = 1, memory: int | None = None) -> Estimate:
    """What solving these families takes, all of it, from a short measurement on this machine.

    memory: the bytes that `solve_families` may take, as given to it.
    """
    positions = sum(family.size for family in families)
    return Estimate(
        tables=len(table_names(families)),
        positions=positions,
        disk=int(positions * _DISK_BYTES),
        memory=max(_family_memory(family, threads, memory) for family in families),
        seconds=positions / (threads * positions_per_second()),
    )


def task_memory(task: Task) -> int:
    """The bytes that solving a task takes at most, the values of its family apart.

    Somewhat too many: a square taken and a duty to capture leave fewer moves.
    """
    of = task.classes[0]
    officers = (of.white_officers + of.black_officers) / (of.white_men + of.black_men)
    moves = task.size * of.columns * _MOVES_A_COLUMN * (1 + officers) / 2  # a soldier has half
    remembered = min(_REMEMBERED_BYTES, _MOVE_BYTES * moves + task.size)
    return int(task.size * _POSITION_BYTES + _MOVE_BYTES * moves + remembered)


def _held_memory(family: Family) -> int:
    """The bytes that a job holds while it is at a family, whatever task it solves."""
    return _SHARED_BYTES + family.size * np.dtype(_SCORES).itemsize


def _family_memory(family: Family, threads: int, allowed: int | None) -> int:
    """The bytes that a family takes with so many tasks solved at once, or if `allowed` bytes are
    too few for that, with fewer."""
    tasks = sorted((task_memory(task) for task in family.tasks), reverse=True)
    together = _held_memory(family) + sum(tasks[:threads])
    if allowed is None:
        return together
    return max(_held_memory(family) + tasks[0], min(together, allowed))


def positions_per_second() -> float:
    """The speed of one thread on this machine, compilation left out."""
    rates = []
    for family in (Family(1, 1), _MEASURED_FAMILY):  # the first compiles the kernels
        scores = np.zeros(family.size, _SCORES)
        began = time.perf_counter()
        for task in family.tasks:
            solution = solve(LascaGame(family, task, scores))
            enter_solution(family, task, solution, scores)
        rates.append(family.size / (time.perf_counter() - began))
    return rates[-1]


def section_of(scores: np.ndarray) -> Section:
    """The one section of a class's table from its scores (uint8 or uint16)."""
    value = values_of(scores)
    plies = np.where(scores == np.iinfo(scores.dtype).max, 0, scores).astype(scores.dtype)
    won, lost = (np.packbits(value == wanted, bitorder="little") for wanted in (WIN, LOSS))
    return Section(LASCA_SECTION, scores.size, won, lost, plies)


def scores_of(store: Store, of: LascaClass, threads: int = 1) -> np.ndarray:
    """uint16[of.size]: the scores of a class read back from its table."""
    draw = np.iinfo(_SCORES).max
    scores = np.full(of.size, draw, _SCORES)
    with store.open(of.name) as table:
        plies = table.plies_array(LASCA_SECTION, threads)
        for plane in table.planes(LASCA_SECTION, threads):
            decided = np.unpackbits(plane, count=of.size, bitorder="little").view(bool)
            scores[decided] = plies[decided]
    return scores


def _is_solved(store: Store, task: Task) -> bool:
    return all(store.has(of.name) for of in task.classes)


class _FamilyRun:
    """One family being solved: which tasks wait, run and are done."""

    def __init__(
        self,
        store: Store,
        family: Family,
        missing: list[Task],
        threads: int,
        memory: int | None,
        progress: Progress,
    ) -> None:
        self._store = store
        self._family = family
        self._waiting = list(missing)
        self._threads = threads
        self._memory = memory
        self._progress = progress
        self._stop = threading.Event()
        self._scores = np.full(family.size, np.iinfo(_SCORES).max, _SCORES)
        self._running: dict[Future[float], Task] = {}
        self._tasks = {of: task for task in family.tasks for of in task.classes}
        self._unsolved = set(map(id, missing))

    def run(self) -> None:
        """Solves and writes all that is missing. On any error the running tasks are stopped."""
        for task in self._family.tasks:
            if id(task) not in self._unsolved:
                for of, first, end in self._family.parts(task):
                    self._scores[first:end] = scores_of(self._store, of, self._threads)
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                while self._waiting or self._running:
                    self._begin(pool)
                    finished, _ = wait(self._running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        self._finish(self._running.pop(future), future.result())
            finally:
                self._stop.set()

    def _begin(self, pool: ThreadPoolExecutor) -> None:
        """Hands out the tasks that may begin, as many as there are threads and memory."""
        for task in list(self._waiting):
            if len(self._running) == self._threads:
                break
            if self._memory is not None and self._running:
                tasks = [*self._running.values(), task]
                if _held_memory(self._family) + sum(map(task_memory, tasks)) > self._memory:
                    break
            if all(id(needed) not in self._unsolved for needed in self._needed(task)):
                self._waiting.remove(task)
                self._running[pool.submit(self._solve, task)] = task

    def _needed(self, task: Task) -> Iterator[Task]:
        """The tasks just before one; what lies further back they need themselves."""
        of = task.classes[0]
        men = (of.white_men, of.black_men)
        for white, black, columns in ((0, 0, -1), (1, 0, 0), (0, 1, 0)):
            before = LascaClass(
                *men, of.white_officers + white, of.black_officers + black, of.columns + columns
            )
            if before in self._tasks:
                yield self._tasks[before]

    def _solve(self, task: Task) -> float:
        began = time.perf_counter()
        game = LascaGame(self._family, task, self._scores, stop=self._stop)
        solution: Solution = solve(game, remember=_REMEMBERED_BYTES)
        enter_solution(self._family, task, solution, self._scores)
        return time.perf_counter() - began

    def _finish(self, task: Task, seconds: float) -> None:
        """Writes the tables of a solved task."""
        for of, first, end in self._family.parts(task):
            section = section_of(self._scores[first:end])
            self._store.write(of.name, [section], threads=self._threads)
        self._unsolved.remove(id(task))
        self._progress.advance(task.size)
        names = " and ".join(of.name for of in task.classes)
        rate = task.size / seconds / 1e6
        self._progress.line(
            f"{names}: {task.size:,} positions, {seconds:.1f} s, {rate:.2f} M/s, "
            f"peak memory {gigabytes(peak_memory())}"
        )
