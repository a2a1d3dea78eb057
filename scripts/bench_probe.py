"""Measures look-ups in the morris tables of a folder: latency, throughput, memory.

    .venv/bin/python scripts/bench_probe.py --tables DIR [--flying board] [--cache-mib 256]

Positions are drawn from all tables of the folder, each as often as any other. Four cases:

    block     file open and its pages in the system's cache, the block is read and decompressed
    value     the block is in the cache of the tables
    moves     as `value`, with the values of all legal moves: what `lasker probe` answers
    cold      nothing in memory: tables just opened, the system's cache of their files dropped

and look-ups a second of positions of case `block`, by threads of one process, and by processes,
with the growth of the resident memory over that of the same process before.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from databases import Store, Tables, morris_family, open_tables
from databases.store import file_sha256
from engine.morris import Position, Rules
from engine.morris.index import Subspace, canonical_rows, position_at
from engine.morris.rules import MOST_MEN

AIMS = {"cold": 5e-3, "value": 100e-6, "moves": 10e-3}


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


def forget_files(store: Store) -> None:
    """Drop the system's cached pages of all tables."""
    for path in store.folder.glob(f"*{store.family.suffix}"):
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


def show_latency(case: str, times: Sequence[float]) -> None:
    ordered = sorted(times)
    median, worst = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    aim = f"   aim {AIMS[case] * 1e6:.0f}" if case in AIMS else ""
    print(f"{case:<8} {median * 1e6:9.0f} {worst * 1e6:9.0f}   us median, 99 %{aim}", flush=True)


def resident_bytes() -> int:
    """The resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def with_moves(tables: Tables, rules: Rules) -> Callable[[Position], object]:
    """Look-ups of a position and all its successors, as far as there are tables of them."""

    def look_up(position: Position) -> list[int | None]:
        after = [position.play(move) for move in position.legal_moves(rules)]
        return [tables.get_wdl(one, None, rules) for one in (position, *after)]

    return look_up


def look_ups_of_process(root: str, flying: str, cache: int, seconds: float, seed: int) -> int:
    """How many look-ups one process makes in a time."""
    positions = draw_positions(Store(root, morris_family(flying)), 20_000, seed)
    make_rows()
    with open_tables(root, cache_bytes=cache) as tables:
        return count_look_ups(tables, Rules(flying=flying), positions, seconds)


def count_look_ups(
    tables: Tables, rules: Rules, positions: Sequence[Position], seconds: float
) -> int:
    done, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        tables.probe_wdl(positions[done % len(positions)], rules)
        done += 1
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", required=True, type=Path)
    parser.add_argument("--flying", default="board")
    parser.add_argument("--cache-mib", type=int, default=256)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5, help="length of each throughput run")
    arguments = parser.parse_args()
    rules, cache = Rules(flying=arguments.flying), arguments.cache_mib << 20
    store = Store(arguments.tables, morris_family(arguments.flying))
    report = store.report()
    print(f"{len(report.whole)} tables, {report.size / 1e9:.2f} GB, {report.entries:,} positions")
    positions = draw_positions(store, arguments.samples)
    make_rows()

    read_files(store)
    with open_tables(arguments.tables, max_open_files=1000, cache_bytes=0) as tables:
        for position in positions:
            tables.probe_wdl(position, rules)
        show_latency("block", seconds_each(lambda p: tables.probe_wdl(p, rules), positions))
    few = positions[:200]
    with open_tables(arguments.tables, max_open_files=1000, cache_bytes=1 << 30) as tables:
        for look_up in (lambda p: tables.probe_wdl(p, rules), with_moves(tables, rules)):
            seconds_each(look_up, few)
        show_latency("value", seconds_each(lambda p: tables.probe_wdl(p, rules), few * 20))
        show_latency("moves", seconds_each(with_moves(tables, rules), few))

    positions = draw_positions(store, 20_000, seed=2)
    for threads in (1, 2, 8):
        before = resident_bytes()
        with (
            open_tables(arguments.tables, cache_bytes=cache) as tables,
            ThreadPoolExecutor(threads) as pool,
        ):
            parts = [positions[at::threads] for at in range(threads)]
            counts = pool.map(
                lambda part, t=tables: count_look_ups(t, rules, part, arguments.seconds), parts
            )
            rate = sum(counts) / arguments.seconds
            grown = resident_bytes() - before
        print(f"threads   {threads}: {rate:8.0f} look-ups/s, memory + {grown / 2**20:.0f} MiB")
    with get_context("spawn").Pool(4) as pool:
        tasks = [
            (str(arguments.tables), arguments.flying, cache, arguments.seconds, seed)
            for seed in range(4)
        ]
        rate = sum(pool.starmap(look_ups_of_process, tasks)) / arguments.seconds
    print(f"processes 4: {rate:8.0f} look-ups/s")

    cold = []
    for position in positions[:200]:
        forget_files(store)
        with open_tables(arguments.tables) as tables:
            cold += seconds_each(lambda p, t=tables: t.probe_wdl(p, rules), [position])
    show_latency("cold", cold)


if __name__ == "__main__":
    main()
