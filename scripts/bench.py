"""Measures the solvers: positions per second and core, peak memory, bytes per position; look-ups.

    .venv/bin/python scripts/bench.py morris --men 5          all units up to five men
    .venv/bin/python scripts/bench.py morris --unit 7,7 --tables DIR
                                                              one unit, on tables that are there
    .venv/bin/python scripts/bench.py plain --men 4           morris by the plain engine
    .venv/bin/python scripts/bench.py lasca --men 4           Lasca by men
    .venv/bin/python scripts/bench.py probe --tables DIR      look-ups, see bench_probe.py
    .venv/bin/python scripts/bench.py lasca --columns 2       Lasca, 11 + 11 officers
    .venv/bin/python scripts/bench.py coding --men 5 --tables DIR
                                                              what Lasca tables take, by coding

Kernels are compiled before the clock starts, files are written. Seconds of a core are those of the
process on all cores together, so other work on the machine counts little. `--rounds` tells what
each level's constants and its dense and sparse half-rounds took.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from zstandard import ZstdCompressor

from databases.catalog import LASCA_SECTION, lasca_family, morris_family
from databases.format import BLOCK_ENTRIES
from databases.store import MANIFEST, Store
from engine.morris import Rules
from solver.morris_job import level_positions, solve_morris, units
from solver.room import peak_memory


@contextmanager
def clock(what: str, positions: int, folder: Path) -> Iterator[None]:
    """Time a stretch of work and print one line about it."""
    before = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    wall, core = time.perf_counter(), time.process_time()
    yield
    wall, core = time.perf_counter() - wall, time.process_time() - core
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) - before
    print(
        f"{what}: {positions:,} positions in {wall:.1f} s, {core:.1f} s of a core: "
        f"{positions / core / 1e6:.2f} million a second and core, "
        f"peak memory {peak_memory() / 2**30:.2f} GiB, {size / positions:.4f} bytes a position",
        flush=True,
    )


def both_sides(r: int, c: int) -> int:
    """The valid positions of a unit, both sides to move (a diagonal unit stores one of them)."""
    stored = sum(level_positions(r, c, k) for k in range(r + 1))
    return 2 * stored if r == c else stored


def bench_morris(arguments: argparse.Namespace, folder: Path) -> None:
    from solver.rows.unit import UnitSolver
    from solver.rows.workers import Workers

    rules = Rules(flying=arguments.flying)
    store = Store(folder / "tables", morris_family(arguments.flying))
    solve_morris(Store(folder / "warm-up", store.family), 4, rules, threads=arguments.threads)
    chosen = units(arguments.men)
    if arguments.unit:
        chosen = [tuple(int(men) for men in arguments.unit.split(","))]
        link_tables(Store(arguments.tables, store.family), store, *chosen[0])
    with store.lock(), Workers(arguments.threads) as workers:
        for r, c in chosen:
            with clock(f"morris {arguments.flying} ({r}, {c})", both_sides(r, c), store.folder):
                for report in UnitSolver(store, r, c, rules, workers).solve():
                    if arguments.rounds:
                        print(level_text(report))


def link_tables(source: Store, target: Store, r: int, c: int) -> None:
    """Make a store that has all tables of another but those of one unit, without copying."""
    target.folder.mkdir(parents=True)
    unit = f"r{r:02d}c{c:02d}"
    lines = (source.folder / MANIFEST).read_text().splitlines(keepends=True)
    kept = [line for line in lines if f"  {unit}" not in line]
    (target.folder / MANIFEST).write_text("".join(kept))
    for line in kept:
        name = line.split()[1]
        os.symlink(source.folder.resolve() / name, target.folder / name)


def level_text(report) -> str:
    """Where the time of a level went."""
    parts = [f"constants {report.constants_seconds:.1f} s"]
    for side in "RC":
        for dense in (True, False):
            done = [h for h in report.rounds if h.side == side and h.dense is dense]
            parts.append(
                f"{side} {'dense' if dense else 'sparse'} {len(done)}: "
                f"{sum(h.changed for h in done):,} bits, {sum(h.seconds for h in done):.1f} s"
            )
    return f"  {report.name} {report.seconds:.1f} s: " + "; ".join(parts)


def bench_plain(arguments: argparse.Namespace, folder: Path) -> None:
    from solver.morris_game import solve_all

    solve_all(3, Rules(flying=arguments.flying))
    positions = sum(level_positions(r, c, k) for r, c in units(arguments.men) for k in range(r + 1))
    with clock(f"plain engine, morris up to {arguments.men} men", positions, folder):
        solve_all(arguments.men, Rules(flying=arguments.flying))


def bench_lasca(arguments: argparse.Namespace, folder: Path) -> None:
    from solver.lasca_job import families_by_men, officers_family, solve_families

    warm_up = Store(folder / "warm-up", lasca_family())
    solve_families(warm_up, (*families_by_men(3), officers_family(1)))
    store = Store(folder / "tables", lasca_family())
    chosen = families_by_men(arguments.men)
    if arguments.columns:
        chosen = (officers_family(arguments.columns),)
    for family in chosen:
        what = f"Lasca {family.white_men} + {family.black_men} men"
        if family.officers_only:
            what += f", all officers, at most {family.max_columns} columns"
        with clock(what, family.size, store.folder):
            solve_families(store, [family], threads=arguments.threads)


def bench_coding(arguments: argparse.Namespace, _folder: Path) -> None:
    """Bytes and seconds of the Lasca tables by men, values and plies coded in several ways."""
    from solver.lasca_job import families_by_men, table_names

    store = Store(arguments.tables, lasca_family())
    sizes: Counter[tuple[str, int]] = Counter()
    seconds: Counter[tuple[str, int]] = Counter()
    positions = 0
    for name in table_names(families_by_men(arguments.men)):
        with store.open(name) as table:
            entries = table.sections[LASCA_SECTION].entries
            planes = table.planes(LASCA_SECTION)
            plies = table.plies_array(LASCA_SECTION)
        positions += entries
        for coding, stretches in codings(planes, plies, entries).items():
            for level in (1, 3):
                compressor = ZstdCompressor(level=level, write_checksum=True)
                began = time.perf_counter()
                for raw in stretches:
                    sizes[coding, level] += len(compressor.compress(raw)) if any(raw) else 8
                seconds[coding, level] += time.perf_counter() - began
    for (coding, level), size in sizes.items():
        print(
            f"{coding}, level {level}: {size / positions:.4f} bytes a position, "
            f"{seconds[coding, level] / positions * 1e9:.1f} ns a position to compress"
        )


def codings(
    planes: tuple[np.ndarray, np.ndarray], plies: np.ndarray, entries: int
) -> dict[str, list[bytes]]:
    """The blocks of a section, uncompressed, by coding."""
    draws = ~np.unpackbits(planes[0] | planes[1], count=entries, bitorder="little").view(bool)
    width = plies.dtype.itemsize
    blocks: dict[str, list[bytes]] = defaultdict(list)

    def split(numbers: np.ndarray) -> bytes:
        return b"".join((numbers >> 8 * byte).astype(np.uint8).tobytes() for byte in range(width))

    for first in range(0, entries, BLOCK_ENTRIES):
        last = min(first + BLOCK_ENTRIES, entries)
        span = slice(first // 8, -(-last // 8))
        values = planes[0][span].tobytes() + planes[1][span].tobytes()
        here = plies[first:last]
        blocks["values, then plies"] += [values, split(here)]
        blocks["values, then half the plies"] += [values, split(here >> 1)]
        together = np.where(draws[first:last], np.iinfo(plies.dtype).max, here)
        blocks["values and plies together"].append(split(together))
    return blocks


def bench_look_ups(arguments: argparse.Namespace, _folder: Path) -> None:
    from bench_probe import bench_probe

    bench_probe(
        arguments.tables,
        arguments.flying,
        cache_bytes=arguments.cache_mib << 20,
        samples=arguments.samples,
        seconds=arguments.seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    measured = {
        "morris": bench_morris,
        "plain": bench_plain,
        "lasca": bench_lasca,
        "coding": bench_coding,
        "probe": bench_look_ups,
    }
    parser.add_argument("what", choices=measured)
    parser.add_argument("--men", type=int, default=4)
    parser.add_argument("--columns", type=int, help="Lasca: endings of officers, columns at most")
    parser.add_argument("--flying", default="board")
    parser.add_argument("--unit", help="R,C")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", action="store_true")
    parser.add_argument("--cache-mib", type=int, default=256, help="probe: bound of the cache")
    parser.add_argument("--samples", type=int, default=2000, help="probe: positions timed")
    parser.add_argument("--seconds", type=float, default=5, help="probe: of a throughput run")
    arguments = parser.parse_args()
    if (arguments.unit or arguments.what in ("coding", "probe")) and arguments.tables is None:
        parser.error("--unit, coding and probe need --tables")
    folder = Path(tempfile.mkdtemp(prefix="lasker-bench-"))
    try:
        measured[arguments.what](arguments, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
