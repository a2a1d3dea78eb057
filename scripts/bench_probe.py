"""What `bench.py probe` measures: look-ups in the morris tables of a folder.

Positions are drawn from all tables of the folder, each as often as any other. Latency, by where the
block of the value is:

    cold      nowhere: tables just opened, the system's cache of the file dropped
    block     in the system's cache of files, to be read, checked and decompressed
    value     in the cache of the tables ("warm")
    moves     as `value`, with the values of all legal moves: what `lasker probe` answers

Then look-ups a second by threads of one process and by processes, each with a bounded cache and
positions that are nearly never in it. Memory is the most that the process had in residence during
the look-ups, less what it had before the tables were opened, against the bound of the cache.
"""

from __future__ import annotations

import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from databases import Store, Tables, morris_family, open_tables
from databases.catalog import morris_place
from databases.store import file_sha256
from engine.morris import Position, Rules
from engine.morris.index import Subspace, canonical_rows, position_at
from engine.morris.rules import MOST_MEN

AIMS = {"cold": 5e-3, "value": 100e-6}
THREADS = (1, 2, 8)
PROCESSES = 4

_DRAWN = 20_000  # positions of a throughput run
_MANY_FILES = 1000
_MEMORY_EVERY = 0.05  # seconds


def bench_probe(root: Path, flying: str, *, cache_bytes: int, samples: int, seconds: float) -> None:
    """Measure all of it and print a line for each figure."""
    rules = Rules(flying=flying)
    store = Store(root, morris_family(flying))
    report = store.report()
    print(
        f"{len(report.whole)} tables, {report.size / 1e9:.2f} GB, {report.entries:,} positions;"
        f" cache of {cache_bytes / 2**20:.0f} MiB",
        flush=True,
    )
    positions = draw_positions(store, samples)
    make_rows()
    read_files(store)
    measure_latency(root, rules, positions)
    for threads in THREADS:
        rate, grown = look_ups_of_threads(root, flying, cache_bytes, seconds, threads)
        show_rate(f"{threads} threads", rate, [grown])
    with get_context("spawn").Pool(PROCESSES) as pool:
        tasks = [(root, flying, cache_bytes, seconds, 1, seed) for seed in range(PROCESSES)]
        found = pool.starmap(look_ups_of_threads, tasks)
    show_rate(f"{PROCESSES} processes", sum(rate for rate, _ in found), [g for _, g in found])
    cold = []
    for position in positions[: samples // 10]:
        forget_file(store.path(morris_place(position).table))
        with open_tables(root) as tables:
            cold += seconds_each(lambda p, t=tables: t.probe_wdl(p, rules), [position])
    show_latency("cold", cold)


def measure_latency(root: Path, rules: Rules, positions: Sequence[Position]) -> None:
    """The latencies of what is in one of the caches."""
    with open_tables(root, max_open_files=_MANY_FILES, cache_bytes=0) as tables:
        for position in positions:
            tables.probe_wdl(position, rules)
        show_latency("block", seconds_each(lambda p: tables.probe_wdl(p, rules), positions))
    few = positions[: len(positions) // 10]
    with open_tables(root, max_open_files=_MANY_FILES, cache_bytes=1 << 30) as tables:
        for look_up in (lambda p: tables.probe_wdl(p, rules), with_moves(tables, rules)):
            seconds_each(look_up, few)
        show_latency("value", seconds_each(lambda p: tables.probe_wdl(p, rules), few * 20))
        show_latency("moves", seconds_each(with_moves(tables, rules), few))


def draw_positions(store: Store, count: int, seed: int = 1) -> list[Position]:
    """`count` random positions of the tables of a store."""
    subspaces, sizes = [], []
    for name, state in store.report().whole.items():
        r, c, k = (int(name[at : at + 2]) for at in (1, 4, 7))
        for section in state.header.sections:
            subspaces.append(Subspace(r, c, k, int(section.name[1:]), section.name[0]))
            sizes.append(section.entries)
    if not subspaces:
        raise SystemExit(f"{store.folder}: no tables; solve some first")
    choose = random.Random(seed)
    chosen = choose.choices(subspaces, sizes, k=count)
    return [position_at(subspace, choose.randrange(subspace.size)) for subspace in chosen]


def read_files(store: Store) -> None:
    """Read all tables once, so that the system has their pages if it has room for them."""
    for path in store.folder.glob(f"*{store.family.suffix}"):
        file_sha256(path)


def forget_file(path: Path) -> None:
    """Drop the system's cached pages of a file."""
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def make_rows() -> None:
    """Make what the index makes once in a process, at 60 ms for the largest level."""
    for k in range(MOST_MEN + 1):
        canonical_rows(k)


def seconds_each(look_up: Callable[[Position], object], positions: Iterable) -> list[float]:
    """The time of each look-up."""
    times = []
    for position in positions:
        start = time.perf_counter()
        look_up(position)
        times.append(time.perf_counter() - start)
    return times


def with_moves(tables: Tables, rules: Rules) -> Callable[[Position], object]:
    """Look-ups of a position and all its successors, as far as there are tables of them."""

    def look_up(position: Position) -> list[int | None]:
        after = [position.play(move) for move in position.legal_moves(rules)]
        return [tables.get_wdl(one, None, rules) for one in (position, *after)]

    return look_up


def look_ups_of_threads(
    root: Path, flying: str, cache_bytes: int, seconds: float, threads: int, seed: int = 2
) -> tuple[float, int]:
    """Look-ups a second of this process with so many threads, and the memory they took, bytes."""
    rules = Rules(flying=flying)
    positions = draw_positions(Store(root, morris_family(flying)), _DRAWN, seed)
    make_rows()
    parts = [positions[at::threads] for at in range(threads)]
    with (
        most_memory() as most,
        open_tables(root, cache_bytes=cache_bytes) as tables,
        ThreadPoolExecutor(threads) as pool,
    ):
        counts = pool.map(lambda part: count_look_ups(tables, rules, part, seconds), parts)
        rate = sum(counts) / seconds
    return rate, most[0]


def count_look_ups(
    tables: Tables, rules: Rules, positions: Sequence[Position], seconds: float
) -> int:
    """How many look-ups one thread makes in a time."""
    done, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        tables.probe_wdl(positions[done % len(positions)], rules)
        done += 1
    return done


@contextmanager
def most_memory() -> Iterator[list[int]]:
    """How much more memory the process has at most than at the beginning, bytes, in a list."""
    before, most, done = resident_bytes(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(_MEMORY_EVERY):
            most[0] = max(most[0], resident_bytes() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def resident_bytes() -> int:
    """The resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def show_latency(case: str, times: Sequence[float]) -> None:
    ordered = sorted(times)
    median, worst = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    aim = f" (aim {AIMS[case] * 1e6:.0f})" if case in AIMS else ""
    print(
        f"{case}: median {median * 1e6:.0f} us{aim}, 99th percentile {worst * 1e6:.0f} us",
        flush=True,
    )


def show_rate(who: str, rate: float, grown: Sequence[int]) -> None:
    memory = " ".join(f"{size / 2**20:.0f}" for size in grown)
    print(f"{who}: {rate:,.0f} look-ups a second, memory {memory} MiB", flush=True)
