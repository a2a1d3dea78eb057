"""The batch jobs of Lasca: every class of so many men, and the all-officers endings of eleven men.

A job solves families of classes (`solver.lasca_game`) task by task and writes one table a class.
Tasks that do not lead to one another are solved at the same time. Invariant: a task begins only
when every task its moves can lead to is solved or read back, and its tables are written before it
counts as done; so a killed job loses at most the tasks it was at and goes on where it stopped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from databases.catalog import LASCA_MOST_MEN, LASCA_SECTION
from databases.store import Store
from databases.writer import Section
from engine.lasca.index import LascaClass
from engine.lasca.rules import MEN_PER_SIDE
from solver.errors import ResourceError
from solver.lasca_cost import REMEMBERED_BYTES, SCORES, held_memory, task_memory, too_large
from solver.lasca_game import Family, LascaGame, Task, enter_solution
from solver.progress import Progress, closing_line
from solver.retrograde import Solution, solve
from solver.room import gigabytes, peak_memory

MOST_OFFICER_COLUMNS = 4
"""The most columns of all-officers endings that can be asked for; see `solve_families`."""


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
    if reason := too_large(families):
        raise ResourceError(reason)
    with store.lock(threads):
        missing = {
            family: [task for task in family.tasks if not _is_solved(store, task)]
            for family in families
        }
        positions = sum(task.size for tasks in missing.values() for task in tasks)
        progress.begin(positions, "Lasca")
        began = time.perf_counter()
        try:
            for family, tasks in missing.items():
                if tasks:
                    _FamilyRun(store, family, tasks, threads, memory, progress).run()
            if positions:
                progress.line(closing_line(positions, time.perf_counter() - began))
        finally:
            progress.end()


def section_of(scores: np.ndarray) -> Section:
    """The one section of a class's table from its scores (uint8 or uint16)."""
    return Section(LASCA_SECTION, scores.size, None, None, scores=scores)


def scores_of(store: Store, of: LascaClass, threads: int = 1) -> np.ndarray:
    """uint16[of.size]: the scores of a class read back from its table."""
    with store.open(of.name) as table:
        scores = table.scores_array(LASCA_SECTION, threads)
    if scores.dtype == SCORES:
        return scores
    draws = scores == np.iinfo(scores.dtype).max
    scores = scores.astype(SCORES)
    scores[draws] = np.iinfo(SCORES).max
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
        self._scores = np.full(family.size, np.iinfo(SCORES).max, SCORES)
        self._running: dict[Future[float], Task] = {}
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
                if held_memory(self._family) + sum(map(task_memory, tasks)) > self._memory:
                    break
            if all(id(needed) not in self._unsolved for needed in self._family.needed(task)):
                self._waiting.remove(task)
                self._running[pool.submit(self._solve, task)] = task

    def _solve(self, task: Task) -> float:
        began = time.perf_counter()
        game = LascaGame(self._family, task, self._scores, stop=self._stop)
        solution: Solution = solve(game, remember=REMEMBERED_BYTES)
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
